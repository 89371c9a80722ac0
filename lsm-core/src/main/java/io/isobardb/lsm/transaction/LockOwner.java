package io.isobardb.lsm.transaction;

import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Signal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A transaction, or a plain write, as the one who holds record locks.
 *
 * <p>Thread rule: used by one thread at a time, save what is volatile.
 */
public final class LockOwner {
  private final long id;
  private final long startNanos;
  private final List<RecordLock> held = new ArrayList<>();
  private volatile @Nullable RecordLock waitsFor;
  private volatile @Nullable Signal granted;
  private volatile boolean committing;

  LockOwner(long id, long startNanos) {
    this.id = id;
    this.startNanos = startNanos;
  }

  /** Counts up, over the life of the open store. */
  public long id() {
    return id;
  }

  /** When it began, on the store's clock. */
  public long startNanos() {
    return startNanos;
  }

  /** Whether its commit is being validated or carried out. */
  boolean committing() {
    return committing;
  }

  /** From now on others count what it has locked as written. */
  public void beginCommit() {
    committing = true;
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
      signal = scheduler.signal("a record lock");
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
}
