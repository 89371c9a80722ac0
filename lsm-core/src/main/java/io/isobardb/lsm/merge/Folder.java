package io.isobardb.lsm.merge;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.commit.OperandReader;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.MergeException;
import io.isobardb.lsm.event.Observers;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.operand.FoldRules;
import io.isobardb.lsm.operand.OperandChain;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Folds the operands of a tree while a {@link Rewrite} carries them: those that no snapshot
 * separates become one entry, a put if the value below them is known.
 *
 * <p>It is known if the sources have it, or if nothing older can lie outside of them. Else it is
 * looked up if {@link FoldRules} says so, so that no SSTable has many operands of a key. If the
 * operator fails the operands are kept.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class Folder {
  private static final byte[] NO_VALUE = {};

  private final Engine engine;
  private final TreeHandle tree;
  private final MergeOperator operator;
  private final OperandReader reader;
  private final long replayedFrom;

  /**
   * What is written from here on knows a later time than that by which the merge goes. What has an
   * earlier place may not be applied yet.
   */
  private final long timedUpTo;

  /** All range deletes, durable or not, of what is merged; null for none. */
  private final @Nullable RangeDeletes deletes;

  /** Versions of the current key with lower LSNs are deleted, by a range delete. */
  private long floor;

  /** Told once, since thousands of keys may fail alike. */
  private final Observers observers;

  private boolean told;

  private OperandChain chain = new OperandChain();
  private byte[] key = NO_VALUE;
  private boolean bottommost;
  private boolean snapshotBelow;

  private Folder(Engine engine, TreeHandle tree, MergeOperator operator) {
    this.engine = engine;
    this.tree = tree;
    this.operator = operator;
    this.observers = engine.observers();
    this.reader = new OperandReader(engine);
    this.replayedFrom = engine.catalog().logStart();
    this.timedUpTo = engine.log().end();
    this.deletes = tree.states().current().ranges().list();
  }

  /**
   * The folder for a tree, null if it has no merge operator. To be made after the merge has asked
   * what has expired.
   */
  public static @Nullable Folder of(Engine engine, TreeHandle tree) {
    MergeOperator operator = tree.settings().operator();
    return operator == null ? null : new Folder(engine, tree, operator);
  }

  /**
   * Whether the marker that a key was removed at an LSN can go, if nothing lies below, and its LSN
   * be forgotten. A replay must find it as long as the log has older operands of the key.
   */
  boolean mayForget(long lsn) {
    return lsn < replayedFrom;
  }

  /** Whether operands of the current key wait for what lies below them. */
  boolean isPending() {
    return !chain.isEmpty();
  }

  /**
   * Begins with an operand that somebody may read.
   *
   * @param nothingBelow whether nothing older of the key can lie outside of the sources
   * @param readBelow whether somebody reads below the operand's LSN
   */
  void begin(LeafCursor operand, boolean nothingBelow, boolean readBelow) {
    key = Arrays.copyOf(operand.key(), operand.keyLength());
    bottommost = nothingBelow;
    snapshotBelow = readBelow;
    floor = deletes == null ? 0 : deletes.covering(key, key.length, operand.lsn());
    chain.clear();
    chain.add(operand);
  }

  /** Takes the next older version of the key. */
  void add(LeafCursor version) {
    if (isHidden(version)) {
      chain.endAbove(floor);
    } else {
      chain.add(version);
    }
  }

  /** Whether a range delete that is older than the operands hides an older version. */
  boolean isHidden(LeafCursor version) {
    return version.lsn() < floor;
  }

  /** Whether nothing older counts. */
  boolean isComplete() {
    return chain.isComplete();
  }

  /**
   * What to write in the place of all that was taken, null for nothing.
   *
   * @param last whether the sources have nothing older of the key
   */
  @Nullable Folded end(boolean last) {
    long lsn = chain.newestLsn();
    boolean known = chain.isComplete() || (last && bottommost);
    if (!known && FoldRules.looksUp(chain.size())) {
      known = lookUp(lsn);
    }
    Folded folded = known ? folded(lsn, last) : null;
    if (folded == null) {
      folded = new Folded(key, lsn, Kind.MERGE, chain.toValue(operator), chain.expiry());
    }
    chain.clear();
    return folded.kind() == Folded.NONE ? null : folded;
  }

  /** Whether no newer version of the key is anywhere: so no operand counts on this one. */
  boolean isNewest(LeafCursor version) {
    if (engine.log().visible() < timedUpTo - 1) {
      return false;
    }
    OperandChain whole = new OperandChain();
    TreeState state = tree.states().acquire();
    try {
      byte[] of = Arrays.copyOf(version.key(), version.keyLength());
      reader.collect(state, of, Lsn.MAX, whole);
    } catch (OutOfBudgetException e) {
      return false;
    } finally {
      tree.states().release(state);
    }
    return whole.newestLsn() == version.lsn();
  }

  /** Reads the key as of the operand; whether that tells all that lies below. */
  private boolean lookUp(long lsn) {
    OperandChain whole = new OperandChain();
    TreeState state = tree.states().acquire();
    try {
      reader.collect(state, key, lsn, whole);
    } catch (OutOfBudgetException e) {
      return false;
    } finally {
      tree.states().release(state);
    }
    boolean found = whole.newestLsn() == lsn;
    if (found) {
      chain = whole;
    }
    return found;
  }

  private @Nullable Folded folded(long lsn, boolean last) {
    byte[] value;
    try {
      value = tree.fold(chain, key);
    } catch (MergeException e) {
      if (!told) {
        told = true;
        observers.onOperatorFailed(new StoreListener.OperatorFailure(e));
      }
      return null;
    }
    if (value != null) {
      return new Folded(key, lsn, Kind.PUT, value, chain.expiry());
    }
    boolean goes = last && bottommost && !snapshotBelow && mayForget(lsn);
    return new Folded(key, lsn, goes ? Folded.NONE : Kind.DELETE, NO_VALUE, Expiry.NEVER);
  }
}
