package io.isobardb.bench.experiment.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Rows of one experiment, in the order of measuring. Immutable. */
public record Results(List<Row> rows) {
  public Results {
    rows = List.copyOf(rows);
  }

  /** The rows with that parameter. */
  public Results where(String parameter, String value) {
    return where(Map.of(parameter, value));
  }

  /** The rows with all of these parameters. */
  public Results where(Map<String, String> parameters) {
    return new Results(rows.stream().filter(row -> row.has(parameters)).toList());
  }

  /** The values that the parameter has, each once, in the order of their first row. */
  public List<String> values(String parameter) {
    Set<String> values = new LinkedHashSet<>();
    for (Row row : rows) {
      if (row.parameters().containsKey(parameter)) {
        values.add(row.parameter(parameter));
      }
    }
    return List.copyOf(values);
  }

  /** The mean of the figure over the rows that have it; NaN if none has. */
  public double mean(String figure) {
    return rows.stream()
        .filter(row -> row.figures().containsKey(figure))
        .mapToDouble(row -> row.figure(figure))
        .average()
        .orElse(Double.NaN);
  }

  /** The mean of the figure at each of these values of the parameter, in their order. */
  public double[] means(String parameter, List<?> values, String figure) {
    return values.stream()
        .mapToDouble(value -> where(parameter, value.toString()).mean(figure))
        .toArray();
  }

  /** The figure of the last row; NaN without one. */
  public double last(String figure) {
    return rows.isEmpty() ? Double.NaN : rows.get(rows.size() - 1).figure(figure);
  }

  /**
   * For each row that has {@code left} as {@code parameter}, its figure beside that of the rows
   * with {@code right} and the other parameters equal. Rows without a counterpart are left out.
   */
  public List<Pair> pairs(String parameter, Object left, Object right, String figure) {
    List<Pair> pairs = new ArrayList<>();
    for (Row row : where(parameter, left.toString()).rows()) {
      Map<String, String> other = new LinkedHashMap<>(row.parameters());
      other.put(parameter, right.toString());
      double counterpart = where(other).mean(figure);
      if (!Double.isNaN(counterpart) && !Double.isNaN(row.figure(figure))) {
        Map<String, String> place = new LinkedHashMap<>(row.parameters());
        place.remove(parameter);
        String of = left + " divided by " + right;
        pairs.add(new Pair(varying(place), row.figure(figure), counterpart, of));
      }
    }
    return pairs;
  }

  /**
   * For each row that has {@code left} as {@code parameter}, its figure beside the least of the
   * rows in which the parameter begins with {@code prefix} and the others are equal.
   */
  public List<Pair> leastPairs(String parameter, String left, String prefix, String figure) {
    List<Pair> pairs = new ArrayList<>();
    for (Row row : where(parameter, left).rows()) {
      Map<String, String> place = new LinkedHashMap<>(row.parameters());
      place.remove(parameter);
      double least =
          where(place).rows().stream()
              .filter(other -> other.parameter(parameter).startsWith(prefix))
              .mapToDouble(other -> other.figure(figure))
              .min()
              .orElse(Double.NaN);
      String of = left + " divided by the least of " + prefix;
      pairs.add(new Pair(varying(place), row.figure(figure), least, of));
    }
    return pairs;
  }

  /** The parameters of a row that are not the same in all rows, in words. */
  private String varying(Map<String, String> parameters) {
    List<String> words = new ArrayList<>();
    parameters.forEach(
        (name, value) -> {
          if (values(name).size() > 1) {
            words.add(withoutUnit(name) + " " + value);
          }
        });
    return String.join(", ", words);
  }

  /** A name without the unit that stands in brackets behind it. */
  public static String withoutUnit(String name) {
    return name.replaceAll(" \\[.*", "");
  }

  /** All names of parameters, in order of appearance. */
  public Set<String> parameterNames() {
    Set<String> names = new LinkedHashSet<>();
    rows.forEach(row -> names.addAll(row.parameters().keySet()));
    return names;
  }

  /** All names of figures, in order of appearance. */
  public Set<String> figureNames() {
    Set<String> names = new LinkedHashSet<>();
    rows.forEach(row -> names.addAll(row.figures().keySet()));
    return names;
  }

  /**
   * Two figures that a claim compares.
   *
   * @param where what else was set, in words
   * @param of what is divided by what, in words; may be empty
   */
  public record Pair(String where, double left, double right, String of) {
    /** A pair of which the claim says what is divided by what. */
    public Pair(String where, double left, double right) {
      this(where, left, right, "");
    }

    /** Left as a multiple of right; 1 if both are 0. */
    public double ratio() {
      return left == right ? 1 : left / right;
    }
  }
}
