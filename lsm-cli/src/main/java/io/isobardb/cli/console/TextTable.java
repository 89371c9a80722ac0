package io.isobardb.cli.console;

import java.util.ArrayList;
import java.util.List;

/**
 * A table in plain text: the first column to the left, the others to the right. Not thread-safe.
 */
public final class TextTable {
  private final List<String[]> rows = new ArrayList<>();

  /**
   * The table's first row; a line is drawn below it.
   *
   * @param header the titles of columns
   */
  public TextTable(String... header) {
    rows.add(header);
  }

  /**
   * Adds a row of as many cells as the header has.
   *
   * @param cells one for each column
   */
  public void row(String... cells) {
    if (cells.length != rows.get(0).length) {
      throw new IllegalArgumentException(
          cells.length + " cells in a table of " + rows.get(0).length + " columns");
    }
    rows.add(cells);
  }

  /** {@return all rows, the header first} */
  public List<List<String>> rows() {
    return rows.stream().map(List::of).toList();
  }

  /** {@return the table in Markdown} */
  public String markdown() {
    StringBuilder out = new StringBuilder();
    for (List<String> row : rows()) {
      out.append("| ").append(String.join(" | ", row)).append(" |\n");
      if (out.indexOf("---") < 0) {
        out.append("|---".repeat(row.size())).append("|\n");
      }
    }
    return out.toString();
  }

  @Override
  public String toString() {
    int[] widths = new int[rows.get(0).length];
    for (String[] row : rows) {
      for (int i = 0; i < row.length; i++) {
        widths[i] = Math.max(widths[i], row[i].length());
      }
    }
    StringBuilder out = new StringBuilder();
    for (int r = 0; r < rows.size(); r++) {
      line(out, rows.get(r), widths);
      if (r == 0) {
        String[] rule = new String[widths.length];
        for (int i = 0; i < widths.length; i++) {
          rule[i] = "-".repeat(widths[i]);
        }
        line(out, rule, widths);
      }
    }
    return out.toString();
  }

  private static void line(StringBuilder out, String[] cells, int[] widths) {
    for (int i = 0; i < cells.length; i++) {
      String pad = " ".repeat(widths[i] - cells[i].length());
      if (i == 0) {
        out.append(cells[i]).append(i == cells.length - 1 ? "" : pad);
      } else {
        out.append("  ").append(pad).append(cells[i]);
      }
    }
    out.append('\n');
  }
}
