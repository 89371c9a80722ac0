package io.isobardb.lsm.option;

import java.time.Duration;
import java.util.Objects;

/**
 * When disk merges run. Flushes and merges in memory are not concerned. Immutable.
 *
 * <pre>{@code
 * StoreOptions nightly =
 *     StoreOptions.builder()
 *         .mergeSchedule(MergeSchedule.afterLastWrite(Duration.ofSeconds(5)))
 *         .build();
 * }</pre>
 *
 * <p>Whatever the schedule, merges run while L0, or what waits for merges, is about to slow writers
 * down, while the disk runs short of space, and while somebody waits for them: {@code
 * Store.awaitQuiet}, {@code dropTree} and {@code close}.
 *
 * @param kind what it goes by
 * @param bytesPerSecond of users' writes, for {@link Kind#BELOW_THROUGHPUT}; else 0
 * @param duration over how long writes are counted, or how long there must have been none; zero for
 *     the others
 */
public record MergeSchedule(Kind kind, long bytesPerSecond, Duration duration)
    implements Comparable<MergeSchedule> {
  /** Merges run as soon as there is something to merge. */
  public static final MergeSchedule ALWAYS = new MergeSchedule(Kind.ALWAYS, 0, Duration.ZERO);

  /** Deep merges are paused while clients leave too little of the device for them. */
  public static final MergeSchedule SILK = new MergeSchedule(Kind.SILK, 0, Duration.ZERO);

  /** Merges run in the pauses between bursts of writes, which the store tells apart itself. */
  public static final MergeSchedule ADAPTIVE = new MergeSchedule(Kind.ADAPTIVE, 0, Duration.ZERO);

  private static final Duration SHORTEST = Duration.ofMillis(1);
  private static final Duration LONGEST = Duration.ofHours(1);

  /** What a schedule goes by. */
  public enum Kind {
    /** Nothing. */
    ALWAYS,
    /** How much users write. */
    BELOW_THROUGHPUT,
    /** How long ago users wrote. */
    AFTER_LAST_WRITE,
    /** What clients leave of the device. */
    SILK,
    /** What was seen of bursts and pauses. */
    ADAPTIVE
  }

  /**
   * Merges run while users write less than this.
   *
   * @param bytesPerSecond of keys and values, at least 1
   * @param probe over how long they are counted, from a millisecond to an hour
   * @return such a schedule
   */
  public static MergeSchedule belowThroughput(long bytesPerSecond, Duration probe) {
    Objects.requireNonNull(probe, "probe");
    return new MergeSchedule(Kind.BELOW_THROUGHPUT, bytesPerSecond, probe);
  }

  /**
   * Merges run once nobody has written for this long.
   *
   * @param delay from a millisecond to an hour
   * @return such a schedule
   */
  public static MergeSchedule afterLastWrite(Duration delay) {
    Objects.requireNonNull(delay, "delay");
    return new MergeSchedule(Kind.AFTER_LAST_WRITE, 0, delay);
  }

  /**
   * Checks the numbers.
   *
   * @param kind what it goes by
   * @param bytesPerSecond at least 1 for {@link Kind#BELOW_THROUGHPUT}, else 0
   * @param duration a millisecond to an hour for {@link Kind#BELOW_THROUGHPUT} and {@link
   *     Kind#AFTER_LAST_WRITE}, else zero
   * @throws IllegalArgumentException if one is anything else
   */
  public MergeSchedule {
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(duration, "duration");
    boolean timed = kind == Kind.BELOW_THROUGHPUT || kind == Kind.AFTER_LAST_WRITE;
    if (timed && (duration.compareTo(SHORTEST) < 0 || duration.compareTo(LONGEST) > 0)) {
      throw new IllegalArgumentException(
          "the duration of " + kind + " is from 1ms to an hour, not " + duration);
    }
    if (kind == Kind.BELOW_THROUGHPUT ? bytesPerSecond < 1 : bytesPerSecond != 0) {
      throw new IllegalArgumentException(
          bytesPerSecond + " bytes per second: at least 1 with BELOW_THROUGHPUT, and else 0");
    }
    if (!timed && !duration.isZero()) {
      throw new IllegalArgumentException(kind + " has no duration, not " + duration);
    }
  }

  @Override
  public int compareTo(MergeSchedule other) {
    int order = kind.compareTo(other.kind);
    if (order == 0) {
      order = Long.compare(bytesPerSecond, other.bytesPerSecond);
    }
    return order == 0 ? duration.compareTo(other.duration) : order;
  }
}
