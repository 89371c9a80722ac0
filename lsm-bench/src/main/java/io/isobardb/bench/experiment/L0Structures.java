package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.WRITTEN;

import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.cli.report.Chart;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.option.L0Structure;
import java.util.List;

/** How L0 is kept. */
final class L0Structures implements Experiment {
  private static final String STRUCTURE = "L0 structure";

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
  public List<Point> points(Scale scale) {
    return WriteOnly.points(
        STRUCTURE, List.of(L0Structure.ORIGINAL, L0Structure.GROUPED, L0Structure.GREEDY_GROUPED));
  }

  @Override
  public List<Row> measure(Point point, Bench bench) throws Exception {
    StoreOptions options =
        bench
            .options(point)
            .experimental(e -> e.l0Structure(L0Structure.valueOf(point.text(STRUCTURE))))
            .build();
    return WriteOnly.measure(point, bench, options);
  }

  @Override
  public List<Chart> charts(Results results) {
    return WriteOnly.charts(STRUCTURE, results);
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
