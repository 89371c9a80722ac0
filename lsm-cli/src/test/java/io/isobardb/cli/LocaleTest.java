package io.isobardb.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Commands say and store the same in any locale. */
@Tag("any-jdk")
class LocaleTest {
  @TempDir Path temporary;

  private ChildProgram in(String locale) {
    String[] parts = locale.split("_");
    return new ChildProgram(temporary)
        .flag("-Duser.language=" + parts[0])
        .flag("-Duser.country=" + parts[1]);
  }

  /** What the command prints in this process. */
  private static String here(String... command) {
    StringWriter out = new StringWriter();
    CommandLine line = Main.commandLine().setOut(new PrintWriter(out));
    assertEquals(0, line.execute(command));
    return out.toString();
  }

  private String makeStore() {
    Path dir = temporary.resolve("s");
    StoreOptions options = StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).build();
    try (Store store = Store.open(dir, options)) {
      for (int i = 0; i < 1234; i++) {
        store.openTree("INDEX i").put(("key" + i).getBytes(UTF_8), new byte[20]);
      }
      store.flush();
    }
    return dir.toString();
  }

  @ParameterizedTest
  @ValueSource(strings = {"de_DE", "tr_TR", "ar_EG"})
  void whatIsPrintedIsTheSame(String locale) throws Exception {
    String dir = makeStore();
    String[][] commands = {
      {"check", dir},
      {"dump", dir, "--keys", "--limit", "2"},
      {"export", dir, "--tree", "INDEX i"},
      {"compact", dir},
    };
    for (String[] command : commands) {
      String expected = here(command);
      assertEquals(expected, in(locale).run(0, command), String.join(" ", command));
    }
    in(locale)
        .run(
            0,
            "put",
            dir,
            "--create",
            "--tree",
            "LIST",
            "\u0130\u0131",
            "\u0661",
            "--expires",
            "PT1H");
    assertEquals("0xd9a1\n", in(locale).run(0, "get", dir, "--tree", "LIST", "0xc4b0c4b1"));
  }

  @Test
  void bytesThatTheLocaleHasNoTextForAreNeverStored() throws Exception {
    assumeTrue(Files.exists(Path.of("/proc/self/fd")), "arguments are text on this system");
    String dir = makeStore();
    ChildProgram program = new ChildProgram(temporary).locale("C");
    String[] shell = {"/bin/sh", "-c", "exec \"$@\" \"$(printf '\\320\\274')\" v", "sh"};
    program.within(shell).run(2, "put", dir, "--tree", "INDEX i");
    assertTrue(program.errors().contains("can't be read in this locale"), program.errors());
    String all = new ChildProgram(temporary).run(0, "export", dir, "--tree", "INDEX i");
    assertTrue(all.endsWith("# end of 1234 entries\n"), all);
  }
}
