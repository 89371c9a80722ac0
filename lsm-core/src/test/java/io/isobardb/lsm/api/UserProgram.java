package io.isobardb.lsm.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A program in a JVM of its own, with lsm-core and what that brings along on its class path. */
final class UserProgram {
  /** What a user's class path has besides the user's own classes. */
  private static final Pattern INHERITED =
      Pattern.compile(
          ".*(lsm-(core|memory|tuner).*(?<!test-classes)|(hash4j-|lz4-java-|jspecify-)[^/]*)");

  /**
   * What a program printed.
   *
   * @param out on standard output
   * @param err on standard error
   */
  record Printed(String out, String err) {}

  private final Path dir;

  /**
   * @param dir for what the program prints, and for its classes
   */
  UserProgram(Path dir) {
    this.dir = dir;
  }

  /** Runs a class that needs no others of the tests; fails if it does not end well. */
  Printed run(List<String> flags, Class<?> program, String... args)
      throws IOException, InterruptedException {
    String classPath = inherited();
    Path classes = Path.of(program.getProtectionDomain().getCodeSource().getLocation().getPath());
    Path own = dir.resolve("own");
    String name = program.getName().replace('.', '/') + ".class";
    Files.createDirectories(own.resolve(name).getParent());
    if (!Files.exists(own.resolve(name))) {
      Files.copy(classes.resolve(name), own.resolve(name));
    }
    List<String> arguments = new ArrayList<>(flags);
    arguments.addAll(List.of("-cp", own + File.pathSeparator + classPath, program.getName()));
    arguments.addAll(Arrays.asList(args));
    return java(arguments);
  }

  /** What a user gets with lsm-core: entries of a class path or a module path. */
  static String inherited() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> INHERITED.matcher(entry).matches())
        .collect(Collectors.joining(File.pathSeparator));
  }

  /** Runs {@code java} with these arguments; fails if it does not end well. */
  Printed java(List<String> arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx128m");
    command.addAll(arguments);
    Path out = dir.resolve("out");
    Path err = dir.resolve("err");
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().remove("JAVA_TOOL_OPTIONS");
    Process process = builder.redirectError(err.toFile()).redirectOutput(out.toFile()).start();
    assertTrue(process.waitFor(2, TimeUnit.MINUTES), "the program has not ended");
    Printed printed = new Printed(Files.readString(out, UTF_8), Files.readString(err, UTF_8));
    assertEquals(0, process.exitValue(), printed.err());
    return printed;
  }
}
