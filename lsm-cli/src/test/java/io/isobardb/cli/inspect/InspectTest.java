package io.isobardb.cli.inspect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.cli.Main;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.observe.StoreProfile;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.tuning.TunerFile;
import io.isobardb.tuner.memory.DecisionText;
import io.isobardb.tuner.memory.MemoryTuner;
import io.isobardb.tuner.memory.StoreCycle;
import io.isobardb.tuner.memory.TunerHistory;
import io.isobardb.tuner.memory.TunerOptions;
import io.isobardb.tuner.workload.LevelDecision;
import io.isobardb.tuner.workload.LevelDecision.Action;
import io.isobardb.tuner.workload.LevelProgress;
import io.isobardb.tuner.workload.LevelProgress.Stage;
import io.isobardb.tuner.workload.LevelShares;
import io.isobardb.tuner.workload.LevelText;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

@Tag("any-jdk")
class InspectTest {
  @TempDir Path temporary;
  private String dir = "";
  private String out = "";
  private String err = "";

  @BeforeEach
  void makeStore() {
    Path path = temporary.resolve("s");
    dir = path.toString();
    StoreOptions options = StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).build();
    try (Store store = Store.open(path, options)) {
      Tree users = store.openTree("users");
      for (int i = 100; i < 400; i++) {
        users.put(("user" + i).getBytes(UTF_8), ("value" + i).getBytes(UTF_8));
      }
      store.openTree("other").put(new byte[] {0, 1}, new byte[5]);
      store.flush();
      users.put("user399".getBytes(UTF_8), "again".getBytes(UTF_8));
      users.delete("user123".getBytes(UTF_8));
    }
  }

  private int run(String... args) {
    StringWriter outText = new StringWriter();
    StringWriter errText = new StringWriter();
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(outText));
    commandLine.setErr(new PrintWriter(errText));
    int code = commandLine.execute(args);
    out = outText.toString();
    err = errText.toString();
    return code;
  }

  private Path table() throws IOException {
    try (Stream<Path> files = Files.list(Path.of(dir))) {
      return files.filter(f -> f.toString().endsWith(".sst")).sorted().findFirst().orElseThrow();
    }
  }

  @Test
  void checkOfASoundStoreSaysSo() throws IOException {
    assertEquals(0, run("check", dir), out + err);
    assertTrue(out.endsWith("sound\n"), out);
    assertTrue(out.contains("2 trees"), out);
    assertEquals(0, run("check", dir, "--json"));
    assertEquals(true, JSON.std.mapFrom(out).get("sound"));
  }

  /** A script that asks for a key must not take damage for its absence. */
  @Test
  void aKeyThatDamageHidesIsNotCalledAbsent() throws IOException {
    assertEquals(1, run("get", dir, "--tree", "users", "user123"), err);
    byte[] content = Files.readAllBytes(table());
    Arrays.fill(content, 4096, content.length, (byte) 1);
    Files.write(table(), content);
    assertEquals(4, run("get", dir, "--tree", "users", "user150"), out + err);
    assertTrue(err.contains(table().toString()), err);
  }

  @Test
  void checkOfADamagedStoreNamesFileAndOffsetAndFails() throws IOException {
    Path table = table();
    byte[] content = Files.readAllBytes(table);
    content[4096 + 7] ^= 1;
    Files.write(table, content);
    assertEquals(1, run("check", dir));
    assertTrue(out.contains("WRONG: " + table + " at offset 4096"), out);
    assertTrue(out.contains("isobar repair " + dir + " --to NEWDIR"), out);
    assertEquals(1, run("check", dir, "--json"));
    List<?> findings = (List<?>) JSON.std.mapFrom(out).get("findings");
    assertEquals(table.getFileName().toString(), ((Map<?, ?>) findings.get(0)).get("file"));
  }

  @Test
  void checkWithADamagedManifestIsAFinding() throws IOException {
    Path current = Path.of(dir, "CURRENT");
    byte[] content = Files.readAllBytes(current);
    content[content.length - 1] ^= 1;
    Files.write(current, content);
    assertEquals(1, run("check", dir));
    assertTrue(out.contains("WRONG: " + current), out);
  }

  @Test
  void dumpShowsTreesRunsAndTables() throws IOException {
    assertEquals(0, run("dump", dir), err);
    assertTrue(out.contains("tree 'users'"), out);
    assertTrue(out.contains(table().getFileName().toString()), out);
    assertTrue(out.contains("user100 .. user399"), out);
    assertTrue(out.contains("0x0001"), out);
    assertEquals(0, run("dump", dir, "--tree", "other", "--json"));
    assertEquals(1, ((List<?>) JSON.std.mapFrom(out).get("trees")).size());
  }

  @Test
  void dumpListsTheKeysOfARangeOfSSTablesAndLog() {
    assertEquals(0, run("dump", dir, "--tree", "users", "--from", "user122", "--to", "user124"));
    assertTrue(out.contains("user122") && out.contains("user123"), out);
    assertTrue(out.contains("DELETE"), out);
    assertEquals(0, run("dump", dir, "--tree", "users", "--from", "user399"));
    String log = out.substring(out.indexOf("in the log:"));
    assertTrue(log.contains("user399"), out);
    assertEquals(0, run("dump", dir, "--keys", "--limit", "3"));
    assertTrue(out.contains("... and more"), out);
  }

  @Test
  void statsShowWhatReadsAskedOfAClosedStore() throws IOException {
    assertEquals(2, run("stats", dir, "--profile"));
    assertTrue(err.contains("there is no profile of reads in " + dir), err);
    try (Store store = Store.open(Path.of(dir))) {
      store.flush();
      Tree tree = store.openTree("users");
      for (int i = 0; i < 640; i++) {
        tree.get("user200".getBytes(UTF_8));
      }
      try (Cursor cursor = tree.cursor()) {
        assertTrue(cursor.first());
      }
    }
    assertEquals(0, run("stats", dir, "--profile"), err);
    assertTrue(out.contains("passed by filter"), out);
    assertTrue(out.contains("L0/") || out.contains("last"), out);
    assertEquals(0, run("stats", dir, "--profile", "--json"), err);
    String json = out;
    assertTrue(JSON.std.mapFrom(json).containsKey("trees"), json);
    Path page = temporary.resolve("profile.html");
    assertEquals(0, run("stats", dir, "--profile", "--html", page.toString()), err);
    String html = Files.readString(page);
    assertTrue(html.contains("of 10 gets that were counted, runs on disk answered 100 %"), html);
    assertTrue(html.contains("<rect"), html);
    assertEquals(2, run("stats", dir, "--html", page.toString()));
    assertEquals(0, run("check", dir), out);
    Files.writeString(Path.of(dir, StoreProfile.FILE), json.substring(0, json.length() / 2));
    assertEquals(2, run("stats", dir, "--profile"));
    assertTrue(err.contains("PROFILE is damaged"), err);
  }

  @Test
  void whatOpensNothingTellsADirectoryOfSomethingElse() throws IOException {
    Path other = Files.createDirectory(temporary.resolve("other"));
    Files.writeString(other.resolve("CURRENT"), "MANIFEST-000001\n");
    for (String[] command :
        new String[][] {
          {"tune-report", other.toString()}, {"stats", other.toString(), "--profile"}
        }) {
      assertEquals(4, run(command), command[0]);
      assertTrue(err.contains(other + " is not a store: its file CURRENT is none"), err);
    }
  }

  @Test
  void tuneReportShowsDecisionsAndPassesOverWhatIsNone() throws IOException {
    assertEquals(0, run("tune-report", dir), err);
    assertTrue(out.contains("decided nothing yet"), out);
    StoreCycle cycle =
        new StoreCycle(7, 100 << 20, 50 << 20, 4096, 1000, 500, 0, 100, 0, 1 << 20, List.of());
    TunerHistory history = new MemoryTuner(TunerOptions.DEFAULT).decide(TunerHistory.EMPTY, cycle);
    String line = DecisionText.write(history.decisions().get(0));
    Files.writeString(Path.of(dir, TunerFile.NAME), "v2 cyc\n" + line + "\nv2 cycle=8 x=");
    assertEquals(0, run("tune-report", dir), err);
    assertTrue(out.contains("more cache"), out);
    assertEquals(0, run("tune-report", dir, "--json"));
    Map<?, ?> first = (Map<?, ?>) JSON.std.listFrom(out).get(0);
    assertEquals(50 << 20, first.get("fromBytes"));
    assertTrue(((Number) first.get("toBytes")).longValue() < 50 << 20, out);
    assertEquals(0, run("check", dir), out);
    StoreCycle next =
        new StoreCycle(8, 100 << 20, 49 << 20, 4096, 1000, 500, 0, 100, 0, 1 << 20, List.of());
    String second =
        DecisionText.write(
            new MemoryTuner(TunerOptions.DEFAULT).decide(history, next).decisions().get(1));
    Files.writeString(Path.of(dir, TunerFile.NAME), line + "\n" + second + "\n");
    assertEquals(0, run("tune-report", dir, "--replay"), out);
    assertEquals("1 decision replayed, 0 of them made otherwise", out.strip());
    assertEquals(0, run("tune-report", dir, "--replay", "--json"), out);
    assertEquals("{\"replayed\":1,\"differences\":[]}", out.strip());
    assertEquals(2, run("tune-report", dir, "--replay", "--html", dir + ".html"), out);
    Path page = temporary.resolve("tuner.html");
    assertEquals(0, run("tune-report", dir, "--html", page.toString()), err);
    String html = Files.readString(page);
    assertTrue(html.contains("Write memory went from 50 MB to "), html);
    assertTrue(html.contains("<polyline"), html);
    String nowhere = temporary.resolve("missing").resolve("tuner.html").toString();
    assertEquals(2, run("tune-report", dir, "--html", nowhere));
    assertTrue(err.contains("--html can't be written"), err);
  }

  /** A plan that was tried and one that was taken back; the second cost is not known. */
  @Test
  void whatWasDecidedOnLevelsIsInEveryForm() throws IOException {
    LevelShares plan = new LevelShares(List.of(1.0, 0.25, 0.02));
    LevelProgress moving = new LevelProgress(Stage.MOVING, plan, plan, null, 4.5, 4.4, 3.25, 0, 3);
    Files.writeString(
        Path.of(dir, TunerFile.NAME),
        Stream.of(
                new LevelDecision(
                    6,
                    3,
                    Action.MOVE,
                    4.5,
                    3.25,
                    Double.NaN,
                    "27 % <less> is what is promised",
                    moving),
                new LevelDecision(
                    9, 3, Action.TAKE_BACK, 4.25, 3.25, 4.75, "it cost more", LevelProgress.START))
            .map(LevelText::write)
            .collect(Collectors.joining("\n", "", "\n")));
    assertEquals(0, run("tune-report", dir), err);
    assertTrue(out.contains("TAKE_BACK"), out);
    assertEquals(0, run("tune-report", dir, "--json"), err);
    List<Object> all = JSON.std.listFrom(out);
    assertEquals(2, all.size(), out);
    Map<?, ?> move = (Map<?, ?>) all.get(0);
    assertEquals(List.of(0.02, 0.25, 1.0), move.get("plannedShares"));
    assertEquals(
        List.of(6, 3, "MOVE"), List.of(move.get("cycle"), move.get("tree"), move.get("action")));
    assertEquals(3.25, move.get("expectedCost"));
    assertFalse(move.containsKey("foundCost"), out);
    Map<?, ?> back = (Map<?, ?>) all.get(1);
    assertEquals(4.75, back.get("foundCost"));
    assertFalse(back.containsKey("plannedShares"), out);
    assertEquals("it cost more", back.get("reason"));
    Path page = temporary.resolve("levels.html");
    assertEquals(0, run("tune-report", dir, "--html", page.toString()), err);
    String html = Files.readString(page);
    assertTrue(html.contains("0 proved themselves and 1 had to be taken back"), html);
    assertTrue(html.contains("What merges cost in tree 3"), html);
    assertTrue(html.contains(">2.00 25.00 100.00</td>") && html.contains("by batches"), html);
    String reason = " class=\"words\">27 % &lt;less&gt; is what is promised";
    assertTrue(html.contains(reason), html);
    assertTrue(html.indexOf("TAKE_BACK") < html.indexOf("MOVE"), html);
  }

  @Test
  void statsShowsSizes() throws IOException {
    assertEquals(0, run("stats", dir, "--memory", "16MB"), err);
    assertTrue(out.contains("users"), out);
    assertTrue(out.contains("of the 16 MB that this command has"), out);
    assertTrue(out.contains("to be merged  0 B"), out);
    assertEquals(0, run("stats", dir, "--json"));
    assertEquals(2, ((List<?>) JSON.std.mapFrom(out).get("trees")).size());
    assertTrue(out.contains("\"cache\":{\"hits\":"), out);
  }

  /**
   * More than the 64 MB that commands have by default, of trees too small to be flushed at closing.
   */
  @Test
  void aLongLogIsReadWithAsMuchMemoryAsItTakes() throws IOException {
    Path made = temporary.resolve("long-log");
    byte[] value = new byte[1 << 20];
    try (Store store = Store.open(made, StoreOptions.builder().memoryBudget(512L << 20).build())) {
      for (int i = 0; i < 150; i++) {
        store.openTree("t" + i).put("k".getBytes(UTF_8), value);
      }
    }
    List<String> before = listing(made);
    assertEquals(0, run("get", made.toString(), "--tree", "t149", "k"), err);
    assertEquals(0, run("scan", made.toString(), "--tree", "t0"), err);
    assertEquals(0, run("stats", made.toString()), err);
    assertEquals(0, run("backup", made + "-backups", "--of", made.toString()), err);
    assertEquals(4, run("stats", made.toString(), "--memory", "16MB"));
    assertTrue(err.contains("needs a memoryBudget of") && err.contains("--memory"), err);
    assertEquals(before, listing(made), "changed by reading");
  }

  private static List<String> listing(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      List<String> listing = new ArrayList<>();
      for (Path file : files.sorted().toList()) {
        listing.add(file + " " + Files.size(file) + " " + Files.getLastModifiedTime(file));
      }
      return listing;
    }
  }

  /** From the last key to the first. */
  public static final class Backwards implements KeyOrder {
    /** As a constant. */
    public static final KeyOrder INSTANCE = new Backwards();

    @Override
    public String name() {
      return "backwards";
    }

    @Override
    public int compare(byte[] a, int aFrom, int aLength, byte[] b, int bFrom, int bLength) {
      return KeyOrder.BYTES.compare(b, bFrom, bLength, a, aFrom, aLength);
    }
  }

  @Test
  void aKeyOrderOfTheUsersOwnIsGivenByItsClass() throws IOException {
    try (Store store =
        Store.open(
            Path.of(dir),
            StoreOptions.builder().memoryBudget(8 << 20).keyOrder(new Backwards()).build())) {
      Tree tree = store.createTree("back", TreeOptions.builder().keyOrder(new Backwards()).build());
      for (int i = 100; i < 200; i++) {
        tree.put(("b" + i).getBytes(UTF_8), new byte[3]);
      }
      store.flush();
    }
    assertEquals(0, run("check", dir));
    assertTrue(out.contains("'backwards', which is not known here"), out);
    assertEquals(4, run("stats", dir));
    assertTrue(err.contains("'backwards'") && err.contains("--key-order"), err);
    assertEquals(4, run("dump", dir, "--tree", "back", "--keys"));
    assertTrue(err.contains("'backwards'"), err);
    assertEquals(1, run("repair", dir, "--to", dir + "-partly"));
    assertTrue(out.contains("key order 'backwards' is not known here"), out);
    for (String order :
        List.of(Backwards.class.getName(), Backwards.class.getName() + "#INSTANCE")) {
      String[] with = {"--key-order", order};
      assertEquals(0, run("check", dir, with[0], with[1]), out + err);
      assertFalse(out.contains("backwards"), out);
      assertEquals(0, run("stats", dir, with[0], with[1]), err);
      assertEquals(0, run("dump", dir, "--tree", "back", "--from", "b102", with[0], with[1]), err);
      assertTrue(out.indexOf("b102") < out.indexOf("b101"), out);
      assertFalse(out.substring(out.indexOf("entries")).contains("b103"), out);
      assertEquals(0, run("repair", dir, "--to", dir + "-" + order, with[0], with[1]), out + err);
      assertTrue(out.contains("tree 'back': 100 keys"), out);
    }
  }

  @Test
  void aKeyOrderThatCannotBeHadIsWrongUsage() {
    for (String order :
        List.of(
            "no.such.Order",
            Path.class.getName(),
            String.class.getName(),
            "",
            "java.lang.Math#E")) {
      assertEquals(2, run("check", dir, "--key-order", order), order);
      assertTrue(err.contains("--key-order " + order), err);
    }
    assertEquals(2, run("check", dir, "--key-order", Backwards.class.getName() + "#NONE"));
    assertTrue(err.contains("ISOBAR_CLASSPATH"), err);
  }

  @Test
  void wrongUsageIsToldApartFromAStoreThatCannotBeRead() throws IOException {
    for (String command : List.of("check", "dump", "stats", "tune-report")) {
      assertEquals(2, run(command), command);
      assertEquals(2, run(command, dir + "-not-there"), command);
      assertTrue(err.contains("there is no directory"), err);
      Path empty = Files.createDirectories(temporary.resolve("empty"));
      assertEquals(4, run(command, empty.toString()), command);
      assertTrue(err.startsWith("isobar " + command + ": " + empty + " is not a store"), err);
      assertEquals(1, err.lines().count(), err);
      assertFalse(Files.exists(empty.resolve("LOCK")), command);
    }
    assertEquals(2, run("dump", dir, "--tree", "nobody"));
    assertTrue(err.contains("users"), err);
    assertEquals(2, run("dump", dir, "--from", "0xgg"));
  }

  @Test
  void keysThatAreNotPrintableAreShownAsTheyCanBeTyped() {
    for (byte[] key :
        List.of(
            new byte[0],
            new byte[] {0, (byte) 0xFF},
            "plain".getBytes(UTF_8),
            "with space".getBytes(UTF_8),
            "0x12".getBytes(UTF_8))) {
      assertArrayEquals(key, KeyText.parse(KeyText.format(key)));
    }
    assertThrows(IllegalArgumentException.class, () -> KeyText.parse("0x123"));
  }
}
