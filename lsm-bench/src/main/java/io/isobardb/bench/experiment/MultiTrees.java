package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.THROUGHPUT;
import static io.isobardb.bench.experiment.Meter.WRITE_MEMORY;
import static io.isobardb.bench.experiment.Meter.WRITTEN;
import static io.isobardb.bench.experiment.SingleTree.SCHEME;
import static io.isobardb.bench.experiment.SingleTree.SIXTEENTHS;

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
import java.util.List;

/** Ten trees with hot ones among them: figure 10. */
final class MultiTrees implements Experiment {
  static final String SKEW = "hot share-hot trees [%]";

  private static final int TREES = 10;
  private static final String USUAL_SKEW = "80-20";

  @Override
  public About about() {
    return new About(
        "multi-trees",
        "Ten trees: schemes of write memory, flush policies, skew",
        "Breaking Down Memory Walls, figure 10 (6.2.2)",
        "B+-static thrashes: with memory for 8 of 10 trees some are always opened and closed."
            + " B+-static-tuned does not, but gives hot and cold trees the same. B+-dynamic and"
            + " partitioned are better, and partitioned the best. Flushing the tree with the oldest"
            + " entry (LSN) or by shares of the writes (OPT) beats flushing the largest (MEM), the more so"
            + " the more skew there is; LSN comes near OPT. All but B+-static-tuned gain by skew.",
        "10 trees of 10 M records each, 20 GB of memory, 10 GB of log, times the scale;"
            + " write-only, Zipfian within a tree, x % of the writes for y % of the trees. The write"
            + " memory varies with a skew of 80-20, the skew with a write memory of 1/16 of the budget"
            + " (1.25 GB times the scale; 1 GB in the paper). Partitioned trees with less than half of the"
            + " write memory, and less than 128 MB, are flushed whole when memory runs short, as the engine"
            + " does by itself: slices of so small a tree tie L0 together.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> points = new ArrayList<>();
    for (int sixteenths : scale.fine() ? List.of(1, 2, 4, 8) : List.of(1, 4, 8)) {
      points.add(Point.of(SIXTEENTHS, sixteenths).with(SKEW, USUAL_SKEW));
    }
    for (String skew :
        scale.fine() ? List.of("50-50", "60-40", "70-30", "90-10") : List.of("50-50", "90-10")) {
      points.add(Point.of(SIXTEENTHS, 1).with(SKEW, skew));
    }
    List<Point> all = Scheme.possible(Point.each(points, SCHEME, Scheme.OF_TREES), scale, TREES);
    // The slowest points by far, which show the same at every skew.
    return all.stream()
        .filter(
            point ->
                scale.fine()
                    || point.text(SKEW).equals(USUAL_SKEW)
                    || !point.text(SCHEME).equals("B+-static"))
        .toList();
  }

  @Override
  public List<Row> measure(Point point, Bench bench) throws Exception {
    StoreOptions options = Scheme.options(point, bench, TREES);
    long records = bench.scale().count(Bench.RECORDS / TREES);
    Skew skew = Skew.of(point.text(SKEW));
    Workload workload = Workload.mixed(100, Keys.ZIPF).skewed(skew.hotPercent(), skew.hotOf(TREES));
    long operations = bench.scale().count(Bench.OPERATIONS);
    return bench.pacedPoint(point, options, Shape.of(TREES, records), workload, operations);
  }

  @Override
  public List<Chart> charts(Results results) {
    Results memory = results.where(SKEW, USUAL_SKEW);
    Results skew = inOrder(results.where(SIXTEENTHS, "1"));
    return List.of(
        Charts.lines("Bytes written, 80-20", memory, WRITE_MEMORY, SCHEME, WRITTEN),
        Charts.lines("Throughput, 80-20", memory, WRITE_MEMORY, SCHEME, THROUGHPUT),
        Charts.bars("Bytes written by skew", skew, SKEW, SCHEME, WRITTEN),
        Charts.bars("Throughput by skew", skew, SKEW, SCHEME, THROUGHPUT));
  }

  private static Results inOrder(Results results) {
    return new Results(
        results.rows().stream()
            .sorted(java.util.Comparator.comparing(row -> row.parameter(SKEW)))
            .toList());
  }

  @Override
  public List<Verdict> check(Results results) {
    Results skewed =
        new Results(
            results.rows().stream().filter(row -> !row.parameter(SKEW).equals("50-50")).toList());
    return List.of(
        Claims.less(
            "B+-static writes more than B+-static-tuned (80-20)",
            results.where(SKEW, USUAL_SKEW).pairs(SCHEME, "B+-static-tuned", "B+-static", WRITTEN)),
        Claims.less(
            "B+-dynamic-OPT writes less than B+-static-tuned",
            results.pairs(SCHEME, "B+-dynamic-OPT", "B+-static-tuned", WRITTEN)),
        Claims.less(
            "Partitioned writes less than B+-dynamic (OPT)",
            results.pairs(SCHEME, "partitioned-OPT", "B+-dynamic-OPT", WRITTEN)),
        Claims.less(
            "OPT writes less than MEM where there is skew (partitioned)",
            skewed.pairs(SCHEME, "partitioned-OPT", "partitioned-MEM", WRITTEN)),
        Claims.less(
            "OPT writes less than MEM where there is skew (B+-dynamic)",
            skewed.pairs(SCHEME, "B+-dynamic-OPT", "B+-dynamic-MEM", WRITTEN)),
        Claims.less(
            "LSN writes less than MEM where there is skew (partitioned)",
            skewed.pairs(SCHEME, "partitioned-LSN", "partitioned-MEM", WRITTEN)),
        Claims.less(
            "LSN writes less than MEM where there is skew (B+-dynamic)",
            skewed.pairs(SCHEME, "B+-dynamic-LSN", "B+-dynamic-MEM", WRITTEN)),
        Claims.same(
            "LSN comes near OPT (partitioned)",
            results.pairs(SCHEME, "partitioned-LSN", "partitioned-OPT", WRITTEN),
            10),
        Claims.same(
            "LSN comes near OPT (B+-dynamic)",
            results.pairs(SCHEME, "B+-dynamic-LSN", "B+-dynamic-OPT", WRITTEN),
            10),
        gain("Partitioned-OPT gains by skew", results, "partitioned-OPT"),
        gain("B+-dynamic-OPT gains by skew", results, "B+-dynamic-OPT"));
  }

  private static Verdict gain(String claim, Results results, String scheme) {
    return Claims.falls(
        claim,
        inOrder(results.where(SIXTEENTHS, "1").where(SCHEME, scheme)).rows().stream()
            .mapToDouble(row -> row.figure(WRITTEN))
            .toArray());
  }
}
