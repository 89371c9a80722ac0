package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.WRITTEN;

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
import java.util.List;
import java.util.Map;

/** Bytes and files that many trees on little memory write, counted on simulated stores. */
final class ExactTrees implements SimulatedExperiment {
  private static final String TREES = "trees";
  private static final String ALL = "bytes written with 256 trees, by bytes put";
  private static final long BUDGET = 32 << 20;
  private static final long RECORDS = 300_000_000;

  /** Enough that all keys exist and each tree has merged its data down several times. */
  private static final long OPERATIONS = 900_000_000;

  @Override
  public About about() {
    return new About(
        "exact-trees",
        "8 to 256 trees on 32 MB, bytes and files written, on simulated stores",
        "An experiment of our own",
        "What a tree holds in memory gets small, and so do its SSTables. Bytes per put should not"
            + " grow as much.",
        "300 M records of 1 KB times the scale, in all trees together, uniform keys in random trees,"
            + " 32 MB whatever the scale, on a simulated disk with a simulated clock: a seed counts the"
            + " same bytes on every machine. As many operations come first as are measured. Merges keep"
            + " up.");
  }

  @Override
  public List<Point> points(Scale scale) {
    return Point.each(List.of(new Point(Map.of())), TREES, List.of(8, 64, 256));
  }

  @Override
  public List<Row> measure(Point point, Bench bench) {
    int trees = point.number(TREES);
    StoreOptions options = bench.freeOptions().memoryBudget(BUDGET).memoryTuner(false).build();
    Shape shape = Shape.of(trees, bench.scale().count(RECORDS) / trees);
    Workload workload = Workload.mixed(100, Keys.UNIFORM);
    long operations = bench.scale().count(OPERATIONS);
    try (SimulatedRig rig = new SimulatedRig(options, shape, bench.seed())) {
      return List.of(Bench.row(point, rig.measureSecond(workload, operations)));
    }
  }

  @Override
  public long heapBytes(Scale scale) {
    return SimulatedRig.heapBytes(scale.count(RECORDS), 3 * BUDGET);
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(
        Charts.bars("Bytes written", results, TREES, TREES, WRITTEN),
        Charts.bars("SSTables flushed", results, TREES, TREES, SimulatedRig.SLICES));
  }

  @Override
  public List<Verdict> check(Results results) {
    return List.of(
        Claims.spread(
            ALL + " are at most 4.5",
            results.where(TREES, "256").rows().stream()
                .map(row -> new Results.Pair("256 trees", row.figure(WRITTEN), Shape.RECORD_BYTES))
                .toList(),
            4.5));
  }
}
