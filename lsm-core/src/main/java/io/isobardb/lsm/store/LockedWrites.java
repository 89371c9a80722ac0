package io.isobardb.lsm.store;

import io.isobardb.lsm.commit.Committer;
import io.isobardb.lsm.commit.Committer.Writer;
import io.isobardb.lsm.component.Write;
import io.isobardb.lsm.error.LockTimeoutException;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.read.PointReader;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.transaction.LockOwner;
import java.util.Arrays;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The plain writes to one tree that lock their keys: all once there are transactions, and those
 * with a condition always.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class LockedWrites {
  private final TreeHandle handle;
  private final Operations operations;
  private final Committer committer;
  private final PointReader reader;
  private final Transactions transactions;
  private final RecorderSlot recorders;

  LockedWrites(OpenStore open, TreeHandle handle) {
    this.handle = handle;
    this.operations = open.operations();
    this.committer = open.parts().committer();
    this.reader = open.parts().reader();
    this.transactions = open.transactions();
    this.recorders = open.recorders();
  }

  /**
   * What became of a conditional write.
   *
   * @param done whether it was written
   * @param before the value that the condition was asked about
   */
  record Outcome(boolean done, byte @Nullable [] before) {}

  /** Writes what the writer has in hand, and what there was room for; outside of operations. */
  void write(Writer writer, boolean sync) {
    LockOwner locked = lock(writer);
    try {
      int slot = operations.enter();
      try {
        handle.checkOpen();
        long written = committer.write(handle, writer, slot);
        transactions.locks().releaseAll(locked);
        recorders.onWrite(handle, writer.write());
        awaitSync(written, sync);
      } finally {
        operations.exit(slot);
      }
    } finally {
      transactions.locks().releaseAll(locked);
    }
  }

  private void awaitSync(long written, boolean sync) {
    if (sync) {
      committer.awaitDurable(written);
    }
  }

  private static byte[] key(Write write) {
    int from = write.keyOffset();
    return Arrays.copyOfRange(write.key(), from, from + write.keyLength());
  }

  /** Locks what a write that was admitted writes; outside of operations. */
  private LockOwner lock(Writer writer) {
    Write write = writer.write();
    if (!write.isRange()) {
      return lock(writer, key(write));
    }
    RangeDelete range = write.range();
    WaitLimit limit = writer.limit();
    LockOwner owner = transactions.newWriter(limit);
    return lock(writer, owner, () -> transactions.lockRange(owner, handle, range, limit));
  }

  private LockOwner lock(Writer writer, byte[] key) {
    LockOwner owner = transactions.newWriter(writer.limit());
    return lock(writer, owner, () -> transactions.lock(owner, handle, key));
  }

  private LockOwner lock(Writer writer, LockOwner owner, Runnable lock) {
    transactions.lockWithRoom(
        owner, lock, () -> committer.admits(writer.write()), () -> awaitRoom(writer));
    return owner;
  }

  private void awaitRoom(Writer writer) {
    int slot = operations.enter();
    try {
      handle.checkOpen();
      committer.admit(handle, writer);
    } finally {
      operations.exit(slot);
    }
  }

  /**
   * Writes what the writer has in hand, if the newest value of its key meets a condition. The key
   * is locked from the look to the write, against plain writes, too.
   *
   * @param condition gets null if there is no such key; must return at once
   */
  Outcome writeIf(Writer writer, Predicate<byte @Nullable []> condition, boolean sync) {
    try {
      // Before the operation: it waits for those that have begun.
      checkWait(transactions.lockPlainWrites(writer.limit()), writer, "writes under way");
      while (true) {
        int slot = operations.enter(handle);
        try {
          committer.admit(handle, writer);
        } finally {
          operations.exit(slot);
        }
        Outcome outcome = tryWriteIf(writer, condition, sync);
        if (outcome != null) {
          return outcome;
        }
        checkWait(transactions.awaitLoads(writer.limit()), writer, "a bulk load");
      }
    } finally {
      writer.give();
    }
  }

  /** Passes if a wait has ended in time. */
  private void checkWait(boolean ended, Writer writer, String what) {
    if (!ended) {
      byte[] key = key(writer.write());
      throw new LockTimeoutException(
          handle.name(),
          key,
          "a write to tree '"
              + handle.name()
              + "' would wait longer than its writeTimeout for the end of "
              + what
              + "; nothing was written: try again");
    }
  }

  /** Null if it is to be tried again, once there is room and no bulk load. */
  private @Nullable Outcome tryWriteIf(
      Writer writer, Predicate<byte @Nullable []> condition, boolean sync) {
    Write write = writer.write();
    byte[] key = key(write);
    LockOwner locked = lock(writer, key);
    try {
      int slot = operations.enter();
      try {
        handle.checkOpen();
        if (transactions.isLoading(handle, key)) {
          return null;
        }
        byte[] before = reader.getArray(handle, key, reader.latest());
        recorders.onGet(handle, key, before);
        if (!condition.test(before)) {
          return new Outcome(false, before);
        }
        // The look may have read from disk, and others have taken the room meanwhile.
        if (!committer.admits(write)) {
          return null;
        }
        long written = committer.write(handle, writer, slot);
        transactions.locks().releaseAll(locked);
        recorders.onWrite(handle, write);
        awaitSync(written, sync);
        return new Outcome(true, before);
      } finally {
        operations.exit(slot);
      }
    } finally {
      transactions.locks().releaseAll(locked);
    }
  }
}
