package io.isobardb.bench.experiment.report;

import java.util.ArrayList;
import java.util.List;

/**
 * One chart: lines over numbers, or groups of bars over names. Immutable.
 *
 * @param title what it shows
 * @param xLabel below the x axis
 * @param yLabel beside the y axis
 * @param categories names along the x axis; empty if it has numbers
 * @param series what is drawn, in the order of the legend
 */
public record Chart(
    String title, String xLabel, String yLabel, List<String> categories, List<Series> series) {
  public Chart {
    categories = List.copyOf(categories);
    series = List.copyOf(series);
  }

  /**
   * One line, or the bars of one colour.
   *
   * @param x numbers, rising; or indexes of categories
   * @param y NaN where there is nothing to draw
   */
  public record Series(String name, List<Double> x, List<Double> y) {
    public Series {
      x = List.copyOf(x);
      y = List.copyOf(y);
    }
  }

  /**
   * A line per value of the parameter {@code by}, over the numbers that {@code x} is in each row: a
   * figure, or else a parameter.
   */
  public static Chart lines(String title, Results results, String x, String by, String figure) {
    List<Series> series = new ArrayList<>();
    for (String name : results.values(by)) {
      List<Double> xs = new ArrayList<>();
      List<Double> ys = new ArrayList<>();
      for (Row row : results.where(by, name).rows()) {
        double at = number(row, x);
        if (!Double.isNaN(at) && !Double.isNaN(row.figure(figure))) {
          xs.add(at);
          ys.add(row.figure(figure));
        }
      }
      series.add(new Series(name, xs, ys));
    }
    return new Chart(title, x, figure, List.of(), series);
  }

  private static double number(Row row, String name) {
    String parameter = row.parameter(name);
    return parameter.isEmpty() ? row.figure(name) : Double.parseDouble(parameter);
  }

  /** A bar per value of {@code by}, for each value of the parameter {@code x}. */
  public static Chart bars(String title, Results results, String x, String by, String figure) {
    List<String> categories = results.values(x);
    List<Series> series = new ArrayList<>();
    for (String name : results.values(by)) {
      List<Double> xs = new ArrayList<>();
      List<Double> ys = new ArrayList<>();
      for (int i = 0; i < categories.size(); i++) {
        xs.add((double) i);
        ys.add(results.where(by, name).where(x, categories.get(i)).mean(figure));
      }
      series.add(new Series(name, xs, ys));
    }
    return new Chart(title, x, figure, categories, series);
  }
}
