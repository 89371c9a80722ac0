package io.isobardb.lsm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.setting.Option;
import io.isobardb.lsm.setting.OptionGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * What documents say of options is what the options' data say. With {@code -Dgolden.rewrite=true}
 * docs/options.md is written instead of compared.
 */
class OptionsPageTest {
  private static final int COLUMNS = 110;

  private static final String HOW_TO_REWRITE =
      "mvn -q test -pl lsm-core -am -Dtest=OptionsPageTest -Dsurefire.failIfNoSpecifiedTests=false \\\n"
          + "      -Dtest.jvm.args=-Dgolden.rewrite=true";

  private static final String BEGINNING =
      """
      # Options

      This page is made from the options' data. Don't edit it. After a change of an option, this writes it:

          %s

      A store's options are set with `StoreOptions.builder()`, or read by `StoreOptions.fromProperties`
      from properties with the names below and a prefix of yours. A tree's are set with
      `TreeOptions.builder()`.

      - A size is a number with `KB`, `MB`, `GB` or `TB`, or without a unit in bytes. Units are powers of 1024.
      - A duration is a number with `ms`, `s`, `m` or `h`, or an ISO duration such as `PT1M`.
      - `memoryTunerInterval` and others that begin so are set by `memoryTuner(t -> t.interval(...))`.
      - Any option is set by its name with `StoreOptions.Builder.set`, and told by `StoreOptions.get`.
      - What an option was called or took before is read until 1.0, with a warning that says what to write.
      - An unknown name and a value out of range are refused, with what was probably meant.
      - `Store.options()` tells what the store was opened with, `Tree.options()` what is stored now.

      """;

  private static final String STORE =
      """
      ## Of a store

      Begin with `memoryBudget`, and leave the others as they are until there is a reason.

      """;

  private static final String TREE =
      """
      ## Of a tree

      They are stored when the tree is created. Each says whether it can be changed later. If so,
      `Store.openTree` changes one that was set and is stored otherwise. Else it refuses that, with both
      values. One that was not set takes what is stored.

      """;

  private static final String EXPERIMENTS =
      """
      ## Experiments

      Other policies to compare with, and parameters of "Breaking Down Memory Walls in LSM-based Storage
      Systems", whose sections are named. The defaults are what measurements have shown to be best. A
      release may change or remove these options.

      They are set by their names alone: as properties, by `StoreOptions.Builder.set`, or by `--option` of
      `isobar latency` and `isobar experiment`.

      """;

  private static Path file(String name) {
    return (Files.exists(Path.of("..", "README.md")) ? Path.of("..") : Path.of("")).resolve(name);
  }

  private static boolean isExperiment(Option<?> option) {
    return option.group() == OptionGroup.EXPERIMENT;
  }

  private static String page() {
    StringBuilder page = new StringBuilder(String.format(BEGINNING, HOW_TO_REWRITE));
    chapter(page, STORE, StoreOption.ALL.options(), option -> !isExperiment(option));
    chapter(page, TREE, TreeOption.ALL.options(), option -> true);
    chapter(page, EXPERIMENTS, StoreOption.ALL.options(), OptionsPageTest::isExperiment);
    return page.toString().stripTrailing() + "\n";
  }

  private static void chapter(
      StringBuilder page, String beginning, List<Option<?>> all, Predicate<Option<?>> which) {
    Map<OptionGroup, List<Option<?>>> groups =
        all.stream()
            .filter(which)
            .collect(Collectors.groupingBy(Option::group, TreeMap::new, Collectors.toList()));
    page.append(beginning)
        .append(
            groups.size() > 1
                ? "| group | option | default |\n|---|---|---|\n"
                : "| option | default |\n|---|---|\n");
    groups.forEach(
        (group, options) -> {
          for (Option<?> option : options) {
            String first = option == options.get(0) ? group.title() : "";
            page.append(groups.size() > 1 ? "| " + first + " " : "");
            page.append(
                String.format(
                    Locale.ROOT,
                    "| [`%s`](#%s) | %s |\n",
                    option.name(),
                    anchor(page, option.name()),
                    option.defaultText()));
          }
        });
    groups.forEach((group, options) -> options.forEach(option -> tell(page, option)));
    page.append('\n');
  }

  /** As headings are linked to; the second one of a name has a number. */
  private static String anchor(StringBuilder page, String name) {
    String anchor = name.toLowerCase(Locale.ROOT).replace(".", "");
    return page.indexOf("\n### " + name + "\n") < 0 ? anchor : anchor + "-1";
  }

  private static void tell(StringBuilder page, Option<?> option) {
    page.append("\n### ").append(option.name()).append("\n\n").append(wrapped("", option.what()));
    page.append('\n');
    page.append(wrapped("- ", "Default: " + option.defaultText() + "."));
    page.append(wrapped("- ", "Takes " + takes(option) + "."));
    page.append(wrapped("- ", changes(option)));
    page.append(wrapped("- ", option.when()));
  }

  private static String takes(Option<?> option) {
    String kind = option.kind().values();
    return option.values().equals(kind)
        ? kind
        : option.values().startsWith(kind) ? option.values() : kind + ", " + option.values();
  }

  private static String changes(Option<?> option) {
    return switch (option.change()) {
      case NEVER -> "Stored when the store or tree is created; never changes.";
      case AT_OPENING -> "May differ at each opening.";
      case WHILE_OPEN -> "May differ at each opening, and change while the store is open.";
    };
  }

  private static String wrapped(String bullet, String text) {
    StringBuilder lines = new StringBuilder();
    StringBuilder line = new StringBuilder(bullet);
    for (String word : text.split(" ")) {
      if (line.length() + word.length() > COLUMNS - 2) {
        lines.append(line.toString().stripTrailing()).append('\n');
        line = new StringBuilder(" ".repeat(bullet.length()));
      }
      line.append(word).append(' ');
    }
    return lines.append(line.toString().stripTrailing()).append('\n').toString();
  }

  @Test
  void thePageSaysWhatTheOptionsSay() throws IOException {
    Path path = file("docs/options.md");
    if (Boolean.getBoolean("golden.rewrite")) {
      Files.writeString(path, page());
    }
    assertEquals(
        Files.readString(path),
        page(),
        () -> path + " is not what the options say; to rewrite it:\n" + HOW_TO_REWRITE);
  }

  @Test
  void theReadmesTableHasOptionsThatAUserMaySetWithTheirDefaults() throws IOException {
    Map<String, String> defaults = new TreeMap<>();
    StoreOption.ALL.options().stream()
        .filter(option -> !isExperiment(option))
        .forEach(option -> defaults.put(option.name(), option.defaultText()));
    String readme = Files.readString(file("README.md"));
    String chapter = readme.substring(readme.indexOf("\n## Options\n"));
    chapter = chapter.substring(0, chapter.indexOf("\n## ", 1));
    Matcher row = Pattern.compile("(?m)^\\| `(\\w+)` \\| (.*?) \\|").matcher(chapter);
    List<String> named = new ArrayList<>();
    while (row.find()) {
      named.add(row.group(1));
      assertEquals(defaults.get(row.group(1)), row.group(2), row.group(1));
    }
    assertTrue(named.size() == 10 && named.contains("memoryBudget"), named.toString());
  }
}
