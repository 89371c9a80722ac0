package io.isobardb.bench;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import io.isobardb.cli.console.Exit;
import io.isobardb.lsm.Backups;
import io.isobardb.lsm.RecordingOptions;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** What a script may rely on with each command: JSON, exit codes, help. */
@Tag("any-jdk")
class AllCommandsTest {
  /** What has nothing to say, says it in lines for another command, or is another program. */
  private static final Set<String> WITHOUT_JSON = Set.of("put", "delete", "export", "help", "jmh");

  /** Short runs of the others. DIR is a store, NEW is not there, BACKUPS has one. */
  private static final List<String> RUNS =
      List.of(
          "check DIR",
          "dump DIR --keys",
          "stats DIR",
          "stats DIR --profile",
          "tune-report DIR",
          "repair DIR --to NEW",
          "backup BACKUPS --of DIR",
          "backup BACKUPS --verify",
          "restore BACKUPS --to NEW",
          "get DIR --tree t a",
          "load DIR --tree t --from LINES",
          "compact DIR",
          "record RECORDING",
          "model --keys 1M --skew 0",
          "experiment list",
          "range-deletes --megabytes 1 --entries 2000 --ranges 10 --dir WORK",
          "crash-test --simulated --seeds 1 --stride 3000",
          "soak --duration 100ms --memory 12MB --trees 1 --keys 100 --dir NEW",
          "latency --load steady --records 1000 --memory 8MB --duration 100ms --clock virtual",
          "phases --workload thesis --runs LEVELED --records 1000 --operations 1000",
          "tune --workload simulated-uniform --knobs writeMemory=512KB..3MB --metric written"
              + " --option memoryBudget=4MB --evaluations 4 --pairs 0 --scale 0.001 --out NEW",
          "compare --engines isobar --records 500 --operations 500 --repeats 1 --phases load"
              + " --memory 8MB --warm-up 0",
          "ycsb --workload a --records 100 --operations 100 --memory 8MB",
          "tpcc --warehouses 1 --scale 0.01 --memory 16MB --duration 100ms --ramp-up 0s",
          "streams --profile many --engine isobar --stores 1 --records 100 --memory 16MB"
              + " --heap 64MB --duration 20ms --repeats 1",
          "demo --pace 0.02");

  @TempDir Path temp;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private Path dir = Path.of("");

  /** Where Maven leaves the class path of Kafka. */
  private static final Path KAFKA =
      Path.of("..", "lsm-kafka-streams", "target", "kafka-classpath.txt");

  private static final String KAFKA_PROPERTY = "isobar.kafka.classpath";

  private String kafkaBefore = "";

  @BeforeEach
  void nameKafka() {
    kafkaBefore = System.getProperty(KAFKA_PROPERTY, "");
    System.setProperty(KAFKA_PROPERTY, KAFKA.toString());
  }

  @AfterEach
  void forgetKafka() {
    if (kafkaBefore.isEmpty()) {
      System.clearProperty(KAFKA_PROPERTY);
    } else {
      System.setProperty(KAFKA_PROPERTY, kafkaBefore);
    }
  }

  @BeforeEach
  void makeStore() throws IOException {
    dir = temp.resolve("store");
    try (Store store = Store.open(dir, StoreOptions.builder().memoryBudget(8 << 20).build())) {
      store.startRecording(temp.resolve("recording"), RecordingOptions.defaults().withOneKeyIn(1));
      Tree tree = store.openTree("t");
      tree.put("a".getBytes(UTF_8), "1".getBytes(UTF_8));
      store.flush();
      for (int i = 0; i < 200; i++) { // one in 64 is counted
        tree.get("a".getBytes(UTF_8));
      }
      Backups.open(temp.resolve("backups")).create(store);
    }
    Files.writeString(temp.resolve("lines"), "b\t2\n# end of 1 entries\n");
  }

  private int run(List<String> words) {
    CommandLine line = Isobar.commandLine();
    line.setOut(new PrintWriter(out));
    line.setErr(new PrintWriter(err));
    return line.execute(words.toArray(String[]::new));
  }

  private List<String> words(String line) {
    List<String> words = new ArrayList<>(Arrays.asList(line.split(" ")));
    words.replaceAll(
        word ->
            switch (word) {
              case "DIR" -> dir.toString();
              case "NEW", "BACKUPS", "LINES", "RECORDING" ->
                  temp.resolve(word.toLowerCase(Locale.ROOT)).toString();
              case "WORK" -> temp.toString();
              default -> word;
            });
    return words;
  }

  private static Map<String, CommandLine> commands() {
    return Isobar.commandLine().getSubcommands();
  }

  static List<String> runs() {
    return RUNS;
  }

  /** All commands but picocli's own. */
  static Set<String> names() {
    Set<String> names = new TreeSet<>(commands().keySet());
    names.remove("help");
    return names;
  }

  /** The tokens of one JSON value, and nothing behind it. */
  private static void assertJson(String text) throws IOException {
    try (JsonParser parser = new JsonFactory().createParser(text)) {
      assertTrue(parser.nextToken() != null, "nothing was printed");
      parser.skipChildren();
      assertNull(parser.nextToken(), text);
    }
  }

  @Test
  void whatPrintsResultsHasJsonAndThePageSaysSo() throws IOException {
    Set<String> json = new TreeSet<>();
    commands()
        .forEach(
            (name, command) -> {
              boolean has = command.getCommandSpec().findOption("--json") != null;
              assertEquals(!WITHOUT_JSON.contains(name), has, name);
              if (has) {
                json.add(name);
              }
            });
    Path root = Files.exists(Path.of("README.md")) ? Path.of("") : Path.of("..");
    String page = Files.readString(root.resolve("docs/operations.md")).replace('\n', ' ');
    assertTrue(page.contains("All commands have it but `put`, `delete`, `export` and `jmh`."));
    Set<String> run = new TreeSet<>(Set.of("scan"));
    RUNS.forEach(line -> run.add(line.split(" ")[0]));
    assertEquals(json, run, "each is run here");
  }

  @ParameterizedTest
  @MethodSource("runs")
  void theOutputIsOneJsonValue(String line) throws IOException {
    List<String> words = words(line);
    words.add("--json");
    int code = run(words);
    assertTrue(code == Exit.SUCCESS.code() || code == Exit.FINDING.code(), () -> code + ": " + err);
    assertJson(out.toString());
  }

  @Test
  void aScanIsAJsonObjectToALine() throws IOException {
    assertEquals(0, run(words("load DIR --tree t --from LINES")), err::toString);
    out.getBuffer().setLength(0);
    assertEquals(0, run(words("scan DIR --tree t --json")), err::toString);
    List<String> lines = out.toString().lines().toList();
    assertEquals(2, lines.size());
    for (String line : lines) {
      assertJson(line);
    }
  }

  @ParameterizedTest
  @MethodSource("names")
  void theHelpHasOneForm(String name) {
    assertEquals(0, run(List.of(name, "--help")));
    assertEquals("", err.toString());
    String help = out.toString();
    assertTrue(help.startsWith("Usage: isobar " + name), help);
    assertTrue(help.lines().allMatch(line -> line.length() <= 100), help);
    for (String option :
        List.of("-h, --help", "-V, --version", "--trace", "--log=", "--log-format=")) {
      assertTrue(help.contains(" " + option), option);
    }
    int codes = help.indexOf("Exit codes:");
    assertTrue(codes > help.indexOf("--trace"), help);
    Exit.table()
        .forEach(
            (code, meaning) ->
                assertTrue(help.indexOf("  " + code + "   " + meaning, codes) > 0, code));
    CommandSpec spec = commands().get(name).getCommandSpec();
    assertTrue(String.join(" ", spec.usageMessage().description()).matches("(?s)[A-Z].*\\."), help);
    for (OptionSpec option : spec.options()) {
      if (!option.hidden()) {
        String text = String.join(" ", option.description());
        String what = name + " " + option.longestName() + "=" + option.paramLabel() + ": " + text;
        assertTrue(text.matches("(?s)\\S.*[.)]"), what);
        assertTrue(option.longestName().matches("--[a-z][a-z0-9-]*|-[a-z]"), what);
        assertTrue(option.arity().max() == 0 || option.paramLabel().matches("[A-Z].*"), what);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("names")
  void anOptionThatThereIsNotIsWrongUsage(String name) {
    assumeFalse(name.equals("jmh"), "it hands its options on");
    assertEquals(Exit.USAGE.code(), run(List.of(name, "--no-such-option")), err::toString);
    assertEquals("", out.toString());
    assertEquals(1, err.toString().lines().count(), err::toString);
    assertTrue(err.toString().startsWith("isobar " + name + ": "), err::toString);
  }

  /** What opens a store, with all that it asks for. */
  private static final String[] ON_A_STORE = {
    "check DIR",
    "dump DIR",
    "stats DIR",
    "repair DIR --to NEW",
    "backup BACKUPS --of DIR",
    "get DIR --tree t a",
    "put DIR --tree t a b",
    "delete DIR --tree t a",
    "compact DIR",
    "scan DIR --tree t",
    "export DIR --tree t",
    "load DIR --tree t --from LINES",
  };

  static List<String> onAStore() {
    return List.of(ON_A_STORE);
  }

  @ParameterizedTest
  @MethodSource("onAStore")
  void aStoreThatIsOpenIsRefused(String line) {
    try (Store store = Store.open(dir, StoreOptions.builder().memoryBudget(8 << 20).build())) {
      assertEquals(Exit.REFUSED.code(), run(words(line)), err::toString);
      assertEquals(List.of("t"), store.treeNames());
    }
    assertEquals(1, err.toString().lines().count(), err::toString);
    assertFalse(Files.exists(temp.resolve("new")));
  }

  @ParameterizedTest
  @MethodSource("onAStore")
  void damageThatStopsACommandIsAFinding(String line) throws IOException {
    byte[] content = Files.readAllBytes(dir.resolve("CURRENT"));
    content[content.length - 1] ^= 1;
    Files.write(dir.resolve("CURRENT"), content);
    // Of get, a finding says that there is no such key.
    Exit exit = line.startsWith("get ") ? Exit.FAILURE : Exit.FINDING;
    assertEquals(exit.code(), run(words(line)), err::toString);
  }

  @ParameterizedTest
  @MethodSource("onAStore")
  void aDirectoryThatIsNotThereIsWrongUsage(String line) {
    assertEquals(Exit.USAGE.code(), run(words(line.replace("DIR", temp + "/none"))), err::toString);
    assertFalse(Files.exists(temp.resolve("none")));
  }

  @ParameterizedTest
  @MethodSource("onAStore")
  void whatIsNoStoreIsAFailure(String line) throws IOException {
    Path other = Files.createDirectory(temp.resolve("other"));
    Files.writeString(other.resolve("letter.txt"), "Dear reader");
    assertEquals(
        Exit.FAILURE.code(), run(words(line.replace("DIR", other.toString()))), err::toString);
    assertEquals(1, err.toString().lines().count(), err::toString);
  }

  @ParameterizedTest
  @ValueSource(strings = {"get DIR --tree t nobody", "load DIR --tree t --from CUT"})
  void whatIsNotThereOrNotWholeIsAFinding(String line) throws IOException {
    Path cut = Files.writeString(temp.resolve("cut"), "b\t2\n");
    assertEquals(
        Exit.FINDING.code(), run(words(line.replace("CUT", cut.toString()))), err::toString);
  }
}
