package io.isobardb.lsm.schedule;

import io.isobardb.lsm.event.SystemLog;
import java.lang.System.Logger.Level;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/**
 * A service on its thread.
 *
 * <p>No wake-up is lost: the thread first says that it sleeps and then looks whether there is work;
 * a waker first makes work and then looks whether the thread sleeps.
 */
final class ServiceThread implements Service.Handle, Runnable {
  private static final long NO_ALARM = Long.MAX_VALUE;

  private final Service service;
  private final Thread thread;
  private final AtomicBoolean asleep = new AtomicBoolean();

  /**
   * In what time an alarm was to come when it was set, or {@link #NO_ALARM}: a request for no less
   * needs no other one. Written under the monitor. To set one takes no heap: else what has to be
   * done in time would not be done while the heap is full.
   */
  private volatile long alarmNanos = NO_ALARM;

  /** When the alarm comes, by {@code System.nanoTime}. Guarded by this. */
  private long deadline;

  private volatile boolean stopped;

  /** Whether the thread will never come back. */
  private volatile boolean lost;

  ServiceThread(Service service, String threadName) {
    this.service = service;
    this.thread = new Thread(this, threadName);
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  @Override
  public void run() {
    try {
      while (!stopped) {
        if (due()) {
          clearAlarm();
          service.run();
        } else {
          sleep();
        }
      }
    } catch (Throwable e) {
      fail(e);
    }
  }

  private boolean due() {
    return service.ready() || nanosToAlarm() <= 0;
  }

  private synchronized long nanosToAlarm() {
    return alarmNanos == NO_ALARM ? NO_ALARM : deadline - System.nanoTime();
  }

  private synchronized void clearAlarm() {
    alarmNanos = NO_ALARM;
  }

  private void sleep() {
    asleep.set(true);
    if (!stopped && !due()) {
      long nanos = nanosToAlarm();
      if (nanos == NO_ALARM) {
        LockSupport.park(this);
      } else {
        LockSupport.parkNanos(this, nanos);
      }
    }
    asleep.set(false);
    // A pending interrupt would keep the thread from ever parking again.
    Thread.interrupted();
  }

  private void fail(Throwable cause) {
    try {
      service.onFailed(cause);
    } catch (Throwable e) {
      log(": the service failed, and failed to say so", e);
    }
    if (cause instanceof Error) {
      log(": the service failed", cause);
    }
  }

  private void log(String what, Throwable cause) {
    SystemLog.tell(Level.ERROR, ServiceThread.class, service, what, cause);
  }

  @Override
  public void wake() {
    VarHandle.fullFence();
    if (asleep.get() && asleep.compareAndSet(true, false)) {
      LockSupport.unpark(thread);
    }
  }

  @Override
  public void wakeWithin(long nanos) {
    // The work must be seen by the run that an alarm found here leads to.
    VarHandle.fullFence();
    if (alarmNanos > nanos && setAlarm(nanos)) {
      wake();
    }
  }

  /** Sets an alarm, unless there is one that comes earlier. */
  private synchronized boolean setAlarm(long nanos) {
    long wanted = System.nanoTime() + nanos;
    if (alarmNanos != NO_ALARM && wanted - deadline >= 0) {
      return false;
    }
    alarmNanos = nanos;
    deadline = wanted;
    return true;
  }

  @Override
  public void stop() {
    askToStop();
    ThreadScheduler.join(thread, () -> lost);
  }

  /** If it runs on one of these threads, nobody waits for it any more. */
  void goOnWithout(Predicate<Thread> gone) {
    if (!lost && gone.test(thread)) {
      lost = true;
    }
  }

  /** Has the service end, without waiting for that. */
  void askToStop() {
    stopped = true;
    LockSupport.unpark(thread);
  }

  boolean runsOn(Thread other) {
    return thread == other;
  }
}
