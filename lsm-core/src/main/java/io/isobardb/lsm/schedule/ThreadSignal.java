package io.isobardb.lsm.schedule;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * A signal between threads.
 *
 * <p>No wake-up is lost: a waiter first counts itself and then looks at its condition; a raiser
 * first makes the condition true and then looks at the count. One of the two sees the other. The
 * generation covers the rest: a waiter sleeps only while it is what it was before the look, and a
 * raiser that sees a waiter changes it.
 *
 * <p>Conditions are evaluated outside the lock, so they may take locks that raisers hold.
 */
final class ThreadSignal implements Signal {
  private static final int MAX_SPINS = 64;

  /**
   * Some 50 microseconds. A sleep costs more: the processor that the thread wakes up on may be
   * idle, and it takes a while to get one going again, above all in a virtual machine.
   */
  private static final int MAX_BRIEF_SPINS = 2048;

  private final String name;
  private final AtomicInteger waiters = new AtomicInteger();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition raised = lock.newCondition();

  /** Changed under the lock. */
  private volatile long generation;

  /** How long to spin; a guess that waiters adjust, racily. */
  private int spins;

  private final int maxSpins;

  ThreadSignal(String name) {
    this(name, spins(MAX_SPINS));
  }

  /** One for waits of which most are over within microseconds. */
  static ThreadSignal ofBriefWaits(String name) {
    return new ThreadSignal(name, spins(MAX_BRIEF_SPINS));
  }

  /** With one processor, nothing comes true while a thread spins. */
  private static int spins(int most) {
    return Runtime.getRuntime().availableProcessors() > 1 ? most : 0;
  }

  /** {@code maxSpins} says how often to look at most before sleeping. */
  ThreadSignal(String name, int maxSpins) {
    this.name = name;
    this.maxSpins = maxSpins;
    this.spins = maxSpins / 2;
  }

  @Override
  public void await(BooleanSupplier condition) {
    if (condition.getAsBoolean() || spin(condition)) {
      return;
    }
    waiters.getAndIncrement();
    boolean noted = WaitNotes.waits(name);
    try {
      while (true) {
        long seen = generation;
        if (condition.getAsBoolean()) {
          return;
        }
        sleep(seen);
      }
    } finally {
      waiters.getAndDecrement();
      if (noted) {
        WaitNotes.goesOn();
      }
    }
  }

  private void sleep(long seen) {
    lock.lock();
    try {
      while (generation == seen) {
        raised.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean await(BooleanSupplier condition, long nanos) {
    return await(condition, nanos, false);
  }

  @Override
  public boolean awaitUnlessInterrupted(BooleanSupplier condition, long nanos) {
    return await(condition, nanos, true);
  }

  private boolean await(BooleanSupplier condition, long nanos, boolean interruptible) {
    if (condition.getAsBoolean() || spin(condition)) {
      return true;
    }
    long deadline = System.nanoTime() + nanos;
    boolean interrupted = false;
    waiters.getAndIncrement();
    boolean noted = WaitNotes.waits(name);
    try {
      while (true) {
        long seen = generation;
        if (condition.getAsBoolean()) {
          return true;
        }
        if (deadline - System.nanoTime() <= 0
            || interruptible && (interrupted || Thread.currentThread().isInterrupted())) {
          return false;
        }
        interrupted |= sleep(seen, deadline, interruptible);
      }
    } finally {
      waiters.getAndDecrement();
      if (noted) {
        WaitNotes.goesOn();
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Returns whether the thread was interrupted. */
  private boolean sleep(long seen, long deadline, boolean interruptible) {
    boolean interrupted = false;
    lock.lock();
    try {
      while (generation == seen && !(interruptible && interrupted)) {
        long left = deadline - System.nanoTime();
        if (left <= 0) {
          break;
        }
        try {
          raised.awaitNanos(left);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      lock.unlock();
    }
    return interrupted;
  }

  /** Looks at the condition for a short while; longer if that helped before. */
  private boolean spin(BooleanSupplier condition) {
    int limit = spins;
    for (int i = 0; i < limit; i++) {
      Thread.onSpinWait();
      if (condition.getAsBoolean()) {
        spins = Math.min(maxSpins, limit + 4);
        return true;
      }
    }
    spins = Math.max(maxSpins / 16, limit - 1);
    return false;
  }

  @Override
  public void raise() {
    VarHandle.fullFence();
    if (waiters.get() == 0) {
      return;
    }
    FullHeap.lock(lock);
    try {
      generation++;
      raised.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public String toString() {
    return "signal " + name;
  }
}
