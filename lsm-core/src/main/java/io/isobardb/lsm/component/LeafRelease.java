package io.isobardb.lsm.component;

import static io.isobardb.lsm.component.ActiveNodes.ENTRY_KEY;
import static io.isobardb.lsm.component.ActiveNodes.LOWER;
import static io.isobardb.lsm.component.ActiveNodes.SHAPE;
import static io.isobardb.lsm.component.ActiveNodes.UPPER;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import org.jspecify.annotations.Nullable;

/**
 * Gives up the leaves of a sealed {@link ActiveTree} range by range, as their entries go to disk.
 *
 * <p>Inner nodes keep pointing to leaves given up: no reader looks for their keys any more, and one
 * that began before stays within its epoch. A leaf that reaches beyond a range is kept until the
 * whole tree goes.
 *
 * <p>Thread rule: guarded by the tree's structure lock.
 */
final class LeafRelease {
  private final PagePool pool;
  private final ActiveNodes nodes;
  private final KeyOrder order;
  private final PageSet released = new PageSet();
  private byte[] key = new byte[64];

  LeafRelease(PagePool pool, ActiveNodes nodes, KeyOrder order) {
    this.pool = pool;
    this.nodes = nodes;
    this.order = order;
  }

  /** Whether a leaf was given up. */
  boolean isReleased(int page) {
    return released.contains(page);
  }

  /**
   * Retires the leaves at and below a page whose keys all lie above {@code low} and not above
   * {@code high}.
   *
   * @return the number of pages
   */
  int release(int page, byte @Nullable [] low, byte @Nullable [] high) {
    if (released.contains(page)) {
      // Its memory may be somebody else's by now.
      return 0;
    }
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    long shape = memory.getLong(base + SHAPE);
    if (ActiveNodes.level(shape) > 0) {
      return releaseChildren(memory, base, shape, low, high);
    }
    if ((low != null && compareFence(memory, base, LOWER, low) <= 0)
        || (high != null && compareFence(memory, base, UPPER, high) > 0)) {
      return 0;
    }
    released.add(page);
    return NodeWalk.retireLeaf(pool, page);
  }

  /** Looks only at children that may have keys of the range: trees are given up slice by slice. */
  private int releaseChildren(
      Memory memory, int base, long shape, byte @Nullable [] low, byte @Nullable [] high) {
    int pages = 0;
    int count = nodes.slots(shape);
    // The key before a child is the least that it may hold.
    for (int child = low == null ? 0 : firstAbove(memory, base, shape, low);
        child <= count;
        child++) {
      if (child > 0
          && high != null
          && compareKey(memory, base, nodes.entry(memory, base, shape, child - 1), high) > 0) {
        break;
      }
      pages += release(nodes.childAt(memory, base, shape, child), low, high);
    }
    return pages;
  }

  /** The number of a node's keys that are not above a bound. */
  private int firstAbove(Memory memory, int base, long shape, byte[] bound) {
    int from = 0;
    int to = nodes.slots(shape);
    while (from < to) {
      int middle = (from + to) >>> 1;
      if (compareKey(memory, base, nodes.entry(memory, base, shape, middle), bound) <= 0) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  }

  /** Compares a fence's key; a fence that is not there lies beyond all keys on its side. */
  private int compareFence(Memory memory, int base, int field, byte[] bound) {
    int fence = nodes.fence(memory, base, field);
    if (fence < 0) {
      return field == LOWER ? -1 : 1;
    }
    return compareKey(memory, base, fence, bound);
  }

  private int compareKey(Memory memory, int base, int entry, byte[] bound) {
    int length = nodes.keyLength(memory, base, entry);
    key = key.length >= length ? key : new byte[length];
    memory.get(entry + ENTRY_KEY, key, 0, length);
    return order.compare(key, 0, length, bound, 0, bound.length);
  }
}
