package io.isobardb.lsm.read;

import static java.util.Objects.requireNonNull;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.lsm.sstable.PageReader;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.PagePool;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

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

  /** A page was not in memory. */
  private static final int MISS = -4;

  /** The value lies in overflow pages on disk. */
  private static final int OVERFLOW = -5;

  private final Engine engine;
  private final PagePool pool;
  private final Epochs epochs;

  public PointReader(Engine engine) {
    this.engine = engine;
    this.pool = engine.catalog().space().pool();
    this.epochs = pool.epochs();
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
      ActiveTree sealed = table.tree();
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
    long location = table.locate(key, offset, length, hash, lsn);
    if (location < 0) {
      return location == SSTable.ABSENT ? ActiveTree.ABSENT : MISS;
    }
    int page = SSTable.pageOf(location);
    int entry = SSTable.entryOf(location);
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

  /** A page that a lookup pinned. */
  private record Pin(SSTable table, int pageNo) {}

  /** The lookup again, loading what it misses. */
  private int slowly(
      TreeHandle tree, byte[] key, int offset, int length, long hash, long lsn, ByteBuffer target) {
    Deque<Pin> pins = new ArrayDeque<>();
    int operation = engine.operations().enter();
    try {
      while (true) {
        Missing missing = new Missing();
        int found;
        int slot = epochs.enter();
        try {
          found = lookup(tree, key, offset, length, hash, lsn, target);
          if (found >= NOT_FOUND) {
            return found;
          }
          missing.find(tree, key, offset, length, hash, lsn);
        } finally {
          epochs.exit(slot);
        }
        SSTable table = missing.table;
        if (table == null) {
          continue;
        }
        if (missing.pageNo >= 0) {
          table.loadPage(missing.pageNo, Access.QUERY);
          pins.push(new Pin(table, missing.pageNo));
          continue;
        }
        try {
          int valueLength = missing.overflowLength;
          if (valueLength <= target.remaining()) {
            table.copyOverflow(
                missing.overflowPage, 0, target, target.position(), valueLength, Access.QUERY);
          }
          return valueLength;
        } finally {
          table.release();
        }
      }
    } finally {
      for (Pin pin : pins) {
        pin.table().unpin(pin.pageNo());
        pin.table().release();
      }
      engine.operations().exit(operation);
    }
  }

  /** What kept a lookup from finishing; found by walking its way again, within an epoch. */
  private final class Missing {
    private @Nullable SSTable table;
    private int pageNo = -1;
    private int overflowPage;
    private int overflowLength;

    /** Finds the SSTable and retains it; finds nothing if meanwhile the lookup would go through. */
    void find(TreeHandle tree, byte[] key, int offset, int length, long hash, long lsn) {
      TreeState state = tree.states().current();
      long at = lsn == LATEST ? engine.log().visible() : lsn;
      for (int i = 0; i < state.runCount(); i++) {
        Table candidate = state.run(i).find(key, offset, length);
        SSTable sstable = candidate == null ? null : candidate.sstable();
        if (sstable == null) {
          continue;
        }
        long location = sstable.locate(key, offset, length, hash, at);
        if (location == SSTable.ABSENT) {
          continue;
        }
        if (!sstable.tryRetain()) {
          return;
        }
        if (location < 0) {
          pageNo = SSTable.missedPage(location);
          table = sstable;
          return;
        }
        int page = SSTable.pageOf(location);
        int entry = SSTable.entryOf(location);
        Memory memory = pool.memory(page);
        int base = pool.base(page);
        if (PageReader.kind(memory, base, entry) == Kind.PUT_OVERFLOW) {
          overflowPage = PageReader.overflowPage(memory, base, entry);
          overflowLength = PageReader.overflowLength(memory, base, entry);
          table = sstable;
        } else {
          sstable.release();
        }
        return;
      }
    }
  }
}
