package io.isobardb.tuner.workload;

/**
 * What was seen of bursts of writes and of the pauses between them. Immutable.
 *
 * <p>A <em>lull</em> is time in which an eighth of what bursts write was not reached. A lull that
 * lasts is a <em>pause</em>, and ends the burst before it. How long it must last is learnt: as
 * short as most lulls that lasted so long went on for much longer. In a pause that does not end
 * what bursts write is learnt anew.
 *
 * @param burstNanos how long bursts lasted
 * @param burstBytes how much was written in them
 * @param lullNanos how long lulls lasted
 * @param bytesPerSecond what bursts wrote lately
 * @param now what is going on
 */
public record BurstHistory(
    Spread burstNanos, Spread burstBytes, Spread lullNanos, double bytesPerSecond, Now now) {
  /** Nothing was seen. */
  public static final BurstHistory NONE =
      new BurstHistory(Spread.NONE, Spread.NONE, Spread.NONE, 0, new Now(0, 0, 0, 0, true));

  /** The share of what bursts write below which a time is a lull. */
  private static final double LULL_SHARE = 1.0 / 8;

  /** Over about this time the rate of bursts is learnt. */
  private static final double RATE_NANOS = 1e9;

  private static final long MILLI = 1_000_000;

  /** How long a lull may have to last to be a pause. */
  private static final long[] PAUSES_AFTER = {20 * MILLI, 50 * MILLI, 100 * MILLI, 200 * MILLI};

  private static final long PAUSE_AFTER_UNKNOWN = 100 * MILLI;
  private static final long PAUSE_AFTER_MOST = 500 * MILLI;

  private static final int MUCH_LONGER = 10;

  private static final double MOST = 0.75;

  /** Before so many were seen, nothing is known. */
  private static final double FEW = 2.5;

  /** A burst or pause that lasts so many times longer than nearly all before does not end soon. */
  private static final double OVERDUE = 2;

  private static final double NEARLY_ALL = 0.9;

  /**
   * What is going on.
   *
   * @param nanos how long the burst has lasted, without the lull at its end
   * @param bytes written in it so far
   * @param lull how long the lull at its end has lasted, or the pause; 0 if it goes on
   * @param lullBytes written in that
   * @param pause whether the burst has ended
   */
  public record Now(long nanos, long bytes, long lull, long lullBytes, boolean pause) {
    private double lullRate() {
      return lullBytes * 1e9 / lull;
    }
  }

  /**
   * {@return what is known after some more time in which so much was written}
   *
   * @param nanos how much time
   * @param bytes of keys and values, 0 or more
   */
  public BurstHistory after(long nanos, long bytes) {
    return isLull(nanos, bytes) ? lulled(nanos, bytes) : written(nanos, bytes);
  }

  private boolean isLull(long nanos, long bytes) {
    return bytes == 0 || bytes * 1e9 / nanos < bytesPerSecond * LULL_SHARE;
  }

  private BurstHistory lulled(long nanos, long bytes) {
    long lull = now.lull() + nanos;
    if (now.pause() || lull < pauseAfterNanos()) {
      Now next = new Now(now.nanos(), now.bytes(), lull, now.lullBytes() + bytes, now.pause());
      return with(lullNanos, isPauseOutgrown(next) ? next.lullRate() : bytesPerSecond, next);
    }
    return new BurstHistory(
        burstNanos.with(now.nanos()),
        burstBytes.with(now.bytes()),
        lullNanos,
        bytesPerSecond,
        new Now(0, 0, lull, now.lullBytes() + bytes, true));
  }

  /**
   * Whether a pause has lasted far longer than nearly all, and as much was written in it as in a
   * burst: bursts were those of a load, say, and nothing that comes since is as fast.
   */
  private boolean isPauseOutgrown(Now next) {
    return next.pause()
        && bytesPerSecond > 0
        && next.lull() > OVERDUE * lullNanos.quantile(NEARLY_ALL)
        && next.lullBytes() >= burstBytes.quantile(NEARLY_ALL);
  }

  private BurstHistory written(long nanos, long bytes) {
    double part = Math.min(1, nanos / RATE_NANOS);
    double seen = bytes * 1e9 / nanos;
    double rate = bytesPerSecond == 0 ? seen : bytesPerSecond + part * (seen - bytesPerSecond);
    Spread lulls = now.lull() == 0 ? lullNanos : lullNanos.with(now.lull());
    boolean begins = now.pause();
    long before = begins ? 0 : now.nanos() + now.lull();
    long bytesBefore = begins ? 0 : now.bytes() + now.lullBytes();
    return with(lulls, rate, new Now(before + nanos, bytesBefore + bytes, 0, 0, false));
  }

  private BurstHistory with(Spread lulls, double rate, Now next) {
    return new BurstHistory(burstNanos, burstBytes, lulls, rate, next);
  }

  /** {@return how long a lull has to last to be a pause, in nanoseconds} */
  public long pauseAfterNanos() {
    if (lullNanos.weightFrom(PAUSES_AFTER[0]) < FEW) {
      return PAUSE_AFTER_UNKNOWN;
    }
    for (long after : PAUSES_AFTER) {
      double lasted = lullNanos.weightFrom(after);
      if (lasted > 0 && lullNanos.weightFrom(MUCH_LONGER * after) >= MOST * lasted) {
        return after;
      }
    }
    return PAUSE_AFTER_MOST;
  }

  /**
   * {@return whether a burst is under way that may end soon, so that what is no hurry waits for its
   * end}
   */
  public boolean isBurst() {
    return !now.pause() && !isOverdue();
  }

  /** Whether the burst under way has lasted so long that its end can't be counted on. */
  private boolean isOverdue() {
    return burstNanos.weight() >= FEW && now.nanos() > OVERDUE * burstNanos.quantile(NEARLY_ALL);
  }

  /** {@return what nearly all bursts wrote at most; 0 if nothing is known} */
  public double expectedBytes() {
    return burstBytes.weight() < FEW ? 0 : burstBytes.quantile(NEARLY_ALL);
  }
}
