package io.isobardb.bench.experiment.report;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What was measured at one point. Immutable; both maps keep their order. Names carry their unit in
 * brackets.
 *
 * @param parameters what was set
 * @param figures what was found; a figure that the point does not have is left out
 */
public record Row(Map<String, String> parameters, Map<String, Double> figures) {
  public Row {
    parameters = Collections.unmodifiableMap(new LinkedHashMap<>(parameters));
    figures = Collections.unmodifiableMap(new LinkedHashMap<>(figures));
  }

  /** The figure, or NaN if the row has none of the name. */
  public double figure(String name) {
    return figures.getOrDefault(name, Double.NaN);
  }

  /** The parameter, or nothing if the row has none of the name. */
  public String parameter(String name) {
    return parameters.getOrDefault(name, "");
  }

  /** Whether the row was measured with all of these, whatever else was set. */
  public boolean has(Map<String, String> wanted) {
    return wanted.entrySet().stream()
        .allMatch(entry -> entry.getValue().equals(parameters.get(entry.getKey())));
  }
}
