package io.isobardb.lsm.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.observe.Figure;
import io.isobardb.memory.stats.Metric;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * docs/metrics.md says what the annotations of statistics say. With {@code -Dgolden.rewrite=true}
 * it is written instead of compared.
 */
class MetricsPageTest {
  private static final Path DOCS = Path.of("../docs");

  private static final String BEGINNING =
      """
      # Metrics

      This page is made from the annotations of `StoreStats` and its parts. Don't edit it. After a change, this
      writes it:

          mvn -q test -pl lsm-core -am -Dtest=MetricsPageTest -Dsurefire.failIfNoSpecifiedTests=false \\
            -Dtest.jvm.args=-Dgolden.rewrite=true

      [Operating a store](operations.md#metrics) says how to get them, and what to alarm on.

      - A *counter* counts from the opening of the store. A *gauge* goes up and down.
      - Micrometer's names have `isobar.` before them. Times are in seconds there, and in nanoseconds by JMX.
      - A name in brackets is a tag: there is one value for each of what it names.

      """;

  private static String table(List<? extends Figure<?>> figures) {
    return figures.stream()
        .filter(figure -> !figure.name().isEmpty())
        .sorted(Comparator.comparing(Figure::name))
        .map(MetricsPageTest::row)
        .collect(
            Collectors.joining(
                "",
                "| metric | JMX | kind | unit | what it tells |\n|---|---|---|---|---|\n",
                "\n"));
  }

  private static String row(Figure<?> figure) {
    Metric metric = figure.metric();
    return String.join(
        "",
        "| `" + figure.name() + "`",
        metric.tag().isEmpty() ? "" : " (" + metric.tag() + ")",
        " | `" + figure.attribute() + "` | ",
        metric.kind().name().toLowerCase(Locale.ROOT),
        " | " + metric.unit() + " | " + metric.value() + " |\n");
  }

  @Test
  void thePageSaysWhatTheAnnotationsSay() throws IOException {
    String page =
        BEGINNING
            + "## Of a store\n\n"
            + table(Figure.ofStore())
            + "## Of each tree\n\n"
            + table(Figure.ofTree()).stripTrailing()
            + "\n";
    Path file = DOCS.resolve("metrics.md");
    if (Boolean.getBoolean("golden.rewrite")) {
      Files.writeString(file, page);
    }
    assertEquals(page, Files.readString(file));
  }

  @Test
  void theMetricsThatOtherPagesNameExist() throws IOException {
    Set<String> names = new TreeSet<>();
    Figure.ofStore().forEach(figure -> names.add(figure.name()));
    Figure.ofTree().forEach(figure -> names.add(figure.name()));
    int found = 0;
    Matcher named =
        Pattern.compile("`isobar\\.([a-z0-9.]+)`")
            .matcher(Files.readString(DOCS.resolve("operations.md")));
    while (named.find()) {
      assertTrue(names.contains(named.group(1)), named.group());
      found++;
    }
    assertTrue(found >= 5, "only " + found);
  }
}
