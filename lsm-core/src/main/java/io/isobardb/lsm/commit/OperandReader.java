package io.isobardb.lsm.commit;

import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.component.WrittenEntries;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.entry.Moment;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.operand.OperandChain;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads keys of trees with a merge operator whose newest version is an operand: goes through the
 * components, from the newest to the oldest, until a version needs nothing older.
 *
 * <p>Slower than a lookup, since it opens cursors: it takes the filters' word for which components
 * can be left out. Thread rule: all methods may be called by any thread, outside of epochs.
 */
public final class OperandReader {
  /** How often to try when there is no page: each time the cache waits for one. */
  private static final int MAX_ATTEMPTS = 1000;

  private final Engine engine;
  private final Epochs epochs;

  public OperandReader(Engine engine) {
    this.engine = engine;
    this.epochs = engine.catalog().space().pool().epochs();
  }

  /**
   * The value of a key, or null if there is none.
   *
   * @param at what to read at, registered as a snapshot
   * @throws io.isobardb.lsm.error.MergeException if the operator fails
   */
  public byte @Nullable [] read(TreeHandle tree, byte[] key, Moment at) {
    OperandChain chain = new OperandChain();
    TreeState state = tree.states().acquire();
    try {
      collect(state, key, at.lsn(), chain);
    } finally {
      tree.states().release(state);
    }
    if (chain.expiry() != Expiry.NEVER && Expiry.isOver(chain.expiry(), at.millis())) {
      return null;
    }
    return tree.fold(chain, key);
  }

  /**
   * Takes up all versions of a key that make up its value.
   *
   * @param state held by the caller
   * @param lsn what to read at: registered as a snapshot, or lower than all in the active SSTable
   * @return the active SSTable if the newest of the versions is in it, else null
   */
  public @Nullable ActiveTree collect(TreeState state, byte[] key, long lsn, OperandChain chain) {
    long hash = KeyHash.hash(key, 0, key.length);
    RangeDeletes deletes = state.ranges().list();
    long floor = deletes == null ? 0 : deletes.covering(key, key.length, lsn);
    for (int attempt = 1; ; attempt++) {
      try {
        chain.clear();
        return collectOnce(state, new Sought(key, hash, lsn, floor), chain);
      } catch (OutOfBudgetException e) {
        if (attempt == MAX_ATTEMPTS) {
          throw e;
        }
        Thread.yield();
      }
    }
  }

  /**
   * What is looked for.
   *
   * @param floor versions with lower LSNs are deleted, by a range delete; 0 for none
   */
  private record Sought(byte[] key, long hash, long lsn, long floor) {}

  private @Nullable ActiveTree collectOnce(TreeState state, Sought sought, OperandChain chain) {
    collect(state.active(), sought, chain);
    ActiveTree newest = chain.isEmpty() ? null : state.active().content();
    for (int i = 0; i < state.runCount() && !chain.isComplete(); i++) {
      Run run = state.run(i);
      Table table = run.find(sought.key());
      if (table != null) {
        collect(table, sought, chain);
      }
    }
    if (sought.floor() > 0) {
      chain.endAbove(sought.floor());
    }
    return newest;
  }

  private void collect(Table table, Sought sought, OperandChain chain) {
    if (!mayHold(table, sought)) {
      return;
    }
    byte[] key = sought.key();
    try (EntryCursor cursor = engine.queryCursor(table)) {
      boolean there = cursor.seek(key, 0, key.length, sought.lsn());
      while (there) {
        LeafCursor entry = cursor.leaf();
        there =
            hasKey(entry, key)
                && entry.lsn() >= sought.floor()
                && !chain.add(entry)
                && cursor.next();
      }
    }
  }

  /** Whether an entry has this key; orders call no other keys equal. */
  private static boolean hasKey(LeafCursor entry, byte[] key) {
    return Arrays.equals(entry.key(), 0, entry.keyLength(), key, 0, key.length);
  }

  private boolean mayHold(Table table, Sought sought) {
    int slot = epochs.enter();
    try {
      if (table instanceof Table.Stored stored) {
        return stored.content().mayContain(sought.hash(), true) != SSTable.ABSENT;
      }
      WrittenEntries content = ((Table.Written) table).content();
      return content.newestLsn(sought.key(), sought.hash()) != Probe.ABSENT;
    } finally {
      epochs.exit(slot);
    }
  }

  /**
   * Whether SSTables on disk have a version of a key with this LSN or a newer one: then they have
   * all its versions up to this LSN. SSTables without so new ones are not read.
   */
  boolean isOnDisk(TreeHandle tree, byte[] key, long lsn) {
    Sought sought = new Sought(key, KeyHash.hash(key, 0, key.length), Lsn.MAX, 0);
    for (int attempt = 1; ; attempt++) {
      TreeState state = tree.states().acquire();
      try {
        return state.disk().stream().anyMatch(run -> isNewer(run.find(key), sought, lsn));
      } catch (OutOfBudgetException e) {
        if (attempt == MAX_ATTEMPTS) {
          throw e;
        }
        Thread.yield();
      } finally {
        tree.states().release(state);
      }
    }
  }

  private boolean isNewer(@Nullable Table table, Sought sought, long lsn) {
    if (!(table instanceof Table.Stored stored)
        || stored.content().meta().maxLsn() < lsn
        || !mayHold(table, sought)) {
      return false;
    }
    byte[] key = sought.key();
    try (EntryCursor cursor = engine.queryCursor(table)) {
      return cursor.seek(key, 0, key.length, sought.lsn())
          && hasKey(cursor.leaf(), key)
          && cursor.lsn() >= lsn;
    }
  }
}
