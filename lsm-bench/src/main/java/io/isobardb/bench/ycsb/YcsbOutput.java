package io.isobardb.bench.ycsb;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the stock client printed, read and judged. Immutable.
 *
 * <p>Its lines are {@code [OPERATION], metric, value}. Failed operations are counted under {@code
 * OPERATION-FAILED} and by status under {@code Return=}; the process exits with 0 whatever
 * happened, so the verdict is to be drawn from here.
 */
final class YcsbOutput {
  private static final Pattern LINE =
      Pattern.compile("\\[([^]]+)], ([^,]+), (-?[0-9.]+(?:E-?[0-9]+)?)");
  private static final Pattern EXCEPTION = Pattern.compile("\\b[A-Za-z.]*(Exception|Error)\\b");
  private static final Pattern TYPES =
      Pattern.compile(
          "^(Exception in thread \"[^\"]*\" |Caused by: )?([a-z]\\w*\\.)+\\w+(: ([a-z]\\w*\\.)+\\w+)*(: |$)");
  private static final String INTENDED = "Intended-";

  private final Map<String, Map<String, Double>> metrics;

  private YcsbOutput(Map<String, Map<String, Double>> metrics) {
    this.metrics = metrics;
  }

  /** Reads the lines of the client's standard output; other lines are ignored. */
  static YcsbOutput parse(List<String> lines) {
    Map<String, Map<String, Double>> metrics = new LinkedHashMap<>();
    for (String line : lines) {
      Matcher matcher = LINE.matcher(line.strip());
      if (matcher.matches()) {
        metrics
            .computeIfAbsent(matcher.group(1), name -> new LinkedHashMap<>())
            .put(matcher.group(2), Double.parseDouble(matcher.group(3)));
      }
    }
    return new YcsbOutput(metrics);
  }

  /** Operation to metric to value, in the order printed. */
  Map<String, Map<String, Double>> metrics() {
    return metrics;
  }

  /** Operations per second over the run, or 0 if it was not printed. */
  double throughput() {
    return metrics.getOrDefault("OVERALL", Map.of()).getOrDefault("Throughput(ops/sec)", 0.0);
  }

  /**
   * What speaks against the run; empty if all of {@code operations} were done and returned OK.
   *
   * @param errors what the client printed on standard error
   */
  List<String> problems(long operations, List<String> errors) {
    List<String> problems = new ArrayList<>();
    String exception = exception(errors);
    if (exception != null) {
      problems.add(exception);
    }
    long ok = 0;
    for (Map.Entry<String, Map<String, Double>> operation : metrics.entrySet()) {
      String name = operation.getKey();
      if (name.endsWith("-FAILED")) {
        problems.add("operations failed: " + name);
      }
      for (Map.Entry<String, Double> metric : operation.getValue().entrySet()) {
        if (!metric.getKey().startsWith("Return=")) {
          continue;
        }
        if (!metric.getKey().equals("Return=OK")) {
          problems.add(
              String.format("%s: %.0f times %s", name, metric.getValue(), metric.getKey()));
        } else if (!name.equals("VERIFY")) {
          ok += metric.getValue().longValue();
        }
      }
    }
    // A read-modify-write returns twice: as a read and as an update.
    long expected = operations + count("READ-MODIFY-WRITE");
    if (ok != expected) {
      problems.add("of " + expected + " operations " + ok + " returned OK");
    }
    return problems;
  }

  /**
   * What the first exception says that the client printed, without the names of types before it;
   * null if there is none.
   */
  static @Nullable String exception(List<String> errors) {
    for (String line : errors) {
      if (EXCEPTION.matcher(line).find()) {
        String message = TYPES.matcher(line.strip()).replaceFirst("");
        return message.isEmpty() ? line.strip() : message;
      }
    }
    return null;
  }

  /** A latency in microseconds, under either of the client's names for it; null without one. */
  static @Nullable Double percentile(Map<String, Double> metrics, String percentile) {
    for (String form : new String[] {"thPercentileLatency(us)", "PercentileLatency(us)"}) {
      Double value = metrics.get(percentile + form);
      if (value != null) {
        return value;
      }
    }
    return null;
  }

  private long count(String operation) {
    Map<String, Double> found = metrics.get(operation);
    if (found == null) {
      found = metrics.getOrDefault(INTENDED + operation, Map.of());
    }
    return found.getOrDefault("Operations", 0.0).longValue();
  }
}
