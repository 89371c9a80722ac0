package io.isobardb.bench.model;

import io.isobardb.cli.console.UsageException;
import io.isobardb.tuner.model.RunsModel.Costs;
import java.util.Locale;

/**
 * Which operations a tree gets, and what a page that is written counts beside one that is read.
 *
 * @param writes percent of the operations
 * @param gets lookups of keys that are there, in percent
 * @param absent lookups of keys that are not there, in percent
 * @param scans in percent
 * @param scanLength entries of a scan
 * @param writeWeight what a page written costs, by one that is read
 */
public record OperationMix(
    double writes,
    double gets,
    double absent,
    double scans,
    double scanLength,
    double writeWeight) {
  /** What costs are counted in, whatever the store's own pages are. */
  static final double PAGE_BYTES = 4096;

  private static final double ALL = 100;

  /** Checks the numbers. */
  public OperationMix {
    for (double share : new double[] {writes, gets, absent, scans}) {
      if (!(share >= 0)) {
        throw new UsageException("--writes, --gets, --absent and --scans must be 0 or more");
      }
    }
    double sum = writes + gets + absent + scans;
    if (Math.abs(sum - ALL) > 1e-9) {
      throw new UsageException(
          "--writes, --gets, --absent and --scans are percent and must add up to 100, not "
              + format(sum));
    }
    if (!(scanLength >= 1)) {
      throw new UsageException("--scan-length must be 1 or more, not " + format(scanLength));
    }
    if (!(writeWeight >= 0 && writeWeight < Double.POSITIVE_INFINITY)) {
      throw new UsageException("--write-weight must be 0 or more, not " + writeWeight);
    }
  }

  /**
   * Pages of 4 KB that an operation costs in the mean, in reads: flushes and merges without the
   * log, and reads without a cache.
   *
   * @param itemBytes bytes of an entry
   * @param pageBytes bytes of a data page of the store
   */
  double cost(Costs costs, double itemBytes, double pageBytes) {
    Parts parts =
        new Parts(
            costs.written() * itemBytes, costs.found(), costs.absent(), costs.scan(scanLength));
    return cost(parts, pageBytes);
  }

  /**
   * What operations of each kind cost.
   *
   * @param written bytes that flushes and merges write for a write
   * @param found data pages read by a lookup of a key that is there
   * @param absent data pages read by one of a key that is not there
   * @param scan data pages read by a scan
   */
  public record Parts(double written, double found, double absent, double scan) {}

  /** As {@link #cost(Costs, double, double)}, given what each kind of operation costs. */
  public double cost(Parts parts, double pageBytes) {
    double read = gets * parts.found() + absent * parts.absent() + scans * parts.scan();
    return (writes * writeWeight * parts.written() + read * pageBytes) / (ALL * PAGE_BYTES);
  }

  /** What it consists of. */
  String text() {
    return String.format(
        Locale.ROOT,
        "%s %% writes, %s %% gets, %s %% gets of absent keys, %s %% scans of %s entries",
        format(writes),
        format(gets),
        format(absent),
        format(scans),
        format(scanLength));
  }

  /** What a cost is. */
  String unit() {
    return "cost: pages of 4 KB read, and "
        + (writeWeight == 1 ? "" : format(writeWeight) + " times those ")
        + "written by flushes and merges, per operation; without the log, without a cache";
  }

  static String format(double number) {
    return number == Math.rint(number)
        ? String.format(Locale.ROOT, "%,.0f", number)
        : String.format(Locale.ROOT, "%s", number);
  }
}
