package io.isobardb.cli.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One chart: lines over numbers, or groups of bars over names. Immutable.
 *
 * @param title what it shows; no two charts of a report share one
 * @param x below the x axis of lines, with its unit in brackets
 * @param y what the lines or bars stand for, with its unit in brackets
 * @param categories the groups of bars; empty for lines
 * @param series what is drawn, in the order of the legend
 * @param reference a value to compare with, such as 1 of ratios; NaN for none
 * @param ownScales whether each group of bars has a scale of its own, because they differ much
 */
public record Chart(
    String title,
    String x,
    String y,
    List<String> categories,
    List<Series> series,
    double reference,
    Scale scale) {
  public Chart {
    categories = List.copyOf(categories);
    series = List.copyOf(series);
  }

  /** How long bars are. */
  public enum Scale {
    /** In proportion to their values. */
    COMMON(""),
    /** In proportion within each group. */
    BY_GROUP(", each group on its own scale"),
    /** By the logarithm, so that both ends of a wide range are seen. */
    LOGARITHMIC(", on a logarithmic scale");

    private final String words;

    Scale(String words) {
      this.words = words;
    }
  }

  /**
   * One line, or the bars of one colour.
   *
   * @param x numbers, rising; of bars the number of their category, from 0
   * @param y as many; NaN where there is nothing to draw
   */
  public record Series(String name, List<Double> x, List<Double> y) {
    public Series {
      x = List.copyOf(x);
      y = List.copyOf(y);
      if (x.size() != y.size()) {
        throw new IllegalArgumentException(name + ": " + x.size() + " places, " + y.size());
      }
    }
  }

  /** Lines over numbers. */
  public static Chart lines(String title, String x, String y, List<Series> series) {
    return new Chart(title, x, y, List.of(), series, Double.NaN, Scale.COMMON);
  }

  /** Groups of bars. */
  public static Chart bars(String title, String y, List<String> categories, List<Series> series) {
    return new Chart(title, "", y, categories, series, Double.NaN, Scale.COMMON);
  }

  /** A bar for each name. */
  public static Chart bars(String title, String y, Map<String, Double> values) {
    List<Series> series = new ArrayList<>();
    values.forEach((name, value) -> series.add(new Series(name, List.of(0.0), List.of(value))));
    return bars(title, y, List.of(""), series);
  }

  /** The same with a line at a value to compare with. */
  public Chart comparedWith(double value) {
    return new Chart(title, x, y, categories, series, value, scale);
  }

  /** The same with bars of other lengths. */
  public Chart on(Scale other) {
    return new Chart(title, x, y + other.words, categories, series, reference, other);
  }
}
