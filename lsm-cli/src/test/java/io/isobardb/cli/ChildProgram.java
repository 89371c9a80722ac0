package io.isobardb.cli;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The program in a JVM of its own, with the class path of this one. */
final class ChildProgram {
  private final List<String> flags = new ArrayList<>();
  private final List<String> before = new ArrayList<>();
  private final ProcessBuilder builder = new ProcessBuilder();
  private final Path errors;
  private final Path runs;

  /** A program whose messages go to a file in {@code temporary}. */
  ChildProgram(Path temporary) {
    errors = temporary.resolve("errors");
    runs = temporary.resolve("runs");
    builder.redirectError(errors.toFile());
    builder.environment().put("LC_ALL", "C.UTF-8");
  }

  /** A flag of the JVM. */
  ChildProgram flag(String flag) {
    flags.add(flag);
    return this;
  }

  /** The locale of the process. */
  ChildProgram locale(String locale) {
    builder.environment().put("LC_ALL", locale);
    return this;
  }

  /** A program with its arguments that runs this one's command. */
  ChildProgram within(String... command) {
    before.addAll(List.of(command));
    return this;
  }

  /** Where standard output goes. */
  ChildProgram outputTo(File file) {
    builder.redirectOutput(file);
    return this;
  }

  Process start(String... args) throws IOException {
    return start(Main.class, List.of(args));
  }

  private Process start(Class<?> main, List<String> args) throws IOException {
    List<String> command = new ArrayList<>(before);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of("-Xmx128m", "-XX:MaxDirectMemorySize=128m", "-XX:+UseSerialGC", "-Xshare:auto"));
    command.add("-XX:TieredStopAtLevel=1");
    command.addAll(flags);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(args);
    return builder.command(command).start();
  }

  /** Runs a command to its end; gives what it printed to a pipe. */
  String run(int code, String... args) throws IOException, InterruptedException {
    return end(start(args), code, String.join(" ", args));
  }

  /**
   * Runs commands one after the other in one JVM.
   *
   * @param keep whether their output is given back; else it goes where it is told to
   */
  List<CommandRuns.Run> runAll(boolean keep, List<List<String>> commands)
      throws IOException, InterruptedException {
    List<String> args = new ArrayList<>(List.of(runs.toString(), Boolean.toString(keep)));
    for (List<String> command : commands) {
      args.addAll(command);
      args.add(CommandRuns.END);
    }
    end(start(CommandRuns.class, args), 0, commands.toString());
    return Files.readAllLines(runs).stream().map(CommandRuns.Run::decode).toList();
  }

  private String end(Process process, int code, String what)
      throws IOException, InterruptedException {
    process.getOutputStream().close();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int ended = process.waitFor();
    if (ended != code) {
      throw new AssertionError(what + " ended with " + ended + ":\n" + out + errors());
    }
    return out;
  }

  /** What the last command said on standard error. */
  String errors() throws IOException {
    return Files.readString(errors);
  }
}
