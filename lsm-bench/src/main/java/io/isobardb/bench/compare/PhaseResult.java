package io.isobardb.bench.compare;

import io.isobardb.bench.process.Events;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One phase's figures by name, each a number: the child measures them, the parent takes medians.
 * Immutable.
 *
 * <p>{@code operations}, {@code seconds}, {@code throughput} (operations per second), {@code
 * p50Micros}, {@code p99Micros}, {@code p999Micros}, {@code maxMicros}, {@code cpuMicros}
 * (processor time per operation, background threads included), {@code cpuWithSettleMicros} (and
 * with the work it left behind), {@code settleSeconds}, {@code writtenBytes} and {@code readBytes}
 * (device bytes per operation, settling included), {@code spaceBytes}, {@code engineBytes} (largest
 * seen of what the engine says it holds), {@code residentBytes} (peak of the process so far).
 * Unknown ones are negative.
 */
record PhaseResult(Phase phase, Map<String, Double> figures) {

  PhaseResult {
    figures = Map.copyOf(figures);
  }

  double figure(String name) {
    return figures.getOrDefault(name, -1.0);
  }

  Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("phase", phase.name());
    map.putAll(figures);
    return map;
  }

  static PhaseResult fromMap(Map<String, Object> map) {
    return new PhaseResult(Phase.valueOf((String) map.get("phase")), Events.numbers(map));
  }
}
