package io.isobardb.tuner.model;

import java.util.Arrays;
import java.util.Objects;

/**
 * Entries written per entry inserted, by what writes them: write amplification in its parts.
 *
 * @param log by the log
 * @param flush by flushes, or by merges in the first stage of designs without flushes
 * @param withinL0 by merges of groups of L0 with each other, in designs that have them
 * @param levels by merges into each level, from the first on
 */
public record WriteCost(double log, double flush, double withinL0, double[] levels) {
  /**
   * Copies the array.
   *
   * @param log 0 or more
   * @param flush 0 or more
   * @param withinL0 0 in designs without such merges
   * @param levels from the first on
   */
  public WriteCost {
    levels = levels.clone();
  }

  /**
   * The cost in a design without merges within L0.
   *
   * @param log by the log
   * @param flush by flushes
   * @param levels by merges into each level, from the first on
   */
  public WriteCost(double log, double flush, double[] levels) {
    this(log, flush, 0, levels);
  }

  /** {@return a copy of what merges into each level write, from the first on} */
  @Override
  public double[] levels() {
    return levels.clone();
  }

  /** {@return the sum of all parts} */
  public double total() {
    return log + flush + withinL0 + Arrays.stream(levels).sum();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof WriteCost that
        && log == that.log
        && flush == that.flush
        && withinL0 == that.withinL0
        && Arrays.equals(levels, that.levels);
  }

  @Override
  public int hashCode() {
    return Objects.hash(log, flush, withinL0) * 31 + Arrays.hashCode(levels);
  }

  @Override
  public String toString() {
    return "WriteCost[log="
        + log
        + ", flush="
        + flush
        + ", withinL0="
        + withinL0
        + ", levels="
        + Arrays.toString(levels)
        + "]";
  }
}
