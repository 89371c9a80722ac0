package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.CPU;
import static io.isobardb.bench.experiment.Meter.THROUGHPUT;
import static io.isobardb.bench.experiment.Meter.WRITTEN;
import static io.isobardb.bench.experiment.SingleTree.SCHEME;
import static io.isobardb.bench.experiment.SingleTree.SIXTEENTHS;

import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.cli.report.Chart;
import io.isobardb.tpcc.drive.Mix;
import java.util.ArrayList;
import java.util.List;

/** The schemes of managing write memory under TPC-C: figure 11. */
final class TpccSchemes implements Experiment {
  private static final String WAREHOUSES = "warehouses";
  private static final List<Integer> SCALE_FACTORS = List.of(500, 2000);

  @Override
  public About about() {
    return new About(
        "tpcc",
        "TPC-C under all schemes of managing write memory",
        "Breaking Down Memory Walls, figure 11 (6.2.3)",
        "B+-static writes the most, since it gives each table the same, hot or cold; the min-LSN"
            + " and the optimal policy write less than max-memory; partitioned-OPT writes the least. As"
            + " TPC-C takes much of the processor, that need not make it faster: with the smaller scale"
            + " factor, where the processor is the limit, B+-dynamic is. More write memory does not always"
            + " mean more transactions.",
        "TPC-C-derived transactions (snapshot isolation, no waits, 1 % of the orders rolled back as"
            + " specified; the paper has neither) with 500 and 2,000 warehouses, 20 GB of memory and 10 GB"
            + " of log, times the scale; warmed up for as long as is measured. Nine trees are written to"
            + " where the paper has eight: B+-static has eight places, and thrashes, B+-static-tuned nine,"
            + " as many as are needed, as B+-static has there. Small trees are flushed whole, as in"
            + " multi-trees.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> settings = new ArrayList<>();
    for (int factor : SCALE_FACTORS) {
      for (int sixteenths : scale.fine() ? List.of(1, 2, 4, 8) : List.of(1, 4)) {
        settings.add(
            Point.of(WAREHOUSES, TpccRig.warehouses(scale, factor)).with(SIXTEENTHS, sixteenths));
      }
    }
    return Scheme.possible(
        Point.each(settings.stream().distinct().toList(), SCHEME, Scheme.OF_TREES),
        scale,
        TpccRig.WRITTEN_TREES);
  }

  @Override
  public List<Row> measure(Point point, Bench bench) throws Exception {
    try (TpccRig rig =
        new TpccRig(
            bench, Scheme.options(point, bench, TpccRig.WRITTEN_TREES), point.number(WAREHOUSES))) {
      rig.run(Mix.SPECIFIED, TpccRig.SECONDS);
      return List.of(Bench.row(point, rig.run(Mix.SPECIFIED, TpccRig.SECONDS)));
    }
  }

  @Override
  public List<Chart> charts(Results results) {
    List<Chart> charts = new ArrayList<>();
    for (String warehouses : results.values(WAREHOUSES)) {
      Results rows = results.where(WAREHOUSES, warehouses);
      String place = ", warehouses: " + warehouses;
      charts.add(Charts.bars("Bytes written" + place, rows, SIXTEENTHS, SCHEME, WRITTEN));
      charts.add(Charts.bars("Throughput" + place, rows, SIXTEENTHS, SCHEME, THROUGHPUT));
    }
    return charts;
  }

  @Override
  public List<Verdict> check(Results results) {
    List<String> factors = results.values(WAREHOUSES);
    Results small = factors.isEmpty() ? results : results.where(WAREHOUSES, factors.get(0));
    return List.of(
        Claims.less(
            "B+-dynamic-OPT writes less than B+-static-tuned",
            results.pairs(SCHEME, "B+-dynamic-OPT", "B+-static-tuned", WRITTEN)),
        Claims.less(
            "OPT writes less than MEM (partitioned)",
            results.pairs(SCHEME, "partitioned-OPT", "partitioned-MEM", WRITTEN)),
        Claims.less(
            "LSN writes less than MEM (partitioned)",
            results.pairs(SCHEME, "partitioned-LSN", "partitioned-MEM", WRITTEN)),
        Claims.less(
            "OPT writes less than MEM (B+-dynamic)",
            results.pairs(SCHEME, "B+-dynamic-OPT", "B+-dynamic-MEM", WRITTEN)),
        Claims.less(
            "Partitioned writes less than B+-dynamic (OPT)",
            results.pairs(SCHEME, "partitioned-OPT", "B+-dynamic-OPT", WRITTEN)),
        Claims.less(
            "With the smaller scale factor partitioned is slower than B+-dynamic",
            small.pairs(SCHEME, "partitioned-OPT", "B+-dynamic-OPT", THROUGHPUT)),
        Claims.notMore(
            "Beyond the paper: partitioned takes no more of the processor than B+-dynamic",
            results.pairs(SCHEME, "partitioned-OPT", "B+-dynamic-OPT", CPU),
            5));
  }
}
