package io.isobardb.lsm.commit;

import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.observe.LatencyStats;
import io.isobardb.lsm.observe.StoreStats;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * How long gets, writes and batches take. Times one call in 64, since two looks at the clock cost
 * about as much as a tenth of a get.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class Latencies {
  /** A call that is not timed. */
  public static final long NOT_TIMED = Long.MIN_VALUE;

  private static final int SAMPLE_SHIFT = 6;

  /** Scatters the calls that are timed: programs like to do something special at a power of two. */
  private static final long SCATTER = 0x9E3779B97F4A7C15L;

  private final Clock clock;
  private final AtomicLongArray gets = new AtomicLongArray(LatencyStats.buckets());
  private final AtomicLongArray writes = new AtomicLongArray(LatencyStats.buckets());
  private final AtomicLongArray batches = new AtomicLongArray(LatencyStats.buckets());

  public Latencies(Clock clock) {
    this.clock = clock;
  }

  /**
   * Begins a call.
   *
   * @param number the call's number among those of its kind and thread
   * @return when it began, in nanoseconds, or {@link #NOT_TIMED}
   */
  public long begin(long number) {
    return number * SCATTER >>> Long.SIZE - SAMPLE_SHIFT == 0 ? clock.nanos() : NOT_TIMED;
  }

  /** Ends a get. */
  public void endGet(long begun) {
    add(gets, begun);
  }

  /** Ends a put or delete. */
  public void endWrite(long begun) {
    add(writes, begun);
  }

  /** Ends a batch. */
  public void wroteBatch(long begun) {
    add(batches, begun);
  }

  private void add(AtomicLongArray counts, long begun) {
    if (begun != NOT_TIMED) {
      counts.getAndIncrement(LatencyStats.bucket(clock.nanos() - begun));
    }
  }

  /** Those of all calls that were timed. */
  public StoreStats.Latencies stats() {
    return new StoreStats.Latencies(stats(gets), stats(writes), stats(batches));
  }

  private static LatencyStats stats(AtomicLongArray counts) {
    long[] copy = new long[counts.length()];
    Arrays.setAll(copy, counts::get);
    return new LatencyStats(copy);
  }
}
