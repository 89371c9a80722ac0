package io.isobardb.tpcc.drive;

import io.isobardb.tpcc.store.Isolation;

/**
 * What a run is.
 *
 * <p>A warehouse has ten terminals, each with a district of its own. With waits, every one of them
 * has a thread. Without, each thread works for its share of them in random turns, and never rests.
 *
 * @param threads that work for terminals
 * @param deliveryThreads that work off the queue of deliveries
 * @param rampUpMillis before anything counts
 * @param durationMillis that counts
 * @param mix how often each kind comes
 * @param isolation of all transactions but StockLevel, for which committed reads suffice
 * @param waits whether there are keying and think times
 * @param deliveryHints whether the driver remembers per district what was delivered last, and looks
 *     for new orders from there
 * @param seed of all choices, and of NURand's constants for the run
 */
public record RunSpec(
    int threads,
    int deliveryThreads,
    long rampUpMillis,
    long durationMillis,
    Mix mix,
    Isolation isolation,
    boolean waits,
    boolean deliveryHints,
    long seed) {

  /** Checks the limits. */
  public RunSpec {
    if (threads < 1 || threads > 10_000 || deliveryThreads < 1 || deliveryThreads > 1_000) {
      throw new IllegalArgumentException(
          "terminals is not in 1..10000, or delivery threads not in 1..1000: "
              + threads
              + ", "
              + deliveryThreads);
    }
    if (durationMillis < 1 || rampUpMillis < 0) {
      throw new IllegalArgumentException(
          "the duration is to be positive, the ramp-up not negative: "
              + durationMillis
              + " ms, "
              + rampUpMillis
              + " ms");
    }
  }

  /** As many delivery threads as work off what so many terminals queue. */
  public static int deliveryThreads(int threads) {
    return Math.min(64, (threads + 1) / 2);
  }
}
