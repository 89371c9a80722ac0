package io.isobardb.lsm.schedule;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * How long jobs' reads and writes take the device, by their size, and the piece that follows: the
 * largest one that takes about 0.05 ms. A client's read waits for the pieces before it.
 *
 * <p>A call has a cost that does not depend on its size. It is not the device's bandwidth, so it
 * keeps few others waiting, but small pieces pay it often. Where it is high, pieces may take twice
 * as long as it.
 *
 * <p>For pieces the shortest of lately counts: calls that waited in a queue, or whose thread waited
 * for a processor, tell nothing. Sizes of which nothing is known are tried. What the device does in
 * a second follows from the fastest quarter of the calls, since single calls may end in a cache.
 *
 * <p>Thread rule: all methods may be called by any thread, {@link #turn} by one at a time.
 */
final class PieceTimes {
  static final int SMALLEST = 8 << 10;

  /** While nothing is known of the device. */
  static final int UNKNOWN = 64 << 10;

  /** What a piece may take in any case. */
  private static final long MOST_NANOS = 50_000;

  /** Calls that are enough to tell what the shortest takes. */
  private static final int ENOUGH = 16;

  /** Lengths of calls are told apart from about 1 us to about 1 s. */
  private static final int SHORTEST_LOG = 10;

  private static final int LONGEST_LOG = 30;
  private static final int LENGTHS = (LONGEST_LOG - SHORTEST_LOG) << 2;

  private static final int SIZES =
      Integer.numberOfTrailingZeros(IoLimits.LARGEST_PIECE / SMALLEST) + 1;

  /** What was seen in some seconds. */
  private static final class Seen {
    private final AtomicLongArray shortest = new AtomicLongArray(SIZES);
    private final AtomicIntegerArray calls = new AtomicIntegerArray(SIZES);

    /** By size, and within it by length. */
    private final AtomicIntegerArray counts = new AtomicIntegerArray(SIZES * LENGTHS);

    private final AtomicLongArray sums = new AtomicLongArray(SIZES * LENGTHS);

    Seen() {
      for (int i = 0; i < SIZES; i++) {
        shortest.set(i, Long.MAX_VALUE);
      }
    }

    void add(int at, long nanos) {
      calls.incrementAndGet(at);
      if (nanos < shortest.get(at)) {
        shortest.accumulateAndGet(at, nanos, Math::min);
      }
    }

    void addLength(int at, long nanos) {
      int length = at * LENGTHS + length(nanos);
      // In this order: a call that is counted has its time in the sum.
      sums.addAndGet(length, nanos);
      counts.incrementAndGet(length);
    }

    boolean hasEnough() {
      for (int i = 0; i < SIZES; i++) {
        if (calls.get(i) >= ENOUGH) {
          return true;
        }
      }
      return false;
    }

    long nanos(int at) {
      return calls.get(at) < ENOUGH ? Long.MAX_VALUE : shortest.get(at);
    }

    /** What a call takes of which a quarter are faster, about; MAX_VALUE if there are too few. */
    double quarterNanos(int at) {
      int all = 0;
      for (int i = at * LENGTHS; i < (at + 1) * LENGTHS; i++) {
        all += counts.get(i);
      }
      if (all < ENOUGH) {
        return Double.MAX_VALUE;
      }
      int length = at * LENGTHS;
      for (int faster = counts.get(length); faster < all / 4; faster += counts.get(length)) {
        length++;
      }
      return (double) sums.get(length) / counts.get(length);
    }
  }

  /** The class of calls that take about as long: four for each doubling. */
  private static int length(long nanos) {
    long bounded = Math.max(1L << SHORTEST_LOG, Math.min(nanos, (1L << LONGEST_LOG) - 1));
    int log = 63 - Long.numberOfLeadingZeros(bounded);
    return (log - SHORTEST_LOG << 2) + (int) (bounded >>> (log - 2) & 3);
  }

  private volatile Seen before = new Seen();
  private volatile Seen now = new Seen();

  /** A call of a job took so long. One that took no time is not counted: the clock stood still. */
  void add(int bytes, long nanos) {
    add(bytes, nanos, true);
  }

  /** The same of a call that the system buffers. It tells nothing of what the device does. */
  void addBuffered(int bytes, long nanos) {
    add(bytes, nanos, false);
  }

  private void add(int bytes, long nanos, boolean device) {
    if (nanos > 0
        && Integer.bitCount(bytes) == 1
        && bytes >= SMALLEST
        && bytes <= IoLimits.LARGEST_PIECE) {
      int at = Integer.numberOfTrailingZeros(bytes / SMALLEST);
      now.add(at, nanos);
      if (device) {
        now.addLength(at, nanos);
      }
    }
  }

  /** Forgets what was seen before this was called last, if enough was seen since. */
  void turn() {
    if (now.hasEnough()) {
      before = now;
      now = new Seen();
    }
  }

  /** The piece to use now, in bytes. */
  int piece() {
    return piece(nanos());
  }

  /**
   * Bytes per second that the device does at least: those of the size whose faster calls do most; 0
   * if unknown.
   */
  long bytesPerSecond() {
    double most = 0;
    for (int i = 0; i < SIZES; i++) {
      double nanos = Math.min(before.quarterNanos(i), now.quarterNanos(i));
      most = Math.max(most, (SMALLEST << i) / nanos);
    }
    return (long) (most * 1e9);
  }

  private long[] nanos() {
    long[] nanos = new long[SIZES];
    for (int i = 0; i < SIZES; i++) {
      nanos[i] = Math.min(before.nanos(i), now.nanos(i));
    }
    return nanos;
  }

  /**
   * The piece to use.
   *
   * @param nanos what a piece of {@link #SMALLEST} takes, and of each double size up to the
   *     largest; {@link Long#MAX_VALUE} where that is not known
   */
  static int piece(long... nanos) {
    int first = 0;
    while (first < nanos.length && nanos[first] == Long.MAX_VALUE) {
      first++;
    }
    if (first == nanos.length) {
      return UNKNOWN;
    }
    long most = Math.max(MOST_NANOS, 2 * fixedNanos(nanos, first));
    int best = -1;
    for (int i = first; i < nanos.length; i++) {
      if (nanos[i] <= most) {
        best = i;
      }
    }
    if (best < 0 && first > 0) {
      return SMALLEST << (first - 1);
    }
    best = Math.max(best, 0);
    boolean tryNext = best + 1 < nanos.length && nanos[best + 1] == Long.MAX_VALUE;
    return SMALLEST << (tryNext ? best + 1 : best);
  }

  /** What a call costs beside its bytes, as far as the smallest and the largest size tell. */
  private static long fixedNanos(long[] nanos, int first) {
    int last = nanos.length - 1;
    while (nanos[last] == Long.MAX_VALUE) {
      last--;
    }
    if (first == last) {
      return 0;
    }
    long forBytes = (nanos[last] - nanos[first]) / ((1 << (last - first)) - 1);
    return nanos[first] - Math.max(0, Math.min(nanos[first], forBytes));
  }
}
