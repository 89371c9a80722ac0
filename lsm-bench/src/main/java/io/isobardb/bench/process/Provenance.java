package io.isobardb.bench.process;

import io.isobardb.cli.console.ByteSize;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Model.CommandSpec;

/** The program, the machine and the time of a measurement. */
public final class Provenance {
  private static final int GIT_SECONDS = 5;

  private Provenance() {}

  /** As {@link #of(String, String, Path)}, of the program that {@code command} belongs to. */
  public static Map<String, String> of(CommandSpec command, Path workDir) {
    List<String> words = new ArrayList<>(List.of("isobar"));
    for (String word : command.root().commandLine().getParseResult().originalArgs()) {
      words.add(word.matches("[-\\w./=:,%+@]+") ? word : "'" + word + "'");
    }
    return of(String.join(" ", words), command.root().version()[0], workDir);
  }

  /** Name and value, in the order to show them. */
  public static Map<String, String> of(String command, String version, Path workDir) {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("command", command);
    facts.put("version", version + ", commit " + commit());
    facts.put(
        "machine",
        Runtime.getRuntime().availableProcessors()
            + " x "
            + field(Path.of("/proc/cpuinfo"), "model name")
            + ", "
            + memory()
            + ", "
            + System.getProperty("os.name")
            + " "
            + System.getProperty("os.version"));
    facts.put("stores in", storage(workDir));
    facts.put(
        "Java", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
    facts.put("finished", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    return facts;
  }

  private static String storage(Path dir) {
    try {
      return "a file system of type " + Files.getFileStore(dir).type();
    } catch (IOException e) {
      return "unknown";
    }
  }

  private static String memory() {
    String kilobytes = field(Path.of("/proc/meminfo"), "MemTotal").replaceAll("\\D", "");
    return kilobytes.isEmpty()
        ? "memory unknown"
        : ByteSize.format(Long.parseLong(kilobytes) * 1024.0);
  }

  private static String field(Path file, String name) {
    try {
      for (String line : Files.readAllLines(file)) {
        if (line.startsWith(name)) {
          return line.substring(line.indexOf(':') + 1).strip();
        }
      }
    } catch (IOException e) {
      // Not this system's way to tell.
    }
    return "unknown";
  }

  /** The commit that the program was built from, if it still lies in its sources. */
  private static String commit() {
    try {
      Path home =
          Path.of(Provenance.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      Process git =
          new ProcessBuilder(
                  List.of(
                      "git",
                      "-C",
                      String.valueOf(home.getParent()),
                      "describe",
                      "--always",
                      "--dirty",
                      "--abbrev=10"))
              .redirectErrorStream(true)
              .start();
      String answer =
          new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      return git.waitFor(GIT_SECONDS, TimeUnit.SECONDS) && git.exitValue() == 0
          ? answer
          : "unknown";
    } catch (IOException | java.net.URISyntaxException e) {
      return "unknown";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "unknown";
    }
  }
}
