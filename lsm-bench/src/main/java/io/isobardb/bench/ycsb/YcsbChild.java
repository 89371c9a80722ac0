package io.isobardb.bench.ycsb;

import io.isobardb.bench.process.ProcessCounters;
import io.isobardb.cli.console.Messages;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Properties;
import site.ycsb.Client;

/**
 * The process that the stock client runs in. The first argument names the file that gets the
 * process's counters at its end, the others are the client's. The client always exits with 0.
 */
final class YcsbChild {
  private YcsbChild() {}

  /** Runs the client; does not return. */
  public static void main(String[] args) {
    Messages.configure();
    Path file = Path.of(args[0]);
    // The client ends by System.exit.
    Runtime.getRuntime().addShutdownHook(new Thread(() -> writeCounters(file), "counters"));
    Client.main(Arrays.copyOfRange(args, 1, args.length));
  }

  private static void writeCounters(Path file) {
    ProcessCounters counters = ProcessCounters.now();
    Properties properties = new Properties();
    properties.setProperty("cpuNanos", Long.toString(counters.cpuNanos()));
    properties.setProperty("readBytes", Long.toString(counters.readBytes()));
    properties.setProperty("writtenBytes", Long.toString(counters.writtenBytes()));
    properties.setProperty("peakResidentBytes", Long.toString(counters.peakResidentBytes()));
    try (Writer out = Files.newBufferedWriter(file, StandardCharsets.UTF_8)) {
      properties.store(out, null);
    } catch (IOException e) {
      System.err.println("cannot write " + file + ": " + e);
    }
  }
}
