package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.AMPLIFICATION;
import static io.isobardb.bench.experiment.Meter.THROUGHPUT;
import static io.isobardb.bench.experiment.Meter.WRITE_MEMORY;
import static io.isobardb.bench.experiment.Meter.WRITTEN;

import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.drive.Workload;
import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.cli.report.Chart;
import io.isobardb.lsm.StoreOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** One tree, four workloads, the schemes of write memory: figure 7. */
final class SingleTree implements Experiment {
  static final String WORKLOAD = "workload";
  static final String SCHEME = "scheme";
  static final String SIXTEENTHS = "write memory [1/16 of budget]";

  private static final List<String> SCHEMES =
      List.of(
          "partitioned",
          "B+-dynamic",
          "B+-static-tuned",
          "B+-static",
          "Accordion-index",
          "Accordion-data");

  @Override
  public About about() {
    return new About(
        "single-tree",
        "A single tree: schemes of write memory under four workloads",
        "Breaking Down Memory Walls, figure 7 (6.2.1)",
        "Write memory matters to workloads that write much, and more of it writes less."
            + " B+-static is always the worst, since one tree gets an eighth of the write memory;"
            + " B+-dynamic is a little better than B+-static-tuned, which keeps memory for double"
            + " buffering; partitioned is the best where much is written. Neither Accordion is any"
            + " better than B+-dynamic. Beyond 0.4 of the log's length more memory does not help, since"
            + " the log has things flushed then.",
        "100 M records of 1 KB, 20 GB of memory and 10 GB of log, times the scale; Zipfian keys;"
            + " three times as many operations as records, after half as many to warm up; with half"
            + " writes or more, those give the throughput, and what is counted goes at half of that rate,"
            + " so that merges keep up. The write memory is a part of the budget, 1/16 at least, so that"
            + " the smallest sizes of the figure are not here. What is compared is bytes written per"
            + " operation: throughput depends on the device, and follows from them only where that is the"
            + " bottleneck, as it was in the paper.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> points = new ArrayList<>();
    for (String workload : List.of("write-only", "write-heavy", "read-heavy", "scan-heavy")) {
      List<Integer> sixteenths =
          switch (workload) {
            case "write-only" -> List.of(1, 2, 4, 8);
            case "write-heavy" -> List.of(1, 4, 8);
            default -> List.of(1, 8);
          };
      points.addAll(
          Point.each(
              Point.each(
                  List.of(Point.of(WORKLOAD, workload)),
                  SIXTEENTHS,
                  scale.fine() ? List.of(1, 2, 4, 6, 8, 12) : sixteenths),
              SCHEME,
              SCHEMES));
    }
    return Scheme.possible(points, scale, 1).stream()
        .filter(point -> scale.fine() || !isSpared(point))
        .toList();
  }

  /** Points that take minutes in all and decide nothing that others do not. */
  private static boolean isSpared(Point point) {
    int sixteenths = point.number(SIXTEENTHS);
    return point.text(SCHEME).startsWith("Accordion") && (sixteenths == 2 || sixteenths == 8);
  }

  @Override
  public String kind(Point point) {
    return point.text(WORKLOAD);
  }

  @Override
  public List<Row> measure(Point point, Bench bench) throws Exception {
    StoreOptions options = Scheme.options(point, bench, 1);
    Workload workload = Workload.named(point.text(WORKLOAD));
    // Reads say what they have to say sooner.
    long operations = bench.scale().count(Bench.OPERATIONS) / (workload.scans() ? 10 : 1);
    Shape shape = Shape.of(1, bench.scale().count(Bench.RECORDS));
    return workload.writePercent() >= 50
        ? bench.pacedPoint(point, options, shape, workload, operations)
        : bench.point(point, options, shape, workload, operations);
  }

  @Override
  public List<Chart> charts(Results results) {
    List<Chart> charts = new ArrayList<>();
    for (String workload : results.values(WORKLOAD)) {
      Results rows = results.where(WORKLOAD, workload);
      charts.add(Charts.lines(workload + ": bytes written", rows, WRITE_MEMORY, SCHEME, WRITTEN));
      charts.add(Charts.lines(workload + ": throughput", rows, WRITE_MEMORY, SCHEME, THROUGHPUT));
    }
    return charts;
  }

  @Override
  public List<Verdict> check(Results results) {
    Results writeOnly = results.where(WORKLOAD, "write-only");
    Results writes =
        new Results(
            results.rows().stream()
                .filter(row -> row.parameter(WORKLOAD).startsWith("write-"))
                .toList());
    double[] partitioned =
        writeOnly.where(SCHEME, "partitioned").rows().stream()
            .mapToDouble(row -> row.figure(WRITTEN))
            .toArray();
    return List.of(
        Claims.falls(
            "More write memory, fewer bytes written (partitioned, write-only)", partitioned),
        Claims.less(
            "Partitioned writes less than B+-dynamic where much is written",
            writes.pairs(SCHEME, "partitioned", "B+-dynamic", WRITTEN)),
        Claims.notMore(
            "B+-dynamic writes no more than B+-static-tuned",
            writes.pairs(SCHEME, "B+-dynamic", "B+-static-tuned", WRITTEN),
            5),
        Claims.less(
            "B+-static writes more than B+-static-tuned",
            writes.pairs(SCHEME, "B+-static-tuned", "B+-static", WRITTEN)),
        Claims.notMore(
            "Accordion-index is no better than B+-dynamic",
            writes.pairs(SCHEME, "B+-dynamic", "Accordion-index", WRITTEN),
            5),
        Claims.notMore(
            "Accordion-data is no better than B+-dynamic",
            writes.pairs(SCHEME, "B+-dynamic", "Accordion-data", WRITTEN),
            5),
        Claims.notMore(
            "Partitioned has no lower throughput than B+-dynamic under any workload"
                + " (B+-dynamic divided by partitioned)",
            results.pairs(SCHEME, "B+-dynamic", "partitioned", THROUGHPUT),
            5),
        Claims.same(
            "From 1/4 to 1/2 of the budget (0.5 and 1 of the log's length) nothing is gained",
            List.of(
                new Results.Pair(
                    "partitioned, write-only",
                    amplification(writeOnly, "8"),
                    amplification(writeOnly, "4"))),
            10));
  }

  private static double amplification(Results rows, String sixteenths) {
    return rows.where(Map.of(SCHEME, "partitioned", SIXTEENTHS, sixteenths)).mean(AMPLIFICATION);
  }
}
