package io.isobardb.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code --log}, in processes of their own. */
@Tag("any-jdk")
class LogTest {
  @TempDir Path temporary;
  private String err = "";

  private int run(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx128m", "-XX:MaxDirectMemorySize=128m", "-cp"));
    command.add(System.getProperty("java.class.path"));
    command.add(Main.class.getName());
    command.addAll(List.of(arguments));
    Path errors = temporary.resolve("errors");
    Process process =
        new ProcessBuilder(command)
            .redirectError(errors.toFile())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    int code = process.waitFor();
    err = Files.readString(errors);
    return code;
  }

  private String[] put(String... more) {
    List<String> line =
        new ArrayList<>(
            List.of("put", temporary.resolve("s").toString(), "--create", "--tree", "t", "a", "b"));
    line.addAll(List.of(more));
    return line.toArray(String[]::new);
  }

  /** With a line in it that the engine passes over, and tells of if that is asked for. */
  private void makeStore() throws IOException {
    Path dir = temporary.resolve("s");
    try (Store store = Store.open(dir, StoreOptions.builder().memoryBudget(8 << 20).build())) {
      store.openTree("t").put(new byte[1], new byte[1]);
    }
    Files.writeString(dir.resolve("TUNER"), "nonsense\n", StandardOpenOption.CREATE);
  }

  @Test
  void nothingIsSaidUnlessItIsAskedFor() throws IOException, InterruptedException {
    makeStore();
    assertEquals(0, run(put()), err);
    assertEquals("", err);
    makeStore();
    assertEquals(0, run(put("--log", "debug")), err);
    assertTrue(err.contains(" DEBUG io.isobardb.lsm.tuning.TunerFile: a line of TUNER"), err);
  }

  @Test
  void aFileGetsLinesOfJsonBehindThoseItHas() throws IOException, InterruptedException {
    Path log = temporary.resolve("log");
    makeStore();
    Files.writeString(log, "{\"message\":\"first\"}\n");
    assertEquals(0, run(put("--log", "DEBUG:" + log, "--log-format", "json")), err);
    assertEquals("", err);
    List<String> lines = Files.readAllLines(log, UTF_8);
    assertTrue(lines.size() > 1, "nothing was logged");
    for (String line : lines) {
      Map<String, Object> message = JSON.std.mapFrom(line);
      assertTrue(message.containsKey("message"), line);
    }
    assertTrue(lines.get(1).contains("\"log.level\""), lines.get(1));
  }

  @Test
  void whatCanNotBeLoggedIsWrongUsage() throws IOException, InterruptedException {
    assertEquals(2, run(put("--log", "loud")));
    assertEquals(
        "isobar: --log: 'loud' is none of [off, error, warning, info, debug, trace]"
            + " (see 'isobar --help')\n",
        err);
    assertEquals(2, run(put("--log", "info:" + temporary)));
    assertTrue(err.startsWith("isobar: --log: '" + temporary + "' can't be written; "), err);
    assertEquals(2, run(put("--log", "info:")));
    assertEquals(2, run(put("--log-format", "xml")));
    assertEquals(1, err.lines().count(), err);
  }
}
