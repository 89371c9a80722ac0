package io.isobardb.bench.compare;

import io.isobardb.bench.engine.EngineKind;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.TextTable;
import io.isobardb.tpcc.store.Survival;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;

/**
 * The results of all engines, phases and repeats; medians, ratios, and the tables that show them.
 * Not thread-safe.
 */
final class CompareReport {
  private final List<EngineKind> engines;
  private final List<Phase> phases;
  private final EngineKind baseline;
  private final boolean syncWrites;
  private final Map<EngineKind, Map<Phase, List<PhaseResult>>> results =
      new EnumMap<>(EngineKind.class);
  private final Map<EngineKind, String> configurations = new EnumMap<>(EngineKind.class);

  /**
   * An empty report.
   *
   * @param baseline the engine that ratios are to; one of {@code engines}
   * @param syncWrites whether writes were synced
   */
  CompareReport(
      List<EngineKind> engines, List<Phase> phases, EngineKind baseline, boolean syncWrites) {
    this.engines = List.copyOf(engines);
    this.phases = List.copyOf(phases);
    this.baseline = baseline;
    this.syncWrites = syncWrites;
    for (EngineKind engine : engines) {
      results.put(engine, new EnumMap<>(Phase.class));
    }
  }

  List<EngineKind> engines() {
    return engines;
  }

  List<Phase> phases() {
    return phases;
  }

  EngineKind baseline() {
    return baseline;
  }

  boolean syncWrites() {
    return syncWrites;
  }

  void add(EngineKind engine, PhaseResult result) {
    results.get(engine).computeIfAbsent(result.phase(), phase -> new ArrayList<>()).add(result);
  }

  void configuration(EngineKind engine, String configuration) {
    configurations.put(engine, configuration);
  }

  /**
   * The median of a figure over the repeats; the mean of the middle two if they are even in number;
   * -1 without any.
   */
  double median(EngineKind engine, Phase phase, String figure) {
    double[] values =
        results.get(engine).getOrDefault(phase, List.of()).stream()
            .mapToDouble(result -> result.figure(figure))
            .sorted()
            .toArray();
    int n = values.length;
    return n == 0 ? -1 : (values[(n - 1) / 2] + values[n / 2]) / 2;
  }

  /** Throughput as a multiple of the baseline's. */
  double ratio(EngineKind engine, Phase phase) {
    return median(engine, phase, "throughput") / median(baseline, phase, "throughput");
  }

  private String spread(EngineKind engine, Phase phase) {
    double[] values =
        results.get(engine).getOrDefault(phase, List.of()).stream()
            .mapToDouble(result -> result.figure("throughput"))
            .toArray();
    double min = Arrays.stream(values).min().orElse(0);
    double max = Arrays.stream(values).max().orElse(0);
    return String.format(Locale.ROOT, "%.0f%%", 100 * (max - min) / ((max + min) / 2));
  }

  /** The tables for people. */
  String text(boolean verbose) {
    TextTable table =
        new TextTable(
            "phase",
            "engine",
            "ops/s",
            "vs " + baseline.label(),
            "spread",
            "p50 us",
            "p99 us",
            "p99.9 us",
            "CPU us/op",
            "+settle",
            "settle s",
            "written B/op",
            "read B/op",
            "space");
    for (Phase phase : phases) {
      for (EngineKind engine : engines) {
        table.row(
            phase.label(),
            engine.label(),
            number(median(engine, phase, "throughput"), 0),
            number(ratio(engine, phase), 2) + "x",
            spread(engine, phase),
            number(median(engine, phase, "p50Micros"), 1),
            number(median(engine, phase, "p99Micros"), 1),
            number(median(engine, phase, "p999Micros"), 1),
            number(median(engine, phase, "cpuMicros"), 2),
            number(median(engine, phase, "cpuWithSettleMicros"), 2),
            number(median(engine, phase, "settleSeconds"), 2),
            number(median(engine, phase, "writtenBytes"), 0),
            number(median(engine, phase, "readBytes"), 0),
            ByteSize.format(median(engine, phase, "spaceBytes")));
      }
    }
    TextTable memory = new TextTable("engine", "peak engine memory", "peak resident memory");
    for (EngineKind engine : engines) {
      memory.row(
          engine.label(), size(peak(engine, "engineBytes")), size(peak(engine, "residentBytes")));
    }
    TextTable survival =
        new TextTable("acknowledged writes", Survival.PROCESS_END, Survival.MACHINE_FAILURE);
    for (EngineKind engine : engines) {
      Survival of = engine.survival(syncWrites);
      survival.row(engine.label(), of.processEnd().words(), of.machineFailure().words());
    }
    StringBuilder out = new StringBuilder();
    out.append(table);
    if (tooShort().equals(phases.stream().map(Phase::label).toList())) {
      out.append(
          "nothing was measured: every phase was over within a second; give more --records\n");
    } else if (!tooShort().isEmpty()) {
      out.append("measured for less than a second, which says little: ")
          .append(String.join(", ", tooShort()))
          .append("; give more --records or --operations\n");
    }
    out.append('\n').append(memory).append('\n').append(survival);
    for (EngineKind engine : engines) {
      if (engine == EngineKind.LMDB) {
        out.append("\nlmdb's memory is the page cache: the memory limit does not apply to it.\n");
      } else if (engine == EngineKind.MVSTORE) {
        out.append("\nmvstore's cache is on the heap; the page cache below it is not limited.\n");
      }
    }
    if (verbose) {
      out.append('\n');
      engines.forEach(engine -> out.append(configurations.getOrDefault(engine, "?")).append('\n'));
    }
    return out.toString();
  }

  /** The phases that an engine was through with before there was something to measure. */
  List<String> tooShort() {
    return phases.stream()
        .filter(
            phase ->
                engines.stream()
                    .mapToDouble(engine -> median(engine, phase, "seconds"))
                    .anyMatch(seconds -> seconds >= 0 && seconds < PhaseRunner.LEAST_SECONDS))
        .map(Phase::label)
        .toList();
  }

  /** The highest median of a figure over all phases; -1 if it is unknown. */
  double peak(EngineKind engine, String figure) {
    return phases.stream().mapToDouble(phase -> median(engine, phase, figure)).max().orElse(-1);
  }

  private static String size(double bytes) {
    return bytes < 0 ? "unknown" : ByteSize.format(bytes);
  }

  private static String number(double value, int decimals) {
    return Double.isNaN(value) || value < 0
        ? "-"
        : String.format(Locale.ROOT, "%,." + decimals + "f", value);
  }

  /** Everything, for programs: per engine and phase the medians, the ratio, and each repeat. */
  Map<String, Object> toMap() {
    Map<String, Object> byEngine = new LinkedHashMap<>();
    for (EngineKind engine : engines) {
      Map<String, Object> byPhase = new LinkedHashMap<>();
      for (Phase phase : phases) {
        List<PhaseResult> repeats = results.get(engine).getOrDefault(phase, List.of());
        if (repeats.isEmpty()) {
          continue;
        }
        Map<String, Object> medians = new LinkedHashMap<>();
        for (String figure : new TreeSet<>(repeats.get(0).figures().keySet())) {
          medians.put(figure, median(engine, phase, figure));
        }
        medians.put("ratio", ratio(engine, phase));
        medians.put("repeats", repeats.stream().map(PhaseResult::figures).toList());
        byPhase.put(phase.label(), medians);
      }
      Map<String, Object> ofEngine = new LinkedHashMap<>();
      ofEngine.put("configuration", configurations.getOrDefault(engine, ""));
      ofEngine.put("survives", engine.survival(syncWrites).toMap());
      ofEngine.put("phases", byPhase);
      byEngine.put(engine.label(), ofEngine);
    }
    return Map.of(
        "baseline",
        baseline.label(),
        "syncWrites",
        syncWrites,
        "tooShort",
        tooShort(),
        "engines",
        byEngine);
  }
}
