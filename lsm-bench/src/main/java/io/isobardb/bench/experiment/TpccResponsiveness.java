package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.WRITE_MEMORY;
import static io.isobardb.bench.experiment.TpccRig.WEIGHTED;
import static io.isobardb.bench.experiment.Tuned.WINDOW;
import static io.isobardb.bench.experiment.TunerMechanics.BUDGET;

import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.cli.report.Chart;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.tpcc.drive.Mix;
import java.util.ArrayList;
import java.util.List;

/** The tuner when TPC-C becomes read-mostly: figure 14. */
final class TpccResponsiveness implements Experiment {
  private static final int WAREHOUSES = 2000;
  private static final int WINDOWS = 8;

  @Override
  public About about() {
    return new About(
        "tuner-responsiveness-tpcc",
        "The memory tuner when TPC-C becomes read-mostly",
        "Breaking Down Memory Walls, figure 14 (6.3.3)",
        TunerResponsiveness.CLAIM,
        "TPC-C-derived transactions with 2,000 warehouses, 10 and 20 GB of memory, half as much"
            + " log, times the scale, beginning with half of the budget; "
            + WINDOWS
            + " windows of the specified mix, then as many with 5 % of transactions that write. A page"
            + " written weighs 2, a page read 1. Buffered I/O: what counts is pages."
            + " Steps grow to 30 % while each lowers the cost (experiment.tunerBoldness), 10 % in the paper.");
  }

  @Override
  public List<Point> points(Scale scale) {
    return List.of(10, 20).stream().map(n -> Point.of(BUDGET, n)).toList();
  }

  @Override
  public List<Row> measure(Point point, Bench bench) throws Exception {
    StoreOptions options =
        Tuned.tuned(bench, point.number(BUDGET), 8)
            .memoryTuner(t -> t.writeWeight(TpccRig.WRITE_WEIGHT))
            .build();
    try (TpccRig rig = new TpccRig(bench, options, TpccRig.warehouses(bench.scale(), WAREHOUSES))) {
      List<Row> rows = new ArrayList<>(rig.windows(point, Mix.SPECIFIED, 1, WINDOWS));
      rows.addAll(rig.windows(point, Mix.READ_MOSTLY, WINDOWS + 1, WINDOWS));
      return rows;
    }
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(
        Charts.lines("Write memory", results, WINDOW, BUDGET, WRITE_MEMORY),
        Charts.lines("Weighted cost", results, WINDOW, BUDGET, WEIGHTED));
  }

  @Override
  public List<Verdict> check(Results results) {
    return TunerResponsiveness.verdicts(results, WINDOWS, WEIGHTED);
  }
}
