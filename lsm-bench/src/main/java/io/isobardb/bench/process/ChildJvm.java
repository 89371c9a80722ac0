package io.isobardb.bench.process;

import io.isobardb.cli.Program;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.FailedException;
import io.isobardb.cli.console.Messages;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Runs a main class of this class path in a JVM of its own, the same JDK as this one.
 *
 * <p>A child that {@link #run} waits for ends when its parent does: a shutdown hook destroys it.
 */
public final class ChildJvm {
  private final List<String> command = new ArrayList<>();
  private final List<String> arguments = new ArrayList<>();
  private final String mainClass;
  private String classPath = System.getProperty("java.class.path");

  /**
   * A child that will run {@code mainClass}, with the parallel collector, whose barriers cost
   * least.
   */
  public ChildJvm(Class<?> mainClass) {
    this.mainClass = mainClass.getName();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:+UseParallelGC");
    command.add("-XX:-UsePerfData");
    if (Program.traces()) {
      command.add("-Disobar.trace=true");
    }
    for (String asked : List.of(Messages.LOG, Messages.LOG_FORMAT)) {
      String value = System.getProperty(asked);
      if (value != null) {
        command.add("-D" + asked + "=" + value);
      }
    }
    int release = Runtime.version().feature();
    if (release >= 22) {
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    if (release >= 23) {
      // For LMDBJava and YCSB's libraries; the engine itself needs it not.
      command.add("--sun-misc-unsafe-memory-access=allow");
    }
  }

  /** Sets both ends of the heap, so that its growth costs no time in the run. */
  public ChildJvm heapBytes(long bytes) {
    return flag("-Xms" + (bytes >> 10) + "k").flag("-Xmx" + (bytes >> 10) + "k");
  }

  /** The limit of direct memory. */
  public ChildJvm directBytes(long bytes) {
    return flag("-XX:MaxDirectMemorySize=" + bytes);
  }

  /** Puts this class path before the one of this process. */
  public ChildJvm classPathFirst(String path) {
    classPath = path + File.pathSeparator + classPath;
    return this;
  }

  /** One more JVM flag. */
  public ChildJvm flag(String flag) {
    command.add(flag);
    return this;
  }

  /** One more argument of the main method. */
  public ChildJvm argument(String argument) {
    arguments.add(argument);
    return this;
  }

  /**
   * Runs the child to its end, handing over its lines as they come; {@code errors} is called from
   * another thread. Returns its exit code. An interrupt destroys the child.
   */
  public int run(Consumer<String> output, Consumer<String> errors) throws InterruptedException {
    Process process = start(ProcessBuilder.Redirect.PIPE);
    Thread reaper = new Thread(process::destroyForcibly, "child-reaper");
    Runtime.getRuntime().addShutdownHook(reaper);
    try {
      Thread drain =
          new Thread(
              () -> pump(process.errorReader(StandardCharsets.UTF_8), errors), "child-stderr");
      drain.setDaemon(true);
      drain.start();
      pump(
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)),
          output);
      int code = process.waitFor();
      drain.join();
      return code;
    } finally {
      process.destroyForcibly();
      try {
        Runtime.getRuntime().removeShutdownHook(reaper);
      } catch (IllegalStateException e) {
        // The JVM is going down: the hook runs already.
      }
    }
  }

  /**
   * As {@link #run}, for a child that {@link ChildMain} runs with a record: hands its events over
   * as they come. What it prints beside them goes to standard error.
   *
   * @param what the child does, for the message
   * @throws FailedException with what the child said, if it failed
   */
  public void runToEnd(String what, Consumer<Map<String, Object>> events)
      throws InterruptedException {
    boolean[] ended = {false};
    StringBuffer errors = new StringBuffer();
    int code =
        run(
            line -> {
              if (!line.startsWith("{")) {
                System.err.println(line);
                return;
              }
              Map<String, Object> event = Events.parse(line);
              if (event.get(Events.NAME).equals(Events.END)) {
                ended[0] = true;
              } else {
                events.accept(event);
              }
            },
            line -> errors.append(line).append(System.lineSeparator()));
    if (code == 0 && ended[0]) {
      System.err.print(errors);
      return;
    }
    String said = errors.toString().strip();
    throw new FailedException(
        code == 0 ? Exit.FAILURE : Exit.of(code),
        what + ": " + (said.isEmpty() ? "the process ended with exit code " + code : said));
  }

  /**
   * Starts the child for a caller that reads its standard output and ends it; its errors go where
   * this process's do.
   */
  public Process start() {
    return start(ProcessBuilder.Redirect.INHERIT);
  }

  private Process start(ProcessBuilder.Redirect errors) {
    List<String> whole = new ArrayList<>(command);
    whole.add("-cp");
    whole.add(classPath);
    whole.add(mainClass);
    whole.addAll(arguments);
    try {
      return new ProcessBuilder(whole)
          .redirectInput(ProcessBuilder.Redirect.from(devNull()))
          .redirectError(errors)
          .start();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot start " + whole.get(0), e);
    }
  }

  private static File devNull() {
    return new File(System.getProperty("os.name").startsWith("Windows") ? "NUL" : "/dev/null");
  }

  private static void pump(BufferedReader reader, Consumer<String> lines) {
    try (reader) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        lines.accept(line);
      }
    } catch (IOException e) {
      // The child is gone and its pipe with it; its exit code tells.
    }
  }
}
