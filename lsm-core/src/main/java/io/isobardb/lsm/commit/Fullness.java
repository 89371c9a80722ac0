package io.isobardb.lsm.commit;

/**
 * How full something with a limit may become before something is done about it: the write memory, a
 * tree's even share of it, the log. All in bytes. Pure functions; any thread.
 *
 * <p>Between {@link #flushFrom} and the limit, flushes free what writers take. Writers are slowed
 * down before the limit ({@link #slow}, {@link Backpressure}); at the limit they wait.
 */
public final class Fullness {
  /** The parts of a limit that the others count. */
  private static final int PARTS = 64;

  /** Flushes begin here, ... */
  private static final int FLUSH = 56;

  /** ... here they must not be limited any more, ... */
  private static final int PRESSING = 57;

  /** ... here writers are slowed down, so little at first that they hardly feel it, ... */
  private static final int SLOW = 58;

  /** ... and here nothing but writes should take more. */
  private static final int NEARLY_FULL = 61;

  /** This part of the write memory is not lent: writers should not have to ask for it back. */
  private static final int SLACK = 16;

  private Fullness() {}

  /** What is in use when flushes begin. One write can't wait for more than that to be free. */
  public static long flushFrom(long limit) {
    return limit / PARTS * FLUSH;
  }

  /** What is in use when flushes must not be limited any more. */
  static long pressing(long limit) {
    return limit / PARTS * PRESSING;
  }

  /** What is in use when so little is left that nothing but writes should take more. */
  public static long nearlyFull(long limit) {
    return limit / PARTS * NEARLY_FULL;
  }

  /** A limit for which this is about {@link #flushFrom}, and not less than that. */
  public static long limitFor(long bytes) {
    return bytes / FLUSH * PARTS + 2 * PARTS;
  }

  /** What flushes may leave in memory, however much trees are to keep. */
  static long mostKept(long limit, long wanted) {
    return Math.max(0, Math.min(limit / 2, flushFrom(limit) - wanted));
  }

  /** The most that one write may take. */
  static long largestWrite(long limit) {
    return limit / 2;
  }

  /** What may be lent to the cache while writers don't use it. */
  static long lendable(long limit) {
    return limit - limit / SLACK;
  }

  /**
   * How near to its limit something is: 0 while that slows nobody down, 1 at the limit, more
   * beyond.
   */
  public static double slow(long used, long limit) {
    long from = limit / PARTS * SLOW;
    return Math.max(0, (double) (used - from) / (limit - from));
  }
}
