package io.isobardb.lsm.read;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.component.WrittenEntries;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.entry.MergingCursor;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.range.Coverage;
import io.isobardb.lsm.range.RangeDeletes;
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
import io.isobardb.memory.pool.PerThread;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether keys have changed since an LSN that is registered as a snapshot. SSTables without
 * anything newer are passed over by their highest LSN, so that this seldom reads from disk.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class VersionReader {
  private static final int UNCHANGED = 0;
  private static final int CHANGED = 1;

  private static final byte[] NO_KEY = {};
  private static final LongSupplier AT_ANY_TIME = () -> 0;

  private final Engine engine;
  private final PagePool pool;
  private final Epochs epochs;
  private final Lookup lookup;
  private final PerThread<Probe> probes = new PerThread<>(() -> new Probe(0));

  public VersionReader(Engine engine) {
    this.engine = engine;
    this.pool = engine.catalog().space().pool();
    this.epochs = pool.epochs();
    this.lookup = new NewestLookup();
  }

  /** Where a range of keys ends. */
  public interface RangeEnd {
    /** Whether the range lies before the key that is the first {@code length} bytes. */
    boolean isBefore(byte[] key, int length);
  }

  /** Whether a key has a version newer than {@code since}, visible or not. */
  public boolean isChanged(TreeHandle tree, byte[] key, long since) {
    Probe probe = probes.take().of(KeyHash.hash(key, 0, key.length));
    int operation = engine.operations().enter();
    try {
      for (int attempt = 1; ; attempt++) {
        tree.checkOpen();
        TreeState state = tree.states().acquire();
        try {
          RangeDeletes deletes = state.ranges().list();
          if (deletes != null && deletes.covering(key, key.length, Lsn.MAX) > since) {
            return true;
          }
          long answer = lookup.findAndLoad(state, key, probe.at(since, AT_ANY_TIME));
          return Lookup.found(answer) == CHANGED;
        } catch (OutOfBudgetException e) {
          Lookup.backOff(e, attempt);
        } finally {
          tree.states().release(state);
        }
      }
    } finally {
      engine.operations().exit(operation);
      probe.give();
    }
  }

  private int compare(int page, int entry, long since) {
    return compare(PageReader.lsn(pool.memory(page), pool.base(page), entry), since);
  }

  private static int compare(long lsn, long since) {
    return lsn > since ? CHANGED : UNCHANGED;
  }

  /** Finds the newest version of a key where any may be newer than the LSN given. */
  private final class NewestLookup extends Lookup {
    NewestLookup() {
      super(pool.epochs());
    }

    @Override
    int runs(TreeState state, Probe since) {
      return state.runsSince(since.lsn());
    }

    @Override
    int ask(WrittenEntries entries, byte[] key, Probe since) {
      long lsn = entries.newestLsn(key, since.hash());
      return lsn == Probe.ABSENT ? Probe.ABSENT : compare(lsn, since.lsn());
    }

    @Override
    int ask(SSTable table, byte[] key, Probe since, boolean last) {
      if (table.meta().maxLsn() <= since.lsn()) {
        return Probe.ABSENT;
      }
      long maybe = table.mayContain(since.hash(), true);
      long location =
          maybe == SSTable.MAYBE ? table.search(key, since.hash(), Long.MAX_VALUE, true) : maybe;
      return location < 0
          ? (int) location
          : compare(SSTable.pageOf(location), SSTable.entryOf(location), since.lsn());
    }

    @Override
    int load(SSTable table, byte[] key, Probe since, int asked) {
      boolean filtered = table.missesFilter(asked);
      long location = table.locatePinned(key, since.hash(), Long.MAX_VALUE, filtered);
      if (location == SSTable.ABSENT) {
        return Probe.ABSENT;
      }
      int slot = epochs.enter();
      try {
        int page = table.page(SSTable.pageOf(location));
        return compare(page, SSTable.entryOf(location), since.lsn());
      } finally {
        epochs.exit(slot);
        table.unpin(SSTable.pageOf(location));
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
      return firstChangedOfOpen(tree, low, end, since);
    } finally {
      engine.operations().exit(operation);
    }
  }

  private byte @Nullable [] firstChangedOfOpen(
      TreeHandle tree, byte @Nullable [] low, RangeEnd end, long since) {
    for (int attempt = 1; ; attempt++) {
      tree.checkOpen();
      TreeState state = tree.states().acquire();
      try (MergingCursor cursor = recent(tree, state, since)) {
        byte[] deleted = firstDeleted(state.ranges().list(), low, end, since);
        if (deleted != null) {
          return deleted;
        }
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
        Lookup.backOff(e, attempt);
      } finally {
        tree.states().release(state);
      }
    }
  }

  /** Where in a range a range delete newer than {@code since} begins, or null. */
  private static byte @Nullable [] firstDeleted(
      @Nullable RangeDeletes deletes, byte @Nullable [] low, RangeEnd end, long since) {
    if (deletes == null) {
      return null;
    }
    Coverage.Segment first = deletes.newest().firstNewer(low, since);
    if (first == null) {
      return null;
    }
    byte[] start = first.low();
    if (start == null || start == low) {
      return low == null ? NO_KEY : low;
    }
    return end.isBefore(start, start.length) ? null : start;
  }

  /** A cursor over the runs that hold anything newer than {@code since}. */
  private MergingCursor recent(TreeHandle tree, TreeState state, long since) {
    List<EntryCursor> sources = new ArrayList<>();
    sources.add(engine.queryCursor(state.active()));
    int recent = state.runsSince(since);
    for (int i = 0; i < recent; i++) {
      Run run = state.run(i);
      if (run.tables().stream().anyMatch(table -> mayBeNewer(table, since))) {
        sources.add(new RunCursor(tree.order(), run, engine::queryCursor));
      }
    }
    return new MergingCursor(tree.order(), sources.toArray(new EntryCursor[0]));
  }

  private static boolean mayBeNewer(Table table, long since) {
    return !(table instanceof Table.Stored stored) || stored.content().meta().maxLsn() > since;
  }
}
