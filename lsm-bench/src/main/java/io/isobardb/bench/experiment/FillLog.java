package io.isobardb.bench.experiment;

import static io.isobardb.bench.latency.ScaledLoad.PUT;

import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.cli.report.Chart;
import java.util.List;
import java.util.Map;

/** What syncs of the log cost. */
final class FillLog extends Fill {
  private static final String LOG = "log";
  private static final String ASYNC = "async";
  private static final String SYNC = "sync";
  private static final String BATCHES = "sync by 1000";
  private static final int BATCH = 1000;

  /** 21.8 to 0.4 MB/s. */
  private static final double COST = 21.8 / 0.4;

  @Override
  public About about() {
    return new About(
        "fill-log",
        "A log that is synced never, with each write, and with each thousand",
        SOURCE + "table 1",
        "Syncs of each write cost 98 % of the throughput: 0.4 instead of 21.8 MB/s. Syncs of a"
            + " thousand writes cost none: 24.1 MB/s.",
        "As fill-sizes; a sync takes 0.5 ms beside what is written. Writes are synced by the option"
            + " durability, and a thousand by a batch.");
  }

  @Override
  public List<Point> points(Scale scale) {
    return List.of(ASYNC, SYNC, BATCHES).stream().map(log -> Point.of(LOG, log)).toList();
  }

  @Override
  Map<String, String> options(Point point) {
    return point.text(LOG).equals(SYNC) ? Map.of("durability", "SYNC") : Map.of();
  }

  @Override
  int batch(Point point) {
    return point.text(LOG).equals(BATCHES) ? BATCH : 0;
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(Charts.bars("Syncs", results, LOG, "scale", PUT));
  }

  @Override
  public List<Verdict> check(Results results) {
    return List.of(
        Claims.spread(
            "with a sync of each write clients write at most 0.4/21.8 of what they do without",
            results.pairs(LOG, SYNC, ASYNC, PUT),
            1 / COST),
        Claims.notMore(
            "without syncs clients write no more than with a sync of each thousand",
            results.pairs(LOG, ASYNC, BATCHES, PUT),
            5));
  }
}
