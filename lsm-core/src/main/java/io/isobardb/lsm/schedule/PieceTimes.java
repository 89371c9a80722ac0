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
 * <p>The shortest of lately is asked for: calls that waited in a queue, or whose thread waited for
 * a processor, tell nothing. Sizes of which nothing is known are tried.
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

  private static final int SIZES =
      Integer.numberOfTrailingZeros(IoLimits.LARGEST_PIECE / SMALLEST) + 1;

  /** What was seen in some seconds. */
  private static final class Seen {
    private final AtomicLongArray shortest = new AtomicLongArray(SIZES);
    private final AtomicIntegerArray calls = new AtomicIntegerArray(SIZES);

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
  }

  private volatile Seen before = new Seen();
  private volatile Seen now = new Seen();

  /** A call of a job took so long. One that took no time is not counted: the clock stood still. */
  void add(int bytes, long nanos) {
    if (nanos > 0
        && Integer.bitCount(bytes) == 1
        && bytes >= SMALLEST
        && bytes <= IoLimits.LARGEST_PIECE) {
      now.add(Integer.numberOfTrailingZeros(bytes / SMALLEST), nanos);
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

  /** Bytes per second that the device does at least: those of the fastest call; 0 if unknown. */
  long bytesPerSecond() {
    long[] nanos = nanos();
    double most = 0;
    for (int i = 0; i < SIZES; i++) {
      most = Math.max(most, (double) (SMALLEST << i) / nanos[i]);
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
