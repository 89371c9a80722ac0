package io.isobardb.bench.latency;

import io.isobardb.bench.latency.Requests.Content;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.report.Chart;
import io.isobardb.cli.report.Chart.Series;
import io.isobardb.cli.report.Page;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Runs of one load as a page to look at. */
final class LatencyPage {
  private static final double MEGABYTE = 1 << 20;
  private static final double MILLI = 1e6;
  private static final String TIME = "time [s]";

  /** What is drawn around the worst second, and how finely. */
  private static final int AROUND_SECONDS = 5;

  private static final double STEP_SECONDS = 0.1;

  private final LatencyReport report;
  private final Map<String, String> facts;

  /** {@code facts} say by which command and where. */
  LatencyPage(LatencyReport report, Map<String, String> facts) {
    this.report = report;
    this.facts = facts;
  }

  Page page() {
    List<String> lead = new ArrayList<>(worst());
    lead.addAll(report.lines());
    if (report.outcomes().stream().anyMatch(outcome -> outcome.engine().startsWith("rocksdb"))
        && report.spec().machine().isDeviceLimited()) {
      lead.add(
          "RocksDB's own limiter stands in for the device: it slows down flushes and merges, not"
              + " reads and not the log.");
    }
    List<Chart> charts = new ArrayList<>();
    charts.add(throughput());
    for (Kind kind : Kind.values()) {
      if (report.outcomes().stream().anyMatch(each -> LatencyReport.kinds(each).contains(kind))) {
        charts.add(p99(kind));
      }
    }
    report.outcomes().stream()
        .filter(outcome -> outcome.samples().size() > 1)
        .forEach(outcome -> charts.addAll(inside(outcome)));
    Page page =
        new Page("Latencies").lead(lead).charts(charts).heading("Latencies in milliseconds");
    page.paragraph("From when a request was due until it was done.").table(report.latencies());
    for (Outcome outcome : report.outcomes()) {
      if (!outcome.jobs().isEmpty() && LatencyReport.worstSecond(outcome) >= 0) {
        page.folded(
            "Flushes and merges around the worst second of " + outcome.engine(),
            LatencyReport.jobs(outcome));
      }
    }
    return page.heading("How").facts(allFacts());
  }

  private List<String> worst() {
    List<String> lines = new ArrayList<>();
    for (Outcome outcome : report.outcomes()) {
      List<String> parts = new ArrayList<>();
      for (Kind kind : LatencyReport.kinds(outcome)) {
        parts.add(
            String.format(
                Locale.ROOT,
                "%s %s ms",
                kind.label(),
                Numbers.significant(LatencyReport.worstP99(outcome, kind))));
      }
      lines.add(outcome.engine() + ", p99 of the worst second: " + String.join(", ", parts) + ".");
    }
    return lines;
  }

  private Map<String, String> allFacts() {
    Content content = report.spec().content();
    Map<String, String> all = new LinkedHashMap<>(facts);
    all.put("clock", report.clock());
    all.put("device", report.device());
    all.put(
        "requests",
        content.mix()
            + " % writes, reads, scans, reads with a write; "
            + content.records()
            + " records; values of "
            + content.valueBytes().least()
            + " to "
            + content.valueBytes().most()
            + " bytes, median "
            + content.valueBytes().median()
            + (content.zipf() ? "; Zipfian keys" : "; uniform keys")
            + (content.batch() > 0 ? "; synced batches of " + content.batch() : ""));
    all.put("clients", Integer.toString(report.spec().machine().clients()));
    report
        .outcomes()
        .forEach(
            outcome ->
                outcome
                    .facts()
                    .forEach((name, value) -> all.put(outcome.engine() + ", " + name, value)));
    return all;
  }

  /** By whole seconds: what is left at the end would look like a fall. */
  private Chart throughput() {
    List<Series> series = new ArrayList<>();
    for (Outcome outcome : report.outcomes()) {
      List<Double> done =
          outcome.latencies().doneBySecond().stream()
              .limit(Math.max(1, (long) outcome.seconds()))
              .map(Long::doubleValue)
              .toList();
      series.add(new Series(outcome.engine(), seconds(done.size()), done));
    }
    return Chart.lines("Requests done", TIME, "[1/s]", series);
  }

  private Chart p99(Kind kind) {
    List<Series> series = new ArrayList<>();
    for (Outcome outcome : report.outcomes()) {
      List<Double> values = new ArrayList<>();
      for (double value : outcome.latencies().p99BySecond(kind)) {
        values.add(value / MILLI);
      }
      series.add(new Series(outcome.engine(), seconds(values.size()), values));
    }
    return Chart.lines("p99 of each second: " + kind.label(), TIME, "[ms]", series);
  }

  private static List<Double> seconds(int count) {
    List<Double> seconds = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      seconds.add((double) i);
    }
    return seconds;
  }

  private static List<Chart> inside(Outcome outcome) {
    String of = ", " + outcome.engine();
    List<Sample> samples = outcome.samples();
    List<Chart> charts = new ArrayList<>();
    charts.add(
        Chart.lines(
            "I/O by purpose" + of,
            TIME,
            "[MB/s]",
            List.of(
                rate("log", samples, each -> each.logBytes() / MEGABYTE),
                rate("flushes", samples, each -> each.flushBytes() / MEGABYTE),
                rate("merges, written", samples, each -> each.mergeWrittenBytes() / MEGABYTE),
                rate("merges, read", samples, each -> each.mergeReadBytes() / MEGABYTE))));
    charts.add(Chart.lines("Bytes per level" + of, TIME, "[MB]", levels(samples)));
    charts.add(
        Chart.lines(
            "Stalls" + of,
            TIME,
            "writers waited [ms/s]",
            List.of(rate("all writers", samples, Sample::stalledMillis))));
    charts.add(
        Chart.lines(
            "Waiting for merges, and write memory" + of,
            TIME,
            "[MB]",
            List.of(
                value("waiting for merges", samples, each -> each.debtBytes() / MEGABYTE),
                value("to be written for it", samples, each -> each.chainBytes() / MEGABYTE),
                value("write memory", samples, each -> each.memoryBytes() / MEGABYTE))));
    if (!outcome.jobs().isEmpty() && LatencyReport.worstSecond(outcome) >= 0) {
      charts.add(jobs(outcome));
    }
    return charts;
  }

  private static List<Series> levels(List<Sample> samples) {
    int most = samples.stream().mapToInt(each -> each.levelBytes().size()).max().orElse(0);
    List<Series> series = new ArrayList<>();
    for (int i = 0; i < most; i++) {
      int level = i;
      series.add(
          value(
              "L" + level,
              samples,
              each ->
                  level < each.levelBytes().size()
                      ? each.levelBytes().get(level) / MEGABYTE
                      : Double.NaN));
    }
    return series;
  }

  /** By how much a sum grows, per second. */
  private static Series rate(String name, List<Sample> samples, ToDoubleFunction<Sample> sum) {
    List<Double> x = new ArrayList<>();
    List<Double> y = new ArrayList<>();
    for (int i = 1; i < samples.size(); i++) {
      Sample before = samples.get(i - 1);
      Sample now = samples.get(i);
      double seconds = now.seconds() - before.seconds();
      if (seconds > 0) {
        x.add(before.seconds());
        y.add((sum.applyAsDouble(now) - sum.applyAsDouble(before)) / seconds);
      }
    }
    return new Series(name, x, y);
  }

  private static Series value(String name, List<Sample> samples, ToDoubleFunction<Sample> value) {
    List<Double> x = new ArrayList<>();
    List<Double> y = new ArrayList<>();
    for (Sample sample : samples) {
      if (x.isEmpty() || sample.seconds() > x.get(x.size() - 1)) {
        x.add(sample.seconds());
        y.add(value.applyAsDouble(sample));
      }
    }
    return new Series(name, x, y);
  }

  /** How many flushes and merges ran at a time, around the worst second. */
  private static Chart jobs(Outcome outcome) {
    int worst = LatencyReport.worstSecond(outcome);
    List<Series> series = new ArrayList<>();
    for (String name : JobWatch.NAMES) {
      List<Double> x = new ArrayList<>();
      List<Double> y = new ArrayList<>();
      for (double at = Math.max(0, worst - AROUND_SECONDS);
          at < worst + 1 + AROUND_SECONDS;
          at += STEP_SECONDS) {
        double begin = at;
        x.add(at);
        y.add(
            (double)
                outcome.jobs().stream()
                    .filter(job -> job.name().equals(name))
                    .filter(job -> job.beginSeconds() < begin + STEP_SECONDS)
                    .filter(job -> job.endSeconds() > begin)
                    .count());
      }
      series.add(new Series(name, x, y));
    }
    return Chart.lines(
        "Jobs around the worst second (" + worst + "), " + outcome.engine(),
        TIME,
        "running",
        series);
  }
}
