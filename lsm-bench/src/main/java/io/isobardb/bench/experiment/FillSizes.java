package io.isobardb.bench.experiment;

import static io.isobardb.bench.latency.ScaledLoad.PUT;

import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Results.Pair;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.cli.report.Chart;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Sizes of write memory and of SSTables on disk: each alone, and both. */
final class FillSizes extends Fill {
  private static final String TURNED = "turned";
  private static final String ALONE_MEMORY = "write memory alone";
  private static final String ALONE_TABLES = "SSTables alone";
  private static final String BOTH = "both";
  private static final List<Integer> MEMORIES = List.of(1, 2, 4, 8, 16, 32, 64, 128);
  private static final List<Integer> SIZES =
      List.of(64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536);
  private static final List<Integer> BOTH_MEMORIES = List.of(2, 8, 16, 32);
  private static final List<Integer> BOTH_SIZES = List.of(512, 4096, 16_384, 32_768);
  private static final int BEST_MEMORY = 16;
  private static final int BEST_SIZE = 32_768;

  /** The point next to the paper's joint optimum: 8.5 MB of memory, and SSTables of 12.9 MB. */
  private static final int JOINT_MEMORY = 8;

  private static final int JOINT_SIZE = 16_384;

  /** 44 MB/s jointly; 36.3 by memory alone, and 31.8 by the size of SSTables alone. */
  private static final double GAIN = 44 / 36.3;

  @Override
  public About about() {
    return new About(
        "fill-sizes",
        "Write memory and SSTables' size, alone and jointly, for writes at full speed",
        SOURCE + "figures 6 to 14",
        "Writes become faster up to 16 MB of memory, and slower beyond; faster up to SSTables of 32"
            + " MB. Both turned together give 44 MB/s, each alone at most 36.",
        "Keys of 16 and values of 100 bytes, a million keys, for 3 s of virtual time, 10 s at most"
            + " in larger scales; sizes are the paper's in all scales. Jointly, four sizes of each"
            + " are measured. SSTables have 16 pages of 4 KB at least, so 32 KB are left out. A put"
            + " takes 3 µs of the processor, so no setting gives more than 37 MB/s.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> points = new ArrayList<>();
    MEMORIES.forEach(size -> points.add(Point.of(TURNED, ALONE_MEMORY).with(MEMORY, size)));
    SIZES.forEach(size -> points.add(Point.of(TURNED, ALONE_TABLES).with(TABLES, size)));
    for (int memory : BOTH_MEMORIES) {
      points.addAll(
          Point.each(List.of(Point.of(TURNED, BOTH).with(MEMORY, memory)), TABLES, BOTH_SIZES));
    }
    return points;
  }

  @Override
  Map<String, String> options(Point point) {
    return Map.of();
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(
        Charts.lines("Memory alone", results.where(TURNED, ALONE_MEMORY), MEMORY, TURNED, PUT),
        Charts.lines("SSTables alone", results.where(TURNED, ALONE_TABLES), TABLES, TURNED, PUT),
        Charts.lines("Both", results.where(TURNED, BOTH), TABLES, MEMORY, PUT));
  }

  private static double best(Results results) {
    return results.rows().stream().mapToDouble(row -> row.figure(PUT)).max().orElse(Double.NaN);
  }

  private static String where(Results results) {
    for (Row row : results.rows()) {
      if (row.figure(PUT) == best(results)) {
        return row.parameter(MEMORY) + " MB, " + row.parameter(TABLES) + " KB";
      }
    }
    return "";
  }

  @Override
  public List<Verdict> check(Results results) {
    Results memory = results.where(TURNED, ALONE_MEMORY);
    Results tables = results.where(TURNED, ALONE_TABLES);
    Results both = results.where(TURNED, BOTH);
    // Jointly no more memory was measured than this.
    Results asMuch = memory(memory, upTo(MEMORIES, BOTH_MEMORIES.get(BOTH_MEMORIES.size() - 1)));
    double alone = Math.max(best(asMuch), best(tables));
    return List.of(
        Claims.rises(
            "writes become faster with write memory up to 16 MB",
            put(memory, MEMORY, upTo(MEMORIES, BEST_MEMORY))),
        Claims.falls(
            "beyond 16 MB they become slower",
            put(memory, MEMORY, MEMORIES.stream().filter(size -> size >= BEST_MEMORY).toList())),
        Claims.rises(
            "writes become faster with SSTables up to 32 MB",
            put(tables, TABLES, upTo(SIZES, BEST_SIZE))),
        Claims.spread(
            "the best of each alone is at most 36/44 of the best of both",
            List.of(new Pair(where(both), alone, best(both))),
            1 / GAIN),
        Claims.spread(
            "the best of each alone is no better than the best of both",
            List.of(new Pair(where(both), alone, best(both))),
            1.05),
        Claims.less(
            "8 MB of memory alone are slower than with SSTables of 16 MB, the paper's joint optimum",
            List.of(jointly(memory, both))));
  }

  private static Pair jointly(Results memory, Results both) {
    Results alone = memory(memory, List.of(JOINT_MEMORY));
    Results joint = memory(both, List.of(JOINT_MEMORY)).where(TABLES, Integer.toString(JOINT_SIZE));
    return new Pair("", alone.mean(PUT), joint.mean(PUT));
  }

  private static Results memory(Results results, List<Integer> sizes) {
    List<String> texts = sizes.stream().map(String::valueOf).toList();
    return new Results(
        results.rows().stream().filter(row -> texts.contains(row.parameter(MEMORY))).toList());
  }

  private static List<Integer> upTo(List<Integer> sizes, int most) {
    return sizes.stream().filter(size -> size <= most).toList();
  }
}
