package io.isobardb.lsm.schedule;

import io.isobardb.lsm.event.SystemLog;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Threads that do errands: they wait for the device, mostly. Each is started when there is an
 * errand and none is idle, and ends after a while without any.
 *
 * <p>Thread rule: any thread. The lock is held for a few instructions; no errand runs under it.
 */
final class HelperThreads {
  /**
   * How many at most. Reads of 4 KB reach the rate that a fast device can sustain at about this
   * depth; more of them only wait longer.
   */
  static final int MOST = 16;

  /** How long one waits for errands before it ends. */
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final String namePrefix;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition added = lock.newCondition();
  private final Deque<Errand> queue = new ArrayDeque<>();

  /** Has room for all, so that none is started and not noted. */
  private final List<Thread> threads = new ArrayList<>(MOST);

  private int idle;
  private int lastNumber;
  private boolean closed;

  /**
   * None, so far.
   *
   * @param namePrefix before the number in each thread's name
   */
  HelperThreads(String namePrefix) {
    this.namePrefix = namePrefix;
  }

  /**
   * Has a thread do an errand.
   *
   * @return false after {@link #close}, or if the process may have no thread for it
   */
  boolean add(Errand errand) {
    lock.lock();
    try {
      if (closed) {
        return false;
      }
      if (queue.size() >= idle && threads.size() < MOST) {
        startOne();
      }
      if (threads.isEmpty()) {
        return false;
      }
      queue.add(errand);
      added.signal();
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void startOne() {
    Thread thread = new Thread(null, this::work, namePrefix + ++lastNumber, 0, false);
    thread.setDaemon(true);
    try {
      thread.start();
      threads.add(thread);
    } catch (OutOfMemoryError e) {
      // The process may have no more threads: others do the errand, or its owner.
      log("a thread for reads can't be started", e);
    }
  }

  private void work() {
    for (Errand errand = take(); errand != null; errand = take()) {
      try {
        errand.run();
      } catch (Throwable e) {
        log("a read for others failed", e);
      }
    }
  }

  /** As {@link #next}, also if the heap is full: a virtual thread may wait for what is queued. */
  private @Nullable Errand take() {
    while (true) {
      try {
        return next();
      } catch (OutOfMemoryError e) {
        FullHeap.pause();
      }
    }
  }

  /** The next errand; null if the thread is to end. */
  private @Nullable Errand next() {
    lock.lock();
    try {
      long left = IDLE_NANOS;
      while (queue.isEmpty()) {
        if (closed || left <= 0) {
          threads.remove(Thread.currentThread());
          return null;
        }
        idle++;
        try {
          left = added.awaitNanos(left);
        } catch (InterruptedException e) {
          // Nobody means these threads.
        } finally {
          idle--;
        }
      }
      return queue.poll();
    } finally {
      lock.unlock();
    }
  }

  private void log(String what, Throwable cause) {
    SystemLog.tell(Level.ERROR, HelperThreads.class, what, cause);
  }

  /** Ends the threads, and waits for that. Owners have called off what nobody has begun. */
  void close() {
    List<Thread> left;
    lock.lock();
    try {
      closed = true;
      left = new ArrayList<>(threads);
      added.signalAll();
    } finally {
      lock.unlock();
    }
    for (Thread thread : left) {
      ThreadScheduler.join(thread, () -> false);
    }
  }
}
