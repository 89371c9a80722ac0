package io.isobardb.bench.experiment.report;

import io.isobardb.cli.report.Chart;
import io.isobardb.cli.report.Chart.Series;
import java.util.ArrayList;
import java.util.List;

/** Charts of results. Pure functions; of what was not measured nothing is shown. */
public final class Charts {
  private Charts() {}

  /**
   * A line per value of the parameter {@code by}, over the numbers that {@code x} is in each row: a
   * figure, or else a parameter.
   */
  public static Chart lines(String title, Results results, String x, String by, String figure) {
    List<Series> series = new ArrayList<>();
    for (String value : results.values(by)) {
      List<Double> xs = new ArrayList<>();
      List<Double> ys = new ArrayList<>();
      for (Row row : results.where(by, value).rows()) {
        String parameter = row.parameter(x);
        double at = parameter.isEmpty() ? row.figure(x) : Double.parseDouble(parameter);
        if (!Double.isNaN(at) && !Double.isNaN(row.figure(figure))) {
          xs.add(at);
          ys.add(row.figure(figure));
        }
      }
      series.add(new Series(named(by, value), xs, ys));
    }
    return Chart.lines(title, x, figure, series);
  }

  /** A bar per value of {@code by}, for each value of the parameter {@code x}. */
  public static Chart bars(String title, Results results, String x, String by, String figure) {
    List<String> values = results.values(x);
    List<Series> series = new ArrayList<>();
    for (String value : results.values(by)) {
      List<Double> xs = new ArrayList<>();
      List<Double> ys = new ArrayList<>();
      for (int i = 0; i < values.size(); i++) {
        xs.add((double) i);
        ys.add(results.where(by, value).where(x, values.get(i)).mean(figure));
      }
      series.add(new Series(named(by, value), xs, ys));
    }
    List<String> categories = values.stream().map(value -> named(x, value)).toList();
    return Chart.bars(title, figure, categories, series);
  }

  /** A value that is a number alone has its parameter's name before it, and its unit behind. */
  private static String named(String parameter, String value) {
    if (!value.matches("[0-9.-]+")) {
      return value;
    }
    String unit = parameter.replaceAll("^[^\\[]*\\[?|].*$", "");
    boolean brief = !unit.isEmpty() && unit.length() <= 3;
    return Results.withoutUnit(parameter) + " " + value + (brief ? " " + unit : "");
  }
}
