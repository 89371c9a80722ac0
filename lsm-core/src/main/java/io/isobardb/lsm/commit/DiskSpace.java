package io.isobardb.lsm.commit;

import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.event.FailureLatch;
import io.isobardb.lsm.schedule.LostThreadException;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Service;
import io.isobardb.memory.pool.OutOfBudgetException;
import org.jspecify.annotations.Nullable;

/**
 * Remembers that a flush or a merge found the disk full, and has it tried again from time to time.
 *
 * <p>Meanwhile no flush or merge is begun, and a caller that would have to wait for one gets a
 * {@link DiskFullException} instead. Nothing is lost by that: what was not flushed stays in memory
 * and in the log.
 *
 * <p>Thread rule: all methods may be called by any thread. The timer's thread is started when the
 * disk is full for the first time.
 */
public final class DiskSpace implements Service {
  private static final long RETRY_NANOS = 200_000_000L;

  private final Scheduler scheduler;
  private final FailureLatch failure;
  private volatile @Nullable DiskFullException full;
  private final Runnable retry;
  private Service.@Nullable Handle timer;

  /**
   * @param failure told if trying again fails for a reason of its own
   * @param retry what to do when it is time to try again: starts what is due
   */
  public DiskSpace(Scheduler scheduler, FailureLatch failure, Runnable retry) {
    this.scheduler = scheduler;
    this.failure = failure;
    this.retry = retry;
  }

  /**
   * A flush or a merge has failed: it is tried again if it had no room or no memory, or lost its
   * thread. Else the store has failed.
   */
  public void onJobFailed(Throwable cause) {
    if (cause instanceof DiskFullException noRoom) {
      full = noRoom;
      tryAgain(noRoom);
    } else if (cause instanceof OutOfBudgetException noMemory) {
      tryAgain(noMemory);
    } else if (!(cause instanceof LostThreadException)) {
      failure.fail(cause);
    }
  }

  /** Has what failed tried again after some time, unless the store is being closed. */
  private void tryAgain(RuntimeException cause) {
    try {
      timer().wakeWithin(RETRY_NANOS);
    } catch (StoreClosedException e) {
      cause.addSuppressed(e);
    } catch (OutOfMemoryError e) {
      // The process may have no more threads: nobody would try again.
      failure.fail(e);
    }
  }

  private synchronized Service.Handle timer() {
    Service.Handle started = timer;
    if (started == null) {
      started = scheduler.start(this);
      timer = started;
    }
    return started;
  }

  /** Whether it is too early to try again. */
  public boolean isFull() {
    return full != null;
  }

  /**
   * Passes unless the disk was full a moment ago.
   *
   * @throws DiskFullException if it was
   */
  public void check() {
    DiskFullException cause = full;
    if (cause != null) {
      throw new DiskFullException(
          "the disk is full, so memory can't be flushed; make room, and writes go on by themselves: "
              + cause.getMessage(),
          cause);
    }
  }

  @Override
  public String name() {
    return "disk-space";
  }

  @Override
  public boolean ready() {
    return false;
  }

  @Override
  public void run() {
    full = null;
    retry.run();
  }

  @Override
  public void onFailed(Throwable cause) {
    failure.fail(cause);
  }
}
