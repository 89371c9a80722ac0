package io.isobardb.cli.inspect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.isobardb.cli.Main;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code get}, {@code put}, {@code scan}, {@code export}, {@code load}, and backups. */
@Tag("any-jdk")
class ContentCommandsTest {
  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).build();

  @TempDir Path temporary;
  private String dir = "";
  private String out = "";
  private String err = "";

  @BeforeEach
  void makeStore() {
    dir = temporary.resolve("s").toString();
    try (Store store = Store.open(Path.of(dir), OPTIONS)) {
      Tree users = store.openTree("users");
      for (int i = 100; i < 200; i++) {
        users.put(("user" + i).getBytes(UTF_8), ("value" + i).getBytes(UTF_8));
      }
      users.put(new byte[] {1, 9}, new byte[] {'\t', 0, 10});
    }
  }

  private int run(String... args) {
    StringWriter outText = new StringWriter();
    StringWriter errText = new StringWriter();
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(outText));
    commandLine.setErr(new PrintWriter(errText));
    int code = commandLine.execute(args);
    out = outText.toString().replace("\r\n", "\n");
    err = errText.toString();
    return code;
  }

  private String path(String name) {
    return temporary.resolve(name).toString();
  }

  @Test
  void aKeyIsReadSetAndRemoved() {
    assertEquals(0, run("get", dir, "--tree", "users", "user150"), err);
    assertEquals("value150\n", out);
    assertEquals(1, run("get", dir, "--tree", "users", "nobody"));
    assertEquals("", out + err);
    assertEquals(1, run("get", dir, "--tree", "users", "nobody", "--json"));
    assertEquals("null\n", out, "one JSON value");
    assertEquals(0, run("put", dir, "--tree", "users", "nobody", "0x000102"), err);
    assertEquals(0, run("get", dir, "--tree", "users", "nobody"), err);
    assertEquals("0x000102\n", out);
    assertEquals(2, run("put", dir, "--tree", "users", "nobody"), err);
    assertTrue(err.contains("'isobar delete' removes a key"), err);
    assertEquals(0, run("get", dir, "--tree", "users", "nobody"), "a put without a value");
    assertEquals(0, run("delete", dir, "--tree", "users", "nobody"), err);
    assertEquals(0, run("delete", dir, "--tree", "users", "nobody"), "twice: " + err);
    assertEquals(2, run("delete", dir, "--tree", "none", "nobody"), err);
    assertEquals(1, run("get", dir, "--tree", "users", "nobody"));
    assertEquals(2, run("get", dir, "--tree", "user", "nobody"));
    assertTrue(err.contains("users"), err);
    String made = temporary.resolve("made").toString();
    assertEquals(2, run("put", made, "--create", "--tree", "a/\n", "a", "b"));
    assertTrue(Files.notExists(temporary.resolve("made")), "a store was made for a bad name");
    assertEquals(0, run("put", made, "--create", "--tree", "new", "a", "b"), err);
    assertEquals(0, run("get", made, "--tree", "new", "a"), err);
    assertEquals("b\n", out);
    assertEquals(2, run("put", dir, "--tree", "new", "a", "b"));
    assertEquals(0, run("put", dir, "--create", "--tree", "new", "a", "b"), err);
    assertEquals(2, run("get", dir, "user150"));
  }

  @Test
  void keysComeFromFilesAndValuesFromStandardInputByteByByte() throws IOException {
    byte[] key = {(byte) 0xff, 0, '\n'};
    Files.write(temporary.resolve("key"), key);
    String[] put = {"put", dir, "--tree", "users", "--key-file", path("key")};
    assertEquals(0, run(add(put, "text")), err);
    assertEquals(0, run("get", dir, "--tree", "users", "0xff000a"), err);
    assertEquals("text\n", out);
    assertEquals(0, runWith(new byte[] {(byte) 0xfe, '\n'}, add(put, "--stdin")), err);
    assertEquals(0, run("get", dir, "--tree", "users", "--key-file", path("key")), err);
    assertEquals("0xfe0a\n", out);
    assertEquals(0, runWith(new byte[0], "put", dir, "--tree", "users", "k", "--stdin"), err);
    assertEquals(0, run("get", dir, "--tree", "users", "k"), err);
    assertEquals("0x\n", out);
    for (String[] wrong :
        List.of(
            put,
            add(put, "a", "b"),
            add(put, "a", "--stdin"),
            new String[] {"put", dir, "--tree", "users"},
            new String[] {"put", dir, "--tree", "users", "a", "b", "--stdin"},
            new String[] {"get", dir, "--tree", "users"},
            new String[] {"get", dir, "--tree", "users", "k", "--key-file", path("key")},
            new String[] {"delete", dir, "--tree", "users"})) {
      assertEquals(2, run(wrong), String.join(" ", wrong));
      assertEquals(1, err.lines().count(), err);
    }
    assertEquals(0, run("delete", dir, "--tree", "users", "--key-file", path("key")), err);
    assertEquals(1, run("get", dir, "--tree", "users", "0xff000a"), out);
    assertEquals(4, run("get", dir, "--tree", "users", "--key-file", path("none")), err);
    assertTrue(err.contains("there is no " + path("none")), err);
  }

  @Test
  void anArgumentThatTheLocaleCanNotReadIsRefused() {
    for (String[] line :
        List.of(
            new String[] {"put", dir, "--tree", "users", "\ufffd\ufffd", "v"},
            new String[] {"put", dir, "--tree", "users", "k", "\ufffd"},
            new String[] {"get", dir, "--tree", "\ufffd", "k"},
            new String[] {"check", "\ufffd"})) {
      assertEquals(2, run(line), String.join(" ", line));
      assertTrue(err.contains("can't be read in this locale"), err);
      assertTrue(err.contains("0x and hexadecimal") && err.contains("--key-file"), err);
      assertEquals(1, err.lines().count(), err);
    }
    assertEquals(0, run("put", dir, "--tree", "users", "0xefbfbd", "v"), err);
    assertEquals(0, run("get", dir, "--tree", "users", "0xefbfbd"), err);
  }

  private int runWith(byte[] input, String... args) {
    InputStream before = System.in;
    System.setIn(new ByteArrayInputStream(input));
    try {
      return run(args);
    } finally {
      System.setIn(before);
    }
  }

  /** To picocli it would be a file of arguments. */
  @Test
  void aKeyOrValueMayBeginWithAnAt() throws IOException {
    Files.writeString(temporary.resolve("file"), "what it holds");
    String name = "@" + path("file");
    assertEquals(0, run("put", dir, "--tree", "users", name, "@@ada"), err);
    assertEquals(0, run("get", dir, "--tree", "users", name), err);
    assertEquals("@@ada\n", out);
  }

  @Test
  void anEntryIsPutUntilAnInstant() {
    String[] put = {"put", dir, "--tree", "users", "guest", "here", "--expires"};
    assertEquals(0, run(add(put, "2100-01-01T00:00:00Z")), err);
    assertEquals(0, run("dump", dir, "--tree", "users", "--from", "guest"), err);
    assertTrue(out.contains("PUT until 2100-01-01T00:00:00Z"), out);
    assertEquals(0, run("dump", dir, "--tree", "users", "--from", "guest", "--json"), err);
    assertTrue(out.contains("\"expires\":\"2100-01-01T00:00:00Z\""), out);
    assertEquals(0, run("get", dir, "--tree", "users", "guest"), err);
    assertEquals(0, run(add(put, "2001-01-01T00:00:00Z")), err);
    assertTrue(run("get", dir, "--tree", "users", "guest") != 0, out);
    assertEquals(0, run(add(put, "PT1H")), err);
    assertEquals(0, run("get", dir, "--tree", "users", "guest"), err);
    assertEquals(2, run(add(put, "tomorrow")));
    assertTrue(err.contains("a duration such as PT1H"), err);
    assertEquals(2, run("put", dir, "--tree", "users", "guest", "--expires", "PT1H"));
    assertTrue(err.contains("give KEY and VALUE"), err);
  }

  @Test
  void aRangeIsScannedBothWays() {
    String[] range = {"scan", dir, "--tree", "users", "--from", "user110", "--to", "user113"};
    assertEquals(0, run(range), err);
    assertEquals("user110\tvalue110\nuser111\tvalue111\nuser112\tvalue112\n", out);
    assertEquals(0, run(add(range, "--reverse", "--limit", "2")), err);
    assertEquals("user112\tvalue112\nuser111\tvalue111\n", out);
    assertEquals(2, run(add(range, "--limit", "0")));
  }

  @Test
  void aScanThatStopsByItselfSaysSo() throws IOException {
    Files.writeString(
        temporary.resolve("lines"),
        IntStream.range(10_000, 11_001)
            .mapToObj(i -> i + "\tv\n")
            .collect(Collectors.joining("", "", "# end of 1001 entries\n")));
    assertEquals(0, run("load", dir, "--create", "--tree", "many", "--from", path("lines")), err);
    String[] scan = {"scan", dir, "--tree", "many"};
    assertEquals(0, run(scan));
    assertEquals(1000, out.lines().count());
    assertTrue(err.contains("after 1,000 entries") && err.contains("--limit"), err);
    assertEquals(0, run(add(scan, "--limit", "1000")));
    assertEquals("", err, "it was told");
    assertEquals(0, run(add(scan, "--from", "10001")));
    assertEquals(1000, out.lines().count());
    assertEquals("", err, "that was all");
  }

  @Test
  void valuesAreGivenAndShownInAFormOfTheirOwn() throws IOException {
    String[] users = {"--tree", "users"};
    assertEquals(0, run(add(new String[] {"put", dir, "n", "-7", "--as", "long"}, users)), err);
    assertEquals(0, run(add(new String[] {"get", dir, "n", "--as", "LONG"}, users)), err);
    assertEquals("-7\n", out);
    assertEquals(0, run(add(new String[] {"get", dir, "n"}, users)), err);
    assertEquals("0xfffffffffffffff9\n", out);
    assertEquals(0, run(add(new String[] {"get", dir, "n", "--as", "long", "--json"}, users)), err);
    assertEquals("{\"key\":\"n\",\"value\":-7}\n", out);
    assertEquals(2, run(add(new String[] {"get", dir, "user150", "--as", "int"}, users)));
    assertTrue(err.contains("has 8 bytes, and one that is int has 4"), err);
    assertEquals(2, run(add(new String[] {"put", dir, "n", "\u0661", "--as", "int"}, users)));
    assertTrue(err.contains("is no whole number from"), err);
    assertEquals(2, run(add(new String[] {"put", dir, "n", "2147483648", "--as", "int"}, users)));
    assertTrue(err.contains("is no whole number from"), err);
    assertEquals(2, run(add(new String[] {"put", dir, "n", "{", "--as", "json"}, users)));
    assertTrue(err.contains("'{' is no JSON"), err);
    assertEquals(2, run(add(new String[] {"get", dir, "n", "--as", "jsn"}, users)));
    assertTrue(err.contains("'jsn' is none of auto, text, hex, long, int, json"), err);

    String[] put = {"put", dir, "--create", "--tree", "docs", "--as", "json"};
    assertEquals(0, run(add(put, "a", "{\n\t\"n\": 1.50}")), err);
    assertEquals(0, run(add(put, "b", "[]", "--expires", "2100-01-01T00:00:00Z")), err);
    String[] scan = {"scan", dir, "--tree", "docs", "--as", "json"};
    assertEquals(0, run(scan), err);
    assertEquals("a\t{  \"n\": 1.50}\nb\t[]\texpires=2100-01-01T00:00:00Z\n", out);
    assertEquals(0, run(add(scan, "--json")), err);
    assertEquals(
        "{\"key\":\"a\",\"value\":{\"n\":1.50}}\n"
            + "{\"key\":\"b\",\"value\":[],\"expires\":\"2100-01-01T00:00:00Z\"}\n",
        out);
    assertEquals(2, run("scan", dir, "--tree", "docs", "--as", "long"));
    assertTrue(err.contains("of key 'a' the value has 13 bytes"), err);

    String file = path("docs.txt");
    assertEquals(0, run("export", dir, "--tree", "docs", "--as", "text", "--to", file), err);
    assertEquals("a\t{\\n\\t\"n\": 1.50}", Files.readAllLines(Path.of(file)).get(0));
    String[] load = {"load", dir, "--create", "--tree", "copy", "--from", file, "--as"};
    assertEquals(0, run(add(load, "text", "--json")), err);
    assertEquals("{\"entries\":2}\n", out);
    assertEquals(0, run("get", dir, "--tree", "copy", "a", "--as", "text"), err);
    assertEquals("{\n\t\"n\": 1.50}\n", out);
    assertEquals(2, run(add(load, "long")));
    assertTrue(err.contains("line 1: "), err);
  }

  private static String[] add(String[] args, String... more) {
    return Stream.concat(Stream.of(args), Stream.of(more)).toArray(String[]::new);
  }

  @Test
  void aRangeOrAllIsMergedDown() {
    assertEquals(0, run("compact", dir, "--tree", "users", "--to", "user120"), err);
    assertTrue(out.startsWith("users: "), out);
    assertEquals(0, run("compact", dir), err);
    assertEquals(0, run("check", dir), err);
    assertEquals(2, run("compact", dir, "--tree", "user"));
    assertTrue(err.contains("users"), err);
    assertEquals(2, run("compact", dir, "--from", "b", "--to", "a"));
    assertEquals(0, run("compact", dir, "--json"), err);
    assertTrue(out.startsWith("{\"users\":{\"before\":"), out);
  }

  @Test
  void whatIsExportedCanBeLoaded() throws IOException {
    String file = path("users.txt");
    assertEquals(0, run("export", dir, "--tree", "users", "--to", file), err);
    List<String> lines = Files.readAllLines(Path.of(file));
    assertEquals(102, lines.size());
    assertEquals("# end of 101 entries", lines.get(101));
    assertEquals(2, run("export", dir, "--tree", "users", "--to", file), "it exists");
    assertEquals(2, run("export", dir, "--tree", "users", "--to", path("none/file")));
    assertTrue(err.contains("there is no directory " + path("none")), err);
    assertEquals(2, run("export", dir, "--tree", "users", "--to", dir + "/users.txt"));
    assertTrue(err.contains("within the store in " + dir), err);
    assertFalse(Files.exists(Path.of(dir, "users.txt")));
    assertEquals(0, run("load", dir, "--tree", "copy", "--create", "--from", file), err);
    assertEquals("loaded 101 entries\n", out);
    String fresh = dir + "-new";
    assertEquals(2, run("load", fresh, "--tree", "t", "--from", file));
    assertEquals(0, run("load", fresh, "--tree", "t", "--create", "--from", file), err);
    assertEquals("loaded 101 entries\n", out);
    assertEquals(0, run("export", dir, "--tree", "copy"), err);
    assertEquals(Files.readString(Path.of(file)), out);
    Files.writeString(Path.of(file), "a\tb\nc d\n");
    assertEquals(2, run("load", dir, "--tree", "copy", "--from", file));
    assertTrue(err.contains("line 2"), err);
    Files.writeString(Path.of(file), "a\tb\nc\t0xq\n");
    assertEquals(2, run("load", dir, "--tree", "copy", "--from", file));
    assertTrue(err.contains("line 2: '0xq' is no key or value"), err);
    Files.write(Path.of(file), new byte[] {'a', '\t', 'b', '\n', 'c', '\t', (byte) 0xe4, '\n'});
    assertEquals(2, run("load", dir, "--tree", "copy", "--from", file));
    assertTrue(err.contains("UTF-8"), err);
    assertEquals(1, run("get", dir, "--tree", "copy", "c"));
    Files.writeString(Path.of(file), "a\tb\n" + "c".repeat(1025) + "\td\n");
    assertEquals(2, run("load", dir, "--tree", "copy", "--from", file), err);
    assertTrue(err.contains("line 2: a key of 1025 bytes"), err);
    Files.writeString(Path.of(file), "b\tb\na\ta\n" + "c".repeat(1025) + "\td\n");
    assertEquals(2, run("load", dir, "--tree", "copy", "--from", file), err);
    assertTrue(err.contains("line 3: a key of 1025 bytes"), err);
    assertEquals(0, run("get", dir, "--tree", "copy", "b"), "it came before a key that fell");
    assertEquals(1, run("get", dir, "--tree", "copy", "c"));
  }

  @Test
  void whatExpiresIsExportedWithItsTimeAndLoadedSo() throws IOException {
    String until = "2100-01-01T00:00:00Z";
    assertEquals(0, run("put", dir, "--tree", "users", "guest", "here", "--expires", until), err);
    String file = path("users.txt");
    assertEquals(0, run("export", dir, "--tree", "users", "--to", file), err);
    String line = "guest\there\texpires=" + until + "\n";
    assertTrue(Files.readString(Path.of(file)).contains(line), out);
    List<String> lines = Files.readAllLines(Path.of(file));
    lines.set(lines.size() - 1, "a\tb\texpires=2001-01-01T00:00:00Z");
    Files.write(Path.of(file), lines);
    for (String tree : List.of("sorted", "batches")) {
      assertEquals(
          0, run("load", dir, "--tree", tree, "--create", "--without-end", "--from", file), err);
      assertEquals(0, run("scan", dir, "--tree", tree, "--from", "guest", "--to", "h"), err);
      assertEquals(line, out);
      assertEquals(1, run("get", dir, "--tree", tree, "a"), "it had expired");
      Collections.reverse(lines);
      Files.write(Path.of(file), lines);
    }
    Files.writeString(Path.of(file), "a\tb\texpires=tomorrow\n");
    assertEquals(2, run("load", dir, "--tree", "sorted", "--from", file));
    assertTrue(err.contains("line 1"), err);
  }

  @Test
  void whatNeverExpiresAmongWhatDoesIsLoadedSo() throws IOException {
    Duration day = Duration.ofDays(1);
    try (Store store = Store.open(Path.of(dir))) {
      Tree from = store.openTree("sessions", TreeOptions.builder().timeToLive(day).build());
      from.put(new byte[] {'a'}, new byte[] {'b'}, Instant.MAX);
      from.put(new byte[] {'c'}, new byte[] {'d'});
      store.openTree("copy", TreeOptions.builder().timeToLive(day).build());
    }
    String file = path("sessions.txt");
    assertEquals(0, run("export", dir, "--tree", "sessions", "--to", file), err);
    assertTrue(Files.readString(Path.of(file)).startsWith("a\tb\texpires=never\nc\td\texpires=2"));
    assertEquals(0, run("load", dir, "--tree", "copy", "--from", file), err);
    assertEquals(0, run("scan", dir, "--tree", "copy"), err);
    assertTrue(out.startsWith("a\tb\nc\td\texpires=2"), out);
  }

  @Test
  void linesThatWereCutAreNotLoaded() throws IOException {
    assertEquals(0, run("export", dir, "--tree", "users"), err);
    byte[] whole = out.getBytes(UTF_8);
    int count = out.indexOf("# end");
    String file = path("cut");
    for (int length :
        new int[] {0, 5, 20, count - 5, count - 1, count, count + 4, whole.length - 1}) {
      Files.write(Path.of(file), Arrays.copyOf(whole, length));
      assertEquals(1, run("load", dir, "--create", "--tree", "cut", "--from", file), length + err);
      assertEquals("", out);
      assertTrue(err.contains("cut") || err.contains("# end of"), err);
      assertEquals(1, err.lines().count(), err);
      assertEquals(0, run("scan", dir, "--tree", "cut"), err);
      assertEquals("", out, "keys that ascend are loaded all or none");
    }
    String[] load = {"load", dir, "--create", "--tree", "lines", "--from", file};
    Files.writeString(Path.of(file), "a\t1\nb\t22");
    assertEquals(1, run(add(load, "--without-end")), "the value may be 22 or 222");
    assertTrue(err.contains("line 2 doesn't end as lines do"), err);
    Files.writeString(Path.of(file), "a\t1\r\nb\t22\n");
    assertEquals(0, run(add(load, "--without-end")), err);
    assertEquals("loaded 2 entries\n", out);
    Files.writeString(Path.of(file), "a\t1\nb\t22\n# end of 3 entries\n");
    assertEquals(1, run(add(load, "--without-end")), "a line is missing in the middle");
    assertTrue(err.contains("line 3 tells of 3 entries, and before it stand 2 entries"), err);
    Files.writeString(Path.of(file), "c\t1\n# end of 1 entries\na\t1\nb\t2\n# end of 2 entries\n");
    assertEquals(0, run(load), "two exports behind each other: " + err);
    assertEquals("loaded 3 entries\n", out);
  }

  @Test
  void aThirdColumnIsNoPartOfTheValue() throws IOException {
    for (String line : List.of("a\tb\tc", "a\tb\t", "a\tb\texpires=2100-01-01T00:00:00Z\tc")) {
      byte[] lines = ("k\tv\n" + line + "\n# end of 2 entries\n").getBytes(UTF_8);
      assertEquals(2, runWith(lines, "load", dir, "--tree", "users"), line);
      assertTrue(err.contains("line 2 goes on behind the value"), err);
    }
  }

  @Test
  void aByteOrderMarkIsPartOfNoKey() {
    String lines = "\ufeffk\tv\nl\t\ufeffw\n# end of 2 entries\n";
    assertEquals(0, runWith(lines.getBytes(UTF_8), "load", dir, "--tree", "users"), err);
    assertEquals(0, run("get", dir, "--tree", "users", "k"), err);
    assertEquals(0, run("get", dir, "--tree", "users", "l", "--as", "text"), err);
    assertEquals("\ufeffw\n", out, "in a value it stays");
    byte[] none = "\ufeff# end of 0 entries\n".getBytes(UTF_8);
    assertEquals(0, runWith(none, "load", dir, "--tree", "users"), err);
  }

  @Test
  void aHyphenIsStandardInput() {
    byte[] lines = "k\tv\n# end of 1 entries\n".getBytes(UTF_8);
    assertEquals(0, runWith(lines, "load", dir, "--tree", "users", "--from", "-"), err);
    assertEquals("loaded 1 entry\n", out);
    assertEquals(0, run("get", dir, "--tree", "users", "k"), err);
    assertEquals("v\n", out);
  }

  @Test
  void backupsAreMadeVerifiedRestoredAndDeleted() throws IOException {
    String backups = path("backups");
    assertEquals(0, run("backup", backups, "--of", dir), err);
    assertTrue(out.startsWith("made backup 1\nbackup 1 of "), out);
    run("put", dir, "--tree", "users", "later", "x");
    assertEquals(0, run("backup", backups, "--of", dir, "--rate", "100MB", "--verify"), err);
    assertTrue(out.startsWith("made backup 2\n"), out);
    assertEquals(0, run("restore", backups, "--to", path("one"), "--id", "1"), err);
    assertEquals(0, run("restore", backups, "--to", path("two")), err);
    assertEquals(1, run("get", path("one"), "--tree", "users", "later"), err);
    assertEquals(0, run("get", path("two"), "--tree", "users", "later"), err);
    assertEquals(0, run("check", path("two")), err);
    assertEquals(0, run("restore", backups, "--to", path("json"), "--json"), err);
    assertEquals("{\"backup\":2,\"to\":\"" + path("json") + "\"}\n", out);
    assertEquals(0, run("backup", backups, "--verify", "--json"), err);
    assertTrue(out.startsWith("{\"backups\":[{\"id\":1,\"created\":\""), out);
    assertTrue(out.endsWith(",\"findings\":[]}\n"), out);
    assertEquals(2, run("restore", backups, "--to", path("two")), "it is not empty");
    assertEquals(2, run("restore", backups, "--to", path("three"), "--id", "7"));
    assertEquals(0, run("backup", backups, "--keep", "1"), err);
    assertTrue(out.startsWith("backup 2 of "), out);
    List<Path> tables;
    try (Stream<Path> files = Files.list(Path.of(backups))) {
      tables = files.filter(file -> file.toString().endsWith(".table")).toList();
    }
    byte[] bytes = Files.readAllBytes(tables.get(0));
    bytes[bytes.length / 2] ^= 1;
    Files.write(tables.get(0), bytes);
    assertEquals(1, run("backup", backups, "--verify"), err);
    assertTrue(out.contains("DAMAGED"), out);
    assertEquals(1, run("restore", backups, "--to", path("four")), err);
    assertFalse(Files.exists(Path.of(path("four"))));
    assertEquals(0, run("backup", backups, "--delete", "2"), err);
    assertEquals("", out);
    assertEquals(2, run("backup", backups, "--of", dir, "--rate", "0"), err);
    assertTrue(err.contains("--rate"), err);
    assertEquals(2, run("backup", dir + "/backups", "--of", dir), err);
    assertTrue(err.contains("within the store"), err);
    assertEquals(2, run("backup", backups, "--of", dir, "--memory", "100TB"), err);
    assertEquals(2, run("backup", backups, "--of", dir, "--keep", "0"), err);
    assertEquals(0, run("backup", backups), err);
    assertEquals("", out, "nothing was made");
    assertEquals(2, run("restore", backups, "--to", path("four")), err);
    assertEquals(2, run("backup", path("nowhere")));
    assertFalse(Files.exists(Path.of(path("nowhere"))));
  }

  @Test
  void tooLittleMemoryIsToldByTheOptionThatACommandHas() throws IOException {
    Path lines = temporary.resolve("lines");
    Files.writeString(lines, "k\t" + "v".repeat(3 << 20) + "\n");
    String file = lines.toString();
    assertEquals(
        2, run("load", dir, "--tree=users", "--from", file, "--without-end", "--memory=8MB"), err);
    assertTrue(err.contains("line 1:") && err.contains("--memory"), err);
    assertEquals(
        2, run("put", dir, "--tree", "users", "k", "v".repeat(3 << 20), "--memory", "8MB"));
    assertTrue(err.contains("--memory"), err);
    StoreOptions larger = OPTIONS.toBuilder().memoryBudget(64 << 20).build();
    try (Store store = Store.open(Path.of(dir), larger)) {
      store.tree("users").put(new byte[] {7}, new byte[7 << 20]);
    }
    for (String command : List.of("get", "delete")) {
      assertEquals(4, run(command, dir, "--tree", "users", "k", "--memory", "8MB"), err);
      assertTrue(err.contains("with a memoryBudget of") && err.contains("its --memory"), err);
    }
    assertEquals(0, run("delete", dir, "--tree", "users", "k"), err);
  }

  @Test
  void newFilesAreForWhomTheFlagSays() throws IOException {
    Path probe = Files.createFile(temporary.resolve("probe"));
    assumeTrue(
        Files.getFileStore(probe).supportsFileAttributeView("posix")
            && mode(probe).startsWith("rw-r--"),
        "POSIX permissions, and a umask that lets the group read");
    String[] group = {"--file-access", "group"};
    assertEquals(0, run(with(group, "put", path("new"), "--create", "--tree", "t", "k", "v")), err);
    assertEquals(0, run(with(group, "backup", path("b"), "--of", path("new"))), err);
    assertEquals(0, run(with(group, "restore", path("b"), "--to", path("r"))), err);
    assertEquals(0, run(with(group, "repair", path("r"), "--to", path("m"))), err);
    String[] export = {"export", path("new"), "--tree", "t", "--to"};
    assertEquals(0, run(with(group, with(new String[] {path("lines")}, export))), err);
    for (String made : List.of("new/CURRENT", "b/BACKUPS", "r/CURRENT", "m/CURRENT", "lines")) {
      assertEquals("rw-r-----", mode(temporary.resolve(made)), made);
    }
    assertEquals(0, run("put", path("own"), "--create", "--tree", "t", "k", "v"), err);
    assertEquals("rw-------", mode(temporary.resolve("own/CURRENT")));
    assertEquals(0, run(with(new String[] {path("own.lines")}, export)), err);
    assertEquals("rw-------", mode(temporary.resolve("own.lines")));
    assertEquals(2, run("put", path("own"), "--tree", "t", "k", "v", "--file-access", "all"));
    assertTrue(err.contains("--file-access"), err);
  }

  private static String[] with(String[] flags, String... command) {
    return Stream.concat(Stream.of(command), Stream.of(flags)).toArray(String[]::new);
  }

  private static String mode(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  private List<String> made() throws IOException {
    try (Stream<Path> files = Files.walk(temporary)) {
      return files.map(Path::toString).sorted().toList();
    }
  }

  @Test
  void whatIsRefusedForItsArgumentsMakesNothing() throws IOException {
    String lines = path("lines.txt");
    Files.writeString(Path.of(lines), "a\tb\n");
    Files.createDirectory(temporary.resolve("empty"));
    assertEquals(0, run("backup", path("backups"), "--of", dir), err);
    List<String> before = made();
    String fresh = path("fresh");
    for (String name : List.of("", "a\tb", "x".repeat(201))) {
      assertEquals(2, run("load", fresh, "--create", "--tree", name, "--from", lines), err);
      assertTrue(err.contains("the name of a tree"), err);
      assertEquals(2, run("load", dir, "--create", "--tree", name, "--from", lines), err);
      assertEquals(before, made(), "load into a tree with a bad name");
    }
    assertEquals(4, run("load", fresh, "--create", "--tree", "t", "--from", path("no.txt")), err);
    assertEquals(before, made(), "load of a file that is not there");
    assertEquals(2, run("put", dir, "--create", "--tree", "new", "k", "0xq"), err);
    assertEquals(2, run("get", dir, "--tree", "new", "k"), "put of a bad value made the tree");
    assertEquals(2, run("backup", fresh, "--of", path("nowhere")), err);
    assertEquals(4, run("backup", fresh, "--of", path("empty")), err);
    assertEquals(2, run("backup", dir + "/backups", "--of", dir), err);
    assertTrue(err.contains("within the store"), err);
    try (Store store = Store.open(Path.of(dir), OPTIONS)) {
      assertEquals(3, run("backup", fresh, "--of", dir), err);
      assertEquals(List.of("users"), store.treeNames());
    }
    assertEquals(2, run("backup", path("empty")), err);
    assertEquals(2, run("restore", path("empty"), "--to", fresh), err);
    assertTrue(err.contains("holds no backups"), err);
    assertEquals(2, run("restore", path("backups"), "--to", fresh, "--id", "7"), err);
    assertEquals(2, run("restore", path("backups"), "--to", path("backups/new")), err);
    assertEquals(2, run("restore", path("backups"), "--to", dir + "/new/one"), err);
    assertEquals(
        before.stream().filter(file -> !file.startsWith(dir)).toList(),
        made().stream().filter(file -> !file.startsWith(dir)).toList());
    try (Stream<Path> inside = Files.list(Path.of(dir))) {
      assertEquals(List.of(), inside.filter(Files::isDirectory).toList());
    }
  }

  @Test
  void aStoreThatIsOpenIsRefused() {
    try (Store store = Store.open(Path.of(dir), OPTIONS)) {
      assertEquals(1, store.treeNames().size());
      for (String command : List.of("get", "scan", "put", "delete", "export", "load", "backup")) {
        String[] args =
            switch (command) {
              case "put" -> new String[] {command, dir, "--tree", "users", "k", "v"};
              case "get", "delete" -> new String[] {command, dir, "--tree", "users", "k"};
              case "backup" -> new String[] {command, path("b"), "--of", dir};
              default -> new String[] {command, dir, "--tree", "users"};
            };
        assertEquals(3, run(args), command + ": " + err);
      }
    }
  }
}
