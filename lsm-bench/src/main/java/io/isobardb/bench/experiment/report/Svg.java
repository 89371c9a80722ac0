package io.isobardb.bench.experiment.report;

import io.isobardb.bench.experiment.report.Chart.Series;
import java.util.List;
import java.util.Locale;

/**
 * Draws charts as one SVG picture, two side by side: axes from zero with ticks at round numbers, a
 * legend, and lines with markers or bars. Uses nothing but shapes and text, so that any viewer and
 * any page can show it. Not thread-safe.
 */
public final class Svg {
  private static final int WIDTH = 560;
  private static final int HEIGHT = 330;
  private static final int LEFT = 70;
  private static final int RIGHT = 20;
  private static final int TOP = 34;
  private static final int AXIS = 48;
  private static final int LEGEND_ROW = 18;
  private static final int LEGEND_COLUMNS = 3;
  private static final int WANTED_TICKS = 5;
  private static final String[] COLOURS = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#555555", "#7f3fbf"
  };

  private final StringBuilder out = new StringBuilder();

  private Svg() {}

  /** The picture of all charts. */
  public static String draw(List<Chart> charts) {
    Svg svg = new Svg();
    int columns = Math.min(2, charts.size());
    int legendRows = charts.stream().mapToInt(Svg::legendRows).max().orElse(0);
    int height = HEIGHT + legendRows * LEGEND_ROW;
    int rows = (charts.size() + 1) / 2;
    svg.put(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\""
            + " font-family=\"sans-serif\" font-size=\"12\">",
        columns * WIDTH, rows * height, columns * WIDTH, rows * height);
    svg.put("<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>");
    for (int i = 0; i < charts.size(); i++) {
      svg.put("<g transform=\"translate(%d %d)\">", i % 2 * WIDTH, i / 2 * height);
      svg.chart(charts.get(i));
      svg.put("</g>");
    }
    svg.put("</svg>");
    return svg.out.toString();
  }

  private static int legendRows(Chart chart) {
    return (chart.series().size() + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS;
  }

  private void chart(Chart chart) {
    boolean bars = !chart.categories().isEmpty();
    Scale x =
        bars
            ? new Scale(0, chart.categories().size(), 1, LEFT, WIDTH - RIGHT)
            : Scale.over(xs(chart), LEFT, WIDTH - RIGHT);
    Scale y = Scale.over(ys(chart), HEIGHT - AXIS, TOP);
    text(WIDTH / 2.0, 18, "middle", "font-weight=\"bold\"", chart.title());
    text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 10, "middle", "", chart.xLabel());
    double middle = (TOP + HEIGHT - AXIS) / 2.0;
    text(
        14,
        middle,
        "middle",
        String.format(Locale.ROOT, "transform=\"rotate(-90 14 %.0f)\"", middle),
        chart.yLabel());
    for (double tick = 0; tick <= y.high * 1.0001; tick += y.step) {
      line(LEFT, y.at(tick), WIDTH - RIGHT, y.at(tick), tick == 0 ? "#333" : "#ddd");
      text(LEFT - 6, y.at(tick) + 4, "end", "", label(tick, y.step));
    }
    line(LEFT, TOP, LEFT, HEIGHT - AXIS, "#333");
    if (bars) {
      bars(chart, x, y);
    } else {
      for (double tick = 0; tick <= x.high * 1.0001; tick += x.step) {
        line(x.at(tick), HEIGHT - AXIS, x.at(tick), HEIGHT - AXIS + 4, "#333");
        text(x.at(tick), HEIGHT - AXIS + 18, "middle", "", label(tick, x.step));
      }
      lines(chart, x, y);
    }
    legend(chart);
  }

  private void bars(Chart chart, Scale x, Scale y) {
    int groups = chart.categories().size();
    double group = (WIDTH - RIGHT - LEFT) / (double) groups;
    double bar = 0.8 * group / chart.series().size();
    for (int i = 0; i < groups; i++) {
      text(x.at(i + 0.5), HEIGHT - AXIS + 18, "middle", "", chart.categories().get(i));
    }
    for (int s = 0; s < chart.series().size(); s++) {
      Series series = chart.series().get(s);
      for (int i = 0; i < series.x().size(); i++) {
        double value = series.y().get(i);
        if (!Double.isNaN(value)) {
          put(
              "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"><title>%s:"
                  + " %s</title></rect>",
              x.at(series.x().get(i)) + 0.1 * group + s * bar,
              y.at(value),
              Math.max(1, bar - 1),
              y.at(0) - y.at(value),
              colour(s),
              escape(series.name()),
              Claims.number(value));
        }
      }
    }
  }

  private void lines(Chart chart, Scale x, Scale y) {
    for (int s = 0; s < chart.series().size(); s++) {
      Series series = chart.series().get(s);
      StringBuilder points = new StringBuilder();
      for (int i = 0; i < series.x().size(); i++) {
        points.append(
            String.format(
                Locale.ROOT, "%.1f,%.1f ", x.at(series.x().get(i)), y.at(series.y().get(i))));
      }
      put(
          "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s/>",
          points.toString().strip(),
          colour(s),
          s < COLOURS.length / 2 ? "" : " stroke-dasharray=\"6 3\"");
      for (int i = 0; i < series.x().size(); i++) {
        put(
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>%s: %s</title></circle>",
            x.at(series.x().get(i)),
            y.at(series.y().get(i)),
            colour(s),
            escape(series.name()),
            Claims.number(series.y().get(i)));
      }
    }
  }

  private void legend(Chart chart) {
    double column = (WIDTH - LEFT) / (double) LEGEND_COLUMNS;
    for (int s = 0; s < chart.series().size(); s++) {
      double x = LEFT + s % LEGEND_COLUMNS * column;
      double y = HEIGHT + s / LEGEND_COLUMNS * LEGEND_ROW + 6;
      put("<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"8\" fill=\"%s\"/>", x, y, colour(s));
      text(x + 17, y + 9, "start", "", chart.series().get(s).name());
    }
  }

  private static double[] xs(Chart chart) {
    return chart.series().stream().flatMap(s -> s.x().stream()).mapToDouble(d -> d).toArray();
  }

  private static double[] ys(Chart chart) {
    return chart.series().stream()
        .flatMap(s -> s.y().stream())
        .mapToDouble(d -> d)
        .filter(d -> !Double.isNaN(d))
        .toArray();
  }

  private static String colour(int series) {
    return COLOURS[series % COLOURS.length];
  }

  private static String label(double value, double step) {
    int decimals = step >= 1 ? 0 : (int) Math.ceil(-Math.log10(step) - 1e-9);
    return String.format(Locale.ROOT, "%,." + decimals + "f", value);
  }

  private void line(double x1, double y1, double x2, double y2, String colour) {
    put(
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>",
        x1, y1, x2, y2, colour);
  }

  private void text(double x, double y, String anchor, String attributes, String text) {
    put(
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" %s>%s</text>",
        x, y, anchor, attributes, escape(text));
  }

  private void put(String format, Object... values) {
    out.append(String.format(Locale.ROOT, format, values)).append('\n');
  }

  /** Text as it may stand in XML and HTML. */
  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  /**
   * Numbers of {@code low..high} onto pixels of {@code from..to}, with a tick each {@code step}.
   */
  private record Scale(double low, double high, double step, double from, double to) {
    /** From zero to a round number at or above all values. */
    static Scale over(double[] values, double from, double to) {
      double most = 0;
      for (double value : values) {
        most = Math.max(most, value);
      }
      if (most <= 0) {
        most = 1;
      }
      double rough = most / WANTED_TICKS;
      double power = Math.pow(10, Math.floor(Math.log10(rough)));
      double step = power;
      for (double nice : new double[] {2, 2.5, 5, 10}) {
        if (step < rough * 0.999) {
          step = nice * power;
        }
      }
      return new Scale(0, Math.ceil(most / step - 1e-9) * step, step, from, to);
    }

    double at(double value) {
      return from + (value - low) / (high - low) * (to - from);
    }
  }
}
