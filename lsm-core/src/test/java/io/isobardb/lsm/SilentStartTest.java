package io.isobardb.lsm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program with lsm-core alone: what it prints that it did not ask for. */
class SilentStartTest {
  /** What a user's class path has besides his own classes. */
  private static final Pattern INHERITED =
      Pattern.compile(
          ".*(lsm-(core|memory|tuner).*(?<!test-classes)|(netty-|hppc-|hash4j-|lz4-java-|jspecify-)[^/]*)");

  @TempDir Path dir;

  /** Opens a store, writes and reads; with an argument more, it leaves a cursor open. */
  static final class Program {
    public static void main(String[] args) {
      StoreOptions options = StoreOptions.builder().memoryBudget(16 << 20).build();
      Cursor left = null;
      try (Store store = Store.open(Path.of(args[0]), options)) {
        Tree tree = store.openTree("t");
        tree.put(new byte[] {1}, new byte[] {2});
        store.flush();
        if (args.length > 1) {
          left = tree.cursor();
        }
        System.out.println(tree.get(new byte[] {1})[0]);
      }
      if (left != null) {
        left.close();
      }
    }
  }

  private String run(String... args) throws IOException, InterruptedException {
    String classPath =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> INHERITED.matcher(entry).matches())
            .collect(Collectors.joining(File.pathSeparator));
    Path program =
        Path.of(Program.class.getProtectionDomain().getCodeSource().getLocation().getPath());
    Path own = dir.resolve("own");
    String name = Program.class.getName().replace('.', '/') + ".class";
    Files.createDirectories(own.resolve(name).getParent());
    if (!Files.exists(own.resolve(name))) {
      Files.copy(program.resolve(name), own.resolve(name));
    }
    Path err = dir.resolve("err");
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-cp",
            own + File.pathSeparator + classPath,
            Program.class.getName());
    builder.command().add(dir.resolve("store").toString());
    builder.command().addAll(Arrays.asList(args));
    builder.environment().remove("JAVA_TOOL_OPTIONS");
    Process process =
        builder.redirectError(err.toFile()).redirectOutput(dir.resolve("out").toFile()).start();
    assertTrue(process.waitFor(2, TimeUnit.MINUTES), "the program has not ended");
    String printed = Files.readString(err, UTF_8);
    assertEquals(0, process.exitValue(), printed);
    assertEquals("2", Files.readString(dir.resolve("out"), UTF_8).strip());
    return printed;
  }

  @Test
  void nothingIsPrinted() throws Exception {
    assertEquals("", run());
  }

  /** What a user must know reaches him without a logging library. */
  @Test
  void warningsArePrintedWithoutALoggingLibrary() throws Exception {
    String printed = run("leak");
    assertTrue(printed.contains("WARNING"), printed);
    assertTrue(printed.contains("1 cursor"), printed);
    assertTrue(printed.contains(dir.resolve("store").toString()), printed);
  }
}
