package io.isobardb.lsm.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.observe.Metric;
import io.isobardb.lsm.observe.StoreMXBean;
import io.isobardb.lsm.observe.TreeMXBean;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * docs/metrics.md says what the attributes' annotations say. With {@code -Dgolden.rewrite=true} it
 * is written instead of compared.
 */
class MetricsPageTest {
  private static final Path DOCS = Path.of("../docs");

  private static final String BEGINNING =
      """
      # Metrics

      This page is made from the annotations of `StoreMXBean` and `TreeMXBean`. Don't edit it. After a change,
      this writes it:

          mvn -q test -pl lsm-core -am -Dtest=MetricsPageTest -Dsurefire.failIfNoSpecifiedTests=false \\
            -Dtest.jvm.args=-Dgolden.rewrite=true

      [Operating a store](operations.md#metrics) says how to get them, and what to alarm on.

      - A *counter* counts from the opening of the store. A *gauge* goes up and down.
      - Micrometer's names have `isobar.` before them. Times are in seconds there, and in nanoseconds by JMX.
      - A name in brackets is a tag: there is one value for each of what it names.

      """;

  private static String table(Class<?> beans) {
    StringBuilder page = new StringBuilder("| metric | JMX | kind | unit | what it tells |\n");
    page.append("|---|---|---|---|---|\n");
    Arrays.stream(beans.getMethods())
        .filter(getter -> !metric(getter).name().isEmpty())
        .sorted(Comparator.comparing(getter -> metric(getter).name()))
        .forEach(getter -> page.append(row(getter)));
    return page.append('\n').toString();
  }

  private static Metric metric(Method getter) {
    Metric metric = getter.getAnnotation(Metric.class);
    assertTrue(metric != null, getter + " has no @Metric");
    return metric;
  }

  private static String row(Method getter) {
    Metric metric = metric(getter);
    String tag = metric.tag().isEmpty() ? "" : " (" + metric.tag() + ")";
    return "| `%s`%s | `%s` | %s | %s | %s |%n"
        .formatted(
            metric.name(),
            tag,
            getter.getName().substring("get".length()),
            metric.kind().name().toLowerCase(Locale.ROOT),
            metric.unit(),
            metric.value())
        .replace(System.lineSeparator(), "\n");
  }

  @Test
  void thePageSaysWhatTheAnnotationsSay() throws IOException {
    String page =
        BEGINNING
            + "## Of a store\n\n"
            + table(StoreMXBean.class)
            + "## Of each tree\n\n"
            + table(TreeMXBean.class).stripTrailing()
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
    for (Class<?> beans : new Class<?>[] {StoreMXBean.class, TreeMXBean.class}) {
      Arrays.stream(beans.getMethods()).forEach(getter -> names.add(metric(getter).name()));
    }
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
