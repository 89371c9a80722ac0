package io.isobardb.lsm.read;

import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.component.Sealed;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.nio.ByteBuffer;
import java.util.function.LongSupplier;

/**
 * The way through a tree's state for a key: from the newest component to the oldest, until one of
 * them knows the answer. No other class goes through runs for keys.
 *
 * <p>{@link #find} runs inside an epoch. It never blocks, loads nothing and allocates nothing.
 * Readers differ in what they ask an SSTable, and in what they do when memory does not have the
 * answer. The answer then names the run, and a miss the page, too. A reader that holds the state
 * may load it and continue behind that run, as {@link #load} does. One that looks for many keys may
 * collect what all of them miss first.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
abstract class Lookup {
  /** No component has a version of the key that the reader may see. */
  static final int ABSENT = ActiveTree.ABSENT;

  /** The version that the reader sees is a delete marker. */
  static final int DELETED = ActiveTree.DELETED;

  /** The reader's LSN is out of date. */
  static final int RETRY = ActiveTree.RETRY;

  /** The version that the reader sees is an operand: the answer takes older versions, too. */
  static final int OPERAND = ActiveTree.OPERAND;

  /** An SSTable may know, but can't tell inside an epoch. A miss says so, too, and names a page. */
  static final int LOAD = -5;

  /** Where the active SSTable stands, before the first run. */
  static final int ACTIVE = -1;

  /** How often to try when there is no page: each time the cache waits for one. */
  static final int MAX_ATTEMPTS = 1000;

  private final Epochs epochs;

  /** The time to judge by what expires. */
  final LongSupplier now;

  Lookup(Epochs epochs, LongSupplier now) {
    this.epochs = epochs;
    this.now = now;
  }

  /**
   * Asks a component in write memory.
   *
   * @return as {@link Sealed#getInto}
   */
  int ask(Sealed entries, byte[] key, long hash, long lsn, ByteBuffer target) {
    return entries.getInto(key, hash, lsn, now, target);
  }

  /**
   * Asks an SSTable, whose range has the key.
   *
   * @return not negative if it knows the key, else {@link #ABSENT}, {@link #DELETED}, {@link
   *     #OPERAND}, {@link #LOAD} or a miss of {@link SSTable}
   */
  abstract int ask(SSTable table, byte[] key, long hash, long lsn, ByteBuffer target);

  /**
   * Asks an SSTable outside of epochs, page by page, after {@link #ask} could not tell.
   *
   * @return not negative, {@link #ABSENT}, {@link #DELETED}, {@link #OPERAND} or {@link #LOAD}
   */
  abstract int load(SSTable table, byte[] key, long hash, long lsn, ByteBuffer target);

  /** How many of the first runs may have what is sought. */
  int runs(TreeState state, long lsn) {
    return state.runCount();
  }

  /**
   * Looks for a key, inside an epoch, in the components from {@code from} on.
   *
   * @param from {@link #ACTIVE} or a run
   * @param lsn versions above it are not seen
   * @param target gets the value at its position, if it has room for it
   * @return what the first component said that did not say {@link #ABSENT}, for {@link #found}, and
   *     its run, for {@link #run}
   */
  final long find(TreeState state, int from, byte[] key, long hash, long lsn, ByteBuffer target) {
    int run = from;
    if (run == ACTIVE) {
      int found = ask(state.active().content(), key, hash, lsn, target);
      if (found != ABSENT) {
        return answer(ACTIVE, found);
      }
      run = 0;
    }
    for (int end = runs(state, lsn); run < end; run++) {
      Table table = state.run(run).find(key);
      int found = ABSENT;
      // By exact classes, the quickest way: this is where reads spend their time.
      if (table instanceof Table.Stored stored) {
        found = ask(stored.content(), key, hash, lsn, target);
      } else if (table instanceof Table.Active sealed) {
        found = ask(sealed.content(), key, hash, lsn, target);
      } else if (table instanceof Table.Indexed indexed) {
        found = ask(indexed.content(), key, hash, lsn, target);
      }
      if (found != ABSENT) {
        return answer(run, found);
      }
    }
    return answer(run, ABSENT);
  }

  /** As {@link #find}, outside of epochs, by the holder of the state: what is missing is loaded. */
  final long findAndLoad(TreeState state, byte[] key, long hash, long lsn, ByteBuffer target) {
    return load(state, enterAndFind(state, ACTIVE, key, hash, lsn, target), key, hash, lsn, target);
  }

  /**
   * Carries on from an answer of {@link #find}, outside of epochs, by the holder of the state. If
   * the answer is to be loaded, asks that SSTable, and goes on behind its run.
   */
  final long load(TreeState state, long from, byte[] key, long hash, long lsn, ByteBuffer target) {
    long answer = from;
    while (isToLoad(found(answer))) {
      int run = run(answer);
      if (!(state.run(run).find(key) instanceof Table.Stored stored)) {
        throw new IllegalStateException("run " + run + " has no SSTable for the key");
      }
      int found = load(stored.content(), key, hash, lsn, target);
      if (found != ABSENT) {
        return answer(run, found);
      }
      answer = enterAndFind(state, run + 1, key, hash, lsn, target);
    }
    return answer;
  }

  private long enterAndFind(
      TreeState state, int from, byte[] key, long hash, long lsn, ByteBuffer target) {
    int slot = epochs.enter();
    try {
      return find(state, from, key, hash, lsn, target);
    } finally {
      epochs.exit(slot);
    }
  }

  /**
   * Looks for many keys, inside an epoch, run by run: all of them ask the filters of a run, whose
   * cache misses overlap, before the first of them walks its pages.
   */
  static void find(TreeState state, Batch batch) {
    batch.ask(state.active().content());
    for (int i = 0; i < state.runCount() && batch.openKeys() > 0; i++) {
      Run run = state.run(i);
      for (int k = 0; k < batch.openKeys(); k++) {
        batch.reached(k, run.find(batch.openKey(k)));
      }
      batch.walk();
    }
  }

  /** Before another attempt, by a reader that has given back all it held. */
  static void backOff(OutOfBudgetException cause, int attempt) {
    if (attempt == MAX_ATTEMPTS) {
      throw cause;
    }
    Thread.yield();
  }

  private static long answer(int run, int found) {
    return (long) run << 32 | found & 0xffffffffL;
  }

  /** What was found: what a component said, {@link #ABSENT} if none knows the key. */
  static int found(long answer) {
    return (int) answer;
  }

  /** Whether what was found can't be told inside an epoch. */
  static boolean isToLoad(int found) {
    return found <= LOAD;
  }

  /** The run that gave an answer. */
  static int run(long answer) {
    return (int) (answer >> 32);
  }
}
