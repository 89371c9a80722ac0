package io.isobardb.lsm.component;

import static io.isobardb.lsm.component.ActiveNodes.ENTRY_KEY;
import static io.isobardb.lsm.component.ActiveNodes.ENTRY_LINK;
import static io.isobardb.lsm.component.ActiveNodes.FIRST_CHILD;
import static io.isobardb.lsm.component.ActiveNodes.HEADS;
import static io.isobardb.lsm.component.ActiveNodes.LOWER;
import static io.isobardb.lsm.component.ActiveNodes.NEWEST;
import static io.isobardb.lsm.component.ActiveNodes.PRUNED;
import static io.isobardb.lsm.component.ActiveNodes.SHAPE;
import static io.isobardb.lsm.component.ActiveNodes.SLOT_BYTES;
import static io.isobardb.lsm.component.ActiveNodes.UPPER;
import static io.isobardb.lsm.component.ActiveNodes.VERSION;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.util.Arrays;

/**
 * Splits nodes of {@link ActiveTree}, one at a time.
 *
 * <p>A split makes two nodes of one and puts nothing else in: the writer tries its insertion again.
 * If a parent has no room for the separator, the parent is split instead, and the writer comes back
 * for the leaf. So a split is one step that needs at most three pages, taken before anything is
 * changed.
 *
 * <p>Thread rule: the tree's structure lock is held. Inner nodes change under that lock only, so
 * they are read here without version checks; they are latched while they change, for the sake of
 * readers.
 *
 * <p>Separators: between different keys the shortest key that divides them (for an order that is
 * not that of the bytes: the shorter of the two), between versions of one key the right one's key
 * and LSN. Hence a separator takes no more room than the entry on either side of it, and both
 * halves have room for it as a fence.
 */
final class ActiveSplit {
  private static final int MAX_HEIGHT = 64;

  private final PagePool pool;
  private final ActiveNodes nodes;
  private final boolean bytes;
  private final int pageSize;

  private final int[] path = new int[MAX_HEIGHT];
  private byte[] leftKey = new byte[64];
  private byte[] rightKey = new byte[64];

  // The separator chosen last, and the slot before which the node is cut.
  private byte[] separator = new byte[64];
  private int separatorLength;
  private long separatorLsn;
  private int cut;
  // Where the separator goes in the parent.
  private int parentSlot;

  ActiveSplit(PagePool pool, ActiveNodes nodes, boolean bytes) {
    this.pool = pool;
    this.nodes = nodes;
    this.bytes = bytes;
    this.pageSize = pool.pageSize();
  }

  /**
   * Splits the leaf {@code failed}, or an ancestor of it, unless the leaf has changed since {@code
   * version} or no longer holds what is written.
   *
   * @return pages added
   * @throws OutOfBudgetException if there are no pages; nothing has changed then
   */
  int split(ActiveTree tree, int failed, int version, Write write) {
    int depth = descend(tree.root(), write);
    if (path[depth] != failed) {
      return 0;
    }
    Memory leaf = pool.memory(failed);
    int leafBase = pool.base(failed);
    int now = ActiveNodes.lock(leaf, leafBase);
    try {
      if (now != version) {
        return 0;
      }
      chooseLeafCut(leaf, leafBase, now + 1, write);
      while (depth > 0 && !parentHasRoom(depth)) {
        depth--;
        chooseInnerCut(pool.memory(path[depth]), pool.base(path[depth]));
      }
      if (depth > 0) {
        parentSlot = slotFor(path[depth - 1]);
      }
      return divide(tree, depth);
    } finally {
      ActiveNodes.unlock(leaf, leafBase, now);
    }
  }

  private int descend(int root, Write write) {
    int depth = 0;
    int page = root;
    for (; ; ) {
      path[depth] = page;
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      long shape = memory.getLong(base + SHAPE);
      if (ActiveNodes.level(shape) == 0) {
        return depth;
      }
      int version = memory.getIntAcquire(base + VERSION);
      page =
          nodes.child(
              memory,
              base,
              shape,
              version,
              write.key,
              write.keyOffset,
              write.keyLength,
              write.lsn,
              false);
      depth++;
    }
  }

  private boolean parentHasRoom(int depth) {
    int parent = path[depth - 1];
    return nodes.room(pool.memory(parent), pool.base(parent))
        >= ActiveNodes.entryBytes(separatorLength, 0) + SLOT_BYTES;
  }

  private void chooseLeafCut(Memory memory, int base, int version, Write write) {
    long shape = memory.getLong(base + SHAPE);
    int count = ActiveNodes.count(shape);
    int position = nodes.lowerBound(memory, base, version, write);
    int pos = ActiveNodes.slot(position);
    if (count == 1) {
      if (ActiveNodes.sameKey(position)
          && ActiveNodes.lsn(memory, nodes.entry(memory, base, shape, 0)) == write.lsn) {
        // It replaces the only entry, and wants no split but a page to compact with.
        throw outOfBudget();
      }
      separate(memory, base, shape, pos, write);
      return;
    }
    if (pos == count && memory.getUnsignedShort(base + UPPER) == 0) {
      // Keys ascend: leave this leaf full, and let the next one start empty.
      separate(memory, base, shape, count, write);
      if (nodes.room(memory, base) < ActiveNodes.entryBytes(separatorLength, 0)) {
        separate(memory, base, shape, count - 1, write);
      }
      return;
    }
    int middle = middle(memory, base, shape, pos, write.entryBytes());
    separate(memory, base, shape, middle, write);
  }

  /** The cut, at least 1 and less than the count, that halves the bytes, the new entry's too. */
  private int middle(Memory memory, int base, long shape, int pos, int entryBytes) {
    int count = ActiveNodes.count(shape);
    int capacity = ActiveNodes.capacity(shape);
    int total = entryBytes;
    for (int i = 0; i < count; i++) {
      total += ActiveNodes.entryBytes(memory, ActiveNodes.entryAt(memory, base, capacity, i));
    }
    int left = 0;
    int cut = 0;
    while (cut < count && left + (pos < cut ? entryBytes : 0) < total / 2) {
      left += ActiveNodes.entryBytes(memory, ActiveNodes.entryAt(memory, base, capacity, cut));
      cut++;
    }
    cut = Math.max(1, Math.min(cut, count - 1));
    for (int away = 0; away < count; away++) {
      if (cut - away > 0 && !nodes.sameKeys(memory, base, cut - away)) {
        return cut - away;
      }
      if (cut + away < count && !nodes.sameKeys(memory, base, cut + away)) {
        return cut + away;
      }
    }
    return cut;
  }

  /**
   * Cuts before slot {@code at}, where 0 and the count stand for a cut between the new entry and
   * all others.
   */
  private void separate(Memory memory, int base, long shape, int at, Write write) {
    int capacity = ActiveNodes.capacity(shape);
    int count = ActiveNodes.count(shape);
    int leftLength;
    if (at == 0) {
      leftLength = write.keyLength;
      leftKey = fitting(leftKey, leftLength);
      System.arraycopy(write.key, write.keyOffset, leftKey, 0, leftLength);
    } else {
      int entry = ActiveNodes.entryAt(memory, base, capacity, at - 1);
      leftLength = ActiveNodes.keyLength(memory, entry);
      leftKey = fitting(leftKey, leftLength);
      memory.get(entry + ENTRY_KEY, leftKey, 0, leftLength);
    }
    int rightLength;
    long rightLsn;
    if (at == count) {
      rightLength = write.keyLength;
      rightKey = fitting(rightKey, rightLength);
      System.arraycopy(write.key, write.keyOffset, rightKey, 0, rightLength);
      rightLsn = write.lsn;
    } else {
      int entry = ActiveNodes.entryAt(memory, base, capacity, at);
      rightLength = ActiveNodes.keyLength(memory, entry);
      rightKey = fitting(rightKey, rightLength);
      memory.get(entry + ENTRY_KEY, rightKey, 0, rightLength);
      rightLsn = ActiveNodes.lsn(memory, entry);
    }
    cut = at;
    int common = Arrays.mismatch(leftKey, 0, leftLength, rightKey, 0, rightLength);
    if (common < 0) {
      setSeparator(rightKey, rightLength, rightLsn);
    } else if (bytes) {
      setSeparator(rightKey, common + 1, NEWEST);
    } else if (leftLength < rightLength) {
      // Behind all versions of the left key.
      setSeparator(leftKey, leftLength, 0);
    } else {
      setSeparator(rightKey, rightLength, NEWEST);
    }
  }

  private static byte[] fitting(byte[] array, int length) {
    return array.length >= length ? array : new byte[Math.max(length, 2 * array.length)];
  }

  private void setSeparator(byte[] key, int length, long lsn) {
    separator = fitting(separator, length);
    System.arraycopy(key, 0, separator, 0, length);
    separatorLength = length;
    separatorLsn = lsn;
  }

  private void chooseInnerCut(Memory memory, int base) {
    long shape = memory.getLong(base + SHAPE);
    int count = ActiveNodes.count(shape);
    cut = memory.getUnsignedShort(base + UPPER) == 0 ? count - 1 : count / 2;
    int entry = ActiveNodes.entryAt(memory, base, ActiveNodes.capacity(shape), cut);
    int length = ActiveNodes.keyLength(memory, entry);
    separator = fitting(separator, length);
    memory.get(entry + ENTRY_KEY, separator, 0, length);
    separatorLength = length;
    separatorLsn = ActiveNodes.lsn(memory, entry);
  }

  /** Carries out the chosen cut on the node at {@code depth}; a leaf is latched already. */
  private int divide(ActiveTree tree, int depth) {
    int right = pool.allocateUrgent(Purpose.WRITE);
    int scratch = pool.allocateUrgent(Purpose.WRITE);
    int root = depth == 0 ? pool.allocateUrgent(Purpose.WRITE) : PagePool.NONE;
    if (right == PagePool.NONE || scratch == PagePool.NONE || depth == 0 && root == PagePool.NONE) {
      releaseAll(right, scratch, root);
      throw outOfBudget();
    }
    int node = path[depth];
    Memory memory = pool.memory(node);
    int base = pool.base(node);
    boolean inner = ActiveNodes.level(memory.getLong(base + SHAPE)) > 0;
    pool.memory(right).putInt(pool.base(right) + VERSION, 0);
    buildLeft(memory, base, pool.memory(scratch), pool.base(scratch));
    buildRight(memory, base, pool.memory(right), pool.base(right));
    int version = inner ? ActiveNodes.lock(memory, base) : 0;
    nodes.replaceContents(pool.memory(scratch), pool.base(scratch), memory, base);
    if (depth == 0) {
      plantRoot(root, node, memory, base);
      addSeparator(root, 0, right);
      // Before the old root is unlatched: a reader that finds it readable again must see that it is
      // not the root.
      tree.setRoot(root);
    } else {
      int parent = path[depth - 1];
      Memory parentMemory = pool.memory(parent);
      int parentVersion = ActiveNodes.lock(parentMemory, pool.base(parent));
      addSeparator(parent, parentSlot, right);
      ActiveNodes.unlock(parentMemory, pool.base(parent), parentVersion);
    }
    if (inner) {
      ActiveNodes.unlock(memory, base, version);
    }
    pool.release(scratch, Purpose.WRITE);
    return depth == 0 ? 2 : 1;
  }

  private OutOfBudgetException outOfBudget() {
    return pool.outOfBudget("no page left for the active SSTable");
  }

  private void releaseAll(int... pages) {
    for (int page : pages) {
      if (page != PagePool.NONE) {
        pool.release(page, Purpose.WRITE);
      }
    }
  }

  private void buildLeft(Memory source, int sourceBase, Memory target, int base) {
    long shape = source.getLong(sourceBase + SHAPE);
    int fence = nodes.fence(source, sourceBase, LOWER);
    int prefix = fence < 0 ? 0 : commonWithSeparator(source, fence);
    int level = ActiveNodes.level(shape);
    nodes.format(target, base, level, (shape & PRUNED) != 0, cut, prefix);
    nodes.copyFence(source, sourceBase, target, base, LOWER);
    putSeparatorAsFence(target, base, UPPER);
    nodes.append(source, sourceBase, 0, cut, target, base);
    target.putInt(base + FIRST_CHILD, source.getInt(sourceBase + FIRST_CHILD));
  }

  private void buildRight(Memory source, int sourceBase, Memory target, int base) {
    long shape = source.getLong(sourceBase + SHAPE);
    int count = ActiveNodes.count(shape);
    int level = ActiveNodes.level(shape);
    int fence = nodes.fence(source, sourceBase, UPPER);
    int prefix = fence < 0 ? 0 : commonWithSeparator(source, fence);
    // An inner node's entry at the cut moves up: its child comes first in the right node.
    int from = level == 0 ? cut : cut + 1;
    nodes.format(target, base, level, (shape & PRUNED) != 0, count - from, prefix);
    putSeparatorAsFence(target, base, LOWER);
    nodes.copyFence(source, sourceBase, target, base, UPPER);
    nodes.append(source, sourceBase, from, count, target, base);
    if (level > 0) {
      int entry = ActiveNodes.entryAt(source, sourceBase, ActiveNodes.capacity(shape), cut);
      target.putInt(base + FIRST_CHILD, source.getInt(entry + ENTRY_LINK));
    }
  }

  private int commonWithSeparator(Memory memory, int fence) {
    if (!bytes) {
      return 0;
    }
    int common = Math.min(ActiveNodes.keyLength(memory, fence), separatorLength);
    int i = 0;
    while (i < common && memory.getByte(fence + ENTRY_KEY + i) == separator[i]) {
      i++;
    }
    return i;
  }

  private void putSeparatorAsFence(Memory memory, int base, int field) {
    int offset = nodes.take(memory, base, ActiveNodes.entryBytes(separatorLength, 0));
    writeSeparator(memory, base + offset, 0);
    memory.putShort(base + field, offset);
  }

  private void writeSeparator(Memory memory, int entry, int child) {
    long tag = ActiveNodes.tag(separatorLsn, Kind.CHILD);
    ActiveNodes.writeEntry(memory, entry, separator, 0, separatorLength, 0, child, tag);
  }

  /**
   * Where the separator belongs in an inner node; asks the caller's order, so before any change.
   */
  private int slotFor(int page) {
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    long shape = memory.getLong(base + SHAPE);
    int version = memory.getIntAcquire(base + VERSION);
    return ActiveNodes.slot(
        nodes.lowerBound(
            memory, base, shape, version, separator, 0, separatorLength, separatorLsn));
  }

  private void plantRoot(int root, int child, Memory childMemory, int childBase) {
    Memory memory = pool.memory(root);
    int base = pool.base(root);
    int level = ActiveNodes.level(childMemory.getLong(childBase + SHAPE)) + 1;
    int capacity = Math.min(16, (pageSize - HEADS) / 2 / SLOT_BYTES);
    memory.putInt(base + VERSION, 0);
    nodes.format(memory, base, level, false, capacity, 0);
    memory.putInt(base + FIRST_CHILD, child);
  }

  /** Puts the separator into an inner node that has room for it. */
  private void addSeparator(int parent, int slot, int right) {
    Memory memory = pool.memory(parent);
    int base = pool.base(parent);
    int size = ActiveNodes.entryBytes(separatorLength, 0);
    if (!nodes.makeRoom(memory, base, size, 1)) {
      throw new IllegalStateException("a separator does not fit where room was found");
    }
    int offset = nodes.take(memory, base, size);
    writeSeparator(memory, base + offset, right);
    int prefix = ActiveNodes.prefix(memory.getLong(base + SHAPE));
    int head = nodes.head(separator, 0, separatorLength, prefix);
    nodes.insertSlot(memory, base, slot, head, offset);
  }
}
