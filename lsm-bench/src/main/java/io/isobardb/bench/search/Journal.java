package io.isobardb.bench.search;

import io.isobardb.cli.console.UsageException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The runs of a search, a line of CSV each, written as soon as one is done. A search that was
 * killed goes on from there: a last line without an end is dropped. Used by one thread.
 */
final class Journal {
  private final @Nullable Path file;
  private final Space space;
  private final List<Trial> trials = new ArrayList<>();

  private Journal(@Nullable Path file, Space space) {
    this.file = file;
    this.space = space;
  }

  /** One that is kept in memory alone. */
  static Journal inMemory(Space space) {
    return new Journal(null, space);
  }

  /**
   * Opens a file, or makes it.
   *
   * @param search all that makes figures comparable; a file of another one is refused
   * @throws UsageException if the file is of another search, or none of ours
   */
  static Journal open(Path file, Space space, String search) throws IOException {
    Journal journal = new Journal(file, space);
    String title = "# " + search + "\n" + journal.header() + "\n";
    // Not readString: the last line may end within a character.
    byte[] bytes = Files.exists(file) ? Files.readAllBytes(file) : new byte[0];
    String text = new String(bytes, StandardCharsets.UTF_8);
    String whole = text.substring(0, text.lastIndexOf('\n') + 1);
    if (whole.indexOf('\n') == whole.lastIndexOf('\n')) {
      // Killed before the header was there.
      if (!title.startsWith(text)) {
        throw other(file, search);
      }
      Files.writeString(file, title);
      return journal;
    }
    if (!whole.startsWith(title)) {
      throw other(file, search);
    }
    if (whole.length() < text.length()) {
      Files.writeString(file, whole);
    }
    int number = 2;
    for (String line : whole.substring(title.length()).split("\n")) {
      number++;
      if (!line.isEmpty()) {
        journal.trials.add(journal.parse(line, file + ", line " + number));
      }
    }
    return journal;
  }

  private static UsageException other(Path file, String search) {
    return new UsageException(
        file + " is of another search than " + search + "; give another --out");
  }

  private String header() {
    List<String> cells = new ArrayList<>(List.of("phase"));
    space.knobs().forEach(knob -> cells.add(knob.name()));
    cells.add("seed");
    cells.add("seconds");
    for (Metric metric : Metric.values()) {
      cells.add(metric.label());
    }
    cells.add("failure");
    return line(cells);
  }

  private Trial parse(String line, String where) {
    List<String> cells = cells(line);
    int knobs = space.knobs().size();
    try {
      Map<Metric, Double> figures = new EnumMap<>(Metric.class);
      for (Metric metric : Metric.values()) {
        String cell = cells.get(knobs + 3 + metric.ordinal());
        if (!cell.isEmpty()) {
          figures.put(metric, Double.valueOf(cell));
        }
      }
      return new Trial(
          Trial.Phase.valueOf(cells.get(0).toUpperCase(Locale.ROOT)),
          cells.subList(1, knobs + 1),
          Long.parseLong(cells.get(knobs + 1)),
          Double.parseDouble(cells.get(knobs + 2)),
          cells.get(knobs + 3 + Metric.values().length),
          figures);
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new UsageException(where + " is no run of this search; delete the line", e);
    }
  }

  /** What was run, in that order. */
  List<Trial> trials() {
    return List.copyOf(trials);
  }

  /** Adds one, and has it in the file when it returns. */
  void add(Trial trial) throws IOException {
    trials.add(trial);
    if (file == null) {
      return;
    }
    List<String> cells = new ArrayList<>(List.of(trial.phase().name().toLowerCase(Locale.ROOT)));
    cells.addAll(trial.setting());
    cells.add(Long.toString(trial.seed()));
    cells.add(String.format(Locale.ROOT, "%.3f", trial.seconds()));
    for (Metric metric : Metric.values()) {
      Double figure = trial.figures().get(metric);
      cells.add(figure == null ? "" : figure.toString());
    }
    cells.add(trial.failure().replaceAll("\\s+", " "));
    byte[] bytes = (line(cells) + "\n").getBytes(StandardCharsets.UTF_8);
    Files.write(file, bytes, StandardOpenOption.APPEND);
  }

  private static String line(List<String> cells) {
    List<String> quoted = new ArrayList<>();
    for (String cell : cells) {
      boolean quote = cell.indexOf(',') >= 0 || cell.indexOf('"') >= 0;
      quoted.add(quote ? '"' + cell.replace("\"", "\"\"") + '"' : cell);
    }
    return String.join(",", quoted);
  }

  private static List<String> cells(String line) {
    List<String> cells = new ArrayList<>();
    StringBuilder cell = new StringBuilder();
    boolean quoted = false;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (c == '"' && quoted && i + 1 < line.length() && line.charAt(i + 1) == '"') {
        cell.append(c);
        i++;
      } else if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        cells.add(cell.toString());
        cell.setLength(0);
      } else {
        cell.append(c);
      }
    }
    cells.add(cell.toString());
    return cells;
  }
}
