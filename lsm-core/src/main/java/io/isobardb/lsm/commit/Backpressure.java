package io.isobardb.lsm.commit;

import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.version.L0Limits;
import org.jspecify.annotations.Nullable;

/**
 * How fast writers may go: one delay, from write memory, L0, what waits for merges, and the log.
 * Pure functions; any thread.
 *
 * <p>Each of the four is a pressure: 0 while it slows nobody down, 1 at its limit. The rate is that
 * at which flushes free memory, times a factor that falls with the pressure. It begins far above
 * what writers do, so that nobody feels where the delay begins. Memory and log come free with the
 * flushes, so at their limits writers go at half the flushes' rate. Merges rewrite a byte several
 * times, so writers must become much slower to relieve L0 or the debt.
 */
public final class Backpressure {
  /** Times what flushes free: where a delay begins. */
  private static final double LOOSE = 8;

  /** ... at the limit of memory and log. */
  private static final double TIGHT = 0.5;

  /** ... at the limit of L0 and debt. */
  private static final double TIGHT_FOR_MERGES = 1.0 / 16;

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
   */
  public record Limits(L0Limits l0, long debtBytes) {}

  /**
   * How fast writers may go.
   *
   * @param reason for a wait; null if writers are not slowed down
   * @param factor how many times what flushes free they may write
   */
  record Pace(@Nullable StallReason reason, double factor) {}

  /** The pace for the greatest of the pressures. */
  static Pace pace(View view, Limits limits) {
    Pace pace = new Pace(null, LOOSE);
    pace = slower(pace, StallReason.MEMORY_DELAY, view.memory(), TIGHT);
    pace = slower(pace, StallReason.LOG_DELAY, view.log(), TIGHT);
    pace = slower(pace, StallReason.L0_DELAY, l0(view, limits.l0()), TIGHT_FOR_MERGES);
    return slower(pace, StallReason.DEBT_DELAY, debt(view, limits), TIGHT_FOR_MERGES);
  }

  /** Whether L0, debt or log slow writers down, however much memory there is. */
  static boolean slows(View view, Limits limits) {
    return view.log() > 0 || l0(view, limits.l0()) > 0 || debt(view, limits) > 0;
  }

  private static double l0(View view, L0Limits limits) {
    int steps = limits.stop() - limits.slowdown() + 1;
    return Math.max(0, (double) (view.l0Groups() - limits.slowdown() + 1) / steps);
  }

  private static double debt(View view, Limits limits) {
    double part = (double) view.debtBytes() / limits.debtBytes();
    return Math.max(0, (part - SLOW_DEBT) / (1 - SLOW_DEBT));
  }

  private static Pace slower(Pace pace, StallReason reason, double pressure, double tight) {
    if (pressure <= 0) {
      return pace;
    }
    double factor = LOOSE * Math.pow(tight / LOOSE, Math.min(1, pressure));
    return factor < pace.factor() ? new Pace(reason, factor) : pace;
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
