package io.isobardb.bench.experiment;

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
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** How many levels there are, by the ratio of their sizes, and how many operations read. */
final class ThesisLevels implements SimulatedExperiment {
  private static final String RATIO = "size ratio";
  private static final String WRITES = "writes [%]";

  /** From many levels to few. */
  private static final List<Integer> RATIOS = List.of(2, 3, 5, 10, 40);

  private static final List<Integer> SHARES = List.of(100, 90, 70, 50, 30, 10, 0);
  private static final int MOSTLY_WRITES = 90;

  /** Sizes by what L0 delivers. */
  private static final int USUAL = 0;

  private static final int BEFORE = 4;

  @Override
  public About about() {
    return new About(
        "thesis-levels",
        "One tree, pages by how many levels it has and how many operations read, on simulated stores",
        Thesis.SOURCE + "figures 21, 22 and 24",
        "Inserts become slower with each level, and are best with two. The more operations read, the"
            + " fewer are done. With 90 % inserts a larger size ratio makes them faster; elsewhere"
            + " the thesis says that it makes fewer levels, and that a smaller one does.",
        "100 M records, 20 GB of memory, of which 1/16 is for writes, 10 GB of log, times the scale,"
            + " on a simulated disk. Uniform keys. All is loaded in the order of the keys, and four"
            + " times as many operations as there are records come first, which update records or"
            + " look them up. The number of levels follows from the ratio.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> points = new ArrayList<>();
    for (int share : List.of(100, MOSTLY_WRITES)) {
      points.addAll(Point.each(List.of(Point.of(WRITES, share)), RATIO, RATIOS));
    }
    points.addAll(
        SHARES.stream().map(share -> Point.of(WRITES, share).with(RATIO, USUAL)).toList());
    return points;
  }

  @Override
  public List<Row> measure(Point point, Bench bench) {
    Shape shape = Shape.of(1, bench.scale().count(Bench.RECORDS));
    StoreOptions.Builder builder = bench.options(point.with(SingleTree.SIXTEENTHS, 1));
    int ratio = point.number(RATIO);
    ExperimentalOptions.set(builder, e -> e.levelSizeRatio(ratio));
    StoreOptions options = builder.build();
    Workload workload = Workload.mixed(point.number(WRITES), Keys.UNIFORM);
    Map<String, Double> all =
        SimulatedRig.measure(options, shape, bench.seed(), workload, shape.records(), BEFORE);
    Map<String, Double> figures = new LinkedHashMap<>();
    double pages =
        all.get(Meter.WRITTEN) / options.pageSize()
            + all.get(Meter.MERGE_READ)
            + all.get(Meter.QUERY_READ);
    figures.put(Meter.COST, pages);
    figures.put(Meter.WRITTEN, all.get(Meter.WRITTEN));
    figures.put(Meter.QUERY_READ, all.get(Meter.QUERY_READ));
    figures.put(SimulatedRig.LEVELS, all.get(SimulatedRig.LEVELS));
    figures.put(SimulatedRig.SPACE, all.get(SimulatedRig.SPACE));
    return List.of(Bench.row(point, figures));
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(
        Charts.lines("By size ratio", byRatio(results), RATIO, WRITES, Meter.COST),
        Charts.lines("By share of writes", byShare(results), WRITES, RATIO, Meter.COST));
  }

  private static Results byShare(Results results) {
    return results.where(RATIO, Integer.toString(USUAL));
  }

  private static Results byRatio(Results results) {
    return new Results(
        results.rows().stream()
            .filter(row -> !row.parameter(RATIO).equals(Integer.toString(USUAL)))
            .toList());
  }

  @Override
  public List<Verdict> check(Results results) {
    Results writes = results.where(WRITES, "100");
    Results mostly = results.where(WRITES, Integer.toString(MOSTLY_WRITES));
    return List.of(
        Claims.falls(
            "levels become fewer with a larger ratio",
            writes.means(RATIO, RATIOS, SimulatedRig.LEVELS)),
        Claims.falls(
            "writes become cheaper with fewer levels, from a ratio of 2 to one of 40",
            writes.means(RATIO, RATIOS, Meter.COST)),
        Claims.falls(
            "with 90 % writes a larger ratio makes operations cheaper",
            mostly.means(RATIO, RATIOS, Meter.COST)),
        Claims.rises(
            "the more operations read, the more they cost",
            byShare(results).means(WRITES, SHARES, Meter.COST)),
        Claims.less(
            "writes alone: sizes by what L0 delivers cost less than the best ratio",
            List.of(new Pair("", byShare(writes).mean(Meter.COST), best(writes)))));
  }

  private static double best(Results results) {
    return Arrays.stream(results.means(RATIO, RATIOS, Meter.COST)).min().orElseThrow();
  }
}
