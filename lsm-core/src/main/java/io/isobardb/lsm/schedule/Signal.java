package io.isobardb.lsm.schedule;

import java.util.function.BooleanSupplier;

/**
 * Something to wait for. Waiting is done through this type alone, so that the simulated scheduler
 * can run other work meanwhile, and can tell a wait that nothing will end.
 *
 * <p>A thread's interrupt does not end a wait, unless the method says so; the flag is kept.
 */
public interface Signal {
  /** Waits until {@code condition} holds; it is looked at after every {@link #raise}. */
  void await(BooleanSupplier condition);

  /**
   * Waits until {@code condition} holds or {@code nanos} have passed.
   *
   * @return whether the condition holds
   */
  boolean await(BooleanSupplier condition, long nanos);

  /**
   * As {@link #await(BooleanSupplier, long)}, but an interrupt of the thread ends the wait, too, be
   * it before or meanwhile. The flag is kept. For waits that other users' code has to end.
   */
  default boolean awaitUnlessInterrupted(BooleanSupplier condition, long nanos) {
    Thread current = Thread.currentThread();
    await(() -> condition.getAsBoolean() || current.isInterrupted(), nanos);
    return condition.getAsBoolean();
  }

  /**
   * Makes all waiters look at their conditions. Costs a volatile read when nobody waits. What the
   * conditions read must have been written (volatile) before.
   */
  void raise();
}
