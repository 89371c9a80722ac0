package io.isobardb.lsm.schedule;

import java.util.function.BooleanSupplier;

/**
 * Something to wait for. Waiting is done through this type alone, so that the simulated scheduler
 * can run other work meanwhile, and can tell a wait that nothing will end.
 *
 * <p>A thread's interrupt does not end a wait; the flag is kept.
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
   * Makes all waiters look at their conditions. Costs a volatile read when nobody waits. What the
   * conditions read must have been written (volatile) before.
   */
  void raise();
}
