package io.isobardb.cli.report;

import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.report.Chart.Series;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Draws charts as SVG: lines with markers over axes with ticks at round numbers and a legend below,
 * or bars that lie, each with its name and value. Made of shapes and text alone, so that any viewer
 * shows it; colours follow the reader's choice of light or dark. Not thread-safe.
 */
public final class Svg {
  /** The width of one chart: letters can be read where it fills the width of a phone. */
  static final int WIDTH = 440;

  private static final int GAP = 24;
  private static final int EDGE = 8;
  private static final double TEXT = 12;
  private static final double TITLE = 14;
  private static final int ROW = 18;
  private static final int PLOT_HEIGHT = 220;
  private static final int TICKS = 5;
  private static final int MOST_NAME = 170;
  private static final int BAR = 12;
  private static final int COLOURS = 8;

  /** Colours by name, for light and for dark; a picture of its own has them, a page once. */
  static final String STYLE =
      variables("fff,222,666,ddd,0072b2,d55e00,00805d,b5508a,8a6d00,2f8fc9,555,7f3fbf")
          + "@media(prefers-color-scheme:dark){"
          + variables(
              "16181c,e6e6e6,a0a0a0,3a3d42,4aa8e8,ff8a3d,2fd0a0,f0a0d0,e0c040,8fd0ff,bbb,b58aff")
          + "}"
          + ".ink{fill:var(--ink)}.faint{fill:var(--faint)}.axis{stroke:var(--faint)}"
          + ".rule{stroke:var(--rule)}.back{fill:var(--back)}"
          + ".value{paint-order:stroke;stroke:var(--back);stroke-width:4px}"
          + ".line{fill:none;stroke-width:2}.mark{fill:var(--back);stroke-width:1.8}"
          + series();

  private final StringBuilder out = new StringBuilder();
  private double y;

  private Svg() {}

  private static String variables(String colours) {
    String[] names = {"back", "ink", "faint", "rule"};
    StringBuilder style = new StringBuilder(":root{");
    String[] each = colours.split(",");
    for (int i = 0; i < each.length; i++) {
      String name = i < names.length ? names[i] : "c" + (i - names.length);
      style.append("--").append(name).append(":#").append(each[i]).append(';');
    }
    return style.append('}').toString();
  }

  private static String series() {
    StringBuilder style = new StringBuilder();
    for (int i = 0; i < COLOURS; i++) {
      style.append(
          String.format(Locale.ROOT, ".s%d{stroke:var(--c%d)}.b%d{fill:var(--c%d)}", i, i, i, i));
    }
    return style.toString();
  }

  /** One chart for a page, which has the {@link #STYLE}. */
  static String inline(Chart chart) {
    Svg svg = new Svg();
    svg.chart(chart);
    int height = svg.height();
    return String.format(
        Locale.ROOT,
        "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">%n%s</svg>%n",
        WIDTH,
        height,
        escape(chart.title()),
        svg.out);
  }

  /** A picture of all charts, two side by side. */
  public static String draw(List<Chart> charts) {
    StringBuilder all = new StringBuilder();
    int columns = Math.max(1, Math.min(2, charts.size()));
    int[] bottom = new int[columns];
    for (Chart chart : charts) {
      Svg svg = new Svg();
      svg.chart(chart);
      int column = columns == 1 || bottom[0] <= bottom[1] ? 0 : 1;
      all.append(
          String.format(
              Locale.ROOT,
              "<g transform=\"translate(%d %d)\">%n%s</g>%n",
              column * (WIDTH + GAP),
              bottom[column],
              svg.out));
      bottom[column] += svg.height() + GAP;
    }
    int width = columns * (WIDTH + GAP) - GAP;
    int height = Math.max(1, Arrays.stream(bottom).max().orElse(1) - GAP);
    return String.format(
            Locale.ROOT,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\""
                + " font-family=\"sans-serif\">%n<style>%s</style>%n",
            width,
            height,
            width,
            height,
            STYLE)
        + "<rect width=\"100%\" height=\"100%\" class=\"back\"/>\n"
        + all
        + "</svg>\n";
  }

  private int height() {
    return (int) Math.ceil(y + EDGE);
  }

  private void chart(Chart chart) {
    y = EDGE / 2.0;
    for (String line : Lettering.wrap(chart.title(), TITLE, WIDTH - 2.0 * EDGE)) {
      y += ROW;
      put(
          "<text x=\"%d\" y=\"%.1f\" font-size=\"%.0f\" font-weight=\"bold\" class=\"ink\">%s</text>",
          EDGE, y, TITLE, escape(line));
    }
    for (String line : Lettering.wrap(chart.y(), TEXT, WIDTH - 2.0 * EDGE)) {
      y += ROW;
      text(EDGE, y, "start", "faint", line);
    }
    if (chart.series().stream().allMatch(each -> each.y().stream().allMatch(d -> d.isNaN()))) {
      y += 2 * ROW;
      text(EDGE, y, "start", "faint", "not measured");
    } else if (chart.categories().isEmpty()) {
      lines(chart);
      if (chart.series().size() > 1) {
        legend(chart);
      }
    } else {
      bars(chart);
    }
  }

  private void bars(Chart chart) {
    double names = 0;
    double values = 0;
    for (Series series : chart.series()) {
      names = Math.max(names, Math.min(MOST_NAME, Lettering.width(series.name(), TEXT)));
      for (double value : series.y()) {
        values = Math.max(values, Lettering.width(number(value), TEXT));
      }
    }
    double left = EDGE + names + 6;
    double right = WIDTH - EDGE - values - 6;
    double unit = unit(chart);
    Axis axis = Axis.fromZero(lengths(values(chart, false), unit), TICKS, left, right);
    double top = y + 6;
    int mark = out.length();
    for (int group = 0; group < chart.categories().size(); group++) {
      y += group == 0 ? 8 : 6;
      if (!chart.categories().get(group).isEmpty()) {
        y += ROW;
        String name = Lettering.cut(chart.categories().get(group), TEXT, WIDTH - 2.0 * EDGE);
        text(EDGE, y - 4, "start", "ink", name);
      }
      if (chart.scale() == Chart.Scale.BY_GROUP) {
        axis = Axis.fromZero(group(chart, group), TICKS, left, right);
      }
      for (int s = 0; s < chart.series().size(); s++) {
        bar(chart.series().get(s), s, group, axis, unit);
      }
    }
    if (!Double.isNaN(chart.reference())) {
      double at = axis.at(length(chart.reference(), unit));
      String line = line(at, top, at, y, "axis");
      out.insert(mark, line.replace("/>", " stroke-dasharray=\"4 3\"/>"));
    }
  }

  /** The value whose bar has the length of a decade; 0 if lengths are in proportion. */
  private static double unit(Chart chart) {
    if (chart.scale() != Chart.Scale.LOGARITHMIC) {
      return 0;
    }
    double least = Arrays.stream(values(chart, false)).filter(v -> v > 0).min().orElse(1);
    return Math.pow(10, Math.floor(Math.log10(least)));
  }

  private static double[] lengths(double[] values, double unit) {
    return Arrays.stream(values).map(value -> length(value, unit)).toArray();
  }

  private static double length(double value, double unit) {
    return unit == 0 ? value : value <= 0 ? 0 : Math.max(0, 1 + Math.log10(value / unit));
  }

  private static double[] group(Chart chart, int group) {
    return chart.series().stream().mapToDouble(series -> value(series, group)).toArray();
  }

  private static double value(Series series, int group) {
    int at = series.x().indexOf((double) group);
    return at < 0 ? Double.NaN : series.y().get(at);
  }

  private void bar(Series series, int s, int group, Axis axis, double unit) {
    double value = value(series, group);
    if (Double.isNaN(value)) {
      return;
    }
    y += ROW;
    double width = Math.max(1, axis.at(Math.max(0, length(value, unit))) - axis.from());
    text(axis.from() - 6, y - 5, "end", "ink", Lettering.cut(series.name(), TEXT, MOST_NAME));
    put(
        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" class=\"b%d\"><title>%s: %s</title>"
            + "</rect>",
        axis.from(), y - BAR - 3, width, BAR, s % COLOURS, escape(series.name()), number(value));
    text(axis.from() + width + 4, y - 5, "start", "ink value", number(value));
  }

  private void lines(Chart chart) {
    double top = y + 14;
    double bottom = top + PLOT_HEIGHT;
    Axis vertical = Axis.fromZero(values(chart, false), TICKS, bottom, top);
    double labels = 0;
    for (int i = 0; i < vertical.ticks(); i++) {
      labels = Math.max(labels, Lettering.width(vertical.label(vertical.tick(i)), TEXT));
    }
    double left = EDGE + labels + 6;
    Axis across = across(chart, left);
    for (int i = 0; i < vertical.ticks(); i++) {
      double at = vertical.at(vertical.tick(i));
      out.append(line(left, at, WIDTH - EDGE, at, i == 0 ? "axis" : "rule"));
      text(left - 6, at + 4, "end", "faint", vertical.label(vertical.tick(i)));
    }
    for (int i = 0; i < across.ticks(); i++) {
      double at = across.at(across.tick(i));
      out.append(line(at, bottom, at, bottom + 4, "axis"));
      text(at, bottom + 18, "middle", "faint", across.label(across.tick(i)));
    }
    y = bottom + 18 + ROW;
    text((left + WIDTH - EDGE) / 2, y, "middle", "faint", chart.x());
    StringBuilder marks = new StringBuilder();
    for (int s = 0; s < chart.series().size(); s++) {
      // The largest are drawn first, so that none hides another.
      marks.insert(0, line(chart.series().get(s), s, across, vertical));
    }
    out.append(marks);
  }

  /** As many ticks as have room beside each other, and the last one's label within the picture. */
  private static Axis across(Chart chart, double left) {
    for (int ticks = 8; ; ticks--) {
      Axis axis = Axis.over(values(chart, true), ticks, left + 6, WIDTH - EDGE);
      double widest = 0;
      for (int i = 0; i < axis.ticks(); i++) {
        widest = Math.max(widest, Lettering.width(axis.label(axis.tick(i)), TEXT));
      }
      Axis fitting =
          new Axis(axis.low(), axis.high(), axis.step(), axis.from(), axis.to() - widest / 2);
      double apart = (fitting.to() - fitting.from()) / (axis.ticks() - 1);
      if (ticks == 1 || widest + 8 < apart) {
        return fitting;
      }
    }
  }

  /** Draws the line, and gives its marks. */
  private StringBuilder line(Series series, int s, Axis across, Axis vertical) {
    StringBuilder points = new StringBuilder();
    StringBuilder marks = new StringBuilder();
    for (int i = 0; i < series.x().size(); i++) {
      double value = series.y().get(i);
      if (!Double.isNaN(value)) {
        double x = across.at(series.x().get(i));
        double at = vertical.at(value);
        points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, at));
        String title = series.name() + ": " + number(value);
        marks.append(mark(x, at, s, "<title>" + escape(title) + "</title>"));
      }
    }
    put("<polyline points=\"%s\" class=\"line s%d\"/>", points.toString().strip(), s % COLOURS);
    return hasMarks(series) ? marks : new StringBuilder();
  }

  /** With more they would be all that is seen. */
  private static boolean hasMarks(Series series) {
    return series.x().size() <= 40;
  }

  /** Hollow, and of another shape and size for each line: those in one place can all be seen. */
  private static String mark(double x, double y, int s, String inside) {
    double r = 3 + s % 4 * 0.7;
    String shape =
        switch (s % 4) {
          case 0 ->
              "M%1$.1f %2$.1f m-%3$.1f 0 a%3$.1f %3$.1f 0 1 0 %4$.1f 0 a%3$.1f %3$.1f 0 1 0 -%4$.1f 0 z";
          case 1 -> "M%1$.1f %2$.1f m-%3$.1f -%3$.1f h%4$.1f v%4$.1f h-%4$.1f z";
          case 2 -> "M%1$.1f %2$.1f m0 -%3$.1f l%3$.1f %4$.1f h-%4$.1f z";
          default -> "M%1$.1f %2$.1f m0 -%3$.1f l%3$.1f %3$.1f l-%3$.1f %3$.1f l-%3$.1f -%3$.1f z";
        };
    return String.format(Locale.ROOT, "<path d=\"" + shape + "\"", x, y, r, 2 * r)
        + String.format(Locale.ROOT, " class=\"mark s%d\">%s</path>%n", s % COLOURS, inside);
  }

  /** As many names in a row as have room. */
  private void legend(Chart chart) {
    double x = EDGE;
    y += ROW + 4;
    for (int s = 0; s < chart.series().size(); s++) {
      String name = Lettering.cut(chart.series().get(s).name(), TEXT, WIDTH - 2.0 * EDGE - 26);
      double width = 26 + Lettering.width(name, TEXT) + 12;
      if (x > EDGE && x + width - 12 > WIDTH - EDGE) {
        x = EDGE;
        y += ROW;
      }
      out.append(line(x, y - 4, x + 20, y - 4, "line s" + s % COLOURS));
      out.append(hasMarks(chart.series().get(s)) ? mark(x + 10, y - 4, s, "") : "");
      text(x + 26, y, "start", "ink", name);
      x += width;
    }
  }

  private static double[] values(Chart chart, boolean across) {
    return chart.series().stream()
        .flatMap(series -> (across ? series.x() : series.y()).stream())
        .mapToDouble(d -> d)
        .filter(d -> !Double.isNaN(d))
        .toArray();
  }

  private static String number(double value) {
    return Numbers.significant(value);
  }

  private static String line(double x1, double y1, double x2, double y2, String style) {
    return String.format(
        Locale.ROOT,
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>%n",
        x1,
        y1,
        x2,
        y2,
        style);
  }

  private void text(double x, double at, String anchor, String style, String text) {
    put(
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%.0f\" class=\"%s\">%s</text>",
        x, at, anchor, TEXT, style, escape(text));
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
}
