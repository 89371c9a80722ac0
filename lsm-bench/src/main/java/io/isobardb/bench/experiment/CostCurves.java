package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.COST;
import static io.isobardb.bench.experiment.Meter.MERGE_READ;
import static io.isobardb.bench.experiment.Meter.QUERY_READ;
import static io.isobardb.bench.experiment.Meter.WRITE_COST;
import static io.isobardb.bench.experiment.Meter.WRITE_MEMORY;
import static io.isobardb.bench.experiment.SingleTree.SIXTEENTHS;

import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.drive.Workload;
import io.isobardb.bench.drive.Workload.Keys;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.bench.experiment.report.Verdict.Outcome;
import io.isobardb.cli.report.Chart;
import io.isobardb.cli.report.Chart.Series;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.option.IoMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The shape of the I/O cost over the size of the write memory: figure 6. */
final class CostCurves implements Experiment {
  private static final int TREES = 10;

  /** What the cost may go up and down by from one size to the next without having a second dip. */
  private static final double NOISE = 1.05;

  @Override
  public About about() {
    return new About(
        "cost-curves",
        "I/O cost over the size of the write memory",
        "Breaking Down Memory Walls, figure 6 (5.5)",
        "The more write memory, the fewer pages are written and the more are read by queries;"
            + " reads by merges are few. So the sum has a single minimum, which a tuner that follows its"
            + " slope will find.",
        "YCSB's write-heavy mix (50 % updates, 50 % lookups) over 10 trees of 10 M records each,"
            + " 80 % of the operations for two of them, 20 GB of memory, 10 GB of log, times the scale;"
            + " from 1/16 to 3/4 of the budget, which is all that a store may have. Buffered I/O: what"
            + " counts here is pages, not time. The figure's other half, TPC-C, is among the points of"
            + " tuner-accuracy-tpcc: its fixed splits.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Integer> sizes =
        scale.fine()
            ? List.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
            : List.of(1, 2, 4, 6, 8, 10, 12);
    return sizes.stream().map(n -> Point.of(SIXTEENTHS, n)).toList();
  }

  @Override
  public List<Row> measure(Point point, Bench bench) throws Exception {
    StoreOptions options = bench.options(point).ioMode(IoMode.BUFFERED).build();
    long records = bench.scale().count(Bench.RECORDS / TREES);
    return bench.point(
        point,
        options,
        Shape.of(TREES, records),
        Workload.mixed(50, Keys.ZIPF).skewed(80, 2),
        2 * records * TREES);
  }

  @Override
  public List<Chart> charts(Results results) {
    List<Series> series = new ArrayList<>();
    for (String figure : List.of(COST, WRITE_COST, QUERY_READ, MERGE_READ)) {
      series.add(
          new Series(
              figure.replaceAll(" \\[.*", ""),
              results.rows().stream().map(row -> row.figure(WRITE_MEMORY)).toList(),
              results.rows().stream().map(row -> row.figure(figure)).toList()));
    }
    return List.of(
        Chart.lines(
            "Cost over write memory, ten trees", WRITE_MEMORY, "pages per operation", series));
  }

  @Override
  public List<Verdict> check(Results results) {
    return List.of(
        Claims.falls("Pages written fall with write memory", column(results, WRITE_COST)),
        Claims.rises("Pages read by queries rise with write memory", column(results, QUERY_READ)),
        Claims.less(
            "Merges read less than queries do",
            results.rows().stream()
                .map(
                    row ->
                        new Results.Pair(
                            row.parameter(SIXTEENTHS) + "/16",
                            row.figure(MERGE_READ),
                            row.figure(QUERY_READ)))
                .toList()),
        singleMinimum(column(results, COST)));
  }

  /** Down to the minimum and up from it, but for noise. */
  static Verdict singleMinimum(double[] costs) {
    String claim = "The cost has a single minimum";
    if (costs.length < 3) {
      return Claims.nothing(claim);
    }
    int least = 0;
    List<String> words = new ArrayList<>();
    for (int i = 0; i < costs.length; i++) {
      least = costs[i] < costs[least] ? i : least;
      words.add(String.format(Locale.ROOT, "%.3f", costs[i]));
    }
    boolean single = true;
    for (int i = 1; i < costs.length; i++) {
      double wrong = i <= least ? costs[i] / costs[i - 1] : costs[i - 1] / costs[i];
      single &= wrong <= NOISE;
    }
    return new Verdict(
        claim, single ? Outcome.HOLDS : Outcome.DOES_NOT_HOLD, String.join(", ", words));
  }

  private static double[] column(Results results, String figure) {
    return results.rows().stream().mapToDouble(row -> row.figure(figure)).toArray();
  }
}
