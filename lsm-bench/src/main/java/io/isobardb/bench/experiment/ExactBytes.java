package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.WRITTEN;
import static io.isobardb.bench.experiment.SingleTree.SCHEME;
import static io.isobardb.bench.experiment.SingleTree.SIXTEENTHS;

import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.drive.Workload;
import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.cli.report.Chart;
import io.isobardb.lsm.StoreOptions;
import java.util.ArrayList;
import java.util.List;

/** Bytes written by one tree, by memory component, counted on simulated stores. */
final class ExactBytes implements SimulatedExperiment {
  private static final String WORKLOAD = "workload";
  private static final String PARTITIONED = "partitioned";
  private static final String LARGE_TREE = "B+-dynamic";
  private static final String LEVELED = "leveled";
  private static final String LEVELED_SMALL = "leveled-32MB";

  /** Several thousand writes per sweep: some dozens of merges of L0 at the sizes measured here. */
  private static final long OPERATIONS = 75_000_000;

  /**
   * Operations before those measured, as a multiple: until then L1 is still being filled, which is
   * cheap.
   */
  private static final int AGE = 4;

  @Override
  public About about() {
    return new About(
        "exact-bytes",
        "One tree, bytes written by memory component, on simulated stores",
        "Breaking Down Memory Walls, figure 7 (6.2.1)",
        "Partitioned memory components write less than large B+-trees with little write memory,"
            + " since they are packed and stay full.",
        "100 M records, 20 GB of memory, 10 GB of log, times the scale, on a simulated disk with a"
            + " simulated clock: a seed counts the same bytes on every machine. All is loaded in the"
            + " order of the keys, then four times as many operations come first as are measured."
            + " Merges keep up."
            + " Leveled is the paper's own memory component: with active SSTables of an eighth of the"
            + " write memory, as partitioned has them, or of 32 MB times the scale, as the paper.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> points = new ArrayList<>();
    for (String workload : List.of("write-only", "write-heavy")) {
      Point point = Point.of(WORKLOAD, workload);
      points.addAll(
          Point.each(
              Point.each(List.of(point), SIXTEENTHS, List.of("0.1", "1", "2", "4", "8")),
              SCHEME,
              List.of(PARTITIONED, LARGE_TREE, LEVELED, LEVELED_SMALL)));
    }
    return points;
  }

  @Override
  public List<Row> measure(Point point, Bench bench) {
    Shape shape = Shape.of(1, bench.scale().count(Bench.RECORDS));
    Workload workload = Workload.named(point.text(WORKLOAD));
    long operations = bench.scale().count(OPERATIONS) * 100 / workload.writePercent();
    StoreOptions options = Scheme.options(point, bench, 1);
    return List.of(
        Bench.row(
            point, SimulatedRig.measure(options, shape, bench.seed(), workload, operations, AGE)));
  }

  @Override
  public List<Chart> charts(Results results) {
    List<Chart> charts = new ArrayList<>();
    for (String workload : results.values(WORKLOAD)) {
      Results rows = results.where(WORKLOAD, workload);
      charts.add(Charts.bars(workload + ": bytes written", rows, SIXTEENTHS, SCHEME, WRITTEN));
      charts.add(
          Charts.bars(
              workload + ": taken in per sweep", rows, SIXTEENTHS, SCHEME, SimulatedRig.SWEEP));
    }
    return charts;
  }

  @Override
  public List<Verdict> check(Results results) {
    return List.of(
        Claims.spread(
            "Bytes per operation, partitioned divided by B+-dynamic, are at most 0.85",
            results.pairs(SCHEME, PARTITIONED, LARGE_TREE, WRITTEN),
            0.85),
        Claims.spread(
            "Bytes per operation, partitioned divided by leveled, are at most 1",
            results.pairs(SCHEME, PARTITIONED, LEVELED, WRITTEN),
            1),
        Claims.spread(
            "Bytes per operation, leveled divided by B+-dynamic, are at most 0.85",
            results.pairs(SCHEME, LEVELED, LARGE_TREE, WRITTEN),
            0.85),
        Claims.spread(
            "Bytes taken in per sweep, B+-dynamic divided by partitioned, are at most 1/1.8"
                + " with 1/16 of the budget",
            results
                .where(SIXTEENTHS, "1")
                .pairs(SCHEME, LARGE_TREE, PARTITIONED, SimulatedRig.SWEEP),
            1 / 1.8));
  }
}
