package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.COST;
import static io.isobardb.bench.experiment.Meter.WRITE_MEMORY;
import static io.isobardb.bench.experiment.TunerMechanics.WRITES;

import io.isobardb.bench.experiment.report.Chart;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Results.Pair;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The tuner against all fixed splits: figure 13, on YCSB. */
final class TunerAccuracy implements Experiment {
  private static final String KEYS = "keys";
  private static final String TREES = "trees";
  private static final String MEMORY = "memory";
  private static final String CYCLES = "decisions until near the end";
  private static final String SPLIT = "split ";
  private static final String TUNED = "tuned from ";
  private static final List<Integer> STARTS = List.of(1, 12);
  private static final double GIGABYTES = 10;
  private static final int WINDOWS = 22;

  /** Near the end is within a 16th of the budget of where the write memory is then. */
  private static final double NEAR = 1 / 16.0;

  @Override
  public String name() {
    return "tuner-accuracy";
  }

  @Override
  public String title() {
    return "The memory tuner against an exhaustive search";
  }

  @Override
  public String source() {
    return "Breaking Down Memory Walls, figure 13 (6.3.2), there on TPC-C";
  }

  @Override
  public String claim() {
    return "The I/O cost that the tuner comes to is very close to that of the best split, which an"
        + " exhaustive search finds, and notably lower than that of the least write memory or of an"
        + " even split.";
  }

  @Override
  public String method() {
    return "50 M records in one or ten trees (80 % of the operations for two of the ten), 10 GB of"
        + " memory, 5 GB of log, times the scale; uniform or Zipfian keys. Fixed splits are measured"
        + " over three times as many operations as records, after half as many; tuned stores begin"
        + " with 1/16 or 12/16 of the budget, run for twenty such windows, and are measured over the"
        + " next two. Buffered I/O: what counts is pages, read and written alike.";
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
      mixes.add(Point.of(WRITES, writes).with(KEYS, "Zipf").with(TREES, 10));
    }
    List<String> memory = new ArrayList<>();
    for (int split : scale.fine() ? List.of(1, 2, 4, 6, 8, 10, 12) : List.of(1, 4, 8, 12)) {
      memory.add(SPLIT + split + "/16");
    }
    STARTS.forEach(start -> memory.add(TUNED + start + "/16"));
    return Point.each(mixes, MEMORY, memory);
  }

  @Override
  public List<Row> measure(Point point, Bench bench) throws Exception {
    int trees = point.number(TREES);
    long records = bench.scale().count(Tuned.RECORDS / trees);
    Shape shape = Shape.of(trees, records);
    Workload mix = Workload.mixed(point.number(WRITES), point.text(KEYS).equals("Zipf"));
    Workload workload = trees > 1 ? mix.skewed(80, 2) : mix;
    String memory = point.text(MEMORY);
    int sixteenths = Integer.parseInt(memory.replaceAll("/16|\\D+(?=\\d)", ""));
    long operations = 3 * records * trees;
    if (memory.startsWith(SPLIT)) {
      return List.of(
          Bench.row(
              point,
              Tuned.fixed(
                  bench,
                  Tuned.options(bench, GIGABYTES, sixteenths).build(),
                  shape,
                  workload,
                  operations)));
    }
    try (Rig rig = Tuned.rig(bench, Tuned.tuned(bench, GIGABYTES, sixteenths).build(), shape)) {
      List<Row> windows = Tuned.windows(point, rig, workload, operations, 1, WINDOWS - 2);
      Map<String, Double> figures = rig.measure(workload, 2 * operations);
      double budget = rig.store().options().memoryBudget() / Meter.MEGABYTE;
      figures.put(Tuned.DECISIONS, (double) rig.store().stats().tuner().decisions());
      figures.put(CYCLES, decisions(windows, figures.get(WRITE_MEMORY), NEAR * budget));
      return List.of(Bench.row(point, figures));
    }
  }

  /** Decisions until the write memory of a window is near {@code end}, for good. */
  private static double decisions(List<Row> windows, double end, double near) {
    double decisions = 0;
    for (Row window : windows) {
      if (Math.abs(window.figure(WRITE_MEMORY) - end) > near) {
        decisions = window.figure(Tuned.DECISIONS);
      }
    }
    return decisions;
  }

  @Override
  public List<Chart> charts(Results results) {
    List<Chart> charts = new ArrayList<>();
    for (String trees : results.values(TREES)) {
      for (String keys : results.where(TREES, trees).values(KEYS)) {
        Results rows = results.where(Map.of(TREES, trees, KEYS, keys));
        charts.add(Chart.bars("Trees: " + trees + ", keys: " + keys, rows, WRITES, MEMORY, COST));
      }
    }
    return charts;
  }

  @Override
  public List<Verdict> check(Results results) {
    List<Verdict> verdicts = new ArrayList<>();
    for (int start : STARTS) {
      verdicts.add(
          Claims.notMore(
              "Begun at " + start + "/16, the tuner comes within 10 % of the best split",
              best(results, TUNED + start + "/16"),
              10));
    }
    verdicts.add(
        Claims.less(
            "The tuner's cost is lower than that of the least write memory",
            results.pairs(MEMORY, TUNED + "1/16", SPLIT + "1/16", COST)));
    verdicts.add(
        Claims.notMore(
            "The tuner's cost is no higher than that of an even split",
            results.pairs(MEMORY, TUNED + "1/16", SPLIT + "8/16", COST),
            5));
    verdicts.add(
        Claims.same(
            "From both ends it comes to the same cost",
            results.pairs(MEMORY, TUNED + "1/16", TUNED + "12/16", COST),
            10));
    return verdicts;
  }

  /** The cost of {@code tuned} beside the least of all splits, mix by mix. */
  static List<Pair> best(Results results, String tuned) {
    List<Pair> pairs = new ArrayList<>();
    for (Row row : results.where(MEMORY, tuned).rows()) {
      String mix =
          String.format(
              "writes %s, %s, trees %s",
              row.parameter(WRITES), row.parameter(KEYS), row.parameter(TREES));
      double least =
          results
              .where(
                  Map.of(
                      WRITES, row.parameter(WRITES),
                      KEYS, row.parameter(KEYS),
                      TREES, row.parameter(TREES)))
              .rows()
              .stream()
              .filter(other -> other.parameter(MEMORY).startsWith(SPLIT))
              .mapToDouble(other -> other.figure(COST))
              .min()
              .orElse(Double.NaN);
      pairs.add(new Pair(mix, row.figure(COST), least));
    }
    return pairs;
  }
}
