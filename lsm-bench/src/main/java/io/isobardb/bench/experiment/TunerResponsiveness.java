package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.COST;
import static io.isobardb.bench.experiment.Meter.WRITE_MEMORY;
import static io.isobardb.bench.experiment.Tuned.WINDOW;
import static io.isobardb.bench.experiment.TunerMechanics.BUDGET;

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

/** The tuner when the workload changes: figure 14, on YCSB. */
final class TunerResponsiveness implements Experiment {
  static final String CLAIM =
      "Once the workload has become read-mostly, the tuner at once begins to give memory to the"
          + " buffer cache, by at most 10 % of the write memory at a time, and the I/O cost does not"
          + " suffer from that.";

  private static final int WRITE_HEAVY = 50;
  private static final int READ_MOSTLY = 5;
  private static final int WINDOWS = 6;

  @Override
  public About about() {
    return new About(
        "tuner-responsiveness",
        "The memory tuner when the workload shifts from writes to reads",
        "Breaking Down Memory Walls, figure 14 (6.3.3), there on TPC-C",
        CLAIM,
        "One tree of 50 M records, Zipfian, budgets of 10 and 20 GB, half as much log, times the"
            + " scale, beginning with half of the budget; six windows of 50 % writes, then six of 5 %, of"
            + " twice as many operations as records each. Buffered I/O: what counts is pages."
            + " Steps grow to 30 % while each lowers the cost (experiment.tunerBoldness), 10 % in the paper.");
  }

  @Override
  public List<Point> points(Scale scale) {
    return List.of(10, 20).stream().map(n -> Point.of(BUDGET, n)).toList();
  }

  @Override
  public List<Row> measure(Point point, Bench bench) throws Exception {
    long records = bench.scale().count(Tuned.RECORDS);
    try (Rig rig =
        Tuned.rig(
            bench, Tuned.tuned(bench, point.number(BUDGET), 8).build(), Shape.of(1, records))) {
      List<Row> rows =
          new ArrayList<>(
              rig.windows(point, Workload.mixed(WRITE_HEAVY, Keys.ZIPF), 2 * records, 1, WINDOWS));
      rows.addAll(
          rig.windows(
              point, Workload.mixed(READ_MOSTLY, Keys.ZIPF), 2 * records, WINDOWS + 1, WINDOWS));
      return rows;
    }
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(
        Charts.lines("Write memory", results, WINDOW, BUDGET, WRITE_MEMORY),
        Charts.lines("Cost", results, WINDOW, BUDGET, COST));
  }

  @Override
  public List<Verdict> check(Results results) {
    return verdicts(results, WINDOWS, COST);
  }

  /** What comes of a shift after so many windows, and as many after it. */
  static List<Verdict> verdicts(Results results, int windows, String cost) {
    String before = Integer.toString(windows);
    String after = Integer.toString(2 * windows);
    List<Pair> memory = new ArrayList<>();
    List<Pair> costs = new ArrayList<>();
    for (String budget : results.values(BUDGET)) {
      Results rows = results.where(BUDGET, budget);
      memory.add(
          new Pair(
              "budget " + budget,
              rows.where(WINDOW, after).mean(WRITE_MEMORY),
              rows.where(WINDOW, before).mean(WRITE_MEMORY)));
      costs.add(
          new Pair(
              "budget " + budget,
              rows.where(WINDOW, after).mean(cost),
              rows.where(WINDOW, Integer.toString(windows + 1)).mean(cost)));
    }
    return List.of(
        Claims.less("After the shift write memory is given to the cache", memory),
        Claims.notMore("The cost after the shift does not rise again", costs, 5));
  }
}
