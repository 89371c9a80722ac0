package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.THROUGHPUT;
import static io.isobardb.bench.experiment.Meter.WRITTEN;

import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.drive.Workload;
import io.isobardb.bench.drive.Workload.Keys;
import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Results.Pair;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.cli.report.Chart;
import io.isobardb.lsm.StoreOptions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Disk levels while write memory changes: figure 9. */
final class DynamicLevels implements Experiment {
  private static final String LEVELS = "levels";
  private static final String WINDOW = "window";
  private static final String MEMORY = "memory";
  private static final String DYNAMIC = "dynamic";
  private static final String STATIC_SMALL = "static for little memory";
  private static final String STATIC_LARGE = "static for much memory";

  /** Of a budget this part is write memory: 1 GB and 32 MB of these. */
  private static final int SHARE = 8;

  private static final double LARGE_GIGABYTES = 8;
  private static final double SMALL_GIGABYTES = 1 / 4.0;

  /** Below, what the log's buffers take of the larger budget is in the way of the smaller one. */
  private static final long LEAST_BYTES = 8 << 20;

  /** Where that is in the way, the two differ by this. */
  private static final int LEAST_RATIO = 6;

  private static final int PHASES = 4;
  private static final int WINDOWS = 3;

  @Override
  public About about() {
    return new About(
        "dynamic-levels",
        "Levels that follow the write memory",
        "Breaking Down Memory Walls, figure 9 (6.2.1)",
        "With write memory that goes from 1 GB to 32 MB and back, adjusting the number of disk"
            + " levels always has the highest throughput. Too few levels for little memory cost more"
            + " than too many for much.",
        "100 M records, 10 GB of log, times the scale, partitioned, write-only, four phases of"
            + " equal length in operations. The budget changes, of which an eighth is write memory: 8 GB"
            + " and 256 MB times the scale, but at least 48 MB and 8 MB, so that the two differ by 6 in"
            + " small scales (by 32 in the paper). Each phase is measured in"
            + " three windows, without waiting for merges in between; the claim is held against whole"
            + " phases without their first window, in which the last one's work is done.");
  }

  @Override
  public List<Point> points(Scale scale) {
    return List.of(DYNAMIC, STATIC_SMALL, STATIC_LARGE).stream()
        .map(levels -> Point.of(LEVELS, levels))
        .toList();
  }

  @Override
  public List<Row> measure(Point point, Bench bench) throws Exception {
    long small = Math.max(LEAST_BYTES, bench.scale().budget(SMALL_GIGABYTES));
    long large = Math.max(LEAST_RATIO * small, bench.scale().budget(LARGE_GIGABYTES));
    long levels =
        switch (point.text(LEVELS)) {
          case STATIC_SMALL -> small / SHARE;
          case STATIC_LARGE -> large / SHARE;
          default -> 0;
        };
    StoreOptions options =
        bench
            .options()
            .memoryBudget(large)
            .writeMemory(large / SHARE)
            .experimental(e -> e.staticLevels(levels))
            .build();
    long records = bench.scale().count(Bench.RECORDS);
    Workload workload = Workload.mixed(100, Keys.ZIPF);
    List<Row> rows = new ArrayList<>();
    try (Rig rig = bench.rig(options, Shape.of(1, records), 6)) {
      rig.run(workload, records / 2);
      for (int phase = 0; phase < PHASES; phase++) {
        boolean much = phase % 2 == 0;
        rig.store().setMemoryBudget(much ? large : small);
        for (int window = 0; window < WINDOWS; window++) {
          int number = phase * WINDOWS + window + 1;
          bench.progress(point.text(LEVELS) + ", window " + number);
          Map<String, Double> figures = rig.window(workload, records / WINDOWS);
          figures.put(
              "levels below L0", (double) rig.store().stats().trees().get(0).levelBytes().size());
          Map<String, String> parameters = new LinkedHashMap<>(point.parameters());
          parameters.put(MEMORY, much ? "much" : "little");
          parameters.put(WINDOW, Integer.toString(number));
          rows.add(new Row(parameters, figures));
        }
      }
    }
    return rows;
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(
        Charts.lines("Bytes written", results, WINDOW, LEVELS, WRITTEN),
        Charts.lines("Throughput", results, WINDOW, LEVELS, THROUGHPUT));
  }

  @Override
  public List<Verdict> check(Results results) {
    return List.of(
        Claims.notMore(
            "Dynamic levels write no more than those made for little memory",
            pairs(results, STATIC_SMALL),
            5),
        Claims.notMore(
            "Dynamic levels write no more than those made for much memory",
            pairs(results, STATIC_LARGE),
            5),
        Claims.less(
            "Too many levels for much memory cost less than too few for little",
            List.of(
                new Pair(
                    "each to dynamic",
                    mean(results, STATIC_SMALL, "much") / mean(results, DYNAMIC, "much"),
                    mean(results, STATIC_LARGE, "little") / mean(results, DYNAMIC, "little")))));
  }

  private static List<Pair> pairs(Results results, String other) {
    return results.values(MEMORY).stream()
        .map(
            memory ->
                new Pair(
                    memory + " memory",
                    mean(results, DYNAMIC, memory),
                    mean(results, other, memory)))
        .toList();
  }

  private static double mean(Results results, String levels, String memory) {
    return results.where(LEVELS, levels).where(MEMORY, memory).rows().stream()
        .filter(row -> (Integer.parseInt(row.parameter(WINDOW)) - 1) % WINDOWS > 0)
        .mapToDouble(row -> row.figure(WRITTEN))
        .average()
        .orElse(Double.NaN);
  }
}
