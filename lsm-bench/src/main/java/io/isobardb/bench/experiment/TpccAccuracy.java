package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Splits.MEMORY;
import static io.isobardb.bench.experiment.TpccRig.WEIGHTED;
import static io.isobardb.bench.experiment.TunerMechanics.BUDGET;

import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.cli.report.Chart;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.tpcc.drive.Mix;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The tuner against all fixed splits under TPC-C: figure 13. */
final class TpccAccuracy implements Experiment {
  private static final int WAREHOUSES = 2000;
  private static final List<Integer> STARTS = List.of(1, 12);
  private static final int WINDOWS = 30;

  /** What is measured takes so many windows, and as many come before: merges of L0 are few. */
  private static final int MEASURED = 3;

  @Override
  public About about() {
    return new About(
        "tuner-accuracy-tpcc",
        "The memory tuner against an exhaustive search, on TPC-C",
        "Breaking Down Memory Walls, figure 13 (6.3.2)",
        "The weighted I/O cost that the tuner comes to is very close to that of the best split,"
            + " which an exhaustive search finds, and notably lower than that of the least write memory"
            + " or of an even split.",
        "TPC-C-derived transactions with 2,000 warehouses, 10 and 20 GB of memory, half as much"
            + " log, times the scale; a page written weighs 2, a page read 1. Fixed splits are measured"
            + " after as long a time; tuned stores begin with 1/16 or 12/16 of the budget, run for "
            + WINDOWS / MEASURED
            + " such times; the split that they have come to is then measured as the fixed ones are."
            + " Buffered I/O: what counts is pages.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> budgets =
        (scale.fine() ? List.of(4, 10, 20) : List.of(10, 20))
            .stream().map(gigabytes -> Point.of(BUDGET, gigabytes)).toList();
    return Point.each(
        budgets,
        MEMORY,
        Splits.values(
            scale.fine() ? List.of(1, 2, 4, 6, 8, 10, 12) : List.of(1, 2, 4, 8, 12), STARTS));
  }

  @Override
  public List<Row> measure(Point point, Bench bench) throws Exception {
    int warehouses = TpccRig.warehouses(bench.scale(), WAREHOUSES);
    int sixteenths = Splits.sixteenths(point);
    double gigabytes = point.number(BUDGET);
    StoreOptions.Builder split = Tuned.options(bench, gigabytes, sixteenths);
    List<Row> windows = new ArrayList<>();
    if (!Splits.isFixed(point)) {
      StoreOptions tuned =
          Tuned.tuned(bench, gigabytes, sixteenths)
              .memoryTuner(t -> t.writeWeight(TpccRig.WRITE_WEIGHT))
              .build();
      try (TpccRig rig = new TpccRig(bench, tuned, warehouses)) {
        windows.addAll(rig.windows(point, Mix.SPECIFIED, 1, WINDOWS));
        split.writeMemory(Splits.writeMemory(rig.store()));
      }
    }
    try (TpccRig rig = new TpccRig(bench, split.build(), warehouses)) {
      rig.run(Mix.SPECIFIED, MEASURED * TpccRig.SECONDS);
      Map<String, Double> figures = rig.run(Mix.SPECIFIED, MEASURED * TpccRig.SECONDS);
      Splits.putDecisions(figures, windows, bench.scale().budget(gigabytes));
      return List.of(Bench.row(point, figures));
    }
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(
        Charts.bars("Weighted cost", results, BUDGET, MEMORY, WEIGHTED),
        Charts.bars("Throughput", results, BUDGET, MEMORY, Meter.THROUGHPUT));
  }

  @Override
  public List<Verdict> check(Results results) {
    return Splits.verdicts(results, STARTS, WEIGHTED);
  }
}
