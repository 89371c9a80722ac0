package io.isobardb.bench.streams;

import io.isobardb.bench.process.Events;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One step's figures by name, each a number. Immutable.
 *
 * <p>{@code operations}, {@code seconds}, {@code p50Micros}, {@code p99Micros}, {@code p999Micros},
 * {@code cpuMicros} (processor time per operation, background threads included), {@code
 * cpuWithSettleMicros} (and with the work it left behind), {@code readBytes} and {@code
 * writtenBytes} (of devices, per operation, settling included), {@code residentBytes} (largest of
 * the process), {@code residentSpread} (largest to smallest after the first fifth of the step,
 * minus 1), {@code ledgerBytes} (the largest that Isobar has held). Unknown ones are missing.
 */
record StepResult(String step, Map<String, Double> figures) {
  private static final String STEP = "step";

  StepResult {
    figures = Map.copyOf(figures);
  }

  /** A figure; -1 if it is unknown. */
  double figure(String name) {
    return figures.getOrDefault(name, -1.0);
  }

  Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put(STEP, step);
    map.putAll(figures);
    return map;
  }

  static StepResult fromMap(Map<String, Object> map) {
    return new StepResult((String) map.get(STEP), Events.numbers(map));
  }
}
