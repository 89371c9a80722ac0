package io.isobardb.lsm.commit;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StallReason;
import org.jspecify.annotations.Nullable;

/**
 * How fast writers may go: one delay, from write memory, L0, what waits for merges, and the log.
 * Pure functions; any thread.
 *
 * <p>Memory and log are pressures: 0 while they slow nobody down, 1 at their limits. They come free
 * with the flushes. So their rate is that of the flushes, times a factor that falls with the
 * pressure from far above what writers do to a half. Merges rewrite a byte several times, and how
 * fast they are is known by what they did. So for L0 and for the debt the rate is what merges have
 * taken out of them lately, and what fits into them still. Memory comes free all at once, when a
 * flush ends: what is left of it has to last until then.
 */
public final class Backpressure {
  /** The rate where a delay for memory or log begins, as a multiple of what flushes free. */
  private static final double LOOSE = 8;

  /** The rate at the limit of memory or log, as a multiple of what flushes free. */
  private static final double TIGHT = 0.5;

  /** How long it takes at least until the room that L0 or the debt has left is full. */
  private static final double FILL_NANOS = 1e9;

  /** What writers get of what merges do once there is no room left: there is to be some again. */
  private static final double RECEDING = 0.75;

  /**
   * The least rate that a delay for L0, debt or the room of write memory leaves, as a multiple of
   * what flushes free.
   */
  private static final double LEAST_RATE = 1.0 / 64;

  /** The rate of writers that nothing slows down. */
  private static final double UNLIMITED = Double.POSITIVE_INFINITY;

  /** Debt slows writers down from this part of its limit on. */
  private static final double SLOW_DEBT = 0.5;

  /** A longer wait is not told apart from this. */
  private static final double MOST_EXPECTED_NANOS = 60e9;

  private Backpressure() {}

  /**
   * What writers are slowed down for.
   *
   * @param memory of write memory, as {@link Fullness#slow}
   * @param roomBytes of write memory, which is not in use
   * @param log of the log, likewise
   * @param l0 of the tree whose L0 is fullest, of those with something to flush
   * @param debtBytes what waits for merges
   */
  record View(double memory, long roomBytes, double log, FullL0 l0, long debtBytes) {}

  /**
   * Where the limits are.
   *
   * @param debtBytes for what waits for merges
   * @param memory how full write memory may become
   */
  public record Limits(long debtBytes, Fullness memory) {
    /**
     * Those that a store's options ask for.
     *
     * @param flushBytes what a flush takes at least
     */
    public static Limits of(StoreOptions options, long flushBytes) {
      ExperimentalOptions chosen = ExperimentalOptions.of(options);
      Fullness memory = Fullness.ofMemory(chosen.flushTrigger(), flushBytes);
      return new Limits(chosen.mergeDebtLimit(), memory);
    }
  }

  /**
   * What came free, in bytes per nanosecond.
   *
   * @param flushing while a flush was under way
   * @param flushNanos what a flush takes
   * @param merged what merges have taken out of L0 lately, as so much write memory
   * @param paid by how much merges have made the debt less lately, likewise
   * @param perByte of SSTables that were flushed, bytes of write memory
   */
  record Freed(double flushing, double flushNanos, double merged, double paid, double perByte) {}

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

  /** The slowest of the paces that the four pressures allow; of equal ones the first. */
  static Pace pace(View view, Limits limits, Freed freed) {
    double memory = memory(view, freed);
    double log = flushed(view.log(), freed);
    double l0 = view.l0().slows() ? l0Rate(view.l0(), freed) : UNLIMITED;
    double debt = isDebtLarge(view, limits) ? debtRate(view, limits, freed) : UNLIMITED;
    double rate = Math.min(Math.min(memory, log), Math.min(l0, debt));
    StallReason reason = StallReason.DEBT_DELAY;
    if (rate == UNLIMITED) {
      reason = null;
    } else if (rate == memory) {
      reason = StallReason.MEMORY_DELAY;
    } else if (rate == log) {
      reason = StallReason.LOG_DELAY;
    } else if (rate == l0) {
      reason = StallReason.L0_DELAY;
    }
    return new Pace(reason, rate);
  }

  /** Whether L0, debt or log slow writers down, however much memory there is. */
  static boolean slows(View view, Limits limits) {
    return view.log() > 0 || view.l0().slows() || isDebtLarge(view, limits);
  }

  /** The debt from which on writers are slowed down. */
  public static long slowDebt(long limit) {
    return (long) (limit * SLOW_DEBT);
  }

  private static boolean isDebtLarge(View view, Limits limits) {
    return view.debtBytes() > slowDebt(limits.debtBytes());
  }

  private static double l0Rate(FullL0 l0, Freed freed) {
    return merging(freed.merged(), (double) l0.room() * l0.groupBytes(), freed);
  }

  private static double debtRate(View view, Limits limits, Freed freed) {
    return merging(freed.paid(), Math.max(0, limits.debtBytes() - view.debtBytes()), freed);
  }

  /**
   * What fills a room in no less than {@link #FILL_NANOS}: what merges take out, and the part of
   * the room. So it is no delay at all for a burst that fits, and the less room there is, the
   * nearer writers are to what merges do.
   *
   * @param merged what merges take out, as so much write memory
   * @param roomBytes of SSTables
   */
  private static double merging(double merged, double roomBytes, Freed freed) {
    double kept = roomBytes == 0 ? RECEDING : 1;
    double room = roomBytes * freed.perByte() / FILL_NANOS;
    return Math.max(merged * kept + room, least(freed));
  }

  /**
   * How long a write waits, about, that can't pass: until as much was flushed as it lacks, and
   * until the flush that runs ends, since all comes free then. If L0 is full, merges have to take a
   * group out of it before that; how long they take is not known before they have done so.
   *
   * @param missing write memory that the write lacks, in bytes
   * @return nanoseconds, at most a minute
   */
  static long expectedNanos(StallReason reason, long missing, View view, Freed freed) {
    double nanos = Math.max(Math.max(0, missing) / freed.flushing(), freed.flushNanos() / 2);
    if (reason == StallReason.L0_FULL && freed.merged() > 0) {
      long groups = view.l0().groups() - view.l0().limits().stop() + 1;
      nanos += groups * view.l0().groupBytes() * freed.perByte() / freed.merged();
    }
    return (long) Math.min(MOST_EXPECTED_NANOS, nanos);
  }

  private static double memory(View view, Freed freed) {
    double rate = flushed(view.memory(), freed);
    if (rate < UNLIMITED) {
      // What comes free comes when a flush ends: until then there is the room that is left.
      double room = view.roomBytes() / freed.flushNanos();
      rate = Math.min(rate, Math.max(room, least(freed)));
    }
    return rate;
  }

  /** The rate for what comes free with the flushes. */
  private static double flushed(double pressure, Freed freed) {
    return pressure <= 0 ? UNLIMITED : freed.flushing() * between(LOOSE, TIGHT, pressure);
  }

  private static double least(Freed freed) {
    return freed.flushing() * LEAST_RATE;
  }

  private static double between(double loose, double tight, double pressure) {
    return loose * Math.pow(tight / loose, Math.min(1, pressure));
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
