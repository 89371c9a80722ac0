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
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** A program in a JVM of its own, with lsm-core and what that brings along on its class path. */
final class UserProgram {
  /** What a user's class path has besides the user's own classes. */
  private static final Pattern INHERITED =
      Pattern.compile(".*(lsm-(core|memory|tuner).*(?<!test-classes)|(hash4j-|jspecify-)[^/]*)");

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

  /**
   * As {@link #run}, with at most so many descriptors. All classes are in jars: no class takes a
   * descriptor to be loaded.
   */
  Printed runWithDescriptors(int most, Class<?> program, String... args)
      throws IOException, InterruptedException {
    List<String> jars = new ArrayList<>();
    for (String entry : inherited().split(File.pathSeparator)) {
      jars.add(Files.isDirectory(Path.of(entry)) ? jar(Path.of(entry), jars.size()) : entry);
    }
    Path classes = Path.of(program.getProtectionDomain().getCodeSource().getLocation().getPath());
    String name = program.getName().replace('.', '/') + ".class";
    Path own = dir.resolve("own");
    Files.createDirectories(own.resolve(name).getParent());
    Files.copy(classes.resolve(name), own.resolve(name));
    jars.add(jar(own, jars.size()));
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of("-cp", String.join(File.pathSeparator, jars), program.getName()));
    arguments.addAll(Arrays.asList(args));
    return java(List.of("bash", "-c", "ulimit -n " + most + "; exec \"$0\" \"$@\""), arguments);
  }

  private String jar(Path classes, int number) throws IOException {
    Path jar = dir.resolve("classes-" + number + ".jar");
    try (Stream<Path> files = Files.walk(classes);
        ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        out.putNextEntry(new ZipEntry(classes.relativize(file).toString()));
        Files.copy(file, out);
      }
    }
    return jar.toString();
  }

  /** Runs {@code java} with these arguments; fails if it does not end well. */
  Printed java(List<String> arguments) throws IOException, InterruptedException {
    return java(List.of(), arguments);
  }

  private Printed java(List<String> before, List<String> arguments)
      throws IOException, InterruptedException {
    return java(before, Path.of(System.getProperty("java.home"), "bin", "java"), arguments);
  }

  /** As {@link #java(List)}, with the {@code java} of an image. */
  Printed java(Path java, List<String> arguments) throws IOException, InterruptedException {
    return java(List.of(), java, arguments);
  }

  private Printed java(List<String> before, Path java, List<String> arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(before);
    command.add(java.toString());
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
