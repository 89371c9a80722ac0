package io.isobardb.memory.pool;

import java.util.function.IntPredicate;

/** Gives clean pages up when the pool has run out. */
@FunctionalInterface
public interface Reclaimer {
  /**
   * Tries to give up {@code pages} pages, by {@link PagePool#retire} or {@link PagePool#release}.
   * Must not wait and must not allocate.
   *
   * @return how many were given up; 0 if there is nothing to give
   */
  int reclaim(int pages);

  /**
   * Gives up the pages that {@code leaving} accepts, as far as possible: they lie in slabs which
   * are to go back to the system. Must not wait.
   */
  default void vacate(IntPredicate leaving) {}

  /**
   * Makes others give up what they can do without. Called by a thread that waits for pages and may
   * hold some. Must not wait.
   */
  default void askOthers() {}
}
