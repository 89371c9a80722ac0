package io.isobardb.lsm.wal;

import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Signal;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The writers that wait for a sync of the log while another thread writes to it, the oldest first.
 * Each sleeps on a signal of its own: it is woken when its record is durable, or to write and sync
 * for all that wait (leader and followers).
 *
 * <p>To call them takes no heap. With a full one the log would else stay with the thread that is
 * about to give it back, and those that wait would wait for ever.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class SyncQueue {
  private static final LongPredicate ANY = lsn -> true;

  private final Scheduler scheduler;

  // Guarded by this.
  private @Nullable Waiter first;
  private @Nullable Waiter last;

  private volatile boolean empty = true;

  /** A writer that waits. */
  static final class Waiter {
    private final long lsn;
    private final Signal signal;
    private volatile boolean called;

    /** Behind this one in the queue, or among those that are to be called. */
    private @Nullable Waiter next;

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
      Waiter before = last;
      if (before == null) {
        first = waiter;
      } else {
        before.next = waiter;
      }
      last = waiter;
      empty = false;
    }
    return waiter;
  }

  synchronized void leave(Waiter waiter) {
    Waiter before = null;
    Waiter at = first;
    while (at != null && at != waiter) {
      before = at;
      at = at.next;
    }
    if (at != null) {
      remove(before, at);
    }
  }

  /** Calls those whose record is durable. The caller has written to the log and still has it. */
  void callDone(LongPredicate durable) {
    if (!empty) {
      callTaken(durable);
    }
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
    Waiter next;
    synchronized (this) {
      next = first;
      while (next != null && durable.test(next.lsn)) {
        next = next.next;
      }
    }
    if (next != null) {
      next.call();
    }
  }

  /** Calls all: the log has stopped. */
  void callAll() {
    callTaken(ANY);
  }

  /** Takes those out whose record is one of these, and calls them. */
  private void callTaken(LongPredicate which) {
    Waiter waiter = take(which);
    while (waiter != null) {
      Waiter next = waiter.next;
      waiter.next = null;
      waiter.call();
      waiter = next;
    }
  }

  /** Takes some out; the first of them, which the others follow. */
  private synchronized @Nullable Waiter take(LongPredicate which) {
    Waiter taken = null;
    Waiter lastTaken = null;
    Waiter before = null;
    Waiter at = first;
    while (at != null) {
      Waiter next = at.next;
      if (which.test(at.lsn)) {
        remove(before, at);
        if (lastTaken == null) {
          taken = at;
        } else {
          lastTaken.next = at;
        }
        lastTaken = at;
      } else {
        before = at;
      }
      at = next;
    }
    return taken;
  }

  /** Takes one out; {@code before} stands before it. */
  private void remove(@Nullable Waiter before, Waiter waiter) {
    if (before == null) {
      first = waiter.next;
    } else {
      before.next = waiter.next;
    }
    if (last == waiter) {
      last = before;
    }
    waiter.next = null;
    empty = first == null;
  }
}
