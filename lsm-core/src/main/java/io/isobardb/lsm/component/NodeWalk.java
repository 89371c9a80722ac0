package io.isobardb.lsm.component;

import static io.isobardb.lsm.component.ActiveNodes.ENTRY_KEY;
import static io.isobardb.lsm.component.ActiveNodes.ENTRY_LINK;
import static io.isobardb.lsm.component.ActiveNodes.FIRST_CHILD;
import static io.isobardb.lsm.component.ActiveNodes.SHAPE;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.util.stream.IntStream;

/** Visits to all nodes of an {@link ActiveTree}. One walk serves one call. */
final class NodeWalk {
  private final ActiveTree tree;
  private final PagePool pool;
  private byte[] key = new byte[64];

  NodeWalk(ActiveTree tree) {
    this.tree = tree;
    this.pool = tree.pool;
  }

  /** Adds the keys of all leaves to a filter. The structure lock is held; leaves are latched. */
  void addKeys(int page, ActiveFilter filter) {
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    long shape = memory.getLong(base + SHAPE);
    if (ActiveNodes.level(shape) > 0) {
      addKeys(memory.getInt(base + FIRST_CHILD), filter);
      for (int i = 0; i < ActiveNodes.count(shape); i++) {
        addKeys(memory.getInt(entry(memory, base, shape, i) + ENTRY_LINK), filter);
      }
      return;
    }
    int version = ActiveNodes.lock(memory, base);
    try {
      shape = memory.getLong(base + SHAPE);
      for (int i = 0; i < ActiveNodes.count(shape); i++) {
        int entry = entry(memory, base, shape, i);
        int length = ActiveNodes.keyLength(memory, entry);
        key = key.length >= length ? key : new byte[2 * length];
        memory.get(entry + ENTRY_KEY, key, 0, length);
        filter.add(KeyHash.hash(key, 0, length));
      }
    } finally {
      ActiveNodes.unlock(memory, base, version);
    }
  }

  /** Retires all nodes and chains below and at a page. Nobody writes; readers may still read. */
  void retire(int page) {
    if (page == PagePool.NONE || tree.isReleased(page)) {
      return;
    }
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    long shape = memory.getLong(base + SHAPE);
    if (ActiveNodes.level(shape) == 0) {
      retireLeaf(pool, page);
      return;
    }
    retire(memory.getInt(base + FIRST_CHILD));
    for (int i = 0; i < ActiveNodes.count(shape); i++) {
      retire(memory.getInt(entry(memory, base, shape, i) + ENTRY_LINK));
    }
    pool.retire(page, Purpose.WRITE);
  }

  /** Retires a leaf and its chains; gives the number of pages. */
  static int retireLeaf(PagePool pool, int page) {
    int pages = walkLeaf(pool, page, true);
    pool.retire(page, Purpose.WRITE);
    return pages;
  }

  /** How many pages a leaf and its chains are. */
  static int leafPages(PagePool pool, int page) {
    return walkLeaf(pool, page, false);
  }

  /** Counts the pages of a leaf and its chains, and retires the chains if it is told to. */
  private static int walkLeaf(PagePool pool, int page, boolean retiring) {
    int pages = 1;
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    long shape = memory.getLong(base + SHAPE);
    for (int i = 0; i < ActiveNodes.count(shape); i++) {
      int entry = entry(memory, base, shape, i);
      if (Kind.isOverflow(ActiveNodes.kind(memory, entry))) {
        int at = entry + ENTRY_KEY + ActiveNodes.keyLength(memory, entry);
        pages +=
            retiring
                ? OverflowChain.retire(pool, memory.getInt(at))
                : OverflowChain.pageCount(pool, memory.getInt(at + 4));
      }
    }
    return pages;
  }

  /** Retires the inner nodes below and at a page. Nobody writes; readers may still read. */
  void retireInner(int page) {
    if (page == PagePool.NONE || tree.isReleased(page)) {
      return;
    }
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    long shape = memory.getLong(base + SHAPE);
    if (ActiveNodes.level(shape) > 1) {
      retireInner(memory.getInt(base + FIRST_CHILD));
      for (int i = 0; i < ActiveNodes.count(shape); i++) {
        retireInner(memory.getInt(entry(memory, base, shape, i) + ENTRY_LINK));
      }
    }
    // Leaves below are not looked at: they are somebody else's.
    if (ActiveNodes.level(shape) > 0) {
      pool.retire(page, Purpose.WRITE);
    }
  }

  /** The leaves below and at a page that were not given up, in the order of keys. */
  int[] leaves(int page) {
    IntStream.Builder leaves = IntStream.builder();
    addLeaves(page, leaves);
    return leaves.build().toArray();
  }

  private void addLeaves(int page, IntStream.Builder leaves) {
    if (page == PagePool.NONE || tree.isReleased(page)) {
      return;
    }
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    long shape = memory.getLong(base + SHAPE);
    if (ActiveNodes.level(shape) == 0) {
      leaves.add(page);
      return;
    }
    addLeaves(memory.getInt(base + FIRST_CHILD), leaves);
    for (int i = 0; i < ActiveNodes.count(shape); i++) {
      addLeaves(memory.getInt(entry(memory, base, shape, i) + ENTRY_LINK), leaves);
    }
  }

  private static int entry(Memory memory, int base, long shape, int slot) {
    return ActiveNodes.entryAt(memory, base, ActiveNodes.capacity(shape), slot);
  }
}
