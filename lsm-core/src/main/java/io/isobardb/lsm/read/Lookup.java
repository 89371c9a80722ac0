package io.isobardb.lsm.read;

import io.isobardb.lsm.component.WrittenEntries;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.TableReads;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.OutOfBudgetException;

/**
 * The way through a tree's state for a key: from the newest component to the oldest, until one of
 * them knows the answer. What goes through all versions of a key that has operands is {@code
 * OperandReader}.
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
  /** Where the active SSTable stands, before the first run. */
  static final int ACTIVE = -1;

  /** How often to try when there is no page: each time the cache waits for one. */
  static final int MAX_ATTEMPTS = 1000;

  private final Epochs epochs;

  Lookup(Epochs epochs) {
    this.epochs = epochs;
  }

  /**
   * Asks a component in write memory.
   *
   * @return as {@link WrittenEntries#find}
   */
  int ask(WrittenEntries entries, byte[] key, Probe probe) {
    return entries.find(key, probe);
  }

  /**
   * Asks an SSTable, whose range has the key.
   *
   * @param last whether no run comes after it: if {@link Probe#trustsLastRun}, no page of its
   *     filter is worth a read
   * @return not negative if it knows the key, else {@link Probe#ABSENT}, {@link Probe#DELETED},
   *     {@link Probe#OPERAND}, {@link Probe#ELSEWHERE} or a miss of {@link SSTable}, which names a
   *     page
   */
  abstract int ask(SSTable table, byte[] key, Probe probe, boolean last);

  /**
   * Asks an SSTable outside of epochs, page by page, after {@link #ask} could not tell.
   *
   * @param asked what that said: the filter needs no asking unless a page of it was missed
   * @return not negative, {@link Probe#ABSENT}, {@link Probe#DELETED}, {@link Probe#OPERAND} or
   *     {@link Probe#ELSEWHERE}
   */
  abstract int load(SSTable table, byte[] key, Probe probe, int asked);

  /** How many of the first runs may have what is sought. */
  int runs(TreeState state, Probe probe) {
    return state.runCount();
  }

  /**
   * Looks for a key, inside an epoch, in the components from {@code from} on.
   *
   * @param from {@link #ACTIVE} or a run
   * @param probe its target gets the value, if it has room for it
   * @return what the first component said that did not say {@link Probe#ABSENT}, for {@link
   *     #found}, and its run, for {@link #run}
   */
  final long find(TreeState state, int from, byte[] key, Probe probe) {
    int run = from;
    if (run == ACTIVE) {
      int found = ask(state.active().content(), key, probe);
      if (found != Probe.ABSENT) {
        return answer(ACTIVE, found);
      }
      run = 0;
    }
    for (int end = runs(state, probe); run < end; run++) {
      Table table = state.run(run).find(key);
      int found = Probe.ABSENT;
      // By exact classes, the quickest way: this is where reads spend their time.
      if (table instanceof Table.Stored stored) {
        found = ask(stored.content(), key, probe, run == end - 1);
      } else if (table instanceof Table.Active sealed) {
        found = ask(sealed.content(), key, probe);
      } else if (table instanceof Table.Indexed indexed) {
        found = ask(indexed.content(), key, probe);
      }
      if (found != Probe.ABSENT) {
        return answer(run, found);
      }
    }
    return answer(run, Probe.ABSENT);
  }

  /** As {@link #find}, outside of epochs, by the holder of the state: what is missing is loaded. */
  final long findAndLoad(TreeState state, byte[] key, Probe probe) {
    return load(state, enterAndFind(state, ACTIVE, key, probe), key, probe);
  }

  /**
   * Carries on from an answer of {@link #find}, outside of epochs, by the holder of the state. If
   * the answer is to be loaded, asks that SSTable, and goes on behind its run.
   */
  final long load(TreeState state, long from, byte[] key, Probe probe) {
    long answer = from;
    while (isToLoad(found(answer))) {
      int run = run(answer);
      if (!(state.run(run).find(key) instanceof Table.Stored stored)) {
        throw new IllegalStateException("run " + run + " has no SSTable for the key");
      }
      int found = load(stored.content(), key, probe, found(answer));
      if (run == runs(state, probe) - 1) {
        probe.onLastRunLoaded(found != Probe.ABSENT);
      }
      if (found != Probe.ABSENT) {
        return answer(run, found);
      }
      answer = enterAndFind(state, run + 1, key, probe);
    }
    return answer;
  }

  private long enterAndFind(TreeState state, int from, byte[] key, Probe probe) {
    int slot = epochs.enter();
    try {
      return find(state, from, key, probe);
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
    findOn(state, batch);
  }

  /** As {@link #find(TreeState, Batch)}, for keys that have been there; each from its run on. */
  static void findOn(TreeState state, Batch batch) {
    for (int i = 0; i < state.runCount() && batch.goesOn(); i++) {
      Run run = state.run(i);
      batch.enter(i, i == state.runCount() - 1);
      for (int k = 0; k < batch.openKeys(); k++) {
        batch.reach(k, run.find(batch.openKey(k)));
      }
      batch.walk(state.isInL0(i));
    }
  }

  /**
   * Counts the runs on disk that a lookup has looked into, and what it asked of their SSTables:
   * those whose filters let its key pass, up to the one that answered. Asks the filters once more,
   * inside an epoch. Tells if the SSTable that answered may have had enough for an index.
   *
   * @param answer of {@link #find} or {@link #load}, nothing to load any more
   */
  static void countRuns(TreeHandle tree, TreeState state, long answer, byte[] key, Probe probe) {
    boolean absent = found(answer) == Probe.ABSENT;
    boolean onDisk = !absent && run(answer) >= state.memoryRunCount();
    int asked = onDisk ? 1 : 0;
    for (int run = state.memoryRunCount(); run < run(answer); run++) {
      if (state.run(run).find(key) instanceof Table.Stored stored) {
        boolean passes = stored.content().mayContain(probe.hash(), false) != SSTable.ABSENT;
        stored.content().reads().countAbsent(passes);
        asked += passes ? 1 : 0;
      }
    }
    if (!absent
        && run(answer) != ACTIVE
        && state.run(run(answer)).find(key) instanceof Table.Stored stored) {
      if (onDisk) {
        stored.content().reads().countFound(found(answer) == Probe.DELETED);
      }
      if (stored.content().countFound(TableReads.SAMPLE)) {
        tree.memory().readLoss().tell();
      }
    }
    tree.runsAsked().lookup(asked, onDisk, absent);
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

  /** What was found: what a component said, {@link Probe#ABSENT} if none knows the key. */
  static int found(long answer) {
    return (int) answer;
  }

  /** Whether what was found can't be told inside an epoch. */
  static boolean isToLoad(int found) {
    return found <= Probe.ELSEWHERE;
  }

  /** The run that gave an answer. */
  static int run(long answer) {
    return (int) (answer >> 32);
  }
}
