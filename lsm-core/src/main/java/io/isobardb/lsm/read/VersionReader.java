package io.isobardb.lsm.read;

import static java.util.Objects.requireNonNull;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.component.Sealed;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.MergingCursor;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.lsm.sstable.PageReader;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.RunCursor;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether keys have changed since an LSN that is registered as a snapshot. SSTables without
 * anything newer are passed over by their highest LSN, so that this seldom reads from disk.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class VersionReader {
  private static final int MAX_ATTEMPTS = 1000;

  private final Engine engine;
  private final PagePool pool;
  private final Epochs epochs;

  public VersionReader(Engine engine) {
    this.engine = engine;
    this.pool = engine.catalog().space().pool();
    this.epochs = pool.epochs();
  }

  /** Where a range of keys ends. */
  public interface RangeEnd {
    /** Whether the range lies before the key that is the first {@code length} bytes. */
    boolean isBefore(byte[] key, int length);
  }

  /**
   * The LSN of a key's newest version, visible or not; anything up to {@code since} if it has none
   * newer than that.
   */
  public long newest(TreeHandle tree, byte[] key, long since) {
    int operation = engine.operations().enter();
    try {
      tree.checkOpen();
      return newestOfOpen(tree, key, since);
    } finally {
      engine.operations().exit(operation);
    }
  }

  private long newestOfOpen(TreeHandle tree, byte[] key, long since) {
    long hash = KeyHash.hash(key, 0, key.length);
    TreeState state = tree.states().acquire();
    try {
      long newest = newest(requireNonNull(state.active().tree()), key, hash);
      int recent = recentRuns(state, since);
      for (int i = 0; i < recent && newest < 0; i++) {
        Table table = state.run(i).find(key, 0, key.length);
        if (table == null) {
          continue;
        }
        Sealed sealed = table.sealed();
        if (sealed != null) {
          newest = newest(sealed, key, hash);
        } else if (requireNonNull(table.sstable()).meta().maxLsn() > since) {
          newest = newest(requireNonNull(table.sstable()), key, hash);
        }
      }
      return newest;
    } finally {
      tree.states().release(state);
    }
  }

  /**
   * How many of the first runs may hold anything newer than {@code since}: where an active SSTable
   * began before that, all that is behind it is older. Most transactions began after the last one
   * was sealed.
   */
  private static int recentRuns(TreeState state, long since) {
    Table active = state.active();
    for (int i = 0; i < state.runCount(); i++) {
      if (active.startLsn() <= since) {
        return i;
      }
      Table first = state.run(i).get(0);
      if (first.tree() == null) {
        break;
      }
      active = first;
    }
    return state.runCount();
  }

  private long newest(Sealed tree, byte[] key, long hash) {
    int slot = epochs.enter();
    try {
      return tree.newestLsn(key, 0, key.length, hash);
    } finally {
      epochs.exit(slot);
    }
  }

  private long newest(SSTable table, byte[] key, long hash) {
    while (true) {
      try {
        long location = table.locatePinned(key, 0, key.length, hash, Long.MAX_VALUE);
        if (location == SSTable.ABSENT) {
          return ActiveTree.ABSENT;
        }
        int slot = epochs.enter();
        try {
          int page = table.page(SSTable.pageOf(location));
          return PageReader.lsn(pool.memory(page), pool.base(page), SSTable.entryOf(location));
        } finally {
          epochs.exit(slot);
          table.unpin(SSTable.pageOf(location));
        }
      } catch (OutOfBudgetException e) {
        Thread.yield();
      }
    }
  }

  /**
   * The first key of a range that has a version newer than {@code since}, or null.
   *
   * @param low where the range begins; null for the first key
   */
  public byte @Nullable [] firstChanged(
      TreeHandle tree, byte @Nullable [] low, RangeEnd end, long since) {
    int operation = engine.operations().enter();
    try {
      tree.checkOpen();
      return firstChangedOfOpen(tree, low, end, since);
    } finally {
      engine.operations().exit(operation);
    }
  }

  private byte @Nullable [] firstChangedOfOpen(
      TreeHandle tree, byte @Nullable [] low, RangeEnd end, long since) {
    for (int attempt = 1; ; attempt++) {
      TreeState state = tree.states().acquire();
      try (MergingCursor cursor = recent(tree, state, since)) {
        boolean more =
            low == null ? cursor.first() : cursor.seek(low, 0, low.length, Long.MAX_VALUE);
        for (; more; more = cursor.next()) {
          LeafCursor entry = cursor.leaf();
          if (end.isBefore(entry.key(), entry.keyLength())) {
            return null;
          }
          if (entry.lsn() > since) {
            return Arrays.copyOf(entry.key(), entry.keyLength());
          }
        }
        return null;
      } catch (OutOfBudgetException e) {
        if (attempt == MAX_ATTEMPTS) {
          throw e;
        }
        tree.checkOpen();
        Thread.yield();
      } finally {
        tree.states().release(state);
      }
    }
  }

  /** A cursor over the runs that hold anything newer than {@code since}. */
  private MergingCursor recent(TreeHandle tree, TreeState state, long since) {
    List<EntryCursor> sources = new ArrayList<>();
    sources.add(engine.queryCursor(state.active()));
    int recent = recentRuns(state, since);
    for (int i = 0; i < recent; i++) {
      Run run = state.run(i);
      if (run.tables().stream().anyMatch(table -> mayBeNewer(table, since))) {
        sources.add(new RunCursor(tree.order(), run, engine::queryCursor));
      }
    }
    return new MergingCursor(tree.order(), sources.toArray(new EntryCursor[0]));
  }

  private static boolean mayBeNewer(Table table, long since) {
    SSTable sstable = table.sstable();
    return sstable == null || sstable.meta().maxLsn() > since;
  }
}
