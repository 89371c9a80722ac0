package io.isobardb.lsm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.api.Sections;
import io.isobardb.lsm.observe.Figure;
import io.isobardb.lsm.observe.StallReason;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Lists on pages are complete: what the sources have is named there. */
@Tag("any-jdk")
class PagesTest {
  private static final List<Path> SOURCES =
      List.of(
          Path.of("src/main/java/io/isobardb/lsm"),
          Path.of("../lsm-memory/src/main/java/io/isobardb/memory"));

  /** Sources without comments, by the simple names of their classes. */
  private static Map<String, String> sources() throws IOException {
    Map<String, String> sources = new TreeMap<>();
    Sources.of(SOURCES)
        .forEach(
            (name, text) ->
                sources.merge(name.substring(name.lastIndexOf('/') + 1), text, String::concat));
    return sources;
  }

  /** What a group of a pattern matches in all sources, or the class with it, as the format says. */
  private static Set<String> found(String pattern, String format) throws IOException {
    Pattern sought = Pattern.compile(pattern);
    Set<String> found = new TreeSet<>();
    for (Map.Entry<String, String> source : sources().entrySet()) {
      Matcher matcher = sought.matcher(source.getValue());
      while (matcher.find()) {
        String group = matcher.groupCount() > 0 ? matcher.group(1) : "";
        found.add(format.replace("CLASS", source.getKey()).replace("GROUP", group));
      }
    }
    assertFalse(found.isEmpty(), pattern);
    return found;
  }

  private static Set<String> missing(Set<String> names, String text) {
    return names.stream()
        .filter(name -> !text.contains("`" + name + "`"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void theTableOfPackagesHasEachPackage() throws IOException {
    Set<String> packages = new TreeSet<>();
    for (String module : List.of("lsm-memory", "lsm-tuner", "lsm-core", "lsm-dataset")) {
      Path sources = Path.of("..", module, "src/main/java/io/isobardb");
      try (Stream<Path> files = Files.walk(sources)) {
        files
            .filter(file -> file.endsWith("package-info.java"))
            .map(file -> sources.relativize(file.getParent()).toString())
            .forEach(name -> packages.add(name.replace(File.separatorChar, '.')));
      }
    }
    assertEquals(
        Set.of(), missing(packages, Sections.below("ARCHITECTURE.md", "Modules and packages")));
  }

  @Test
  void theTableOfLocksHasEachLock() throws IOException {
    Set<String> locks = found("(\\w+) = new (?:ReentrantLock|SignalLock)\\(", "CLASS.GROUP");
    assertEquals(Set.of(), missing(locks, Sections.below("ARCHITECTURE.md", "Locks")));
  }

  @Test
  void theTableOfThreadsHasEachService() throws IOException {
    String table = Sections.below("ARCHITECTURE.md", "Which thread does what");
    Set<String> services =
        found(
            "(?s)class \\w+ implements \\w*(?:Service|StoreWatch)\\b.*?"
                + "String name\\(\\) \\{\\s+return \"(.*?)\"",
            "-GROUP`");
    services.removeIf(table::contains);
    assertEquals(Set.of(), services);
  }

  @Test
  void whoeverWakesWritersIsNamed() throws IOException {
    Set<String> waking =
        found(
            "gate\\(\\)(?:\\.|::)(?:wake|onFreed|setLogPressure|setLimitBytes|close)\\b", "CLASS");
    assertEquals(
        Set.of(), missing(waking, Sections.below("ARCHITECTURE.md", "Who wakes a stalled writer")));
  }

  @Test
  void theTableOfErrorsHasEachException() throws IOException {
    Set<String> exceptions = new TreeSet<>();
    for (String name : sources().keySet()) {
      if (Files.exists(SOURCES.get(0).resolve("error/" + name + ".java"))
          && name.endsWith("Exception")
          && !name.equals("IsobarException")) {
        exceptions.add(name);
      }
    }
    assertTrue(exceptions.contains("DiskFullException"), exceptions::toString);
    assertEquals(Set.of(), missing(exceptions, Sections.below("docs/operations.md", "Errors")));
  }

  @Test
  void theTableOfStallsHasEachReason() throws IOException {
    List<String> rows =
        Pattern.compile("(?m)^\\| `([A-Z0-9_]+)` \\|")
            .matcher(Sections.below("docs/operations.md", "Why writers wait"))
            .results()
            .map(row -> row.group(1))
            .sorted()
            .toList();
    assertEquals(Arrays.stream(StallReason.values()).map(Enum::name).sorted().toList(), rows);
  }

  @Test
  void theTableOfFormatsHasEachVersion() throws IOException {
    String layout = sources().get("ManifestLayout");
    Matcher version = Pattern.compile("FORMAT_VERSION = (\\d+);").matcher(layout);
    assertTrue(version.find());
    long rows =
        Pattern.compile("(?m)^\\| \\d+ \\|")
            .matcher(Sections.below("docs/operations.md", "Upgrading"))
            .results()
            .count();
    assertEquals(Integer.parseInt(version.group(1)), rows);
  }

  @Test
  void metricsThatThePageOnOperatingNamesExist() throws IOException {
    Set<String> figures =
        Stream.concat(Figure.ofStore().stream(), Figure.ofTree().stream())
            .map(figure -> "isobar." + figure.name())
            .collect(Collectors.toSet());
    Set<String> named =
        Pattern.compile("`(isobar(?:\\.[a-z0-9]+)+)`")
            .matcher(Files.readString(Path.of("../docs/operations.md")))
            .results()
            .map((MatchResult match) -> match.group(1))
            .collect(Collectors.toCollection(TreeSet::new));
    assertFalse(named.isEmpty());
    named.removeAll(figures);
    assertEquals(Set.of(), named);
  }

  @Test
  void thePageOnOperatingCountsTheSeriesOfATree() throws IOException {
    String trees = Sections.below("docs/metrics.md", "Of each tree");
    long rows = Pattern.compile("(?m)^\\| `tree\\.").matcher(trees).results().count();
    String text = Sections.below("docs/operations.md", "Metrics").replaceAll("\\s+", " ");
    String series = "each tree has " + rows + " series";
    assertTrue(text.contains(series), series);
  }
}
