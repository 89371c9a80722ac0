package io.isobardb.lsm.schedule;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A lock whose holder may wait. Threads that want it wait by a signal: so the wait has its place
 * among the others ({@link Awaited}), and the simulated schedulers see it.
 *
 * <p>Thread rule: all methods may be called by any thread; the one that locks unlocks.
 */
public final class SignalLock {
  private final Awaited what;
  private final Signal freed;
  private final AtomicReference<@Nullable Thread> holder = new AtomicReference<>();

  /**
   * @param what those within the lock are within
   */
  public SignalLock(Scheduler scheduler, Awaited what) {
    this.what = what;
    this.freed = scheduler.signal(what);
  }

  /**
   * Waits until nobody holds it, and takes it.
   *
   * @throws IllegalStateException if the calling thread holds it
   */
  public void lock() {
    Thread current = Thread.currentThread();
    if (holder.get() == current) {
      throw new IllegalStateException("this thread would wait for itself: for " + what.text());
    }
    freed.await(() -> holder.compareAndSet(null, current));
    what.enter();
  }

  /**
   * As {@link #lock}, but waits for {@code nanos} at most.
   *
   * @return whether it was taken
   */
  public boolean tryLock(long nanos) {
    Thread current = Thread.currentThread();
    boolean taken = freed.await(() -> holder.compareAndSet(null, current), nanos);
    if (taken) {
      what.enter();
    }
    return taken;
  }

  /** Gives it back. */
  public void unlock() {
    what.exit();
    holder.set(null);
    freed.raise();
  }

  /** Takes it from a thread that never gives it back, if one of these holds it. */
  public void takeFrom(Predicate<Thread> gone) {
    Thread held = holder.get();
    if (held != null && gone.test(held) && holder.compareAndSet(held, null)) {
      freed.raise();
    }
  }
}
