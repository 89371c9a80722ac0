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
      boolean interrupted = Thread.interrupted();
      LockSupport.parkNanos(SLEEP_NANOS);
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
