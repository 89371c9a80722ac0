package io.isobardb.bench.experiment;

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
import io.isobardb.lsm.experiment.ExperimentalOptions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Pages that lookups read where small levels have larger filters and where all have the same, by
 * the shape of the tree; counted on simulated stores.
 */
final class ExactFilters implements SimulatedExperiment {
  private static final String SHAPE = "shape";
  private static final String FILTERS = "filters";
  private static final String BY_LEVEL = "by level";
  private static final String ALIKE = "alike";
  private static final String BATCHES = "by batches";
  private static final String RATIO_5 = "ratio of 5";
  private static final String RATIO_10 = "ratio of 10";
  private static final String MANY_GROUPS = "16 groups in L0";
  private static final String ABSENT = "pages read for an absent key [1/op]";
  private static final String FOUND = "pages read for a key that is there [1/op]";

  private static final String BITS = "filters [bits per key]";

  /** Writes before what is measured, by records. */
  private static final int BEFORE = 4;

  /** Lookups come in so many parts, with writes between. */
  private static final int ROUNDS = 16;

  @Override
  public About about() {
    return new About(
        "exact-filters",
        "One tree, pages read by how filters are sized, on simulated stores",
        "Monkey (Dayan, Athanassoulis and Idreos, SIGMOD 2017)",
        "Larger filters in smaller levels spare lookups of absent keys pages, in the same memory.",
        "100 M records, 20 GB of memory, of which 1/16 is for writes, 10 GB of log, times the scale,"
            + " on a simulated disk with a simulated clock. Uniform keys. All is loaded in the order"
            + " of the keys. Four times as many writes as there are records come first. Then come a"
            + " sixteenth as many writes, lookups of absent keys, and lookups of keys that are"
            + " there, 16 times in turn.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> points = new ArrayList<>();
    for (String shape : List.of(BATCHES, RATIO_5, RATIO_10, MANY_GROUPS)) {
      points.addAll(Point.each(List.of(Point.of(SHAPE, shape)), FILTERS, List.of(BY_LEVEL, ALIKE)));
    }
    return points;
  }

  @Override
  public List<Row> measure(Point point, Bench bench) {
    Shape shape = Shape.of(1, bench.scale().count(Bench.RECORDS));
    try (SimulatedRig rig = new SimulatedRig(options(point, bench), shape, bench.seed())) {
      rig.load();
      Workload writes = Workload.mixed(100, Keys.UNIFORM);
      Map<String, Double> figures =
          new LinkedHashMap<>(rig.measure(writes, BEFORE * shape.records()));
      long operations = shape.records() / ROUNDS;
      double absent = 0;
      double found = 0;
      double bits = 0;
      for (int round = 0; round < ROUNDS; round++) {
        rig.measure(writes, operations);
        bits += rig.filterBits();
        absent += pages(rig.measure(Workload.mixed(0, Keys.ABSENT), operations));
        found += pages(rig.measure(Workload.mixed(0, Keys.UNIFORM), operations));
      }
      figures.put(ABSENT, absent / ROUNDS);
      figures.put(FOUND, found / ROUNDS);
      figures.put(BITS, bits / ROUNDS);
      figures.remove(Meter.QUERY_READ);
      return List.of(Bench.row(point, figures));
    }
  }

  private static double pages(Map<String, Double> figures) {
    return figures.getOrDefault(Meter.QUERY_READ, 0.0);
  }

  private static StoreOptions options(Point point, Bench bench) {
    StoreOptions.Builder options = bench.options(point.with(SingleTree.SIXTEENTHS, 1));
    ExperimentalOptions.set(
        options,
        e -> {
          e.filtersByLevel(point.text(FILTERS).equals(BY_LEVEL));
          switch (point.text(SHAPE)) {
            case RATIO_5 -> e.levelSizeRatio(5);
            case RATIO_10 -> e.levelSizeRatio(10);
            case MANY_GROUPS -> e.l0StartGroups(16).l0SlowdownGroups(48).l0StopGroups(64);
            default -> {}
          }
        });
    return options.build();
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(
        Charts.bars("Pages read for an absent key", results, SHAPE, FILTERS, ABSENT),
        Charts.bars("Pages read for a key that is there", results, SHAPE, FILTERS, FOUND));
  }

  @Override
  public List<Verdict> check(Results results) {
    return List.of(
        absent(results, RATIO_5, 0.67),
        absent(results, RATIO_10, 0.57),
        absent(results, MANY_GROUPS, 0.4),
        Claims.spread(
            "Pages of a lookup that finds, filters by level divided by alike, are at most 1.01",
            results.pairs(FILTERS, BY_LEVEL, ALIKE, FOUND),
            1.01));
  }

  private static Verdict absent(Results results, String shape, double most) {
    return Claims.spread(
        shape + ": pages of an absent key, filters by level divided by alike, are at most " + most,
        results.where(SHAPE, shape).pairs(FILTERS, BY_LEVEL, ALIKE, ABSENT),
        most);
  }
}
