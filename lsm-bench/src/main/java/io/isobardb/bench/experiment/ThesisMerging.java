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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Whether it pays to merge all levels into one before reads come. */
final class ThesisMerging implements SimulatedExperiment {
  private static final String LEVELS = "levels";
  private static final String AS_THEY_ARE = "as they are";
  private static final String MERGED = "merged into one";
  private static final String READS = "reads by records";
  private static final String SCANS = "scans of 100";
  private static final int SCAN = 100;
  private static final List<String> KINDS = List.of(Thesis.LOOKUPS, SCANS);

  /** Reads, as a share of the records. */
  private static final List<Double> LENGTHS = List.of(0.05, 0.25, 1.0, 4.0);

  /** A scan of a hundred stands for as many reads as this. */
  private static final int READS_OF_SCAN = 20;

  private static final int BEFORE = 4;

  @Override
  public About about() {
    return new About(
        "thesis-merging",
        "Levels merged into one before a phase of reads, pages, on simulated stores",
        Thesis.SOURCE + "figure 23",
        "Once a phase of reads begins, all levels are merged into one, which makes it cheaper as a"
            + " whole.",
        "100 M records, 20 GB of memory, of which 1/16 is for writes, 10 GB of log, times the scale,"
            + " on a simulated disk. Uniform keys. All is loaded in the order of the keys, and four"
            + " times as many updates come first. Then come lookups, or a twentieth as many scans of"
            + " 100 entries. What the merge reads and writes counts.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> points = Point.each(List.of(new Point(Map.of())), Thesis.KIND, KINDS);
    return Point.each(Point.each(points, READS, LENGTHS), LEVELS, List.of(AS_THEY_ARE, MERGED));
  }

  @Override
  public List<Row> measure(Point point, Bench bench) {
    Shape shape = Shape.of(1, bench.scale().count(Bench.RECORDS));
    StoreOptions options = bench.options(point.with(SingleTree.SIXTEENTHS, 1)).build();
    boolean scans = point.text(Thesis.KIND).equals(SCANS);
    Workload lookups = Workload.mixed(0, Keys.UNIFORM);
    long reads = (long) (point.real(READS) * shape.records());
    try (SimulatedRig rig = new SimulatedRig(options, shape, bench.seed())) {
      rig.load();
      rig.measure(Workload.mixed(100, Keys.UNIFORM), BEFORE * shape.records());
      rig.settle();
      final double before = pages(rig, options);
      if (point.text(LEVELS).equals(MERGED)) {
        rig.compact();
      }
      final double merged = pages(rig, options);
      long operations = Math.max(1, scans ? reads / READS_OF_SCAN : reads);
      rig.measure(scans ? lookups.scanning(SCAN) : lookups, operations);
      Map<String, Double> figures = new LinkedHashMap<>();
      figures.put(Meter.COST, (pages(rig, options) - before) / operations);
      figures.put("cost without the merge [pages/op]", (pages(rig, options) - merged) / operations);
      return List.of(Bench.row(point, figures));
    }
  }

  private static double pages(SimulatedRig rig, StoreOptions options) {
    return rig.writtenBytes() / (double) options.pageSize() + rig.pagesRead();
  }

  @Override
  public List<Chart> charts(Results results) {
    List<Chart> charts = new ArrayList<>();
    for (String kind : KINDS) {
      Results of = results.where(Thesis.KIND, kind);
      charts.add(Charts.bars("Cost of " + kind, of, READS, LEVELS, Meter.COST));
    }
    return charts;
  }

  @Override
  public List<Verdict> check(Results results) {
    List<Verdict> verdicts = new ArrayList<>();
    for (String kind : KINDS) {
      for (double length : LENGTHS) {
        Results of = results.where(Thesis.KIND, kind).where(READS, Double.toString(length));
        verdicts.add(
            Claims.spread(
                String.format(
                    "%s, %s times as many reads as records: one level divided by levels as they"
                        + " are, is at most 1",
                    kind, length),
                of.pairs(LEVELS, MERGED, AS_THEY_ARE, Meter.COST),
                1));
      }
    }
    return verdicts;
  }
}
