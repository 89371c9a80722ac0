package io.isobardb.bench.experiment.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Results as a CSV file: a header, then a line per row; RFC 4180's quotes. The names of parameters
 * begin with {@value #PARAMETER} in the header, so that a file can be read back.
 */
public final class Csv {
  static final String PARAMETER = "@";

  private Csv() {}

  /** Writes the file anew, at once: a reader sees the old one or the new one. */
  public static void write(Path file, Results results) {
    try {
      Path next = file.resolveSibling(file.getFileName() + ".tmp");
      Files.writeString(next, format(results));
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + file, e);
    }
  }

  /** The rows of a file that {@link #write} has written; none if there is no such file. */
  public static Results read(Path file) {
    try {
      return Files.exists(file) ? parse(Files.readString(file)) : new Results(List.of());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
    }
  }

  static String format(Results results) {
    Set<String> parameters = results.parameterNames();
    Set<String> figures = results.figureNames();
    StringBuilder out = new StringBuilder();
    List<String> cells = new ArrayList<>();
    parameters.forEach(name -> cells.add(PARAMETER + name));
    cells.addAll(figures);
    line(out, cells);
    for (Row row : results.rows()) {
      cells.clear();
      parameters.forEach(name -> cells.add(row.parameter(name)));
      figures.forEach(
          name -> cells.add(row.figures().containsKey(name) ? number(row.figure(name)) : ""));
      line(out, cells);
    }
    return out.toString();
  }

  private static String number(double value) {
    return value == Math.rint(value) && Math.abs(value) < 1e15
        ? Long.toString((long) value)
        : String.format(Locale.ROOT, "%.6g", value);
  }

  private static void line(StringBuilder out, List<String> cells) {
    for (int i = 0; i < cells.size(); i++) {
      String cell = cells.get(i);
      boolean quote = cell.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n');
      out.append(i == 0 ? "" : ",").append(quote ? '"' + cell.replace("\"", "\"\"") + '"' : cell);
    }
    out.append('\n');
  }

  static Results parse(String text) {
    List<List<String>> lines = split(text);
    List<Row> rows = new ArrayList<>();
    if (lines.isEmpty()) {
      return new Results(rows);
    }
    List<String> header = lines.get(0);
    for (int i = 1; i < lines.size(); i++) {
      List<String> cells = lines.get(i);
      if (cells.size() != header.size()) {
        throw new IllegalArgumentException(
            "line "
                + (i + 1)
                + " has "
                + cells.size()
                + " cells, the header "
                + header.size()
                + "; delete the file, or run without --resume");
      }
      rows.add(row(header, cells));
    }
    return new Results(rows);
  }

  private static Row row(List<String> header, List<String> cells) {
    Map<String, String> parameters = new LinkedHashMap<>();
    Map<String, Double> figures = new LinkedHashMap<>();
    for (int i = 0; i < header.size(); i++) {
      String name = header.get(i);
      if (cells.get(i).isEmpty()) {
        continue;
      }
      if (name.startsWith(PARAMETER)) {
        parameters.put(name.substring(PARAMETER.length()), cells.get(i));
      } else {
        figures.put(name, Double.valueOf(cells.get(i)));
      }
    }
    return new Row(parameters, figures);
  }

  private static List<List<String>> split(String text) {
    List<List<String>> lines = new ArrayList<>();
    List<String> cells = new ArrayList<>();
    StringBuilder cell = new StringBuilder();
    boolean quoted = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (quoted) {
        if (c != '"') {
          cell.append(c);
        } else if (i + 1 < text.length() && text.charAt(i + 1) == '"') {
          cell.append(c);
          i++;
        } else {
          quoted = false;
        }
      } else if (c == '"') {
        quoted = true;
      } else if (c == ',' || c == '\n') {
        cells.add(cell.toString());
        cell.setLength(0);
        if (c == '\n') {
          lines.add(cells);
          cells = new ArrayList<>();
        }
      } else {
        cell.append(c);
      }
    }
    return lines;
  }
}
