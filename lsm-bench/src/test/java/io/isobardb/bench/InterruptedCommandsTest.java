package io.isobardb.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands that are ended by a signal, as by Ctrl-C: they take away what they made. */
@Tag("any-jdk")
class InterruptedCommandsTest {
  @TempDir Path temp;

  /** Files of a store, or of a load; children may have libraries of engines in the directory. */
  private List<String> stores() throws IOException {
    try (Stream<Path> all = Files.walk(temp)) {
      return all.filter(Files::isDirectory)
          .map(path -> temp.relativize(path).toString())
          .filter(path -> path.contains("isobar-"))
          .toList();
    }
  }

  private boolean worksOnAStore() throws IOException {
    try (Stream<Path> all = Files.walk(temp)) {
      return all.anyMatch(path -> path.endsWith("CURRENT"));
    } catch (java.io.UncheckedIOException e) {
      // A directory went while it was looked at.
      return false;
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "soak --duration 10m --memory 16MB --keys 200 --trees 2",
        "crash-test --cycles 1000",
        "ycsb --workload a --records 50000000 --memory 16MB",
        "compare --engines isobar --records 100000000 --memory 64MB --dir DIR/isobar-named",
        "tpcc --warehouses 50 --memory 64MB",
        "demo --pace 100",
      })
  void nothingIsLeftBehind(String line) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx256m", "-XX:MaxDirectMemorySize=256m"));
    command.add("-Djava.io.tmpdir=" + temp);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Isobar.class.getName()));
    command.addAll(List.of(line.replace("DIR", temp.toString()).split(" ")));
    Path errors = temp.resolve("errors.txt");
    Path output = temp.resolve("output.txt");
    Process process =
        new ProcessBuilder(command)
            .redirectError(errors.toFile())
            .redirectOutput(output.toFile())
            .start();
    try {
      while (!worksOnAStore()) {
        assertTrue(process.isAlive(), () -> read(errors));
        Thread.onSpinWait();
      }
      process.destroy();
      assertFalse(process.waitFor() == 0, "it went on to its end");
    } finally {
      process.destroyForcibly();
    }
    List<String> named = line.contains("--dir") ? List.of("isobar-named") : List.of();
    assertEquals(named, stores());
    if (!line.startsWith("demo")) {
      assertEquals("", read(output));
    }
    assertEquals("", read(errors));
  }

  private static String read(Path file) {
    try {
      return Files.readString(file, StandardCharsets.UTF_8);
    } catch (IOException e) {
      return e.toString();
    }
  }
}
