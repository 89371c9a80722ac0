package io.isobardb.lsm.observe;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * How long calls took: a histogram of those that were timed, one in 64. Times are exact to an
 * eighth. The slowest calls of all may not be among those that were timed.
 *
 * <pre>{@code
 * LatencyStats before = store.stats().latencies().gets();
 * Thread.sleep(10_000);
 * LatencyStats gets = store.stats().latencies().gets().since(before);
 * System.out.println("p99 of 10 seconds: " + gets.quantileNanos(0.99) / 1000 + " us");
 * }</pre>
 *
 * <p>Thread rule: immutable.
 */
public final class LatencyStats {
  private static final int PARTS_SHIFT = 3;
  private static final int PARTS = 1 << PARTS_SHIFT;

  /** How many counts a histogram has. */
  private static final int BUCKETS = (Long.SIZE - PARTS_SHIFT) << PARTS_SHIFT;

  private static final double[] QUANTILES = {0.5, 0.99, 0.999};

  private final long[] counts;
  private final long count;

  /**
   * Made by the store.
   *
   * @param counts how many calls fell into each bucket
   */
  public LatencyStats(long[] counts) {
    this.counts = Arrays.copyOf(counts, BUCKETS);
    this.count = Arrays.stream(this.counts).sum();
  }

  /** {@return how many buckets there are} */
  public static int buckets() {
    return BUCKETS;
  }

  /**
   * {@return the bucket of a time}
   *
   * @param nanos how long a call took; negative as 0
   */
  public static int bucket(long nanos) {
    long time = Math.max(0, nanos);
    int shift = Math.max(0, Long.SIZE - PARTS_SHIFT - 1 - Long.numberOfLeadingZeros(time));
    return (shift << PARTS_SHIFT) + (int) (time >>> shift);
  }

  /** The longest time of a bucket, in nanoseconds. */
  private static long longest(int bucket) {
    if (bucket < 2 * PARTS) {
      return bucket;
    }
    int shift = (bucket >> PARTS_SHIFT) - 1;
    return ((long) (bucket & PARTS - 1 | PARTS) + 1 << shift) - 1;
  }

  /** {@return how many calls were timed} */
  public long count() {
    return count;
  }

  /**
   * {@return the time within which a part of the timed calls ended, in nanoseconds; 0 if none was
   * timed}
   *
   * @param part 0 to 1, such as 0.99
   */
  public long quantileNanos(double part) {
    if (!(part >= 0 && part <= 1)) {
      throw new IllegalArgumentException("the part must be from 0 to 1, not " + part);
    }
    long left = Math.max(1, (long) Math.ceil(part * count));
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      left -= counts[bucket];
      if (left <= 0) {
        return longest(bucket);
      }
    }
    return 0;
  }

  /**
   * {@return {@link #quantileNanos} of the half, of 99% and of 99.9%: by "0.5", "0.99" and "0.999"}
   */
  public Map<String, Long> quantiles() {
    Map<String, Long> quantiles = new TreeMap<>();
    for (double part : QUANTILES) {
      quantiles.put(String.valueOf(part), quantileNanos(part));
    }
    return quantiles;
  }

  /**
   * {@return the calls that were timed after an earlier look at the same store}
   *
   * @param earlier of the same kind of calls
   */
  public LatencyStats since(LatencyStats earlier) {
    long[] rest = new long[BUCKETS];
    Arrays.setAll(rest, i -> counts[i] - earlier.counts[i]);
    return new LatencyStats(rest);
  }

  @Override
  public String toString() {
    return count
        + " timed: half within "
        + quantileNanos(0.5)
        + " ns, 99% within "
        + quantileNanos(0.99)
        + " ns";
  }
}
