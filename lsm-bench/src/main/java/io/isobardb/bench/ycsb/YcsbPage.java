package io.isobardb.bench.ycsb;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.TextTable;
import io.isobardb.cli.report.Chart;
import io.isobardb.cli.report.Chart.Series;
import io.isobardb.cli.report.Page;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Runs of the YCSB client as a page to look at. */
final class YcsbPage {
  private YcsbPage() {}

  /** The runs by their names; {@code facts} say by which command and where. */
  static Page of(String engine, Map<String, YcsbRun> runs, Map<String, String> facts) {
    List<String> lead = new ArrayList<>();
    List<Chart> charts = new ArrayList<>();
    runs.forEach(
        (name, run) -> {
          lead.add(lead(name, run));
          run.problems().forEach(problem -> lead.add(name + " failed: " + problem + "."));
          charts.add(overTime(name, run));
          charts.add(latencies(name, run));
        });
    Page page = new Page("YCSB on " + engine).lead(lead).charts(charts);
    runs.forEach(
        (name, run) -> {
          page.heading("Latencies, " + name).table(run.latencies());
          TextTable counters = new TextTable("counter", "");
          run.counters().forEach(counters::row);
          page.folded("What process and engine counted, " + name, counters);
        });
    return page.heading("How").facts(facts);
  }

  private static String lead(String name, YcsbRun run) {
    return String.format(
        Locale.ROOT,
        "%s: %,.0f operations a second; %s put, %s written to the device, %s on it at the end,"
            + " resident memory at most %s.",
        name,
        run.output().throughput(),
        ByteSize.format(run.counter("putBytes")),
        ByteSize.format(run.counter("writtenBytes")),
        ByteSize.format(run.counter("spaceBytes")),
        ByteSize.format(run.counter("peakResidentBytes")));
  }

  private static Chart overTime(String name, YcsbRun run) {
    List<Double> seconds = new ArrayList<>(run.perSecond().keySet());
    Series series = new Series(name, seconds, new ArrayList<>(run.perSecond().values()));
    return Chart.lines("Throughput over time, " + name, "time [s]", "[op/s]", List.of(series));
  }

  /** Each operation's percentiles. */
  private static Chart latencies(String name, YcsbRun run) {
    Map<String, Map<String, Double>> measured = new LinkedHashMap<>();
    run.output()
        .metrics()
        .forEach(
            (operation, metrics) -> {
              if (YcsbRun.isTimed(operation, metrics)) {
                measured.put(operation, metrics);
              }
            });
    List<Series> series = new ArrayList<>();
    for (String percentile : List.of("50", "99", "99.9")) {
      List<Double> x = new ArrayList<>();
      List<Double> y = new ArrayList<>();
      for (Map<String, Double> metrics : measured.values()) {
        Double value = YcsbOutput.percentile(metrics, percentile);
        x.add((double) x.size());
        y.add(value == null ? Double.NaN : value);
      }
      series.add(new Series("p" + percentile, x, y));
    }
    return Chart.bars(
            "Latencies by operation, " + name, "[us]", List.copyOf(measured.keySet()), series)
        .on(Chart.Scale.LOGARITHMIC);
  }
}
