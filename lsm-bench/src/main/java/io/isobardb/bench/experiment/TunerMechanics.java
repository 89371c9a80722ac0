package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.COST;
import static io.isobardb.bench.experiment.Meter.WRITE_MEMORY;
import static io.isobardb.bench.experiment.Tuned.WINDOW;

import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.drive.Workload;
import io.isobardb.bench.drive.Workload.Keys;
import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Results.Pair;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.cli.report.Chart;
import java.util.ArrayList;
import java.util.List;

/** Where the tuner takes the write memory under various shares of writes: figure 12. */
final class TunerMechanics implements Experiment {
  static final String WRITES = "writes [%]";
  static final String BUDGET = "budget at full scale [GB]";

  private static final String SMALL_BUDGET = "5";
  private static final int WINDOWS = 6;

  /** Whose cost counts, at the end: one has a merge more or less. */
  private static final int LAST = 2;

  @Override
  public About about() {
    return new About(
        "tuner-mechanics",
        "The memory tuner under 10 to 50 % writes and two budgets",
        "Breaking Down Memory Walls, figure 12 (6.3.1)",
        "The tuner gives writes more memory where more is written, and where there is more memory"
            + " altogether; the I/O cost falls as it does.",
        "One tree of 50 M records (100 M in the paper), Zipfian, budgets of 5 and 20 GB (4 and 20"
            + " in the paper, but a store has 4 MB at least; in small scales 10 instead of 20, whose"
            + " cycles are too long), half as much log, times the scale; from 1/16 of the budget on. Each"
            + " point goes through seven windows of twice as many operations as there are records; the"
            + " first is not measured, the others are as they go. Buffered I/O: what counts is pages.");
  }

  @Override
  public List<Point> points(Scale scale) {
    return Point.each(
        (scale.fine() ? List.of(20, 5) : List.of(10, 5))
            .stream().map(n -> Point.of(BUDGET, n)).toList(),
        WRITES,
        scale.fine() ? List.of(10, 20, 30, 40, 50) : List.of(10, 30, 50));
  }

  @Override
  public List<Row> measure(Point point, Bench bench) throws Exception {
    long records = bench.scale().count(Tuned.RECORDS);
    try (Rig rig =
        Tuned.rig(
            bench, Tuned.tuned(bench, point.number(BUDGET), 1).build(), Shape.of(1, records))) {
      Workload workload = Workload.mixed(point.number(WRITES), Keys.ZIPF);
      rig.run(workload, 2 * records);
      return Tuned.windows(point, rig, workload, 2 * records, 1, WINDOWS);
    }
  }

  @Override
  public List<Chart> charts(Results results) {
    List<Chart> charts = new ArrayList<>();
    for (String budget : results.values(BUDGET)) {
      Results rows = results.where(BUDGET, budget);
      charts.add(
          Charts.lines("Write memory, budget " + budget, rows, WINDOW, WRITES, WRITE_MEMORY));
      charts.add(Charts.lines("Cost, budget " + budget, rows, WINDOW, WRITES, COST));
    }
    return charts;
  }

  @Override
  public List<Verdict> check(Results results) {
    List<Verdict> verdicts = new ArrayList<>();
    List<Pair> costs = new ArrayList<>();
    List<Pair> budgets = new ArrayList<>();
    for (String budget : results.values(BUDGET)) {
      Results rows = results.where(BUDGET, budget);
      verdicts.add(
          Claims.rises(
              "The more writes, the more write memory (budget " + budget + ")",
              rows.values(WRITES).stream()
                  .mapToDouble(writes -> rows.where(WRITES, writes).last(WRITE_MEMORY))
                  .toArray()));
      for (String writes : rows.values(WRITES)) {
        Results point = rows.where(WRITES, writes);
        costs.add(
            new Pair(
                "budget " + budget + ", writes " + writes,
                end(point),
                point.where(WINDOW, "1").mean(COST)));
      }
    }
    for (String writes : results.values(WRITES)) {
      Results rows = results.where(WRITES, writes);
      budgets.add(
          new Pair(
              "writes " + writes,
              rows.where(BUDGET, SMALL_BUDGET).last(WRITE_MEMORY),
              rows.where(BUDGET, results.values(BUDGET).get(0)).last(WRITE_MEMORY)));
    }
    verdicts.add(Claims.less("With a larger budget writes get more memory", budgets));
    verdicts.add(Claims.less("The cost is lower in the end than in the first window", costs));
    return verdicts;
  }

  /** The cost of the last windows of one point. */
  private static double end(Results point) {
    List<Row> rows = point.rows();
    return new Results(rows.subList(Math.max(0, rows.size() - LAST), rows.size())).mean(COST);
  }
}
