package io.isobardb.lsm.commit;

/**
 * How full something with a limit may become before something is done about it: the write memory, a
 * tree's even share of it, the log. All in bytes. Pure functions; any thread.
 *
 * <p>Between {@link #flushFrom} and the limit, flushes free what writers take. Writers are slowed
 * down before the limit ({@link #slow}, {@link Backpressure}); at the limit they wait.
 *
 * @param trigger the part of the limit that is in use when flushes begin, or less if that leaves
 *     too little room
 * @param leastRoom what is to be left then for those who fill it while a flush runs, if that is
 *     less than a quarter of the limit
 */
public record Fullness(double trigger, long leastRoom) {
  /** How it is unless somebody has chosen otherwise. */
  public static final Fullness USUAL = new Fullness(0.875, 0);

  /** What a flush takes at least is this many times what is to be left when it begins. */
  private static final int ROOMS_OF_FLUSH = 2;

  /** What has not more than so many times the least room is flushed in one or two parts anyway. */
  private static final int LEAST_ROOMS = 4;

  /** The share of the room above the trigger that is left when flushes are no longer limited. */
  private static final double PRESSING = 7.0 / 8;

  /**
   * The share of that room that is left when writers begin to be slowed down, a little at first.
   */
  private static final double SLOW = 6.0 / 8;

  /** The share of that room below which only writes should take more memory. */
  private static final double NEARLY_FULL = 3.0 / 8;

  /** This part of the write memory is not lent: writers should not have to ask for it back. */
  private static final int SLACK = 16;

  /** Checks the number. */
  public Fullness {
    if (!(trigger > 0 && trigger < 1)) {
      throw new IllegalArgumentException("trigger " + trigger + ", must be between 0 and 1");
    }
  }

  /**
   * That of a write memory. While a flush runs, writers take about half as much as it does on a
   * device that merges keep busy. In a large memory the room is more than that in any case.
   *
   * @param flushBytes what a flush takes at least
   */
  public static Fullness ofMemory(double trigger, long flushBytes) {
    return new Fullness(trigger, flushBytes / ROOMS_OF_FLUSH);
  }

  private double room(long limit) {
    double room = limit * (1 - trigger);
    return limit > LEAST_ROOMS * leastRoom ? Math.max(room, leastRoom) : room;
  }

  /** What is in use when so much of the room above the trigger is left. */
  private long with(double left, long limit) {
    return limit - (long) Math.ceil(room(limit) * left);
  }

  /** What is in use when flushes begin. One write can't wait for more than that to be free. */
  public long flushFrom(long limit) {
    return with(1, limit);
  }

  /** What is in use when flushes must not be limited any more. */
  long pressing(long limit) {
    return with(PRESSING, limit);
  }

  /** What is in use when so little is left that nothing but writes should take more. */
  public long nearlyFull(long limit) {
    return with(NEARLY_FULL, limit);
  }

  /** A limit for which this is about {@link #flushFrom}, and not less than that. */
  public long limitFor(long bytes) {
    long limit = (long) (bytes / trigger) + 2;
    return limit > LEAST_ROOMS * leastRoom ? Math.max(limit, bytes + leastRoom) : limit;
  }

  /** What flushes may leave in memory, however much trees are to keep. */
  long mostKept(long limit, long wanted) {
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
  public double slow(long used, long limit) {
    long from = with(SLOW, limit);
    return Math.max(0, (double) (used - from) / (limit - from));
  }
}
