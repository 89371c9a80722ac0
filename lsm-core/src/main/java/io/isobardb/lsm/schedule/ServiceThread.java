package io.isobardb.lsm.schedule;

import io.isobardb.lsm.event.SystemLog;
import java.lang.System.Logger.Level;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A service on its thread.
 *
 * <p>No wake-up is lost: the thread first says that it sleeps and then looks whether there is work;
 * a waker first makes work and then looks whether the thread sleeps.
 */
final class ServiceThread implements Service.Handle, Runnable {
  /**
   * When to run at the latest.
   *
   * @param delayNanos what was asked for; a request for no less needs no new alarm
   * @param deadline by {@code System.nanoTime}
   */
  private record Alarm(long delayNanos, long deadline) {}

  private final Service service;
  private final Thread thread;
  private final AtomicBoolean asleep = new AtomicBoolean();
  private final AtomicReference<@Nullable Alarm> alarm = new AtomicReference<>();
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
          alarm.set(null);
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
    Alarm set = alarm.get();
    return service.ready() || (set != null && set.deadline - System.nanoTime() <= 0);
  }

  private void sleep() {
    asleep.set(true);
    if (!stopped && !due()) {
      Alarm set = alarm.get();
      if (set == null) {
        LockSupport.park(this);
      } else {
        LockSupport.parkNanos(this, set.deadline - System.nanoTime());
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
    Alarm set = alarm.get();
    if (set != null && set.delayNanos <= nanos) {
      return;
    }
    Alarm wanted = new Alarm(nanos, System.nanoTime() + nanos);
    while (set == null || wanted.deadline - set.deadline < 0) {
      if (alarm.compareAndSet(set, wanted)) {
        wake();
        return;
      }
      set = alarm.get();
    }
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
