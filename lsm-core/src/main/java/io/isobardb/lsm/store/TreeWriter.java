package io.isobardb.lsm.store;

import io.isobardb.lsm.commit.Committer;
import io.isobardb.lsm.commit.Latencies;
import io.isobardb.lsm.commit.StoreClock;
import io.isobardb.lsm.commit.Writer;
import io.isobardb.lsm.component.Write;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.operand.Operands;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.read.PointReader;
import io.isobardb.lsm.recovery.StoreParts;
import io.isobardb.lsm.state.Adjustments;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.transaction.LockOwner;
import io.isobardb.lsm.transaction.OwnWrites;
import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The plain writes to one tree.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class TreeWriter {
  private final TreeHandle handle;
  private final Operations operations;
  private final Committer committer;
  private final PointReader reader;
  private final Transactions transactions;
  private final Latencies latencies;
  private final StoreParts parts;
  private final StoreClock time;

  public TreeWriter(OpenStore open, TreeHandle handle) {
    this.handle = handle;
    this.operations = open.operations();
    this.committer = open.parts().committer();
    this.reader = open.parts().reader();
    this.transactions = open.transactions();
    this.latencies = open.engine().latencies();
    this.parts = open.parts();
    this.time = open.engine().snapshots().time();
  }

  /**
   * What became of a conditional write.
   *
   * @param done whether it was written
   * @param before the value that the condition was asked about
   */
  public record Outcome(boolean done, byte @Nullable [] before) {}

  /** A write in the calling thread's hand. */
  public Writer begun() {
    return committer.writer();
  }

  /** As {@link #begun()}, of a key and a value; a value expires as the tree's do. */
  public Writer begun(int kind, byte[] key, byte[] value) {
    Writer writer = committer.writer();
    writer.write().of(kind, key, 0, key.length).value(value, 0, value.length);
    if (kind != Kind.DELETE) {
      writer.write().expiring(expiry());
    }
    return writer;
  }

  /** When what is put now expires, or {@link Expiry#NEVER}. */
  public long expiry() {
    long millis = handle.timeToLive();
    return millis == 0 ? Expiry.NEVER : noted(Expiry.after(time.getAsLong(), millis));
  }

  /** When what expires at an instant does. */
  public long expiry(Instant at) {
    return noted(time.expiry(Expiry.of(Objects.requireNonNull(at, "expires"))));
  }

  /** From now on something in the tree may expire. */
  private long noted(long expiry) {
    if (expiry != Expiry.NEVER) {
      parts.engine().snapshots().time().noteExpiring(handle);
    }
    return expiry;
  }

  /**
   * A put of a transaction.
   *
   * @param expires null for the tree's time to live
   */
  public OwnWrites.Write ownPut(byte[] value, @Nullable Instant expires) {
    long expiry = expires == null ? expiry() : expiry(expires);
    // The transaction itself sees what it puts until it ends, but not what had expired before.
    return expiry != Expiry.NEVER && Expiry.isOver(expiry, time.getAsLong())
        ? OwnWrites.Write.DELETE
        : new OwnWrites.Write(Kind.PUT, value, expiry);
  }

  /** A merge of a transaction. */
  public OwnWrites.Write ownMerge(byte[] operand) {
    return new OwnWrites.Write(Kind.MERGE, Operands.of(operand), expiry());
  }

  /** Changes something of the tree, durably. */
  public void adjust(UnaryOperator<Adjustments> change) {
    int slot = operations.enter(handle);
    try {
      parts.adjust(handle, change);
    } catch (IOException e) {
      throw Operations.failed("adjusting tree '" + handle.name() + "'", e);
    } finally {
      operations.exit(slot);
    }
  }

  /** Writes what the writer has in hand. */
  public void write(Writer writer, boolean sync) {
    long begun = latencies.begin(writer.number());
    try {
      int slot = operations.enter(handle);
      try {
        committer.admit(handle, writer.write());
        if (!transactions.inUse()) {
          awaitSync(committer.write(handle, writer, slot), sync);
          latencies.endWrite(begun);
          return;
        }
      } finally {
        operations.exit(slot);
      }
      writeLocked(writer, sync);
      latencies.endWrite(begun);
    } finally {
      writer.give();
    }
  }

  /** As {@link #write}, of what there was room for, beside transactions. */
  private void writeLocked(Writer writer, boolean sync) {
    LockOwner locked = lock(writer.write());
    try {
      int slot = operations.enter();
      try {
        handle.checkOpen();
        long written = committer.write(handle, writer, slot);
        transactions.locks().releaseAll(locked);
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

  /**
   * Deletes the keys of a range.
   *
   * @param merge told afterwards: whole SSTables may be without use now
   */
  public void deleteRange(
      byte @Nullable [] from, byte @Nullable [] to, boolean sync, Consumer<TreeHandle> merge) {
    if (RangeDelete.isEmpty(handle.order(), from, to)) {
      return;
    }
    Writer writer = committer.writer();
    writer.write().ofRange(from, to);
    write(writer, sync);
    if (sync) {
      // Else it counts for merges later, and IdleWatch asks.
      merge.accept(handle);
    }
  }

  /** Locks what a write that was admitted writes; outside of operations. */
  private LockOwner lock(Write write) {
    if (!write.isRange()) {
      return lock(write, key(write));
    }
    RangeDelete range = write.range();
    LockOwner owner = transactions.newWriter();
    return lock(write, owner, () -> transactions.lockRange(owner, handle, range));
  }

  private LockOwner lock(Write write, byte[] key) {
    LockOwner owner = transactions.newWriter();
    return lock(write, owner, () -> transactions.lock(owner, handle, key));
  }

  private LockOwner lock(Write write, LockOwner owner, Runnable lock) {
    transactions.lockWithRoom(owner, lock, () -> committer.admits(write), () -> awaitRoom(write));
    return owner;
  }

  private void awaitRoom(Write write) {
    int slot = operations.enter();
    try {
      handle.checkOpen();
      committer.admit(handle, write);
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
  public Outcome writeIf(Writer writer, Predicate<byte @Nullable []> condition, boolean sync) {
    try {
      // Before the operation: it waits for those that have begun.
      transactions.lockPlainWrites();
      while (true) {
        int slot = operations.enter(handle);
        try {
          committer.admit(handle, writer.write());
        } finally {
          operations.exit(slot);
        }
        Outcome outcome = tryWriteIf(writer, condition, sync);
        if (outcome != null) {
          return outcome;
        }
        transactions.awaitLoads();
      }
    } finally {
      writer.give();
    }
  }

  /** Null if it is to be tried again, once there is room and no bulk load. */
  private @Nullable Outcome tryWriteIf(
      Writer writer, Predicate<byte @Nullable []> condition, boolean sync) {
    Write write = writer.write();
    byte[] key = key(write);
    LockOwner locked = lock(write, key);
    try {
      int slot = operations.enter();
      try {
        handle.checkOpen();
        if (transactions.isLoading(handle, key)) {
          return null;
        }
        byte[] before = reader.getArray(handle, key, reader.latest());
        if (!condition.test(before)) {
          return new Outcome(false, before);
        }
        // The look may have read from disk, and others have taken the room meanwhile.
        if (!committer.admits(write)) {
          return null;
        }
        long written = committer.write(handle, writer, slot);
        transactions.locks().releaseAll(locked);
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
