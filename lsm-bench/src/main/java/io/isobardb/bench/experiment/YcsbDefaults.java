package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.COST;
import static io.isobardb.bench.experiment.Meter.THROUGHPUT;
import static io.isobardb.bench.experiment.Splits.MEMORY;

import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.drive.Workload;
import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Results.Pair;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.cli.report.Chart;
import io.isobardb.lsm.StoreOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A store without any option but its budget beside fixed splits, under YCSB: our own. */
final class YcsbDefaults implements Experiment {
  private static final String WORKLOAD = "workload";
  private static final String DEFAULTS = "defaults";
  private static final List<String> WORKLOADS = List.of("A", "B", "C", "D", "E", "F");
  private static final List<Integer> FIXED = List.of(1, 4, 8, 12);
  private static final double GIGABYTES = 10;

  /** Windows of operations before the first that is measured. */
  private static final int WINDOWS = 6;

  /** Windows that are measured. */
  private static final int MEASURED = 10;

  /** Good enough is 97 % as good. */
  private static final double PERCENT = 100 / 0.97 - 100;

  @Override
  public About about() {
    return new About(
        "ycsb-defaults",
        "YCSB A to F without an option set, beside the best fixed split",
        "An experiment of our own",
        "With the memory tuner on, as it is by default, each of YCSB's workloads costs at most as"
            + " much as with the best fixed split of the memory, to 3 %.",
        "One tree of 50 M records of 1 KB and 10 GB of memory, times the scale; of YCSB's"
            + " distributions, scans over 50 entries. The store has no option but its budget, and for"
            + " the tuner's timer, which shrinks with the scale to a second at least; with a fixed split"
            + " it has the tuner off. All do the same: "
            + WINDOWS
            + " windows, so that the tuner gets to decide and merges are under way with any split, and "
            + MEASURED
            + " more that are measured. A window is 1.5 operations per record in A and F, 5 in B, C"
            + " and D, which write a tenth as much or nothing, and 0.2 scans per record in E.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<String> memory = new ArrayList<>(Splits.values(FIXED, List.of()));
    memory.add(DEFAULTS);
    return Point.each(
        WORKLOADS.stream().map(workload -> Point.of(WORKLOAD, workload)).toList(), MEMORY, memory);
  }

  @Override
  public String kind(Point point) {
    return point.text(WORKLOAD);
  }

  @Override
  public List<Row> measure(Point point, Bench bench) throws Exception {
    long records = bench.scale().count(Tuned.RECORDS);
    long budget = bench.scale().budget(GIGABYTES);
    Workload workload = Workload.ycsb(point.text(WORKLOAD));
    long operations = window(workload, records);
    StoreOptions.Builder options =
        bench.freeOptions().memoryBudget(budget).memoryTuner(t -> t.interval(interval(bench)));
    if (Splits.isFixed(point)) {
      options.memoryTuner(false).writeMemory(budget / 16 * Splits.sixteenths(point));
      // The log limit that the defaults have.
      options.logLimit(StoreOptions.builder().memoryBudget(budget).build().logLimit());
    }
    try (Rig rig = Tuned.rig(bench, options.build(), Shape.of(1, records))) {
      for (int window = 0; window < WINDOWS; window++) {
        rig.run(workload, operations);
      }
      Map<String, Double> figures = rig.measure(workload, MEASURED * operations);
      figures.put(Tuned.DECISIONS, (double) rig.store().stats().tuner().decisions());
      return List.of(Bench.row(point, figures));
    }
  }

  private static long window(Workload workload, long records) {
    if (workload.scans()) {
      return records / 5;
    }
    return workload.writePercent() < 50 ? 5 * records : records * 3 / 2;
  }

  /** The default, times the scale. */
  private static Duration interval(Bench bench) {
    long usual = StoreOptions.builder().build().memoryTuner().interval().toSeconds();
    return Duration.ofSeconds(Math.round(Math.max(1, Math.min(usual, bench.seconds(1)))));
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(
        Charts.bars("Cost", results, WORKLOAD, MEMORY, COST),
        Charts.bars("Throughput", results, WORKLOAD, MEMORY, THROUGHPUT));
  }

  @Override
  public List<Verdict> check(Results results) {
    return List.of(
        Claims.notMore(
            "The defaults cost no more than the best fixed split, to 3 %",
            results.leastPairs(MEMORY, DEFAULTS, Splits.FIXED, COST), PERCENT),
        Claims.notMore(
            "The defaults have 97 % of the throughput of the split with the least cost",
            cheapest(results), PERCENT));
  }

  /** The throughput of the fixed split that costs least beside that of the defaults. */
  private static List<Pair> cheapest(Results results) {
    List<Pair> pairs = new ArrayList<>();
    for (Row row : results.where(MEMORY, DEFAULTS).rows()) {
      String workload = row.parameter(WORKLOAD);
      results.where(WORKLOAD, workload).rows().stream()
          .filter(other -> other.parameter(MEMORY).startsWith(Splits.FIXED))
          .min((a, b) -> Double.compare(a.figure(COST), b.figure(COST)))
          .ifPresent(
              best ->
                  pairs.add(new Pair(workload, best.figure(THROUGHPUT), row.figure(THROUGHPUT))));
    }
    return pairs;
  }
}
