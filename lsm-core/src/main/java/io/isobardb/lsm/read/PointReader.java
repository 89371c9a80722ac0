package io.isobardb.lsm.read;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.commit.Latencies;
import io.isobardb.lsm.commit.Moment;
import io.isobardb.lsm.commit.OperandReader;
import io.isobardb.lsm.commit.Snapshots;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.entry.RangeDeletes;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.OutOfBudgetException;
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
  /** There is no such key. */
  public static final int NOT_FOUND = -1;

  /** One lookup in so many speaks for all. */
  private static final int SAMPLE = 64;

  private final Engine engine;
  private final Epochs epochs;
  private final Latencies latencies;
  private final ValueLookup lookup;
  private final OperandReader operands;
  private final TableSpace space;
  private final Moment latest;

  public PointReader(Engine engine) {
    this.engine = engine;
    this.epochs = engine.catalog().space().pool().epochs();
    this.latencies = engine.latencies();
    this.space = engine.catalog().space();
    this.latest = new Moment(Lsn.MAX, engine.snapshots().time());
    this.lookup = new ValueLookup(space, true, latest.clock());
    this.operands = new OperandReader(engine);
  }

  /** To read what is visible now. */
  public Moment latest() {
    return latest;
  }

  /**
   * Copies a value into {@code target} at its position, which does not move.
   *
   * @param at what to read at, registered as a snapshot, or {@link #latest}
   * @return the value's length, or {@link #NOT_FOUND}; nothing was copied if it is larger than what
   *     remains in {@code target}
   */
  public int get(TreeHandle tree, byte[] key, Moment at, ByteBuffer target) {
    return get(tree, key, at, target, 1, null);
  }

  /**
   * As {@link #get(TreeHandle, byte[], Moment, ByteBuffer)}, for a caller that wants a folded value
   * whatever its length.
   *
   * @param folded gets it instead of {@code target}; gets nothing if no operands were folded
   */
  public int get(
      TreeHandle tree, byte[] key, Moment at, ByteBuffer target, @Nullable Folded folded) {
    return get(tree, key, at, target, 1, folded);
  }

  /** Holds a value that a read has folded, so that nobody has to fold it again. */
  public static final class Folded {
    private byte @Nullable [] value;

    private Folded() {}

    /** One for a read of a tree, or null if the tree has no operands. */
    public static @Nullable Folded of(TreeHandle tree) {
      return tree.settings().operator() == null ? null : new Folded();
    }

    /** The value, which may be the operator's own; null if no operands were folded. */
    public byte @Nullable [] value() {
      return value;
    }
  }

  /**
   * @param counts 1 if it counts as a get, 0 if it is a part of one
   */
  private int get(
      TreeHandle tree,
      byte[] key,
      Moment at,
      ByteBuffer target,
      int counts,
      @Nullable Folded folded) {
    long hash = KeyHash.hash(key, 0, key.length);
    TreeState state;
    long answer;
    boolean held;
    long begun = Latencies.NOT_TIMED;
    int slot = epochs.enter();
    try {
      if (counts > 0) {
        begun = latencies.begin(tree.counts().got(slot, counts));
      }
      do {
        tree.checkOpen();
        state = tree.states().current();
        RangeDeletes deletes = state.ranges().list();
        long lsn = lsn(at);
        ValueLookup by = lookup(tree, at);
        by = deletes == null ? by : by.above(space, deletes, key, lsn);
        answer = by.find(state, Lookup.ACTIVE, key, hash, lsn, target);
      } while (Lookup.found(answer) == Lookup.RETRY);
      if ((epochs.count(slot, 1) & SAMPLE - 1) == 0) {
        tree.readLoss().gets(SAMPLE, tree.states().current().mergeableRuns());
      }
      int found = Lookup.found(answer);
      if (!Lookup.isToLoad(found) && found != Lookup.OPERAND) {
        latencies.got(begun);
        return length(answer);
      }
      held = found != Lookup.OPERAND && tree.states().tryAcquire(state);
    } finally {
      epochs.exit(slot);
    }
    int length =
        Lookup.found(answer) == Lookup.OPERAND
            ? Lookup.OPERAND
            : load(tree, held ? state : null, answer, key, at, target);
    if (length == Lookup.OPERAND) {
      length = fold(tree, key, at, target, folded);
    }
    latencies.got(begun);
    return length;
  }

  /**
   * The value of a key in an array of its own, or null if there is no such key.
   *
   * @param scratch for values on their way; its position does not move
   */
  public byte @Nullable [] getArray(TreeHandle tree, byte[] key, Moment at, ByteBuffer scratch) {
    return getArray(tree, key, at, scratch, 1);
  }

  /** As {@link #getArray}, for a get that was counted. */
  byte @Nullable [] getArrayAgain(TreeHandle tree, byte[] key, Moment at, ByteBuffer scratch) {
    return getArray(tree, key, at, scratch, 0);
  }

  private byte @Nullable [] getArray(
      TreeHandle tree, byte[] key, Moment at, ByteBuffer scratch, int counts) {
    ByteBuffer target = scratch;
    Folded folded = Folded.of(tree);
    for (int counted = counts; ; counted = 0) {
      int length = get(tree, key, at, target, counted, folded);
      if (length == NOT_FOUND) {
        return null;
      }
      if (folded != null && folded.value != null) {
        return folded.value.clone();
      }
      if (length <= target.remaining()) {
        if (target != scratch && target.capacity() == length) {
          return target.array();
        }
        byte[] value = new byte[length];
        target.get(target.position(), value);
        return value;
      }
      target = ByteBuffer.allocate(length);
    }
  }

  /** Reads a key whose newest version is an operand. */
  private int fold(
      TreeHandle tree, byte[] key, Moment at, ByteBuffer target, @Nullable Folded folded) {
    int operation = engine.operations().enter();
    // What is read in several steps has to stay meanwhile.
    Snapshots snapshots = engine.snapshots();
    Moment held = at == latest ? new Moment(snapshots.register(), at.clock()) : at;
    try {
      tree.checkOpen();
      byte[] value = operands.read(tree, key, held);
      if (value == null) {
        return NOT_FOUND;
      }
      if (folded != null) {
        folded.value = value;
      } else if (value.length <= target.remaining()) {
        target.put(target.position(), value);
      }
      return value.length;
    } finally {
      if (at == latest) {
        snapshots.release(held.lsn());
      }
      engine.operations().exit(operation);
    }
  }

  private long lsn(Moment at) {
    return at == latest ? engine.log().visible() : at.lsn();
  }

  /** What to look up with at a moment. */
  private ValueLookup lookup(TreeHandle tree, Moment at) {
    return at == latest || !tree.expires() ? lookup : lookup.at(space, at.clock());
  }

  private static int length(long answer) {
    return Math.max(Lookup.found(answer), NOT_FOUND);
  }

  /**
   * Goes on where memory did not have the answer. It holds the state, and never more than one page:
   * so reads that wait for a frame keep none from each other.
   *
   * <p>At the visible LSN of now, if there is no other: what is behind a miss is on disk, and older
   * than the one before.
   *
   * @param seen the state that gave the answer, which is held and given back; null if it is out of
   *     use, so that all begins anew
   * @return a length, {@link #NOT_FOUND}, or {@link Lookup#OPERAND}
   */
  private int load(
      TreeHandle tree,
      @Nullable TreeState seen,
      long missed,
      byte[] key,
      Moment at,
      ByteBuffer target) {
    long hash = KeyHash.hash(key, 0, key.length);
    TreeState state = seen;
    int operation = engine.operations().enter();
    try {
      for (int attempt = 1; ; attempt++) {
        try {
          tree.checkOpen();
          boolean goesOn = state != null;
          if (state == null) {
            state = tree.states().acquire();
          }
          RangeDeletes deletes = state.ranges().list();
          long lsn = lsn(at);
          ValueLookup by = lookup(tree, at).above(space, deletes, key, lsn);
          long answer =
              goesOn
                  ? by.load(state, missed, key, hash, lsn, target)
                  : by.findAndLoad(state, key, hash, lsn, target);
          int found = Lookup.found(answer);
          if (found != Lookup.ABSENT && state.isInL0(Lookup.run(answer))) {
            tree.work().foundInL0(state.version().l0Bytes());
          }
          if (found == Lookup.OPERAND) {
            return Lookup.OPERAND;
          }
          if (found != Lookup.RETRY) {
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
