package io.isobardb.lsm.transaction;

import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Signal;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A transaction, or a plain write, as the holder of record locks.
 *
 * <p>Thread rule: used by one thread at a time, save what is volatile.
 */
public final class LockOwner {
  private static final VarHandle USER;

  static {
    try {
      USER = MethodHandles.lookup().findVarHandle(LockOwner.class, "user", Thread.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final long id;
  private final long startNanos;
  private final List<RecordLock> held = new ArrayList<>();
  private volatile @Nullable RecordLock waitsFor;
  private volatile @Nullable Signal granted;
  private volatile boolean committing;

  /** The thread that used it last. Written by that thread alone, without a fence. */
  private Thread user;

  /** The thread that began it and can't go on before it ends, or null if there is none. */
  private volatile @Nullable Thread enclosing;

  /** Whether it is a plain write, and no transaction. */
  private final boolean write;

  /** How long it may still wait for locks, all waits together. */
  private long waitNanos;

  LockOwner(long id, long startNanos, long waitNanos, boolean write) {
    this.id = id;
    this.startNanos = startNanos;
    this.waitNanos = waitNanos;
    this.write = write;
    this.committing = write;
    this.user = Thread.currentThread();
  }

  /** Counts up, over the life of the open store. */
  public long id() {
    return id;
  }

  /** When it began, on the store's clock. */
  public long startNanos() {
    return startNanos;
  }

  /** Notes that the current thread uses it. Cheap if that is the one that did so last. */
  public void use() {
    Thread current = Thread.currentThread();
    if (user != current) {
      USER.setRelease(this, current);
    }
  }

  /** The current thread runs code that this owner must outlive: a body of a transaction. */
  public void enclose() {
    enclosing = Thread.currentThread();
  }

  /** Whether {@code thread} used it last. */
  boolean isUsedBy(Thread thread) {
    return (Thread) USER.getAcquire(this) == thread;
  }

  /** Whether {@code thread} used it last, and does not come back before it has ended. */
  boolean encloses(Thread thread) {
    return enclosing == thread && isUsedBy(thread);
  }

  /** How long it may still wait for locks. */
  long waitNanos() {
    return waitNanos;
  }

  void countWait(long nanos) {
    waitNanos = Math.max(0, waitNanos - nanos);
  }

  /** Whether its commit is being validated or carried out. */
  boolean committing() {
    return committing;
  }

  /** From now on others count what it has locked as written. */
  public void beginCommit() {
    committing = true;
  }

  /**
   * Passes if it holds no lock in a range.
   *
   * @throws io.isobardb.lsm.error.ConflictException if it does
   */
  public void checkBeside(LoadedRange range) {
    for (RecordLock lock : held) {
      if (lock.meets(range)) {
        throw ReadSet.conflict(lock.tree, lock.key);
      }
    }
  }

  /** How many locks it has. */
  public int lockCount() {
    return held.size();
  }

  List<RecordLock> held() {
    return held;
  }

  @Nullable RecordLock waitsFor() {
    return waitsFor;
  }

  void waitsFor(@Nullable RecordLock lock) {
    waitsFor = lock;
  }

  /** What it waits on for a lock. */
  Signal granted(Scheduler scheduler) {
    Signal signal = granted;
    if (signal == null) {
      signal = scheduler.signal(Awaited.RECORD_LOCK);
      granted = signal;
    }
    return signal;
  }

  void wake() {
    Signal signal = granted;
    if (signal != null) {
      signal.raise();
    }
  }

  /** For messages: what it is, since when, and whose. */
  String describe(long nowNanos) {
    long millis = TimeUnit.NANOSECONDS.toMillis(nowNanos - startNanos);
    String thread = "'" + ((Thread) USER.getAcquire(this)).getName() + "'";
    return write
        ? "a write of thread " + thread + ", begun " + millis + " ms ago"
        : this + ", begun " + millis + " ms ago and last used by thread " + thread;
  }

  @Override
  public String toString() {
    return (write ? "write " : "transaction ") + id;
  }
}
