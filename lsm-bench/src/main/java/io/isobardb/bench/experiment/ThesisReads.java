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
import io.isobardb.lsm.TreeOptions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What filters spare lookups that find nothing, and what keys cost that were deleted. */
final class ThesisReads implements SimulatedExperiment {
  private static final String FILTERS = "filters [bits per key]";
  private static final String ABSENT = "absent keys [%]";
  private static final String PAGES = "pages read by a lookup [1/op]";
  private static final String BEFORE_DELETION = "pages read before it was deleted [1/op]";
  private static final String TIMES = "lookups of a deleted key in a row";
  private static final int BITS = 10;
  private static final int WRITES_BEFORE = 2;

  /** Of all records, one in so many is deleted. */
  private static final int ONE_IN = 10;

  private static final int REPEATED = 3;

  @Override
  public About about() {
    return new About(
        "thesis-reads",
        "Lookups of keys that are absent, and of keys that were deleted, on simulated stores",
        Thesis.SOURCE + "figures 12 and 13",
        "Checks in memory spare lookups of absent keys the disk, and spare others nothing. Keys that"
            + " were deleted and are looked up again and again are found in memory.",
        "100 M records, 20 GB of memory, of which 1/16 is for writes, 10 GB of log, times the scale,"
            + " on a simulated disk. All is loaded in the order of the keys, and twice as many"
            + " updates of random keys come first. Checks are filters here. Then a tenth of the"
            + " records is deleted by markers, and looked up, each key once or three times in a row.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> points = new ArrayList<>();
    for (int absent : List.of(0, 50, 100)) {
      points.addAll(Point.each(List.of(Point.of(ABSENT, absent)), FILTERS, List.of(BITS, 0)));
    }
    points.addAll(Point.each(List.of(Point.of(FILTERS, BITS)), TIMES, List.of(1, REPEATED)));
    return points;
  }

  @Override
  public List<Row> measure(Point point, Bench bench) {
    Shape shape = Shape.of(1, bench.scale().count(Bench.RECORDS));
    StoreOptions options = bench.options(point.with(SingleTree.SIXTEENTHS, 1)).build();
    TreeOptions tree = TreeOptions.builder().filterBitsPerKey(point.number(FILTERS)).build();
    try (SimulatedRig rig = new SimulatedRig(options, shape, tree, bench.seed())) {
      rig.load();
      rig.measure(Workload.mixed(100, Keys.UNIFORM), WRITES_BEFORE * shape.records());
      Map<String, Double> figures =
          point.parameters().containsKey(TIMES)
              ? deleted(rig, shape.records() / ONE_IN, point.number(TIMES))
              : lookups(rig, shape.records(), point.number(ABSENT));
      return List.of(Bench.row(point, figures));
    }
  }

  private static Map<String, Double> lookups(SimulatedRig rig, long count, int absent) {
    long missing = count * absent / 100;
    double pages = 0;
    if (missing > 0) {
      pages += missing * pages(rig.measure(Workload.mixed(0, Keys.ABSENT), missing));
    }
    if (missing < count) {
      long found = count - missing;
      pages += found * pages(rig.measure(Workload.mixed(0, Keys.UNIFORM), found));
    }
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put(PAGES, pages / count);
    return figures;
  }

  private static double pages(Map<String, Double> figures) {
    return figures.getOrDefault(Meter.QUERY_READ, 0.0);
  }

  private static Map<String, Double> deleted(SimulatedRig rig, long count, int times) {
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put(BEFORE_DELETION, rig.pagesOfFirst(count, times));
    rig.deleteFirst(count);
    figures.put(PAGES, rig.pagesOfFirst(count, times));
    return figures;
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(Charts.bars("Pages read by a lookup", results, ABSENT, FILTERS, PAGES));
  }

  @Override
  public List<Verdict> check(Results results) {
    List<Verdict> verdicts = new ArrayList<>();
    for (int absent : List.of(100, 50)) {
      verdicts.add(
          Claims.less(
              absent + " % absent keys: lookups read fewer pages with filters",
              results.where(ABSENT, "" + absent).pairs(FILTERS, BITS, 0, PAGES)));
    }
    verdicts.add(
        Claims.same(
            "no absent keys: lookups read as many pages with filters as without",
            results.where(ABSENT, "0").pairs(FILTERS, BITS, 0, PAGES),
            5));
    List<Pair> deletions = new ArrayList<>();
    for (Row row : results.rows()) {
      if (row.parameters().containsKey(TIMES)) {
        double before = row.figure(BEFORE_DELETION);
        deletions.add(new Pair(row.parameter(TIMES) + " in a row", row.figure(PAGES), before));
      }
    }
    verdicts.add(
        Claims.less("a lookup of a deleted key reads fewer pages than it did before", deletions));
    verdicts.add(
        Claims.less(
            "a lookup of a deleted key reads fewer pages if it comes three times in a row",
            results.pairs(TIMES, REPEATED, 1, PAGES)));
    return verdicts;
  }
}
