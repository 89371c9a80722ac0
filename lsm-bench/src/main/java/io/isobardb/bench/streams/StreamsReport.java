package io.isobardb.bench.streams;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.TextTable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The results of all engines, steps and repeats: medians and ratios. Not thread-safe. */
final class StreamsReport {
  private final List<StreamsEngine> engines;

  /** By step, in the order in which they came; then by engine. */
  private final Map<String, Map<StreamsEngine, List<StepResult>>> results = new LinkedHashMap<>();

  /** An empty report; ratios are to the last of {@code engines}. */
  StreamsReport(List<StreamsEngine> engines) {
    this.engines = List.copyOf(engines);
  }

  void add(StreamsEngine engine, StepResult result) {
    results
        .computeIfAbsent(result.step(), step -> new LinkedHashMap<>())
        .computeIfAbsent(engine, of -> new ArrayList<>())
        .add(result);
  }

  /** The median of a figure over the repeats; -1 if it is unknown. */
  double median(String step, StreamsEngine engine, String figure) {
    double[] values =
        results.getOrDefault(step, Map.of()).getOrDefault(engine, List.of()).stream()
            .mapToDouble(result -> result.figure(figure))
            .sorted()
            .toArray();
    int n = values.length;
    return n == 0 ? -1 : (values[(n - 1) / 2] + values[n / 2]) / 2;
  }

  /** Calls per second; not a number for what has only latencies. */
  private double rate(String step, StreamsEngine engine) {
    double seconds = median(step, engine, "seconds");
    return seconds < 0 ? Double.NaN : median(step, engine, "operations") / seconds;
  }

  /** The tables for people. */
  String text(long heapBytes, Map<StreamsEngine, Long> memoryBytes) {
    StreamsEngine base = engines.get(engines.size() - 1);
    TextTable table =
        new TextTable(
            "step",
            "engine",
            "calls",
            "seconds",
            "calls/s",
            "vs " + base.label(),
            "CPU us/call",
            "of it JIT",
            "+settle",
            "p50 us",
            "p99 us",
            "p99.9 us",
            "written B/call",
            "read B/call");
    for (String step : results.keySet()) {
      for (StreamsEngine engine : results.get(step).keySet()) {
        table.row(
            step,
            engine.label(),
            number(median(step, engine, "operations"), 0),
            number(median(step, engine, "seconds"), 2),
            number(rate(step, engine), 0),
            number(rate(step, engine) / rate(step, base), 2),
            number(median(step, engine, "cpuMicros"), 2),
            number(median(step, engine, "compilerMicros"), 2),
            number(median(step, engine, "cpuWithSettleMicros"), 2),
            number(median(step, engine, "p50Micros"), 1),
            number(median(step, engine, "p99Micros"), 1),
            number(median(step, engine, "p999Micros"), 1),
            number(median(step, engine, "writtenBytes"), 0),
            number(median(step, engine, "readBytes"), 0));
      }
    }
    TextTable memory =
        new TextTable(
            "step", "engine", "resident", "beyond the heap", "and the budget", "spread", "ledger");
    for (String step : results.keySet()) {
      for (StreamsEngine engine : results.get(step).keySet()) {
        double resident = median(step, engine, "residentBytes");
        if (resident < 0) {
          continue;
        }
        long budget = memoryBytes.getOrDefault(engine, 0L);
        memory.row(
            step,
            engine.label(),
            ByteSize.format(resident),
            size(resident - heapBytes),
            budget == 0 ? "-" : size(resident - heapBytes - budget),
            percent(median(step, engine, "residentSpread")),
            size(median(step, engine, "ledgerBytes")));
      }
    }
    return table + "\n" + memory;
  }

  private static String size(double bytes) {
    return bytes < 0 ? "-" : ByteSize.format(bytes);
  }

  private static String percent(double share) {
    return share < 0 ? "-" : String.format(Locale.ROOT, "%.1f %%", 100 * share);
  }

  private static String number(double value, int decimals) {
    return Double.isNaN(value) || value < 0
        ? "-"
        : String.format(Locale.ROOT, "%,." + decimals + "f", value);
  }

  /** All results, for programs. */
  List<Map<String, Object>> toList() {
    List<Map<String, Object>> all = new ArrayList<>();
    results.forEach(
        (step, ofEngines) ->
            ofEngines.forEach(
                (engine, ofRepeats) ->
                    ofRepeats.forEach(
                        result -> {
                          Map<String, Object> map = new LinkedHashMap<>();
                          map.put("engine", engine.label());
                          map.putAll(result.toMap());
                          all.add(map);
                        })));
    return all;
  }
}
