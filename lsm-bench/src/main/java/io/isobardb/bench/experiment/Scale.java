package io.isobardb.bench.experiment;

import io.isobardb.cli.console.UsageException;
import java.util.Locale;

/**
 * By how much an experiment is smaller than the paper's: data, memory, log, and with them SSTables,
 * in proportion. Pages and records stay what they are.
 *
 * @param factor 1 for the paper's sizes, less for smaller ones
 */
public record Scale(double factor) {
  /** What {@code small} is: some minutes an experiment. */
  static final double SMALL = 0.002;

  private static final double MEDIUM = 0.02;
  private static final double FINE = 0.01;
  private static final long MIN_BUDGET = 4 << 20;
  private static final long MIN_LOG = 1 << 20;
  private static final long MIN_RECORDS = 200;
  private static final long MAX_SECONDS = 1800;

  /** Checks the factor. */
  public Scale {
    if (!(factor > 0 && factor <= 1)) {
      throw new UsageException("--scale must be above 0 and at most 1, not " + factor);
    }
  }

  /** {@code small}, {@code medium}, {@code full} or a factor. */
  static Scale parse(String text) {
    switch (text.strip().toLowerCase(Locale.ROOT)) {
      case "small":
        return new Scale(SMALL);
      case "medium":
        return new Scale(MEDIUM);
      case "full":
        return new Scale(1);
      default:
        try {
          return new Scale(Double.parseDouble(text));
        } catch (NumberFormatException e) {
          throw new UsageException(
              "'" + text + "' is no scale; write small, medium, full or a factor such as 0.01", e);
        }
    }
  }

  /** Records or operations that are {@code atFull} in the paper. */
  long count(long atFull) {
    return Math.max(MIN_RECORDS, Math.round(atFull * factor));
  }

  /**
   * A memory budget that is {@code gigabytes} in the paper; the least a store may have, at least.
   */
  long budget(double gigabytes) {
    return Math.max(MIN_BUDGET, bytes(gigabytes));
  }

  /** A log limit that is {@code gigabytes} in the paper. */
  long log(double gigabytes) {
    return Math.max(MIN_LOG, bytes(gigabytes));
  }

  private long bytes(double gigabytes) {
    return (long) (gigabytes * factor * (1L << 30)) >> 16 << 16;
  }

  /** Whether there is time for more points than the fewest that decide a claim. */
  boolean fine() {
    return factor >= FINE;
  }

  /** The longest time for a run that is to take {@code small} seconds in {@code small}. */
  double seconds(double small) {
    return Math.max(small, Math.min(MAX_SECONDS, small * factor / SMALL));
  }

  /** As {@link #parse} reads it. */
  @Override
  public String toString() {
    return factor == SMALL
        ? "small"
        : factor == MEDIUM ? "medium" : factor == 1 ? "full" : Double.toString(factor);
  }
}
