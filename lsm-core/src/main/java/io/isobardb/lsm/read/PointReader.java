package io.isobardb.lsm.read;

import static java.util.Objects.requireNonNull;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.component.Sealed;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.lsm.sstable.PageReader;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.cache.EntryCache;
import io.isobardb.memory.cache.NoFrameException;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.PagePool;
import java.nio.ByteBuffer;

/**
 * Looks up single keys.
 *
 * <p>A lookup runs within an epoch: it takes the tree's state as it is, walks its components from
 * the newest to the oldest, and copies the value out. If a page is not in memory it leaves the
 * epoch, loads the page, which stays pinned, and starts over. It allocates nothing unless it has to
 * load.
 *
 * <p>The state is taken before the visible LSN: what is sealed in the state was visible then, so
 * its newest versions are all that matters.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class PointReader {
  /** There is no such key. */
  public static final int NOT_FOUND = -1;

  /** To read what is visible now. */
  public static final long LATEST = Long.MAX_VALUE;

  private static final int DELETED = ActiveTree.DELETED;
  private static final int RETRY = ActiveTree.RETRY;

  /** One lookup in so many speaks for all. */
  private static final int SAMPLE = 64;

  /** A page was not in memory. */
  private static final int MISS = -4;

  /** The value lies in overflow pages on disk. */
  private static final int OVERFLOW = -5;

  private final Engine engine;
  private final PagePool pool;
  private final Epochs epochs;
  private final EntryCache entries;

  public PointReader(Engine engine) {
    this.engine = engine;
    this.pool = engine.catalog().space().pool();
    this.epochs = pool.epochs();
    this.entries = engine.catalog().space().cache().entries();
  }

  /**
   * Copies a value into {@code target} at its position, which does not move.
   *
   * @param lsn what to read at, registered as a snapshot, or {@link #LATEST}
   * @return the value's length, or {@link #NOT_FOUND}; nothing was copied if it is larger than what
   *     remains in {@code target}
   */
  public int get(TreeHandle tree, byte[] key, int offset, int length, long lsn, ByteBuffer target) {
    long hash = KeyHash.hash(key, offset, length);
    int slot = epochs.enter();
    int found;
    try {
      found = lookup(tree, key, offset, length, hash, lsn, target);
      if ((epochs.count(slot, 1) & SAMPLE - 1) == 0) {
        tree.readLoss().gets(SAMPLE, tree.states().current().mergeableRuns());
      }
    } finally {
      epochs.exit(slot);
    }
    return found >= NOT_FOUND ? found : slowly(tree, key, offset, length, hash, lsn, target);
  }

  private int lookup(
      TreeHandle tree, byte[] key, int offset, int length, long hash, long lsn, ByteBuffer target) {
    int found;
    do {
      tree.checkOpen();
      TreeState state = tree.states().current();
      long at = lsn == LATEST ? engine.log().visible() : lsn;
      found = lookup(state, key, offset, length, hash, at, target);
    } while (found == RETRY);
    return found == DELETED ? NOT_FOUND : found;
  }

  private int lookup(
      TreeState state, byte[] key, int offset, int length, long hash, long lsn, ByteBuffer target) {
    ActiveTree active = requireNonNull(state.active().tree());
    int found = active.getInto(key, offset, length, hash, lsn, target);
    if (found != ActiveTree.ABSENT) {
      return found;
    }
    for (int i = 0; i < state.runCount(); i++) {
      Table table = state.run(i).find(key, offset, length);
      if (table == null) {
        continue;
      }
      Sealed sealed = table.sealed();
      found =
          sealed != null
              ? sealed.getInto(key, offset, length, hash, lsn, target)
              : read(requireNonNull(table.sstable()), key, offset, length, hash, lsn, target);
      if (found != ActiveTree.ABSENT) {
        return found;
      }
    }
    return NOT_FOUND;
  }

  private int read(
      SSTable table, byte[] key, int offset, int length, long hash, long lsn, ByteBuffer target) {
    int maybe = table.mayContain(hash);
    if (maybe != SSTable.MAYBE) {
      return maybe == SSTable.ABSENT ? ActiveTree.ABSENT : MISS;
    }
    if (!entries.isEmpty() && !table.isInMemory()) {
      int cached = entries.get(table.fileNumber(), key, offset, length, hash, lsn, target);
      if (cached != EntryCache.ABSENT) {
        return cached;
      }
    }
    long location = table.search(key, offset, length, lsn);
    if (location < 0) {
      return location == SSTable.ABSENT ? ActiveTree.ABSENT : MISS;
    }
    return copy(SSTable.pageOf(location), SSTable.entryOf(location), target);
  }

  private int copy(int page, int entry, ByteBuffer target) {
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    int kind = PageReader.kind(memory, base, entry);
    if (kind == Kind.DELETE) {
      return DELETED;
    }
    if (kind == Kind.PUT_OVERFLOW) {
      return OVERFLOW;
    }
    int valueLength = PageReader.valueLength(memory, base, entry);
    if (valueLength <= target.remaining()) {
      int from = base + PageReader.valueOffset(memory, base, entry);
      memory.get(from, target, target.position(), valueLength);
    }
    return valueLength;
  }

  /**
   * The lookup again, loading what it misses. It holds the state, and never more than one page: so
   * lookups that wait for a frame keep none from each other.
   */
  private int slowly(
      TreeHandle tree, byte[] key, int offset, int length, long hash, long lsn, ByteBuffer target) {
    int operation = engine.operations().enter();
    try {
      int found;
      do {
        tree.checkOpen();
        TreeState state = tree.states().acquire();
        try {
          long at = lsn == LATEST ? engine.log().visible() : lsn;
          found = load(tree, state, key, offset, length, hash, at, target);
        } finally {
          tree.states().release(state);
        }
      } while (found == RETRY);
      return found == DELETED ? NOT_FOUND : found;
    } finally {
      engine.operations().exit(operation);
    }
  }

  private int load(
      TreeHandle tree,
      TreeState state,
      byte[] key,
      int offset,
      int length,
      long hash,
      long lsn,
      ByteBuffer target) {
    ActiveTree active = requireNonNull(state.active().tree());
    int found = load(active, key, offset, length, hash, lsn, target);
    int i = 0;
    for (; i < state.runCount() && found == ActiveTree.ABSENT; i++) {
      Table table = state.run(i).find(key, offset, length);
      if (table != null) {
        Sealed sealed = table.sealed();
        found =
            sealed != null
                ? load(sealed, key, offset, length, hash, lsn, target)
                : load(requireNonNull(table.sstable()), key, offset, length, hash, lsn, target);
      }
    }
    if (found != ActiveTree.ABSENT && state.isInL0(i - 1)) {
      tree.work().foundInL0(state.version().l0Bytes());
    }
    return found == ActiveTree.ABSENT ? NOT_FOUND : found;
  }

  private int load(
      Sealed tree, byte[] key, int offset, int length, long hash, long lsn, ByteBuffer target) {
    int slot = epochs.enter();
    try {
      return tree.getInto(key, offset, length, hash, lsn, target);
    } finally {
      epochs.exit(slot);
    }
  }

  private int load(
      SSTable table, byte[] key, int offset, int length, long hash, long lsn, ByteBuffer target) {
    while (true) {
      try {
        long location = table.locatePinned(key, offset, length, hash, lsn);
        if (location == SSTable.ABSENT) {
          return ActiveTree.ABSENT;
        }
        int entry = SSTable.entryOf(location);
        int found;
        int firstPage = 0;
        int slot = epochs.enter();
        try {
          int page = table.page(SSTable.pageOf(location));
          found = copy(page, entry, target);
          if (found >= 0 && lsn >= table.meta().maxLsn()) {
            // What was worth a read from disk, and is the newest the file has.
            Memory memory = pool.memory(page);
            int base = pool.base(page);
            int value = base + PageReader.valueOffset(memory, base, entry);
            entries.put(
                table.fileNumber(),
                key,
                offset,
                length,
                hash,
                new EntryCache.Value(memory, value, found, PageReader.lsn(memory, base, entry)));
          }
          if (found == OVERFLOW) {
            firstPage = PageReader.overflowPage(pool.memory(page), pool.base(page), entry);
            found = PageReader.overflowLength(pool.memory(page), pool.base(page), entry);
          }
        } finally {
          epochs.exit(slot);
          table.unpin(SSTable.pageOf(location));
        }
        if (firstPage > 0 && found <= target.remaining()) {
          table.copyOverflow(firstPage, 0, target, target.position(), found, Access.QUERY);
        }
        return found;
      } catch (NoFrameException e) {
        // A read does not fail for want of memory; while it waits, it keeps none from others.
        Thread.yield();
      }
    }
  }
}
