package io.isobardb.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.isobardb.cli.console.Output;
import io.isobardb.cli.console.OutputException;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** A command whose output is lost never ends as if all were well. */
@Tag("any-jdk")
class LostOutputTest {
  private static final Path FULL = Path.of("/dev/full");
  private static final String LOST =
      "standard output can't be written, so what was printed is incomplete (";

  @TempDir Path temporary;
  private String dir = "";

  @BeforeEach
  void makeStore() {
    dir = temporary.resolve("s").toString();
    StoreOptions options = StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).build();
    try (Store store = Store.open(Path.of(dir), options)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 5000; i++) {
        tree.put(("key" + i).getBytes(UTF_8), new byte[20]);
      }
    }
  }

  private List<String> words(String line) {
    return Arrays.stream(line.split(" ")).map(word -> word.replace("DIR", dir)).toList();
  }

  private static void assertTold(String line, int code, String said) {
    assertEquals(4, code, line + ": " + said);
    assertTrue(said.startsWith("isobar"), said);
    assertTrue(said.contains(": " + LOST), said);
    assertEquals(1, said.lines().count(), said);
  }

  @Test
  void aFullDiskIsAFailureWithAMessage() throws Exception {
    assumeTrue(Files.exists(FULL), "there is no /dev/full");
    List<String> lines =
        List.of(
            "check DIR",
            "dump DIR --json",
            "stats DIR",
            "tune-report DIR",
            "get DIR --tree t key1",
            "scan DIR --tree t",
            "export DIR --tree t",
            "compact DIR",
            "repair DIR --to DIR-new",
            "backup DIR-backups --of DIR",
            "--help",
            "help get",
            "scan --help",
            "--version");
    List<CommandRuns.Run> runs =
        new ChildProgram(temporary)
            .outputTo(FULL.toFile())
            .runAll(false, lines.stream().map(this::words).toList());
    assertEquals(lines.size(), runs.size());
    for (int i = 0; i < runs.size(); i++) {
      assertTold(lines.get(i), runs.get(i).code(), runs.get(i).errors());
    }
  }

  /** The same by the program itself, for a command and for help. */
  @ParameterizedTest
  @ValueSource(strings = {"check DIR", "--help"})
  void theProgramEndsWithTheCodeOfAFailure(String line) throws Exception {
    assumeTrue(Files.exists(FULL), "there is no /dev/full");
    ChildProgram program = new ChildProgram(temporary).outputTo(FULL.toFile());
    program.run(4, words(line).toArray(String[]::new));
    assertTold(line, 4, program.errors());
  }

  @Test
  void aReaderThatHasSeenEnoughEndsTheCommandQuietly() throws Exception {
    ChildProgram program = new ChildProgram(temporary);
    Process process = program.start("export", dir, "--tree", "t");
    assertEquals('k', process.getInputStream().read());
    process.getInputStream().close();
    assertEquals(4, process.waitFor());
    assertEquals("", program.errors());
  }

  @Test
  void aFileOfAnExportThatCanNotBeWrittenIsAFailure() throws Exception {
    assumeTrue(Files.exists(Path.of("/bin/sh")), "there is no shell");
    Path target = temporary.resolve("lines");
    String[] limited = {"/bin/sh", "-c", "ulimit -f 8; exec \"$@\"", "sh"};
    ChildProgram program = new ChildProgram(temporary).within(limited);
    program.run(4, "export", dir, "--tree", "t", "--to", target.toString());
    assertTrue(program.errors().contains(target + " can't be written: "), program.errors());
    assertFalse(Files.exists(target), "half an export stays");
    Path cut = temporary.resolve("cut");
    new ChildProgram(temporary)
        .within(limited)
        .outputTo(cut.toFile())
        .run(4, "export", dir, "--tree", "t");
    assertTrue(Files.size(cut) > 0);
    CommandLine here = Main.commandLine().setErr(new PrintWriter(new StringWriter()));
    assertEquals(
        1, here.execute("load", dir, "--tree", "new", "--create", "--from", cut.toString()));
  }

  @Test
  void afterTheFirstFailureNothingIsWrittenOrTold() {
    byte[] calls = {0};
    Output output =
        new Output(
            new OutputStream() {
              @Override
              public void write(int b) throws IOException {
                calls[0]++;
                throw new IOException("gone");
              }
            });
    try (PrintStream printer = new PrintStream(output)) {
      OutputException e = assertThrows(OutputException.class, () -> printer.println("a"));
      assertEquals("gone", e.getCause().getMessage());
      assertTrue(output.hasFailed());
      printer.println("b");
      assertEquals(1, calls[0]);
    }
  }
}
