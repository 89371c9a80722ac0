package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.WRITTEN;
import static io.isobardb.bench.experiment.SingleTree.SIXTEENTHS;

import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Results.Pair;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.cli.report.Chart;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.option.FlushStrategy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** How much of a tree a flush takes. */
final class FlushHeuristics implements Experiment {
  private static final String STRATEGY = "flush strategy";

  @Override
  public About about() {
    return new About(
        "flush-heuristics",
        "Four ways to flush a tree",
        "Breaking Down Memory Walls, extended version (4.1.4)",
        "With little write memory, going round the key space (round-robin) writes least; with"
            + " more, flushing the oldest SSTable (oldest); and with so much that the log triggers the"
            + " flushes, flushing everything (full). Adaptive is never worse than the best of them.",
        "As single-tree's write-only: 100 M records, 20 GB of memory, 10 GB of log, times the"
            + " scale, partitioned memory component. The paper goes from 1/8 GB to 8 GB of write memory,"
            + " this from 1/16 to 1/2 of the budget.");
  }

  @Override
  public List<Point> points(Scale scale) {
    return WriteOnly.points(STRATEGY, Arrays.asList(FlushStrategy.values()));
  }

  @Override
  public List<Row> measure(Point point, Bench bench) throws Exception {
    StoreOptions options =
        bench
            .options(point)
            .experimental(e -> e.flushStrategy(FlushStrategy.valueOf(point.text(STRATEGY))))
            .build();
    return WriteOnly.measure(point, bench, options);
  }

  @Override
  public List<Chart> charts(Results results) {
    return WriteOnly.charts(STRATEGY, results);
  }

  @Override
  public List<Verdict> check(Results results) {
    List<Pair> best = new ArrayList<>();
    for (String memory : results.values(SIXTEENTHS)) {
      Results rows = results.where(SIXTEENTHS, memory);
      double least =
          rows.rows().stream()
              .filter(row -> !row.parameter(STRATEGY).equals("ADAPTIVE"))
              .mapToDouble(row -> row.figure(WRITTEN))
              .min()
              .orElse(Double.NaN);
      best.add(
          new Pair(
              "write memory " + memory, rows.where(STRATEGY, "ADAPTIVE").mean(WRITTEN), least));
    }
    return List.of(
        Claims.notMore("Adaptive writes no more than the best of the others", best, 5),
        Claims.less(
            "With the least write memory round-robin writes less than full",
            results.where(SIXTEENTHS, "1").pairs(STRATEGY, "ROUND_ROBIN", "FULL", WRITTEN)),
        Claims.less(
            "With the most write memory full writes less than round-robin",
            results.where(SIXTEENTHS, "8").pairs(STRATEGY, "FULL", "ROUND_ROBIN", WRITTEN)));
  }
}
