package io.isobardb.lsm.wal;

import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Signal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The writers that wait for a sync of the log while another thread writes to it, the oldest first.
 * Each sleeps on a signal of its own: it is woken when its record is durable, or to write and sync
 * for all that wait (leader and followers).
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class SyncQueue {
  private final Scheduler scheduler;

  /** Guarded by this. */
  private final ArrayDeque<Waiter> waiters = new ArrayDeque<>();

  private volatile boolean empty = true;

  /** A writer that waits. */
  static final class Waiter {
    private final long lsn;
    private final Signal signal;
    private volatile boolean called;

    private Waiter(long lsn, Signal signal) {
      this.lsn = lsn;
      this.signal = signal;
    }

    /** Waits until this one is called: it is to look again whether it is its turn. */
    void await() {
      signal.await(() -> called);
      called = false;
    }

    private void call() {
      called = true;
      signal.raise();
    }
  }

  SyncQueue(Scheduler scheduler) {
    this.scheduler = scheduler;
  }

  boolean isEmpty() {
    return empty;
  }

  /** Enters a writer that waits for the record at {@code lsn}. It has to {@link #leave}. */
  Waiter enter(long lsn) {
    Waiter waiter = new Waiter(lsn, scheduler.signal(Awaited.SYNC));
    synchronized (this) {
      waiters.add(waiter);
      empty = false;
    }
    return waiter;
  }

  synchronized void leave(Waiter waiter) {
    waiters.remove(waiter);
    empty = waiters.isEmpty();
  }

  /** Calls those whose record is durable. The caller has written to the log and still has it. */
  void callDone(LongPredicate durable) {
    if (empty) {
      return;
    }
    List<Waiter> done = new ArrayList<>();
    synchronized (this) {
      for (Iterator<Waiter> each = waiters.iterator(); each.hasNext(); ) {
        Waiter waiter = each.next();
        if (durable.test(waiter.lsn)) {
          done.add(waiter);
          each.remove();
        }
      }
      empty = waiters.isEmpty();
    }
    done.forEach(Waiter::call);
  }

  /**
   * Calls the oldest whose record is not durable, once the log is free: it is the next one to write
   * to it. A writer that has entered since {@link #callDone} and has a durable record sees that
   * itself.
   */
  void callNext(LongPredicate durable) {
    if (empty) {
      return;
    }
    @Nullable Waiter next = null;
    synchronized (this) {
      for (Waiter waiter : waiters) {
        if (!durable.test(waiter.lsn)) {
          next = waiter;
          break;
        }
      }
    }
    if (next != null) {
      next.call();
    }
  }

  /** Calls all: the log has stopped. */
  void callAll() {
    List<Waiter> all;
    synchronized (this) {
      all = List.copyOf(waiters);
    }
    all.forEach(Waiter::call);
  }
}
