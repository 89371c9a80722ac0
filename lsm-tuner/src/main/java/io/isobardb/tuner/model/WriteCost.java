package io.isobardb.tuner.model;

import java.util.Arrays;

/**
 * Entries written per entry inserted, by what writes them: write amplification in its parts.
 *
 * @param log by the log
 * @param flush by flushes, or by merges in the first stage of designs without flushes
 * @param levels by merges into each level, from the first on
 */
public record WriteCost(double log, double flush, double[] levels) {
  public WriteCost {
    levels = levels.clone();
  }

  @Override
  public double[] levels() {
    return levels.clone();
  }

  /** All of it. */
  public double total() {
    return log + flush + Arrays.stream(levels).sum();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof WriteCost that
        && log == that.log
        && flush == that.flush
        && Arrays.equals(levels, that.levels);
  }

  @Override
  public int hashCode() {
    return Double.hashCode(log) * 31 + Double.hashCode(flush) * 17 + Arrays.hashCode(levels);
  }

  @Override
  public String toString() {
    return "WriteCost[log="
        + log
        + ", flush="
        + flush
        + ", levels="
        + Arrays.toString(levels)
        + "]";
  }
}
