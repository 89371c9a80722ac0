package io.isobardb.lsm.component;

import static io.isobardb.lsm.component.ActiveLayout.ENTRY_KEY;
import static io.isobardb.lsm.component.ActiveLayout.ENTRY_LINK;
import static io.isobardb.lsm.component.ActiveLayout.FIRST_CHILD;
import static io.isobardb.lsm.component.ActiveLayout.LOWER;
import static io.isobardb.lsm.component.ActiveLayout.SHAPE;
import static io.isobardb.lsm.component.ActiveLayout.UPPER;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Gives up the leaves of a sealed {@link ActiveTree} range by range, as their entries go to disk.
 *
 * <p>Inner nodes keep pointing to leaves given up: no reader looks for their keys any more, and one
 * who began before stays within his epoch. A leaf that reaches beyond a range is kept until the
 * whole tree goes.
 *
 * <p>Thread rule: guarded by the tree's structure lock.
 */
final class LeafRelease {
  private final PagePool pool;
  private final ActiveSearch search;
  private final KeyOrder order;
  private final Set<Integer> released = new HashSet<>();
  private byte[] key = new byte[64];

  LeafRelease(PagePool pool, ActiveSearch search, KeyOrder order) {
    this.pool = pool;
    this.search = search;
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
    int count = ActiveLayout.count(shape);
    if (ActiveLayout.level(shape) > 0) {
      int pages = release(memory.getInt(base + FIRST_CHILD), low, high);
      for (int i = 0; i < count; i++) {
        pages += release(memory.getInt(entry(memory, base, shape, i) + ENTRY_LINK), low, high);
      }
      return pages;
    }
    if ((low != null && compareFence(memory, base, LOWER, low) <= 0)
        || (high != null && compareFence(memory, base, UPPER, high) > 0)) {
      return 0;
    }
    released.add(page);
    return NodeWalk.retireLeaf(pool, page);
  }

  /** Compares a fence's key; a fence that is not there lies beyond all keys on its side. */
  private int compareFence(Memory memory, int base, int field, byte[] bound) {
    int fence = search.fence(memory, base, field);
    if (fence < 0) {
      return field == LOWER ? -1 : 1;
    }
    int length = search.keyLength(memory, base, fence);
    key = key.length >= length ? key : new byte[length];
    memory.get(fence + ENTRY_KEY, key, 0, length);
    return order.compare(key, 0, length, bound, 0, bound.length);
  }

  private static int entry(Memory memory, int base, long shape, int slot) {
    return ActiveEdit.entry(memory, base, ActiveLayout.capacity(shape), slot);
  }
}
