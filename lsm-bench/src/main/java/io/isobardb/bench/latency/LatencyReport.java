package io.isobardb.bench.latency;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.TextTable;
import io.isobardb.lsm.observe.StallReason;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * Runs of one load as text and as JSON. Immutable.
 *
 * @param virtual whether in virtual time
 */
record LatencyReport(LatencySpec spec, boolean virtual, List<Outcome> outcomes) {
  private static final double MILLI = 1e6;

  /** What is shown of jobs begins so many seconds before the worst one, and ends so many after. */
  private static final int AROUND_SECONDS = 3;

  private static final int MOST_JOBS = 20;
  private static final double LEAST_TOLD_SECONDS = 0.05;

  LatencyReport {
    outcomes = List.copyOf(outcomes);
  }

  /** Milliseconds of a percentile. */
  static double millis(Histogram histogram, double percentile) {
    return histogram.getValueAtPercentile(percentile) / MILLI;
  }

  /** The largest 99th percentile of a second, in milliseconds, and that second; NaN and -1. */
  static double worstP99(Outcome outcome, Kind kind) {
    int second = outcome.latencies().worstSecond(each -> each == kind);
    return second < 0 ? Double.NaN : outcome.latencies().p99BySecond(kind)[second] / MILLI;
  }

  /** The kinds of which there was a request. */
  static List<Kind> kinds(Outcome outcome) {
    List<Kind> found = new ArrayList<>();
    for (Kind kind : Kind.values()) {
      if (outcome.latencies().of(kind).getTotalCount() > 0) {
        found.add(kind);
      }
    }
    return found;
  }

  /** A row for each engine and kind of request. */
  TextTable latencies() {
    TextTable table =
        new TextTable(
            "engine, request",
            "count",
            "p50 [ms]",
            "p99",
            "p99.9",
            "longest",
            "worst second's p99",
            "in second");
    for (Outcome outcome : outcomes) {
      for (Kind kind : kinds(outcome)) {
        Histogram all = outcome.latencies().of(kind);
        table.row(
            outcome.engine() + ", " + kind.label(),
            String.format(Locale.ROOT, "%,d", all.getTotalCount()),
            number(millis(all, 50)),
            number(millis(all, 99)),
            number(millis(all, 99.9)),
            number(all.getMaxValue() / MILLI),
            number(worstP99(outcome, kind)),
            Integer.toString(outcome.latencies().worstSecond(each -> each == kind)));
      }
    }
    return table;
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%,.3f", value);
  }

  /** A line for each engine. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (Outcome outcome : outcomes) {
      StringBuilder line = new StringBuilder(outcome.engine());
      line.append(
          String.format(
              Locale.ROOT,
              ": %s in %.1f s, %,.0f a second",
              Numbers.count(outcome.latencies().requests(), "request"),
              outcome.seconds(),
              outcome.servedRate()));
      if (outcome.rate() > 0) {
        line.append(
            String.format(
                Locale.ROOT, "; sent at %,.0f, 95 %% of what can be sustained", outcome.rate()));
      }
      if (outcome.quietSeconds() - outcome.seconds() >= LEAST_TOLD_SECONDS) {
        line.append(
            String.format(
                Locale.ROOT,
                "; flushes and merges were done %.1f s later",
                outcome.quietSeconds() - outcome.seconds()));
      }
      if (!outcome.samples().isEmpty()) {
        line.append(work(outcome));
      }
      lines.add(line.append('.').toString());
    }
    return lines;
  }

  private static String work(Outcome outcome) {
    Sample first = outcome.samples().get(0);
    Sample last = outcome.samples().get(outcome.samples().size() - 1);
    return String.format(
            Locale.ROOT,
            "; written %s by the log, %s by flushes, %s by merges; writers waited %,.0f ms in all%s",
            ByteSize.format(last.logBytes() - first.logBytes()),
            ByteSize.format(last.flushBytes() - first.flushBytes()),
            ByteSize.format(last.mergeWrittenBytes() - first.mergeWrittenBytes()),
            last.stalledMillis() - first.stalledMillis(),
            stalls(first, last))
        + (isDecided(outcome) ? "" : "; not decided: " + deepMerges(first, last));
  }

  private static String deepMerges(Sample first, Sample last) {
    return "merges below L0 wrote "
        + ByteSize.format(last.deepWrittenBytes() - first.deepWrittenBytes());
  }

  /**
   * Whether the load shows what deep merges do to requests: merges below L0 wrote at least half as
   * much as flushes, if there were any.
   */
  static boolean isDecided(Outcome outcome) {
    if (outcome.samples().isEmpty()) {
      return true;
    }
    Sample first = outcome.samples().get(0);
    Sample last = outcome.samples().get(outcome.samples().size() - 1);
    long flushed = last.flushBytes() - first.flushBytes();
    return last.deepWrittenBytes() - first.deepWrittenBytes() >= flushed / 2;
  }

  private static String stalls(Sample first, Sample last) {
    List<String> words = new ArrayList<>();
    for (StallReason reason : StallReason.values()) {
      double millis =
          last.stallMillis().getOrDefault(reason, 0.0)
              - first.stallMillis().getOrDefault(reason, 0.0);
      if (millis > 0) {
        words.add(String.format(Locale.ROOT, "%s %,.0f", reason, millis));
      }
    }
    return words.isEmpty() ? "" : " (" + String.join(", ", words) + ")";
  }

  /** What ran around an engine's worst second; the longest of it, in the order of beginning. */
  static List<JobSpan> jobsAround(Outcome outcome, int second) {
    return outcome.jobs().stream()
        .filter(job -> job.beginSeconds() < second + 1 + AROUND_SECONDS)
        .filter(job -> job.endSeconds() > second - AROUND_SECONDS)
        .sorted((a, b) -> Long.compare(b.bytes(), a.bytes()))
        .limit(MOST_JOBS)
        .sorted((a, b) -> Double.compare(a.beginSeconds(), b.beginSeconds()))
        .toList();
  }

  /** The worst second of any request. */
  static int worstSecond(Outcome outcome) {
    return outcome.latencies().worstSecond(kind -> true);
  }

  /** The jobs around the worst second. */
  static TextTable jobs(Outcome outcome) {
    TextTable table = new TextTable("job", "from [s]", "to [s]", "written");
    for (JobSpan job : jobsAround(outcome, worstSecond(outcome))) {
      table.row(
          job.name(),
          String.format(Locale.ROOT, "%.3f", job.beginSeconds()),
          String.format(Locale.ROOT, "%.3f", job.endSeconds()),
          ByteSize.format(job.bytes()));
    }
    return table;
  }

  /** How it was measured, in words. */
  String clock() {
    if (virtual) {
      return "virtual time: "
          + Numbers.count(spec.machine().processors(), "processor")
          + ", equal seeds give equal figures on any machine";
    }
    return "real clock: figures depend on the machine and on what else it does";
  }

  /** Bandwidths of the device, in words. */
  String device() {
    LatencySpec.Machine machine = spec.machine();
    if (!machine.isDeviceLimited()) {
      return virtual ? "unlimited" : "the machine's own";
    }
    String total =
        machine.deviceBytes() == Long.MAX_VALUE
            ? ""
            : ByteSize.format(machine.deviceBytes()) + " a second, reads and writes together";
    String writes =
        machine.deviceWriteBytes() == Long.MAX_VALUE
            ? ""
            : ByteSize.format(machine.deviceWriteBytes()) + " of writes a second";
    String sync = String.format(Locale.ROOT, ", %.2f ms for a sync", machine.syncNanos() / 1e6);
    return total + (total.isEmpty() || writes.isEmpty() ? "" : ", ") + writes + sync;
  }

  /** All of it for a terminal. */
  String text() {
    StringBuilder out = new StringBuilder();
    out.append("clock: ").append(clock()).append("\ndevice: ").append(device()).append("\n\n");
    lines().forEach(line -> out.append(line).append('\n'));
    for (Outcome outcome : outcomes) {
      for (String fact : List.of(ReplayFacts.RECORDED, ReplayFacts.REPLAYED)) {
        if (outcome.facts().containsKey(fact)) {
          out.append(fact).append(": ").append(outcome.facts().get(fact)).append('\n');
        }
      }
    }
    out.append('\n').append(latencies());
    for (Outcome outcome : outcomes) {
      int second = worstSecond(outcome);
      if (second >= 0 && !jobsAround(outcome, second).isEmpty()) {
        out.append("\nflushes and merges around second ").append(second).append(" of ");
        out.append(outcome.engine()).append("\n\n").append(jobs(outcome));
      }
    }
    return out.toString();
  }

  /** All of it for programs. Latencies in nanoseconds. */
  Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("clock", virtual ? "virtual" : "real");
    map.put("device", device());
    map.put("seed", spec.seed());
    List<Object> engines = new ArrayList<>();
    outcomes.forEach(outcome -> engines.add(toMap(outcome)));
    map.put("engines", engines);
    return map;
  }

  private static Map<String, Object> toMap(Outcome outcome) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("engine", outcome.engine());
    map.put("seconds", outcome.seconds());
    map.put("quietSeconds", outcome.quietSeconds());
    map.put("requests", outcome.latencies().requests());
    map.put("servedPerSecond", outcome.servedRate());
    if (outcome.rate() > 0) {
      map.put("sentPerSecond", outcome.rate());
    }
    map.put("decided", isDecided(outcome));
    map.put("donePerSecond", outcome.latencies().doneBySecond());
    Map<String, Object> kinds = new LinkedHashMap<>();
    for (Kind kind : kinds(outcome)) {
      Histogram all = outcome.latencies().of(kind);
      Map<String, Object> each = new LinkedHashMap<>();
      each.put("count", all.getTotalCount());
      each.put("p50", all.getValueAtPercentile(50));
      each.put("p99", all.getValueAtPercentile(99));
      each.put("p999", all.getValueAtPercentile(99.9));
      each.put("longest", all.getMaxValue());
      each.put("worstSecond", outcome.latencies().worstSecond(other -> other == kind));
      List<Object> p99 = new ArrayList<>();
      for (double value : outcome.latencies().p99BySecond(kind)) {
        p99.add(Double.isNaN(value) ? "" : (Object) (long) value);
      }
      each.put("p99PerSecond", p99);
      kinds.put(kind.label(), each);
    }
    map.put("latencies", kinds);
    map.put("samples", outcome.samples());
    map.put("jobs", outcome.jobs());
    map.put("facts", outcome.facts());
    return map;
  }
}
