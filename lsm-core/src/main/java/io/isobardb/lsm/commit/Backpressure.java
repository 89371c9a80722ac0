package io.isobardb.lsm.commit;

import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.version.L0Limits;
import org.jspecify.annotations.Nullable;

/**
 * How fast writers may go: one delay, from write memory, L0, what waits for merges, and the log.
 * Pure functions; any thread.
 *
 * <p>Each of the four is a pressure: 0 while it slows nobody down, 1 at its limit. Memory and log
 * come free with the flushes. So their rate is that of the flushes, times a factor that falls with
 * the pressure from far above what writers do to a half. Merges rewrite a byte several times, and
 * nobody knows how fast they are before they are asked. So for L0 and the debt the rate is that of
 * the last second, times a factor that falls from two to a quarter: it settles where merges keep
 * up.
 */
public final class Backpressure {
  /** The rate where a delay for memory or log begins, as a multiple of what flushes free. */
  private static final double LOOSE = 8;

  /** The rate at the limit of memory or log, as a multiple of what flushes free. */
  private static final double TIGHT = 0.5;

  /** The rate where a delay for L0 or debt begins, as a multiple of the last second's rate. */
  private static final double LOOSE_FOR_MERGES = 2;

  /** The rate at the limit of L0 or debt, as a multiple of the last second's rate. */
  private static final double TIGHT_FOR_MERGES = 0.25;

  /** The least rate that a delay for L0 or debt leaves, as a multiple of what flushes free. */
  private static final double LEAST_FOR_MERGES = 1.0 / 64;

  /** Debt slows writers down from this part of its limit on. */
  private static final double SLOW_DEBT = 0.5;

  private Backpressure() {}

  /**
   * What writers are slowed down for.
   *
   * @param memory of write memory, as {@link Fullness#slow}
   * @param log of the log, likewise
   * @param l0Groups the most groups of L0 that a tree with something to flush has
   * @param debtBytes what waits for merges
   */
  record View(double memory, double log, int l0Groups, long debtBytes) {}

  /**
   * Where the limits are.
   *
   * @param l0 for groups of L0
   * @param debtBytes for what waits for merges
   * @param memory how full write memory may become
   */
  public record Limits(L0Limits l0, long debtBytes, Fullness memory) {}

  /**
   * What came free, in bytes per nanosecond.
   *
   * @param flushing while a flush was under way
   * @param recent in the last second, whether flushes were under way or not
   */
  record Freed(double flushing, double recent) {}

  /**
   * How fast writers may go.
   *
   * @param reason for a wait; null if writers are not slowed down
   * @param rate what they may write, in bytes per nanosecond
   */
  record Pace(@Nullable StallReason reason, double rate) {
    /** Whether it is for merges to catch up. */
    boolean forMerges() {
      return reason == StallReason.L0_DELAY || reason == StallReason.DEBT_DELAY;
    }
  }

  /** The slowest of the paces that the four pressures allow. */
  static Pace pace(View view, Limits limits, Freed freed) {
    Pace pace = new Pace(null, Double.POSITIVE_INFINITY);
    pace = slower(pace, StallReason.MEMORY_DELAY, view.memory(), freed);
    pace = slower(pace, StallReason.LOG_DELAY, view.log(), freed);
    pace = slower(pace, StallReason.L0_DELAY, l0(view, limits.l0()), freed);
    return slower(pace, StallReason.DEBT_DELAY, debt(view, limits), freed);
  }

  /** Whether L0, debt or log slow writers down, however much memory there is. */
  static boolean slows(View view, Limits limits) {
    return view.log() > 0 || l0(view, limits.l0()) > 0 || debt(view, limits) > 0;
  }

  /** The debt from which on writers are slowed down. */
  public static long slowDebt(long limit) {
    return (long) (limit * SLOW_DEBT);
  }

  private static double l0(View view, L0Limits limits) {
    int steps = limits.stop() - limits.slowdown() + 1;
    return Math.max(0, (double) (view.l0Groups() - limits.slowdown() + 1) / steps);
  }

  private static double debt(View view, Limits limits) {
    double part = (double) view.debtBytes() / limits.debtBytes();
    return Math.max(0, (part - SLOW_DEBT) / (1 - SLOW_DEBT));
  }

  private static Pace slower(Pace pace, StallReason reason, double pressure, Freed freed) {
    if (pressure <= 0) {
      return pace;
    }
    double part = Math.min(1, pressure);
    Pace other = new Pace(reason, freed.flushing() * between(LOOSE, TIGHT, part));
    if (other.forMerges()) {
      double rate = freed.recent() * between(LOOSE_FOR_MERGES, TIGHT_FOR_MERGES, part);
      other = new Pace(reason, Math.max(rate, freed.flushing() * LEAST_FOR_MERGES));
    }
    return other.rate() < pace.rate() ? other : pace;
  }

  private static double between(double loose, double tight, double part) {
    return loose * Math.pow(tight / loose, part);
  }

  /**
   * The rate that follows another one: groups of L0 come one by one, but no second's rate is less
   * than half of the one's before.
   *
   * @param before the rate so long ago
   * @param wanted what the pace would be
   */
  static double eased(double before, long nanos, double wanted) {
    return Math.max(wanted, before * Math.pow(0.5, nanos / 1e9));
  }
}
