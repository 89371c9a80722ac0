package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.WRITTEN;
import static io.isobardb.bench.experiment.MultiTrees.SKEW;
import static io.isobardb.bench.experiment.SingleTree.SCHEME;
import static io.isobardb.bench.experiment.SingleTree.SIXTEENTHS;

import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.drive.Workload;
import io.isobardb.bench.drive.Workload.Keys;
import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.cli.report.Chart;
import io.isobardb.lsm.StoreOptions;
import java.util.ArrayList;
import java.util.List;

/** Bytes written by ten trees, by memory component and skew, counted on simulated stores. */
final class ExactSkew implements SimulatedExperiment {
  private static final String PARTITIONED = "partitioned-OPT";
  private static final String LARGE_TREES = "B+-dynamic-OPT";
  private static final int TREES = 10;
  private static final long OPERATIONS = 75_000_000;

  /** Enough that L0 is merged 20 times and more where memory calls for flushes. */
  private static final long LONG_OPERATIONS = 225_000_000;

  private static final String LOG = "log [GB]";
  private static final String SHORT_LOG = "10";

  /** With so much log it is memory that calls for flushes. */
  private static final String LONG_LOG = "40";

  @Override
  public About about() {
    return new About(
        "exact-skew",
        "Ten trees, bytes written by memory component and skew, on simulated stores",
        "Breaking Down Memory Walls, figure 10 (6.2.2)",
        "Partitioned memory components write less than large B+-trees, of trees that share write"
            + " memory, too.",
        "10 trees of 10 M records each, 20 GB of memory, 10 or 40 GB of log, times the scale;"
            + " write-only, Zipfian within a tree, x % of the writes for y % of the trees. Otherwise"
            + " as exact-bytes.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> skews =
        Point.each(
            List.of(
                Point.of(SIXTEENTHS, 1).with(LOG, SHORT_LOG),
                Point.of(SIXTEENTHS, 4).with(LOG, LONG_LOG)),
            SKEW,
            List.of("50-50", "80-20", "90-10"));
    List<Point> points = new ArrayList<>(skews);
    points.add(Point.of(SIXTEENTHS, 8).with(LOG, SHORT_LOG).with(SKEW, "80-20"));
    return Point.each(points, SCHEME, List.of(PARTITIONED, LARGE_TREES, "leveled"));
  }

  @Override
  public List<Row> measure(Point point, Bench bench) {
    Shape shape = Shape.of(TREES, bench.scale().count(Bench.RECORDS / TREES));
    Skew skew = Skew.of(point.text(SKEW));
    Workload workload = Workload.mixed(100, Keys.ZIPF).skewed(skew.hotPercent(), skew.hotOf(TREES));
    boolean longLog = point.text(LOG).equals(LONG_LOG);
    long operations = bench.scale().count(longLog ? LONG_OPERATIONS : OPERATIONS);
    StoreOptions options =
        Scheme.options(point, bench, TREES).toBuilder()
            .logLimit(bench.scale().log(point.number(LOG)))
            .build();
    return List.of(
        Bench.row(
            point, SimulatedRig.measure(options, shape, bench.seed(), workload, operations, 1)));
  }

  @Override
  public long heapBytes(Scale scale) {
    return SimulatedRig.heapBytes(
        scale.count(Bench.RECORDS), scale.log(Integer.parseInt(LONG_LOG)));
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(
        Charts.bars("Bytes written by skew", results.where(SIXTEENTHS, "1"), SKEW, SCHEME, WRITTEN),
        Charts.bars(
            "Bytes written by skew, with a long log",
            results.where(LOG, LONG_LOG),
            SKEW,
            SCHEME,
            WRITTEN),
        Charts.bars(
            "Bytes written, 80-20",
            results.where(LOG, SHORT_LOG).where(SKEW, "80-20"),
            SIXTEENTHS,
            SCHEME,
            WRITTEN));
  }

  @Override
  public List<Verdict> check(Results results) {
    Results longLog = results.where(LOG, LONG_LOG);
    return List.of(
        atMost(1.02, "", results),
        atMost(0.9, " with 8/16 of the budget", results.where(SIXTEENTHS, "8")),
        atMost(0.9, " with a long log, 80-20", longLog.where(SKEW, "80-20")),
        atMost(0.9, " with a long log, 90-10", longLog.where(SKEW, "90-10")));
  }

  /** All operations are puts. */
  private static Verdict atMost(double bound, String where, Results results) {
    return Claims.spread(
        "Bytes per put, partitioned divided by B+-dynamic, are at most " + bound + where,
        results.pairs(SCHEME, PARTITIONED, LARGE_TREES, WRITTEN),
        bound);
  }
}
