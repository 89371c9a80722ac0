package io.isobardb.bench.experiment;

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
import io.isobardb.lsm.option.Levels;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Disk levels while write memory changes: figure 9, bytes counted on simulated stores. */
final class DynamicLevels implements SimulatedExperiment {
  private static final String LEVELS = "levels";
  private static final String PHASE = "phase";
  private static final String MEMORY = "memory";
  private static final String MUCH = "much";
  private static final String LITTLE = "little";
  private static final String DYNAMIC = "dynamic";
  private static final String STATIC = "static";
  private static final String STATIC_SMALL = STATIC + " for little memory";
  private static final String STATIC_LARGE = STATIC + " for much memory";
  private static final String AT_FIRST = "written at first [B/op]";

  private static final int RATIO = 32;

  /** The larger write memory in the paper. */
  private static final double LARGE_GIGABYTES = 1;

  /** The least write memory there can be. */
  private static final long LEAST_BYTES = 256 << 10;

  private static final int PHASES = 4;

  /** Writes of each phase that are measured, as a multiple of the number of records. */
  private static final int MEASURED = 2;

  @Override
  public About about() {
    return new About(
        "dynamic-levels",
        "Levels that follow the write memory, bytes written, on simulated stores",
        "Breaking Down Memory Walls, figure 9 (6.2.1)",
        "With write memory that goes from 1 GB to 32 MB and back, adjusting the number of disk"
            + " levels always has the highest throughput. Too few levels for little memory cost more"
            + " than too many for much.",
        "100 M records, 10 GB of log, times the scale, partitioned, write-only, on a simulated disk"
            + " with a simulated clock: a seed counts the same bytes on every machine. Bytes are"
            + " compared, not throughput. The budget is 20 GB times the scale. Write memory is 1 GB and"
            + " 32 MB times the scale in turn, but 8 MB and 256 KB at least; it grows and shrinks as"
            + " the memory tuner would let it. Each of four phases has three times as many writes as"
            + " there are records, of which the first third is not counted: in it the last phase's work"
            + " is done.");
  }

  @Override
  public List<Point> points(Scale scale) {
    return List.of(DYNAMIC, STATIC_SMALL, STATIC_LARGE).stream()
        .map(levels -> Point.of(LEVELS, levels))
        .toList();
  }

  @Override
  public List<Row> measure(Point point, Bench bench) {
    long small = Math.max(LEAST_BYTES, bench.scale().budget(LARGE_GIGABYTES) / RATIO);
    long large = RATIO * small;
    Levels levels =
        switch (point.text(LEVELS)) {
          case STATIC_SMALL -> Levels.fixed(small);
          case STATIC_LARGE -> Levels.fixed(large);
          default -> Levels.dynamic();
        };
    StoreOptions options = bench.options().writeMemory(small).levels(levels).build();
    Shape shape = Shape.of(1, bench.scale().count(Bench.RECORDS));
    Workload workload = Workload.mixed(100, Keys.ZIPF);
    List<Row> rows = new ArrayList<>();
    try (SimulatedRig rig = new SimulatedRig(options, shape, bench.seed())) {
      rig.load();
      for (int phase = 1; phase <= PHASES; phase++) {
        boolean much = phase % 2 == 1;
        rig.resizeWriteMemory(much ? large : small);
        bench.progress(point.text(LEVELS) + ", phase " + phase);
        Double atFirst = rig.measure(workload, shape.records()).get(WRITTEN);
        Map<String, Double> figures =
            new LinkedHashMap<>(rig.measure(workload, MEASURED * shape.records()));
        figures.put(AT_FIRST, atFirst);
        Map<String, String> parameters = new LinkedHashMap<>(point.parameters());
        parameters.put(MEMORY, much ? MUCH : LITTLE);
        parameters.put(PHASE, Integer.toString(phase));
        rows.add(new Row(parameters, figures));
      }
    }
    return rows;
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(
        Charts.bars("Bytes written", results, PHASE, LEVELS, WRITTEN),
        Charts.bars("Bytes written at first", results, PHASE, LEVELS, AT_FIRST),
        Charts.bars("Levels", results, PHASE, LEVELS, SimulatedRig.LEVELS));
  }

  @Override
  public List<Verdict> check(Results results) {
    Results little = results.where(MEMORY, LITTLE);
    return List.of(
        toTheBetter(results, MUCH),
        toTheBetter(results, LITTLE),
        Claims.spread(
            "With little memory bytes per operation, dynamic divided by static for much memory, are"
                + " at most 1/1.5",
            little.pairs(LEVELS, DYNAMIC, STATIC_LARGE, WRITTEN),
            1 / 1.5),
        Claims.less(
            "Too many levels for much memory cost less than too few for little",
            List.of(
                new Pair(
                    "each to dynamic",
                    mean(results, STATIC_SMALL, MUCH) / mean(results, DYNAMIC, MUCH),
                    mean(results, STATIC_LARGE, LITTLE) / mean(results, DYNAMIC, LITTLE)))));
  }

  private static Verdict toTheBetter(Results results, String memory) {
    return Claims.spread(
        "With "
            + memory
            + " memory bytes per operation, dynamic divided by the better of both static ones, are"
            + " at most 1.02",
        results.where(MEMORY, memory).leastPairs(LEVELS, DYNAMIC, STATIC, WRITTEN),
        1.02);
  }

  private static double mean(Results results, String levels, String memory) {
    return results.where(LEVELS, levels).where(MEMORY, memory).mean(WRITTEN);
  }
}
