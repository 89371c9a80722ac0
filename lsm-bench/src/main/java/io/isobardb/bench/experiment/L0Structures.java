package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.WRITTEN;

import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.policy.L0Structure;
import java.util.List;

/** How L0 is kept. */
final class L0Structures extends WriteOnly<L0Structure> {
  private static final String STRUCTURE = "L0 structure";

  L0Structures() {
    super(
        STRUCTURE,
        List.of(L0Structure.ORIGINAL, L0Structure.GROUPED, L0Structure.GREEDY_GROUPED),
        ExperimentalOptions.Builder::l0Structure);
  }

  @Override
  public About about() {
    return new About(
        "l0-structures",
        "Three structures of L0",
        "Breaking Down Memory Walls, extended version (4.1.3)",
        "A list of overlapping SSTables (original) writes most. Groups of disjoint ones, of which"
            + " always the leftmost SSTable of the oldest group leaves first (grouped), are better;"
            + " choosing the group and the SSTable by what has to be rewritten (greedy-grouped) is the"
            + " best.",
        "As single-tree's write-only: 100 M records, 20 GB of memory, 10 GB of log, times the"
            + " scale, partitioned memory component.");
  }

  @Override
  public List<Verdict> check(Results results) {
    return List.of(
        Claims.less(
            "Grouped writes less than original",
            results.pairs(STRUCTURE, "GROUPED", "ORIGINAL", WRITTEN)),
        Claims.less(
            "Greedy-grouped writes less than grouped",
            results.pairs(STRUCTURE, "GREEDY_GROUPED", "GROUPED", WRITTEN)));
  }
}
