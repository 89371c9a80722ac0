package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.WRITTEN;
import static io.isobardb.bench.experiment.SingleTree.SIXTEENTHS;

import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Results.Pair;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.policy.FlushStrategy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** How much of a tree a flush takes. */
final class FlushHeuristics extends WriteOnly<FlushStrategy> {
  private static final String STRATEGY = "flush strategy";

  /** Those that flush always the same way. */
  private static final Set<String> PURE = Set.of("ROUND_ROBIN", "OLDEST", "FULL");

  FlushHeuristics() {
    super(STRATEGY, List.of(FlushStrategy.values()), ExperimentalOptions.Builder::flushStrategy);
  }

  @Override
  public About about() {
    return new About(
        "flush-heuristics",
        "Five ways to flush a tree",
        "Breaking Down Memory Walls, extended version (4.1.4)",
        "With little write memory, going round the key space (round-robin) writes least; with"
            + " more, flushing the oldest SSTable (oldest); and with so much that the log triggers the"
            + " flushes, flushing everything (full). Adaptive is never worse than the best of them: in the paper"
            + " by one rule (BETA), here by one more (ADAPTIVE).",
        "As single-tree's write-only: 100 M records, 20 GB of memory, 10 GB of log, times the"
            + " scale, partitioned memory component. The paper goes from 1/8 GB to 8 GB of write memory,"
            + " this from 1/16 to 1/2 of the budget.");
  }

  @Override
  public List<Verdict> check(Results results) {
    return List.of(
        Claims.notMore(
            "Adaptive writes no more than the least of round-robin, oldest and full",
            besideLeast(results, FlushStrategy.ADAPTIVE),
            5),
        Claims.notMore(
            "The paper's rule alone (BETA) writes no more than the least of these three",
            besideLeast(results, FlushStrategy.BETA),
            5),
        Claims.less(
            "With the least write memory round-robin writes less than full",
            results.where(SIXTEENTHS, "1").pairs(STRATEGY, "ROUND_ROBIN", "FULL", WRITTEN)),
        Claims.less(
            "With the most write memory full writes less than round-robin",
            results.where(SIXTEENTHS, "8").pairs(STRATEGY, "FULL", "ROUND_ROBIN", WRITTEN)));
  }

  private static List<Pair> besideLeast(Results results, FlushStrategy strategy) {
    List<Pair> pairs = new ArrayList<>();
    for (String memory : results.values(SIXTEENTHS)) {
      Results rows = results.where(SIXTEENTHS, memory);
      double least =
          rows.rows().stream()
              .filter(row -> PURE.contains(row.parameter(STRATEGY)))
              .mapToDouble(row -> row.figure(WRITTEN))
              .min()
              .orElse(Double.NaN);
      double own = rows.where(STRATEGY, strategy.name()).mean(WRITTEN);
      pairs.add(new Pair("write memory " + memory, own, least));
    }
    return pairs;
  }
}
