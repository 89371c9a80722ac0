package io.isobardb.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.cli.console.Exit;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

@Tag("any-jdk")
class UsageTest {
  @TempDir Path temporary;
  private Path dir = Path.of("");
  private String out = "";
  private String err = "";

  @BeforeEach
  void makeStore() {
    dir = temporary.resolve("s");
    try (Store store = Store.open(dir, StoreOptions.builder().memoryBudget(8 << 20).build())) {
      store.openTree("t").put(new byte[1], new byte[1]);
    }
  }

  @AfterEach
  void forgetTrace() {
    System.clearProperty("isobar.trace");
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

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "chek DIR",
        "check",
        "check DIR more",
        "check DIR --memory -5MB",
        "check DIR --memory 0",
        "check DIR --memory lots",
        "check DIR --memory 1000000GB",
        "check DIR --key-order no.such.Order",
        "check DIR --jsn",
        "check DIR-not-there",
        "check DIR/CURRENT",
        "dump DIR --limit 0",
        "dump DIR --limit -1",
        "dump DIR --limit many",
        "dump DIR --limit 99999999999",
        "dump DIR --tree nobody",
        "dump DIR --from 0xz",
        "dump DIR --limit",
        "stats DIR --memory 1KB",
        "stats DIR --json=maybe",
        "repair DIR",
        "repair DIR --to DIR",
        "repair DIR --to",
        "repair DIR --to DIR-new --memory 0",
        "tune-report",
        "tune-report DIR --replay now",
      })
  void wrongUsageIsOneLineForPeople(String line) {
    String[] args =
        Arrays.stream(line.split(" "))
            .filter(word -> !word.isEmpty())
            .map(word -> word.replace("DIR", dir.toString()))
            .toArray(String[]::new);
    assertEquals(2, run(args), err);
    assertEquals("", out);
    assertEquals(1, err.lines().count(), err);
    assertTrue(err.matches("isobar( [a-z-]+)?: .*\\(see 'isobar( [a-z-]+)? --help'\\)\\R"), err);
    assertFalse(err.contains("java.") && !line.contains("key-order"), err);
    assertFalse(err.contains("Exception") && !line.contains("key-order"), err);
    assertFalse(Files.exists(Path.of(dir + "-new")));
  }

  @Test
  void aWrongNameGetsASuggestion() {
    run("chek");
    assertTrue(err.startsWith("isobar: there is no command 'chek'; did you mean check"), err);
    run("check", dir.toString(), "more");
    assertTrue(err.startsWith("isobar check: there is no further argument 'more' (see"), err);
    run("check", dir.toString(), "--jsn");
    assertTrue(err.contains("did you mean --json"), err);
  }

  @Test
  void aFailureIsOneMessageAndATraceOnlyIfAskedFor() throws IOException {
    Path empty = Files.createDirectory(temporary.resolve("empty"));
    assertEquals(4, run("check", empty.toString()));
    assertEquals(1, err.lines().count(), err);
    assertEquals(4, run("check", empty.toString(), "--trace"));
    assertTrue(err.contains("\tat io.isobardb"), err);
  }

  @Test
  void damageThatStopsACommandNamesTheFileAndWhatToDo() throws IOException {
    byte[] content = Files.readAllBytes(dir.resolve("CURRENT"));
    content[content.length - 1] ^= 1;
    Files.write(dir.resolve("CURRENT"), content);
    for (String command : List.of("dump", "stats")) {
      assertEquals(1, run(command, dir.toString()));
      assertTrue(
          err.startsWith("isobar " + command + ": damaged: " + dir.resolve("CURRENT") + " at"),
          err);
      assertTrue(err.contains("'isobar check " + dir + "'"), err);
    }
  }

  @Test
  void aStoreThatIsOpenIsRefusedWithACodeOfItsOwn() {
    try (Store store = Store.open(dir, StoreOptions.builder().memoryBudget(8 << 20).build())) {
      for (String command : List.of("check", "dump", "stats")) {
        assertEquals(3, run(command, dir.toString()), command);
        assertEquals(1, err.lines().count(), err);
      }
      assertEquals(List.of("t"), store.treeNames());
      assertEquals(0, run("tune-report", dir.toString()), err);
    }
  }

  @Test
  void theHelpOfEachCommandEndsWithTheExitCodes() {
    for (String command : Main.commandLine().getSubcommands().keySet()) {
      assertEquals(0, run(command, "--help"));
      for (Exit exit : Exit.values()) {
        assertTrue(out.contains("  " + exit.code() + "   "), out);
      }
      assertTrue(out.contains("--trace"), out);
    }
  }

  @Test
  void whatTheEngineRefusesOfAnArgumentIsWrongUsage() {
    for (String command : List.of("check", "dump", "stats")) {
      assertEquals(Exit.USAGE.code(), run(command, dir.toString(), "--memory", "100000GB"), err);
      assertTrue(err.startsWith("isobar " + command + ": "), err);
      assertEquals(1, err.lines().count(), err);
    }
    String target = temporary.resolve("new").toString();
    assertEquals(
        Exit.USAGE.code(), run("repair", dir.toString(), "--to", target, "--memory", "100000GB"));
    assertFalse(Files.exists(Path.of(target)));
  }
}
