package io.isobardb.memory.pool;

import java.util.concurrent.locks.LockSupport;

/**
 * Waits a moment for another thread that is about to finish something, and tells nobody when it
 * has: the holder of a latch.
 *
 * <p>It spins first, then gives the processor up, then sleeps. It must come to sleeping: virtual
 * threads that give the processor up stand in line before those that were woken, so enough of them
 * keep the one they wait for from ever running.
 */
public final class Backoff {
  private static final int SPINS = 64;
  private static final int YIELDS = 96;
  private static final long SLEEP_NANOS = 50_000;

  private Backoff() {}

  /**
   * Waits a moment. An interrupt is kept.
   *
   * @param tries how often this was called before, for the same thing
   */
  public static void pause(int tries) {
    if (tries < SPINS) {
      Thread.onSpinWait();
    } else if (tries < YIELDS) {
      Thread.yield();
    } else {
      park(SLEEP_NANOS);
    }
  }

  /** Sleeps for so long, on an interrupted thread, too. An interrupt is kept. */
  static void park(long nanos) {
    boolean interrupted = Thread.interrupted();
    if (interrupted) {
      LockSupport.parkNanos(nanos); // At once: an interrupt lets its thread pass, even if cleared.
    }
    LockSupport.parkNanos(nanos);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
