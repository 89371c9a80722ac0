package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.CPU;
import static io.isobardb.bench.experiment.Meter.FLUSH_WRITTEN;
import static io.isobardb.bench.experiment.Meter.THROUGHPUT;
import static io.isobardb.bench.experiment.SingleTree.SCHEME;
import static io.isobardb.bench.experiment.SingleTree.WORKLOAD;

import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.drive.Workload;
import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.cli.report.Chart;
import io.isobardb.lsm.StoreOptions;
import java.util.List;
import java.util.Map;

/** What merging in memory costs where nothing is gained by it: figure 8. */
final class MemoryMerge implements Experiment {
  private static final String USED = "write memory after loading [MB]";

  /** Bytes per operation that may be flushed: a twentieth of what is written. */
  private static final double HARDLY = 50;

  private static final long RECORDS = 5_000_000;

  /** So that 20 GB are 3/4, the most that write memory may be. */
  private static final double BUDGET_GIGABYTES = 20 * 4 / 3.0;

  @Override
  public About about() {
    return new About(
        "memory-merge",
        "What memory merges cost when all data fits into write memory",
        "Breaking Down Memory Walls, figure 8 (6.2.1)",
        "With everything in memory, nothing logged and merges done by the one client thread,"
            + " partitioned has 20 to 40 % less throughput than B+-dynamic, and takes less memory: 12 GB"
            + " where B+-dynamic takes 15.5 GB.",
        "5 M records of 1 KB in an unlogged tree and 20 GB of write memory, times the scale; one"
            + " client thread. The paper has 10 M records, but its merges wait for nothing, while these"
            + " are done in the background and when enough has gathered, so that old versions take more"
            + " room. For the same reason it is the processor time of the whole process per operation"
            + " that is compared. A hundred times as many operations as records, or five times as many"
            + " scans, after the load and as many again to warm up; no point may have flushed more than a"
            + " twentieth.");
  }

  @Override
  public List<Point> points(Scale scale) {
    return Point.each(
        List.of("write-only", "write-heavy", "read-heavy", "scan-heavy").stream()
            .map(workload -> Point.of(WORKLOAD, workload))
            .toList(),
        SCHEME,
        List.of("partitioned", "B+-dynamic"));
  }

  @Override
  public String kind(Point point) {
    return point.text(WORKLOAD);
  }

  @Override
  public List<Row> measure(Point point, Bench bench) throws Exception {
    long budget = bench.scale().budget(BUDGET_GIGABYTES);
    StoreOptions options =
        Scheme.of(point.text(SCHEME))
            .set(bench.options().memoryBudget(budget).writeMemory(budget / 4 * 3), 1)
            .build();
    long records = bench.scale().count(RECORDS);
    Workload workload = Workload.named(point.text(WORKLOAD));
    // Of fewer operations compilers would be what is measured.
    long operations = records * (workload.scans() ? 5 : 100);
    Shape shape = Shape.of(1, records).unlogged();
    try (Rig rig =
        new Rig(bench.empty("memory"), options, shape, 1, bench.seed(), bench.seconds(12))) {
      rig.load();
      double used = rig.store().stats().writeMemoryBytes() / Meter.MEGABYTE;
      rig.run(workload, operations);
      Map<String, Double> figures = rig.measure(workload, operations);
      figures.put(USED, used);
      return List.of(Bench.row(point, figures));
    }
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(
        Charts.bars("Processor time", results, WORKLOAD, SCHEME, CPU),
        Charts.bars("Throughput", results, WORKLOAD, SCHEME, THROUGHPUT));
  }

  @Override
  public List<Verdict> check(Results results) {
    boolean inMemory = results.rows().stream().allMatch(row -> row.figure(FLUSH_WRITTEN) < HARDLY);
    if (!inMemory) {
      return List.of(Claims.nothing("Hardly anything was flushed"));
    }
    Results writes =
        new Results(
            results.rows().stream()
                .filter(row -> row.parameter(WORKLOAD).startsWith("write-"))
                .toList());
    return List.of(
        Claims.ratio(
            "Where much is written, partitioned takes 1.25 to 1.67 times the processor time",
            writes.pairs(SCHEME, "partitioned", "B+-dynamic", CPU),
            1.25,
            1.67),
        Claims.notMore(
            "Beyond the paper: partitioned takes no more processor time under any workload",
            results.pairs(SCHEME, "partitioned", "B+-dynamic", CPU),
            0),
        Claims.less(
            "Partitioned holds the same records in less memory",
            results
                .where(WORKLOAD, "write-only")
                .pairs(SCHEME, "partitioned", "B+-dynamic", USED)));
  }
}
