package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.COST;
import static io.isobardb.bench.experiment.Splits.MEMORY;
import static io.isobardb.bench.experiment.TunerMechanics.WRITES;

import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.drive.Workload;
import io.isobardb.bench.drive.Workload.Keys;
import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.cli.report.Chart;
import io.isobardb.lsm.StoreOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The tuner against all fixed splits: figure 13, on YCSB. */
final class TunerAccuracy implements Experiment {
  private static final String KEYS = "keys";
  private static final String TREES = "trees";
  private static final List<Integer> STARTS = List.of(1, 12);
  private static final double GIGABYTES = 10;
  private static final int WINDOWS = 20;

  /** Windows that are measured of a fixed split. */
  private static final int MEASURED = 10;

  @Override
  public About about() {
    return new About(
        "tuner-accuracy",
        "The memory tuner against an exhaustive search",
        "Breaking Down Memory Walls, figure 13 (6.3.2), there on TPC-C",
        "The I/O cost that the tuner comes to is very close to that of the best split, which an"
            + " exhaustive search finds, and notably lower than that of the least write memory or of an"
            + " even split.",
        "50 M records in one or ten trees (80 % of the operations for two of the ten), 10 GB of"
            + " memory, 5 GB of log, times the scale; uniform or Zipfian keys. A window is"
            + " three operations per record. Fixed splits are measured over ten windows, after one; tuned"
            + " stores begin with 1/16 or 12/16 of the budget and run for twenty; the split that they have"
            + " come to is then measured as the fixed ones are, since an older store costs more with any"
            + " split. Buffered I/O: what counts is pages, read and written alike.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> mixes = new ArrayList<>();
    for (int writes : scale.fine() ? List.of(10, 30, 50, 70, 90) : List.of(10, 50, 90)) {
      boolean both = scale.fine() || writes == 50;
      for (String keys : both ? List.of("uniform", "Zipf") : List.of("Zipf")) {
        mixes.add(Point.of(WRITES, writes).with(KEYS, keys).with(TREES, 1));
      }
    }
    for (int writes : scale.fine() ? List.of(10, 30, 50, 70, 90) : List.of(50)) {
      for (String keys : scale.fine() ? List.of("uniform", "Zipf") : List.of("Zipf")) {
        mixes.add(Point.of(WRITES, writes).with(KEYS, keys).with(TREES, 10));
      }
    }
    return Point.each(
        mixes,
        MEMORY,
        Splits.values(
            scale.fine() ? List.of(1, 2, 4, 6, 8, 10, 12) : List.of(1, 4, 8, 12), STARTS));
  }

  @Override
  public List<Row> measure(Point point, Bench bench) throws Exception {
    int trees = point.number(TREES);
    long records = bench.scale().count(Tuned.RECORDS / trees);
    Shape shape = Shape.of(trees, records);
    Workload mix =
        Workload.mixed(
            point.number(WRITES), Keys.valueOf(point.text(KEYS).toUpperCase(Locale.ROOT)));
    Workload workload = trees > 1 ? mix.skewed(80, 2) : mix;
    int sixteenths = Splits.sixteenths(point);
    long operations = 3 * records * trees;
    StoreOptions.Builder split = Tuned.options(bench, GIGABYTES, sixteenths);
    List<Row> windows = new ArrayList<>();
    if (!Splits.isFixed(point)) {
      StoreOptions tuned = Tuned.tuned(bench, GIGABYTES, sixteenths).build();
      try (Rig rig = Tuned.rig(bench, tuned, shape)) {
        windows.addAll(rig.windows(point, workload, operations, 1, WINDOWS));
        split.writeMemory(Splits.writeMemory(rig.store()));
      }
    }
    Map<String, Double> figures =
        Tuned.fixed(bench, split.build(), shape, workload, operations, MEASURED);
    Splits.putDecisions(figures, windows, bench.scale().budget(GIGABYTES));
    return List.of(Bench.row(point, figures));
  }

  @Override
  public List<Chart> charts(Results results) {
    List<Chart> charts = new ArrayList<>();
    for (String trees : results.values(TREES)) {
      for (String keys : results.where(TREES, trees).values(KEYS)) {
        Results rows = results.where(Map.of(TREES, trees, KEYS, keys));
        charts.add(
            Charts.bars("Cost, trees: " + trees + ", keys: " + keys, rows, WRITES, MEMORY, COST));
      }
    }
    return charts;
  }

  @Override
  public List<Verdict> check(Results results) {
    return Splits.verdicts(results, STARTS, COST);
  }
}
