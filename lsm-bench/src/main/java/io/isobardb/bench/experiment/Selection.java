package io.isobardb.bench.experiment;

import io.isobardb.cli.console.UsageException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Some of an experiment's points: those with one of the values wanted of each parameter named.
 *
 * @param values by the parameter's name, which may be without its unit; none for all points
 */
record Selection(Map<String, List<String>> values) {

  /** The values of each parameter with commas between them. */
  static Selection of(Map<String, String> texts) {
    Map<String, List<String>> values = new LinkedHashMap<>();
    texts.forEach(
        (name, text) ->
            values.put(name, Arrays.stream(text.split(",")).map(String::strip).toList()));
    return new Selection(values);
  }

  /**
   * Checks that there is something to select.
   *
   * @throws UsageException if no point has such a parameter, or one of the values
   */
  void check(List<Point> points) {
    values.forEach(
        (name, wanted) -> {
          Set<String> there =
              points.stream()
                  .flatMap(point -> point.parameters().entrySet().stream())
                  .filter(parameter -> named(name, parameter.getKey()))
                  .map(Map.Entry::getValue)
                  .collect(Collectors.toCollection(TreeSet::new));
          if (there.isEmpty()) {
            throw new UsageException(
                "no point has a parameter '"
                    + name
                    + "'; there are "
                    + String.join(", ", points.get(0).parameters().keySet()));
          }
          for (String value : wanted) {
            if (!there.contains(value)) {
              throw new UsageException(
                  "no point has '" + value + "' as its " + name + "; there are " + there);
            }
          }
        });
  }

  boolean has(Point point) {
    return values.entrySet().stream()
        .allMatch(
            wanted ->
                point.parameters().entrySet().stream()
                    .anyMatch(
                        parameter ->
                            named(wanted.getKey(), parameter.getKey())
                                && wanted.getValue().contains(parameter.getValue())));
  }

  private static boolean named(String name, String parameter) {
    return parameter.equals(name) || parameter.startsWith(name + " [");
  }
}
