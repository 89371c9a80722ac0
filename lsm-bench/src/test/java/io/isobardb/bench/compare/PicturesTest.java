package io.isobardb.bench.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.cli.report.Chart;
import io.isobardb.cli.report.Chart.Series;
import io.isobardb.cli.report.Svg;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The pictures of docs/performance.md show what the tables beside them say. With {@code
 * -Dgolden.rewrite=true} they are drawn instead of compared.
 */
class PicturesTest {
  private static final Path DOCS = Path.of("../docs");

  /** The cells of the first table below a heading; its last column, which has ratios, left out. */
  private static List<List<String>> table(String heading) throws IOException {
    String page = Files.readString(DOCS.resolve("performance.md"));
    int at = page.indexOf("\n## " + heading + "\n");
    assertTrue(at >= 0, heading);
    return page.substring(page.indexOf("\n| ", at))
        .strip()
        .lines()
        .takeWhile(line -> line.startsWith("|"))
        .filter(line -> !line.startsWith("|-"))
        .map(line -> List.of(line.substring(2, line.lastIndexOf(" |")).split(" \\| ")))
        .map(cells -> cells.subList(0, cells.size() - 1))
        .toList();
  }

  /** Thousands of operations a second, or what stands in brackets: processor time. */
  private static double value(String cell, boolean processorTime) {
    String[] both = cell.replace(",", "").split("[ ()]+");
    return Double.parseDouble(both[processorTime ? 1 : 0]);
  }

  private static Chart chart(List<List<String>> rows, boolean processorTime) {
    List<List<String>> phases = rows.subList(1, rows.size());
    int rocksdb = 2; // Isobar's column is the one before
    List<Series> series = new ArrayList<>();
    for (int column = 1; column < rows.get(0).size(); column++) {
      List<Double> x = new ArrayList<>();
      List<Double> y = new ArrayList<>();
      for (List<String> phase : phases) {
        double value = value(phase.get(column), processorTime);
        x.add((double) x.size());
        y.add(processorTime ? value : value / value(phase.get(rocksdb), false));
      }
      series.add(new Series(rows.get(0).get(column), x, y));
    }
    List<String> names = phases.stream().map(phase -> phase.get(0)).toList();
    return processorTime
        ? Chart.bars("Processor time, merges included", "[us/operation]", names, series)
            .on(Chart.Scale.BY_GROUP)
        : Chart.bars(
                "Operations a second", "times those of " + rows.get(0).get(rocksdb), names, series)
            .comparedWith(1);
  }

  @ParameterizedTest
  @CsvSource({
    "All data in the cache, performance-cached.svg",
    "Half of the data in the cache, performance-half-cached.svg",
  })
  void showWhatTheTablesSay(String heading, String file) throws IOException {
    List<List<String>> rows = table(heading);
    assertEquals("isobar", rows.get(0).get(1));
    String drawn = Svg.draw(Arrays.asList(chart(rows, false), chart(rows, true)));
    Path picture = DOCS.resolve(file);
    if (Boolean.getBoolean("golden.rewrite")) {
      Files.writeString(picture, drawn);
    }
    assertEquals(Files.readString(picture), drawn);
    assertTrue(Files.readString(DOCS.resolve("performance.md")).contains("](" + file + ")"));
  }
}
