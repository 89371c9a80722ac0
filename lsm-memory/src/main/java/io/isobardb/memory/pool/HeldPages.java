package io.isobardb.memory.pool;

import io.isobardb.memory.stats.Purpose;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * How many pages of a pool are charged to which purpose.
 *
 * <p>Thread rule: guarded by the pool's lock, except {@link #approximate}.
 */
final class HeldPages {
  private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] held = new long[Purpose.values().length];

  long of(Purpose purpose) {
    return held[purpose.ordinal()];
  }

  /** The same for any thread, and so perhaps a few pages behind. */
  long approximate(Purpose purpose) {
    return (long) ELEMENT.getOpaque(held, purpose.ordinal());
  }

  void charge(Purpose purpose, int pages) {
    held[purpose.ordinal()] += pages;
  }

  /**
   * Takes a charge back.
   *
   * @throws IllegalStateException if fewer pages are charged to it
   */
  void discharge(Purpose purpose, int pages) {
    check(purpose, pages);
    held[purpose.ordinal()] -= pages;
  }

  /**
   * Sees that a charge of so many pages may be taken back.
   *
   * @throws IllegalStateException if fewer pages are charged to it
   */
  void check(Purpose purpose, int pages) {
    if (of(purpose) < pages) {
      throw new IllegalStateException(
          pages + " pages given up for " + purpose + ", which holds " + of(purpose));
    }
  }
}
