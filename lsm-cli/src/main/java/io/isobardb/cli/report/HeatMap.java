package io.isobardb.cli.report;

import java.util.List;
import java.util.Locale;

/**
 * Rows of cells, each the darker the larger its value is: the largest has the full colour, and a
 * hundredth of it a third.
 *
 * @param title what is drawn, with the unit
 * @param rows from the top down
 */
public record HeatMap(String title, List<Row> rows) {
  private static final int WIDTH = 920;

  /** What it takes at least: narrower, its letters are too small to be read. */
  private static final int LEAST_WIDTH = 700;

  private static final int LABEL = 90;
  private static final int ROW = 22;
  private static final int TITLE = 26;
  private static final double LEAST_SHADE = 0.04;

  /** From full colour to none: so many powers of ten. */
  private static final double DECADES = 3;

  /** A row with its name. */
  public record Row(String name, List<Cell> cells) {}

  /**
   * A cell.
   *
   * @param from where it begins, from 0 to 1
   * @param to where it ends
   * @param text what is shown when the reader points at it
   */
  public record Cell(double from, double to, double value, String text) {}

  String svg() {
    double most =
        rows.stream().flatMap(row -> row.cells().stream()).mapToDouble(Cell::value).max().orElse(0);
    int height = TITLE + rows.size() * ROW + 2;
    StringBuilder out = new StringBuilder();
    out.append(
        String.format(
            Locale.ROOT,
            "<svg viewBox=\"0 0 %d %d\" style=\"min-width:%dpx;max-width:%dpx\" role=\"img\""
                + " aria-label=\"%s\">%n",
            WIDTH,
            height,
            LEAST_WIDTH,
            WIDTH,
            Svg.escape(title)));
    out.append(text(0, 16, 14, title));
    for (int i = 0; i < rows.size(); i++) {
      int y = TITLE + i * ROW;
      out.append(text(0, y + 15, 12, rows.get(i).name()));
      rows.get(i).cells().forEach(cell -> out.append(rectangle(cell, y, most)));
    }
    return out.append("</svg>\n").toString();
  }

  private static String text(int x, int y, int size, String text) {
    return String.format(
        Locale.ROOT,
        "<text x=\"%d\" y=\"%d\" font-size=\"%d\" class=\"ink\">%s</text>%n",
        x,
        y,
        size,
        Svg.escape(text));
  }

  private static String rectangle(Cell cell, int y, double most) {
    double from = LABEL + cell.from() * (WIDTH - LABEL);
    double width = Math.max(1, (cell.to() - cell.from()) * (WIDTH - LABEL) - 1);
    return String.format(
        Locale.ROOT,
        "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" class=\"b1 rule\" fill-opacity=\"%.2f\">"
            + "<title>%s</title></rect>%n",
        from,
        y,
        width,
        ROW - 2,
        shade(cell.value(), most),
        Svg.escape(cell.text()));
  }

  private static double shade(double value, double most) {
    if (value <= 0 || most <= 0) {
      return LEAST_SHADE;
    }
    double below = Math.log10(most / value) / DECADES;
    return Math.max(2 * LEAST_SHADE, 1 - below);
  }
}
