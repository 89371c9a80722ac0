package io.isobardb.bench.experiment;

import io.isobardb.cli.console.UsageException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What is set at one point of an experiment: names, with their units, and values, in order.
 * Immutable.
 */
record Point(Map<String, String> parameters) {
  Point {
    parameters = Collections.unmodifiableMap(new LinkedHashMap<>(parameters));
  }

  /** A point of one parameter. */
  static Point of(String name, Object value) {
    return new Point(Map.of(name, value.toString()));
  }

  /** This point and one parameter more. */
  Point with(String name, Object value) {
    Map<String, String> more = new LinkedHashMap<>(parameters);
    more.put(name, value.toString());
    return new Point(more);
  }

  /** For each of these points, one with each of the values: those of one point side by side. */
  static List<Point> each(List<Point> points, String name, List<?> values) {
    List<Point> all = new ArrayList<>();
    points.forEach(point -> values.forEach(value -> all.add(point.with(name, value))));
    return all;
  }

  String text(String name) {
    String value = parameters.get(name);
    if (value == null) {
      throw new UsageException("a point has no " + name + ": " + parameters);
    }
    return value;
  }

  int number(String name) {
    return Integer.parseInt(text(name));
  }

  double real(String name) {
    return Double.parseDouble(text(name));
  }

  /** Names and values, for people. */
  @Override
  public String toString() {
    return parameters.entrySet().stream()
        .map(parameter -> parameter.getKey() + " " + parameter.getValue())
        .collect(Collectors.joining(", "));
  }
}
