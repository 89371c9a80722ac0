package io.isobardb.bench.ycsb;

import io.isobardb.bench.engine.Directories;
import io.isobardb.bench.process.ChildJvm;
import io.isobardb.bench.process.WorkDirectory;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.TextTable;
import io.isobardb.cli.console.UsageException;
import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Properties;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One run of the stock client, load or transactions, and what came of it. Immutable.
 *
 * @param output what the client measured
 * @param exit success; a finding, if operations did not return OK; a failure, if it broke off
 * @param problems why the run failed; empty if it did not
 * @param counters the process's counters, {@code spaceBytes} that the closed store's files occupy,
 *     and the engine's report, by name
 * @param errors what the client said on standard error
 * @param perSecond operations a second, by the seconds since the beginning; the last one, which is
 *     seldom whole, is left out
 */
record YcsbRun(
    YcsbOutput output,
    Exit exit,
    List<String> problems,
    Map<String, String> counters,
    List<String> errors,
    Map<Double, Double> perSecond) {
  private static final Pattern STATUS =
      Pattern.compile(" ([0-9]+) sec: [0-9]+ operations; ([0-9.]+) current ops/sec");

  /** The settings of workload {@code letter}, shipped with the adapter. */
  static Properties workload(String letter) throws IOException {
    try (InputStream in =
        YcsbRun.class.getClassLoader().getResourceAsStream("workloads/workload" + letter)) {
      if (in == null) {
        throw new UsageException("there is no workload '" + letter + "'; there are a to f");
      }
      Properties properties = new Properties();
      properties.load(in);
      return properties;
    }
  }

  /**
   * Runs the client in {@code child} to its end.
   *
   * @param load whether to load, or to do the workload's operations
   * @param binding the DB class
   * @param properties all of the run's
   * @param operations that must return OK
   * @param status is told the client's status lines
   */
  static YcsbRun run(
      ChildJvm child,
      boolean load,
      String binding,
      Properties properties,
      int threads,
      int target,
      long operations,
      Consumer<String> status)
      throws IOException, InterruptedException {
    try (WorkDirectory work = WorkDirectory.of(null, "isobar-ycsb-")) {
      Path settings = work.path().resolve("workload.properties");
      Path counters = work.path().resolve("counters.properties");
      Path report = work.path().resolve("report.properties");
      try (var out = Files.newBufferedWriter(settings, StandardCharsets.ISO_8859_1)) {
        properties.store(out, null);
      }
      child.argument(counters.toString()).argument(load ? "-load" : "-t");
      child.argument("-db").argument(binding).argument("-P").argument(settings.toString());
      child.argument("-threads").argument(Integer.toString(threads));
      if (target > 0) {
        child.argument("-target").argument(Integer.toString(target));
      }
      child.argument("-p").argument("isobar.report=" + report).argument("-s");
      List<String> lines = new ArrayList<>();
      List<String> errors = Collections.synchronizedList(new ArrayList<>());
      NavigableMap<Double, Double> perSecond =
          Collections.synchronizedNavigableMap(new TreeMap<>());
      int code =
          child.run(
              lines::add,
              line -> {
                Matcher matcher = STATUS.matcher(line);
                if (matcher.find()) {
                  double second = Double.parseDouble(matcher.group(1));
                  perSecond.put(second, Double.parseDouble(matcher.group(2)));
                  status.accept(line);
                } else if (line.contains("current ops/sec") || line.contains(" 0 sec:")) {
                  status.accept(line);
                } else {
                  errors.add(line);
                }
              });
      if (perSecond.size() > 1) {
        perSecond.pollLastEntry();
      }
      YcsbOutput output = YcsbOutput.parse(lines);
      List<String> problems = output.problems(operations, errors);
      boolean broken = code != 0 || YcsbOutput.exception(errors) != null;
      if (code != 0) {
        problems.add("the process ended with exit code " + code);
      }
      Exit exit = broken ? Exit.FAILURE : problems.isEmpty() ? Exit.SUCCESS : Exit.FINDING;
      Map<String, String> found = new LinkedHashMap<>();
      read(counters, found);
      read(report, found);
      String data = properties.getProperty("isobar.dir");
      if (data != null) {
        found.put("spaceBytes", Long.toString(Directories.allocatedBytes(Path.of(data))));
      }
      return new YcsbRun(output, exit, problems, found, List.copyOf(errors), perSecond);
    }
  }

  private static void read(Path file, Map<String, String> into) throws IOException {
    if (Files.exists(file)) {
      Properties properties = new Properties();
      try (Reader in = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
        properties.load(in);
      }
      properties.stringPropertyNames().stream()
          .sorted()
          .forEach(name -> into.put(name, properties.getProperty(name)));
    }
  }

  /** A counter, or -1 if it is unknown. */
  double counter(String name) {
    return Double.parseDouble(counters.getOrDefault(name, "-1"));
  }

  /** Whether latencies of the operation were measured. */
  static boolean isTimed(String operation, Map<String, Double> metrics) {
    return metrics.containsKey("AverageLatency(us)") && !operation.equals("CLEANUP");
  }

  /** A row for each operation. */
  TextTable latencies() {
    TextTable table =
        new TextTable(
            "operation",
            "count",
            "mean us",
            "p50 us",
            "p90 us",
            "p99 us",
            "p99.9 us",
            "p99.99 us",
            "max us");
    output
        .metrics()
        .forEach(
            (operation, metrics) -> {
              if (isTimed(operation, metrics)) {
                table.row(
                    operation,
                    whole(metrics.get("Operations")),
                    String.format(Locale.ROOT, "%.1f", metrics.get("AverageLatency(us)")),
                    whole(YcsbOutput.percentile(metrics, "50")),
                    whole(YcsbOutput.percentile(metrics, "90")),
                    whole(YcsbOutput.percentile(metrics, "99")),
                    whole(YcsbOutput.percentile(metrics, "99.9")),
                    whole(YcsbOutput.percentile(metrics, "99.99")),
                    whole(metrics.get("MaxLatency(us)")));
              }
            });
    return table;
  }

  private static String whole(@Nullable Double value) {
    return value == null ? "-" : String.format(Locale.ROOT, "%,.0f", value);
  }
}
