package io.isobardb.lsm.read;

import io.isobardb.lsm.Tree;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.commit.Latencies;
import io.isobardb.lsm.commit.OperandReader;
import io.isobardb.lsm.commit.Snapshots;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.entry.Moment;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.lsm.sstable.TableReads;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.lsm.wal.Log;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PerThread;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Looks up single keys.
 *
 * <p>A read runs within an epoch and copies the value out, see {@link Lookup}. If a page is not in
 * memory it holds the state, leaves the epoch, and asks that SSTable page by page. It allocates
 * nothing unless it has to load.
 *
 * <p>The state is taken before the visible LSN: what is sealed in the state was visible then, so
 * its newest versions are all that matters.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class PointReader {
  /** One lookup in so many speaks for all. */
  private static final int SAMPLE = TableReads.SAMPLE;

  private static final int SCRATCH_BYTES = 4096;

  private final Engine engine;
  private final Log log;
  private final Epochs epochs;
  private final Latencies latencies;
  private final ValueLookup lookup;
  private final OperandReader operands;
  private final PerThread<Probe> probes = new PerThread<>(() -> new Probe(SCRATCH_BYTES));
  private final Moment latest;

  public PointReader(Engine engine) {
    this.engine = engine;
    this.log = engine.log();
    this.epochs = engine.catalog().space().pool().epochs();
    this.latencies = engine.latencies();
    this.latest = new Moment(Lsn.MAX, engine.snapshots().time());
    this.lookup = new ValueLookup(engine.catalog().space(), true);
    this.operands = new OperandReader(engine);
  }

  /** What threads read with. */
  public PerThread<Probe> probes() {
    return probes;
  }

  /** To read what is visible now. */
  public Moment latest() {
    return latest;
  }

  /**
   * Copies a value into {@code target} at its position, which does not move.
   *
   * @param at what to read at, registered as a snapshot, or {@link #latest}
   * @return the value's length, or {@link Tree#NOT_FOUND}; nothing was copied if it is larger than
   *     what remains in {@code target}
   */
  public int get(TreeHandle tree, byte[] key, Moment at, ByteBuffer target) {
    Probe probe = probes.take();
    try {
      int length = get(tree, key, at, probe.into(target));
      byte[] folded = probe.folded();
      if (folded != null && length <= target.remaining()) {
        target.put(target.position(), folded);
      }
      return length;
    } finally {
      probe.give();
    }
  }

  /**
   * As {@link #get(TreeHandle, byte[], Moment, ByteBuffer)}, with a probe that the caller has
   * taken. A value that was made of operands is {@link Probe#folded}, and not in the target.
   */
  public int get(TreeHandle tree, byte[] key, Moment at, Probe probe) {
    return get(tree, key, at, probe, 1);
  }

  /**
   * @param counts 1 if it counts as a get, 0 if it is a part of one
   */
  private int get(TreeHandle tree, byte[] key, Moment at, Probe probe, int counts) {
    probe.of(KeyHash.hash(key, 0, key.length));
    TreeState state;
    long answer;
    boolean held;
    long begun = Latencies.NOT_TIMED;
    int slot = epochs.enter();
    try {
      if (counts > 0) {
        begun = latencies.begin(tree.counts().countGets(slot, counts));
      }
      do {
        tree.checkOpen();
        state = aimed(tree, key, at, probe);
        answer = lookup.find(state, Lookup.ACTIVE, key, probe);
      } while (Lookup.found(answer) == Probe.RETRY);
      if ((epochs.count(slot, 1) & SAMPLE - 1) == 0) {
        tree.memory().readLoss().gets(SAMPLE, tree.states().current().mergeableRuns());
        probe.setCounted(true);
        countRuns(tree, state, answer, key, probe);
      }
      int found = Lookup.found(answer);
      if (!Lookup.isToLoad(found) && found != Probe.OPERAND) {
        latencies.endGet(begun);
        return length(answer);
      }
      held = found != Probe.OPERAND && tree.states().tryAcquire(state);
    } finally {
      epochs.exit(slot);
    }
    int length =
        Lookup.found(answer) == Probe.OPERAND
            ? Probe.OPERAND
            : load(tree, held ? state : null, answer, key, at, probe);
    if (length == Probe.OPERAND) {
      length = fold(tree, key, at, probe);
    }
    latencies.endGet(begun);
    return length;
  }

  /**
   * Takes a state of a tree, within an epoch, and has a probe look for what a moment sees of a key
   * in it.
   *
   * <p>Of what is visible now, range deletes may be known that are newer than the state. A batch
   * may have brought one along with puts that the state does not have. So if the tree has moved on
   * since, its next state is taken.
   */
  private TreeState aimed(TreeHandle tree, byte[] key, Moment at, Probe probe) {
    TreeState state = tree.states().current();
    while (!aims(tree, state, key, at, probe)) {
      state = tree.states().current();
    }
    return state;
  }

  private boolean aims(TreeHandle tree, TreeState state, byte[] key, Moment at, Probe probe) {
    RangeDeletes deletes = state.ranges().list();
    long lsn = at == latest ? log.visible() : at.lsn();
    probe.at(lsn, at.clock()).above(deletes == null ? 0 : deletes.covering(key, key.length, lsn));
    return deletes == null || at != latest || state == tree.states().current();
  }

  /** As {@link #aimed}, outside of epochs; the state is held until it is released. */
  TreeState acquireAimed(TreeHandle tree, byte[] key, Moment at, Probe probe) {
    int slot = epochs.enter();
    try {
      TreeState state = aimed(tree, key, at, probe);
      while (!tree.states().tryAcquire(state)) {
        state = aimed(tree, key, at, probe);
      }
      return state;
    } finally {
      epochs.exit(slot);
    }
  }

  /** The value of a key in an array of its own, or null if there is no such key. */
  public byte @Nullable [] getArray(TreeHandle tree, byte[] key, Moment at) {
    return getArray(tree, key, at, 1);
  }

  /** As {@link #getArray}, for a get that was counted. */
  byte @Nullable [] getArrayAgain(TreeHandle tree, byte[] key, Moment at) {
    return getArray(tree, key, at, 0);
  }

  private byte @Nullable [] getArray(TreeHandle tree, byte[] key, Moment at, int counts) {
    Probe probe = probes.take();
    try {
      int length = get(tree, key, at, probe.growing(), counts);
      if (length == Tree.NOT_FOUND) {
        return null;
      }
      byte[] folded = probe.folded();
      return folded != null ? folded.clone() : probe.value(length);
    } finally {
      probe.give();
    }
  }

  /** Reads a key whose newest version is an operand. */
  private int fold(TreeHandle tree, byte[] key, Moment at, Probe probe) {
    int operation = engine.operations().enter();
    // What is read in several steps has to stay meanwhile.
    Snapshots snapshots = engine.snapshots();
    Moment held = at == latest ? new Moment(snapshots.register(), at.clock()) : at;
    try {
      tree.checkOpen();
      byte[] value = operands.read(tree, key, held);
      if (value == null) {
        return Tree.NOT_FOUND;
      }
      probe.fold(value);
      return value.length;
    } finally {
      if (at == latest) {
        snapshots.release(held.lsn());
      }
      engine.operations().exit(operation);
    }
  }

  /** Counts the runs that a lookup has asked, if it is one to be counted and has its answer. */
  private static void countRuns(
      TreeHandle tree, TreeState state, long answer, byte[] key, Probe probe) {
    if (probe.isCounted() && !Lookup.isToLoad(Lookup.found(answer))) {
      Lookup.countRuns(tree, state, answer, key, probe);
      probe.setCounted(false);
    }
  }

  private void countLoadedRuns(
      TreeHandle tree, TreeState state, long answer, byte[] key, Probe probe) {
    int slot = epochs.enter();
    try {
      countRuns(tree, state, answer, key, probe);
    } finally {
      epochs.exit(slot);
    }
  }

  private static int length(long answer) {
    return Math.max(Lookup.found(answer), Tree.NOT_FOUND);
  }

  /**
   * Goes on where memory did not have the answer. It holds the state, and never more than one page:
   * so reads that wait for a frame keep none from each other.
   *
   * <p>What is behind a miss is on disk, and older than the moment that the probe was aimed at.
   *
   * @param seen the state that gave the answer, which is held and given back; null if it is out of
   *     use, so that all begins anew
   * @return a length, {@link Tree#NOT_FOUND}, or {@link Probe#OPERAND}
   */
  private int load(
      TreeHandle tree, @Nullable TreeState seen, long missed, byte[] key, Moment at, Probe probe) {
    TreeState state = seen;
    int operation = engine.operations().enter();
    try {
      for (int attempt = 1; ; attempt++) {
        try {
          tree.checkOpen();
          boolean goesOn = state != null;
          if (state == null) {
            state = acquireAimed(tree, key, at, probe);
          }
          long answer =
              goesOn
                  ? lookup.load(state, missed, key, probe)
                  : lookup.findAndLoad(state, key, probe);
          int found = Lookup.found(answer);
          if (found != Probe.ABSENT && state.isInL0(Lookup.run(answer))) {
            tree.work().foundInL0(state.version().l0Bytes());
          }
          if (probe.isCounted() && found != Probe.RETRY) {
            countLoadedRuns(tree, state, answer, key, probe);
          }
          if (found == Probe.OPERAND) {
            return Probe.OPERAND;
          }
          if (found != Probe.RETRY) {
            return length(answer);
          }
        } catch (OutOfBudgetException e) {
          Lookup.backOff(e, attempt);
        } finally {
          if (state != null) {
            tree.states().release(state);
            state = null;
          }
        }
      }
    } finally {
      engine.operations().exit(operation);
    }
  }
}
