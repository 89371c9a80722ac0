package io.isobardb.memory.pool;

import io.isobardb.memory.stats.Purpose;

/**
 * Decides which allocations of a pool fail although there may be room: for tests of what becomes of
 * a store then.
 */
@FunctionalInterface
public interface AllocationFaults {
  /** None fails. */
  AllocationFaults NONE = purpose -> false;

  /**
   * Whether the next page or block is refused, as if the budget had no room. Called by the threads
   * that allocate; must not use the pool.
   */
  boolean refuses(Purpose purpose);
}
