package io.isobardb.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A process that runs an {@link Application}. */
final class Instance implements AutoCloseable {
  private static final long PATIENCE_SECONDS = 900;

  private final Process process;
  private final Writer input;
  private final LinkedBlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private final List<String> restores = new ArrayList<>();
  private int replaced;

  private Instance(Process process) {
    this.process = process;
    this.input = new OutputStreamWriter(process.getOutputStream(), UTF_8);
    Thread reader = new Thread(this::read, "instance-" + process.pid());
    reader.setDaemon(true);
    reader.start();
  }

  /** Starts one, with a class path and with properties of Kafka Streams. */
  static Instance start(String classPath, Map<String, String> properties, File log)
      throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx256m",
                "-XX:MaxDirectMemorySize=256m",
                "-Disobar.poison=true",
                "-Dlog4j2.configurationFile=" + logging(log),
                "-cp",
                classPath,
                Application.class.getName()));
    properties.forEach((name, value) -> command.add(name + "=" + value));
    return new Instance(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.appendTo(log)).start());
  }

  /** Has warnings written to the standard error, of which the test shows the last. */
  private static Path logging(File log) throws IOException {
    return Files.writeString(
        log.toPath().resolveSibling("log4j2.properties"),
        """
        status = error
        rootLogger.level = warn
        rootLogger.appenderRef.errors.ref = errors
        appender.errors.type = Console
        appender.errors.name = errors
        appender.errors.target = SYSTEM_ERR
        appender.errors.layout.type = PatternLayout
        appender.errors.layout.pattern = %d %t %c{1} %m%n%ex{12}
        """);
  }

  private void read() {
    try (BufferedReader output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        synchronized (this) {
          if (line.startsWith(Application.RESTORED)) {
            restores.add(line.substring(Application.RESTORED.length()));
          } else if (line.startsWith(Application.REPLACED)) {
            replaced++;
          }
        }
        lines.add(line);
      }
    } catch (IOException e) {
      lines.add("closed: " + e);
    }
  }

  /**
   * Waits for a line that begins with this, and returns the rest of it; null if the process ended.
   */
  @Nullable String await(String begin) throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (true) {
      String line = lines.poll(1, TimeUnit.SECONDS);
      if (line != null && line.startsWith(begin)) {
        return line.substring(begin.length());
      }
      if (line == null && !process.isAlive()) {
        return null;
      }
      if (System.nanoTime() - until > 0) {
        throw new AssertionError("an instance does not tell: " + begin);
      }
    }
  }

  /** Asks it something, and waits for the answer. */
  String ask(String question, String answer) throws IOException, InterruptedException {
    lines.clear();
    input.write(question + "\n");
    input.flush();
    String told = await(answer);
    if (told == null) {
      throw new AssertionError("the instance has ended: " + process.exitValue());
    }
    return told;
  }

  /** Store, partition, first and last offset of each restore that has begun. */
  synchronized List<String> restores() {
    return List.copyOf(restores);
  }

  /** How many of its threads have died. */
  synchronized int replaced() {
    return replaced;
  }

  /** As {@code kill -9}. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    process.waitFor();
  }

  /** Ends it in order. */
  @Override
  public void close() throws IOException {
    try {
      if (process.isAlive()) {
        input.write(Application.CLOSE + "\n");
        input.flush();
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
          throw new AssertionError("an instance does not end");
        }
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      process.destroyForcibly();
    }
  }
}
