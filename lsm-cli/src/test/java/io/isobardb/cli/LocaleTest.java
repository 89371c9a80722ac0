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
import java.util.ArrayList;
import java.util.List;
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

  private static String here(List<String> command) {
    return here(command.toArray(new String[0]));
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
    List<List<String>> read =
        List.of(
            List.of("check", dir),
            List.of("dump", dir, "--keys", "--limit", "2"),
            List.of("export", dir, "--tree", "INDEX i"));
    List<String> expected = new ArrayList<>();
    read.forEach(command -> expected.add(here(command)));
    List<List<String>> commands = new ArrayList<>(read);
    commands.add(List.of("compact", dir));
    String put = "put DIR --create --tree LIST \u0130\u0131 \u0661 --expires PT1H";
    commands.add(List.of(put.replace("DIR", dir).split(" ")));
    commands.add(List.of("get", dir, "--tree", "LIST", "0xc4b0c4b1"));
    List<CommandRuns.Run> runs = in(locale).runAll(true, commands);
    for (int i = 0; i < commands.size(); i++) {
      assertEquals(0, runs.get(i).code(), commands.get(i) + runs.get(i).errors());
    }
    assertEquals(expected, runs.stream().limit(3).map(CommandRuns.Run::out).toList());
    assertEquals("0xd9a1\n", runs.get(5).out());
    assertEquals(here("compact", dir, "--tree", "INDEX i"), runs.get(3).out());
  }

  @Test
  void bytesThatTheLocaleHasNoTextForAreNeverStored() throws Exception {
    assumeTrue(Files.exists(Path.of("/proc/self/fd")), "arguments are text on this system");
    String dir = makeStore();
    ChildProgram program = new ChildProgram(temporary).locale("C");
    String[] shell = {"/bin/sh", "-c", "exec \"$@\" \"$(printf '\\320\\274')\" v", "sh"};
    program.within(shell).run(2, "put", dir, "--tree", "INDEX i");
    assertTrue(program.errors().contains("can't be read in this locale"), program.errors());
    String all = here("export", dir, "--tree", "INDEX i");
    assertTrue(all.endsWith("# end of 1234 entries\n"), all);
  }

  /** What is exported is loaded as UTF-8, and JSON is that, too. */
  @Test
  void textIsPrintedAsUtf8WhateverTheLocaleHas() throws Exception {
    String dir = temporary.resolve("t").toString();
    String text = "gr\u00f6\u00dfer \u2192 \ud83d\ude80";
    try (Store store = Store.open(Path.of(dir), StoreOptions.defaults())) {
      store.openTree("t").put("k".getBytes(UTF_8), text.getBytes(UTF_8));
    }
    ChildProgram program = new ChildProgram(temporary).locale("C");
    assertEquals(
        "k\t" + text + "\n# end of 1 entries\n",
        program.run(0, "export", dir, "--tree", "t", "--as", "text"));
    String json = program.run(0, "get", dir, "--tree", "t", "k", "--as", "text", "--json");
    assertTrue(json.contains(text), json);
  }
}
