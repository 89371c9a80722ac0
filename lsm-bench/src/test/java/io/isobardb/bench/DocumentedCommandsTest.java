package io.isobardb.bench;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;

/** The commands that the documents name are understood, and those that take seconds work. */
@Tag("any-jdk")
class DocumentedCommandsTest {
  /** A command in a block of code, its continued lines included, or in the middle of a sentence. */
  private static final Pattern COMMAND =
      Pattern.compile(
          "^ *\\./isobar ((?:[^\n]*\\\\\n)*[^\n]*)$|`(?:\\./)?isobar ([a-z][^`]*)`",
          Pattern.MULTILINE);

  private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z-]+ (?:DIR|BACKUPS)[^`]*)`");

  /** Words that stand for a value, where not any text is one. */
  private static final Map<String, String> VALUES =
      Map.of("LOAD", "steady", "DESIGN", "cola", "S", "1", "N", "2", "SIZE", "1MB");

  private static final CommandLine LINE = Isobar.commandLine();

  @TempDir Path temp;

  private static Path root() {
    return Files.exists(Path.of("README.md")) ? Path.of("") : Path.of("..");
  }

  private static List<String> words(String command) {
    List<String> words = new ArrayList<>();
    String line = command.replace("\\\n", " ").replaceFirst(" +# .*", "");
    Matcher word = Pattern.compile("(?:'[^']*'|\"[^\"]*\"|[^\\s'\"])+").matcher(line);
    while (word.find()) {
      words.add(word.group().replaceAll("['\"]", ""));
    }
    return words;
  }

  /** Each command with the page it is in. */
  static List<String> commands() throws IOException {
    List<String> commands = new ArrayList<>();
    try (Stream<Path> files = Files.walk(root().resolve("docs"));
        Stream<Path> top = Files.list(root())) {
      for (Path page : Stream.concat(files, top).sorted().toList()) {
        if (page.toString().endsWith(".md")) {
          Matcher command = COMMAND.matcher(Files.readString(page));
          while (command.find()) {
            String text = command.group(1);
            commands.add(
                page.getFileName()
                    + (text != null ? ": " + text : ", just named: " + command.group(2)));
          }
        }
      }
    }
    assertTrue(commands.size() > 100, commands.size() + " commands were found");
    return commands;
  }

  private static int run(StringWriter out, List<String> words) {
    CommandLine line = Isobar.commandLine();
    line.setOut(new PrintWriter(out));
    line.setErr(new PrintWriter(out));
    return line.execute(words.toArray(String[]::new));
  }

  @ParameterizedTest
  @MethodSource("commands")
  void isUnderstood(String command) {
    List<String> words = words(command.substring(command.indexOf(": ") + 2));
    words.replaceAll(word -> VALUES.getOrDefault(word, word));
    try {
      LINE.parseArgs(words.toArray(String[]::new));
    } catch (MissingParameterException e) {
      assertTrue(command.contains(", just named: "), () -> command + ": " + e.getMessage());
    } catch (ParameterException e) {
      throw new AssertionError(command, e);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "experiment list",
        "model --keys 100M --item 1000 --skew 0 --optimise",
        "model --keys 100M --skew 0.99 --distinct 1M,10M,100M",
        "model --design isobar --keys 1M --write-memory 64MB --memory-used 70",
        "model --figures --keys 100M",
      })
  void worksAsPrinted(String command) throws IOException {
    assertTrue(commands().stream().anyMatch(each -> each.endsWith(": " + command)), command);
    StringWriter out = new StringWriter();
    assertEquals(0, run(out, words(command)), out::toString);
  }

  @Test
  void thePageOfExperimentsHasThemAll() throws IOException {
    StringWriter out = new StringWriter();
    assertEquals(0, run(out, List.of("experiment", "list")), out::toString);
    String page = Files.readString(root().resolve("docs/experiments.md"));
    List<String> names = out.toString().lines().skip(2).map(line -> line.split(" ")[0]).toList();
    assertTrue(names.size() > 10, out::toString);
    for (String name : names) {
      assertTrue(page.contains("`" + name + "`"), name);
    }
  }

  @Test
  void theCommandsAboutAStoreWorkAsInTheirTable() throws IOException {
    Path dir = temp.resolve("store");
    try (Store store = Store.open(dir, StoreOptions.defaults())) {
      store.openTree("NAME").put("KEY".getBytes(UTF_8), "VALUE".getBytes(UTF_8));
    }
    Path lines = Files.writeString(temp.resolve("lines"), "a\t1\n# end of 1 entries\n");
    Matcher row = ROW.matcher(Files.readString(root().resolve("docs/operations.md")));
    int rows = 0;
    while (row.find()) {
      List<String> words = words(row.group(1));
      String fresh = temp.resolve("new-" + rows++).toString();
      words.replaceAll(
          word ->
              switch (word) {
                case "DIR" -> dir.toString();
                case "NEWDIR" -> fresh;
                case "BACKUPS" -> temp.resolve("backups").toString();
                default -> word;
              });
      if (words.get(0).equals("load")) {
        words.addAll(List.of("--from", lines.toString()));
      }
      StringWriter out = new StringWriter();
      assertEquals(0, run(out, words), () -> row.group(1) + ": " + out);
    }
    assertEquals(14, rows);
  }
}
