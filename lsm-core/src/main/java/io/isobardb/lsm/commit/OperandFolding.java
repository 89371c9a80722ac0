package io.isobardb.lsm.commit;

import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.component.Write;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.operand.FoldRules;
import io.isobardb.lsm.operand.OperandChain;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.Lock;

/**
 * Keeps the operands of a key in the active SSTable few, so that reads have few to fold: puts the
 * value as of the newest visible operand in that operand's place, with its LSN. The log has nothing
 * of it, since a replay has the operands. What lies below is pruned as below any put.
 *
 * <p>A value that is too large for a leaf is put only once there are many operands: that copies all
 * of it. Until then the key is not looked at either. {@link FoldRules} says when.
 *
 * <p>Whatever keeps it from that, a failing operator or want of a page, does no harm: one of the
 * next operands tries again.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class OperandFolding {
  private static final int SLOTS = 256;
  private static final byte[] NO_VALUE = {};

  private final Engine engine;
  private final Snapshots snapshots;
  private final OperandReader reader;
  private final WriteRoom room;

  /** How many calls to pass over for the keys of each slot, since the last one came to nothing. */
  private final AtomicIntegerArray passes = new AtomicIntegerArray(SLOTS);

  /**
   * @param room what values take that have pages of their own
   */
  OperandFolding(Engine engine, WriteRoom room) {
    this.engine = engine;
    this.room = room;
    this.snapshots = engine.snapshots();
    this.reader = new OperandReader(engine);
  }

  /** Folds the operands of a key, to which the caller has written one that is visible. */
  void fold(TreeHandle tree, byte[] key) {
    fold(tree, key, this::replaceMarked);
  }

  /** As {@link #fold}, of what replay has written. */
  void foldReplayed(TreeHandle tree, byte[] key) {
    fold(tree, key, this::replaceReplayed);
  }

  /** Whether SSTables have what replay found in the log: they may have more of it folded. */
  boolean isOnDisk(TreeHandle tree, Write write) {
    return reader.isOnDisk(tree, key(write), write.lsn());
  }

  /** The key of a write, in an array of its own. */
  static byte[] key(Write write) {
    byte[] key = new byte[write.keyLength()];
    System.arraycopy(write.key(), write.keyOffset(), key, 0, key.length);
    return key;
  }

  /** Puts a value in the place of an operand, in the SSTable that the operand was found in. */
  private interface Replacing {
    void replace(TreeHandle tree, ActiveTree active, Write folded);
  }

  private void fold(TreeHandle tree, byte[] key, Replacing replacing) {
    int slot = Arrays.hashCode(key) & SLOTS - 1;
    int left = passes.get(slot);
    if (left > 0) {
      passes.set(slot, left - 1);
      return;
    }
    OperandChain chain = new OperandChain();
    // While it is registered nothing that it sees is pruned: the operand stays where it is found.
    long lsn = snapshots.register();
    try {
      TreeState state = tree.states().acquire();
      try {
        ActiveTree active = reader.collect(state, key, lsn, chain);
        if (active == null || chain.size() == 0) {
          return;
        }
        byte[] value = tree.fold(chain, key);
        int kind = value == null ? Kind.DELETE : Kind.PUT;
        byte[] bytes = value == null ? NO_VALUE : value;
        Write folded = new Write().of(kind, key, 0, key.length).value(bytes, 0, bytes.length);
        folded.expiring(value == null ? Expiry.NEVER : chain.expiry());
        folded.at(chain.newestLsn()).hashed();
        if (active.fitsInline(folded)) {
          replacing.replace(tree, active, folded);
          return;
        }
        int wait = FoldRules.passesBeforeLarge(chain.size());
        if (wait > 0) {
          passes.set(slot, wait);
        } else if (!replaceByLarge(tree, active, folded, replacing)) {
          passes.set(slot, FoldRules.passesAfterFailure());
        }
      } finally {
        tree.states().release(state);
      }
    } catch (IsobarException | OutOfBudgetException e) {
      // The operands stay: reads tell what is wrong with them, and fold them all.
      passes.set(slot, FoldRules.passesAfterFailure());
    } finally {
      snapshots.release(lsn);
    }
  }

  /** Puts a value that has pages of its own; false if there is no room for them. */
  private boolean replaceByLarge(
      TreeHandle tree, ActiveTree active, Write folded, Replacing replacing) {
    long claimed = room.tryClaimOverflow(folded.valueLength());
    if (claimed == 0) {
      return false;
    }
    try {
      active.writeOverflow(folded);
      replacing.replace(tree, active, folded);
      return true;
    } finally {
      active.freeOverflow(folded.takeOverflow());
      room.unclaim(claimed);
    }
  }

  /** With a record of its own, before which the SSTable does not freeze if it takes that record. */
  private void replaceMarked(TreeHandle tree, ActiveTree active, Write folded) {
    long marker = engine.log().reserveMarker();
    try {
      if (tree.states().current().target(marker) == active) {
        active.put(folded, snapshots);
      }
    } finally {
      engine.log().publishMarker(marker);
    }
  }

  private void replaceReplayed(TreeHandle tree, ActiveTree active, Write folded) {
    Lock applying = engine.log().applying();
    applying.lock();
    try {
      if (tree.activeTree() == active) {
        active.put(folded, snapshots);
      }
    } finally {
      applying.unlock();
    }
  }
}
