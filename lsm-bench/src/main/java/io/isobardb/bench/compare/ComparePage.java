package io.isobardb.bench.compare;

import io.isobardb.bench.engine.EngineKind;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.TextTable;
import io.isobardb.cli.report.Chart;
import io.isobardb.cli.report.Chart.Series;
import io.isobardb.cli.report.Page;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleBiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A comparison as a page to look at, and as tables for a document. Immutable. */
final class ComparePage {
  private static final double MEGABYTE = 1 << 20;

  /** Ratios closer to 1 are no difference. */
  private static final double NOISE = 0.05;

  private final CompareReport report;
  private final Map<String, String> facts;
  private final List<EngineKind> engines;
  private final EngineKind first;
  private final EngineKind baseline;

  /** {@code facts} say by which command and on which machine it was measured. */
  ComparePage(CompareReport report, Map<String, String> facts) {
    this.report = report;
    this.facts = facts;
    engines = report.engines();
    first = engines.get(0);
    baseline = report.baseline();
  }

  Page page() {
    Map<String, String> all = new LinkedHashMap<>(facts);
    engines.forEach(
        engine ->
            all.put(
                "an acknowledged write, " + engine.label(),
                engine.survival(report.syncWrites()).words()));
    return new Page(first.label() + " compared")
        .lead(lead())
        .charts(charts())
        .heading("Thousands of operations a second")
        .paragraph("In brackets microseconds of processor time per operation, merges included.")
        .table(throughputs())
        .heading("Of the same runs")
        .table(others())
        .heading("How")
        .facts(all);
  }

  /** What the table prints that documents have, and the picture. */
  String markdown(String picture) {
    StringBuilder out = new StringBuilder("    ./" + facts.get("command") + "\n\n");
    lead().forEach(line -> out.append("- ").append(line).append('\n'));
    out.append(
        "\nThousands of operations a second, and in brackets microseconds of processor time");
    out.append(" per operation,\nmerges included; medians.\n\n");
    facts.forEach(
        (name, value) ->
            out.append(name.equals("command") ? "" : "- " + name + ": " + value + "\n"));
    out.append('\n').append(throughputs().markdown()).append('\n').append(others().markdown());
    out.append("\n![Ratios, processor time, latency, memory](").append(picture).append(")\n\n");
    for (EngineKind engine : engines) {
      out.append("- An acknowledged write, ").append(engine.label()).append(": ");
      out.append(engine.survival(report.syncWrites()).words()).append('\n');
    }
    return out.toString();
  }

  /** What there is to conclude. */
  List<String> lead() {
    List<String> lead = new ArrayList<>();
    List<String> tooShort = report.tooShort();
    List<String> brief =
        report.phases().stream()
            .filter(phase -> tooShort.contains(phase.label()))
            .map(Phase::words)
            .toList();
    List<Phase> measured =
        report.phases().stream().filter(phase -> !tooShort.contains(phase.label())).toList();
    if (measured.isEmpty()) {
      return List.of("Nothing was measured: every phase was over within a second.");
    }
    for (EngineKind other : engines) {
      if (other != first) {
        lead.add(against(other, measured));
      }
    }
    lead.add(
        "Resident memory at most: "
            + engines.stream().map(this::memory).collect(Collectors.joining(", "))
            + ".");
    if (!tooShort.isEmpty()) {
      lead.add(
          "Measured for less than a second, and left out above: " + String.join("; ", brief) + ".");
    }
    return lead;
  }

  private String against(EngineKind other, List<Phase> measured) {
    double[] ratios =
        measured.stream()
            .mapToDouble(phase -> report.ratio(first, phase) / report.ratio(other, phase))
            .sorted()
            .toArray();
    List<String> behind =
        measured.stream()
            .filter(phase -> report.ratio(first, phase) / report.ratio(other, phase) < 1 - NOISE)
            .map(Phase::words)
            .toList();
    return String.format(
        Locale.ROOT,
        "%s does %.2f to %.2f times as many operations a second as %s%s.",
        first.label(),
        ratios[0],
        ratios[ratios.length - 1],
        other.label(),
        behind.isEmpty() ? "" : ", and is behind in: " + String.join("; ", behind));
  }

  private String memory(EngineKind engine) {
    double bytes = report.peak(engine, "residentBytes");
    return engine.label() + " " + (bytes < 0 ? "unknown" : ByteSize.format(bytes));
  }

  List<Chart> charts() {
    Map<String, Double> resident = new LinkedHashMap<>();
    Map<String, Double> space = new LinkedHashMap<>();
    for (EngineKind engine : engines) {
      resident.put(engine.label(), known(report.peak(engine, "residentBytes")) / MEGABYTE);
      space.put(engine.label(), known(report.peak(engine, "spaceBytes")) / MEGABYTE);
    }
    List<Chart> charts = new ArrayList<>();
    if (engines.size() > 1) {
      charts.add(
          bars("Operations a second", "times those of " + baseline.label(), report::ratio)
              .comparedWith(1));
    }
    charts.add(figures("Processor time, merges included", "[us/operation]", "cpuWithSettleMicros"));
    charts.add(figures("The slowest thousandth (p99.9)", "[us]", "p999Micros"));
    charts.add(Chart.bars("Resident memory at most", "[MB]", resident));
    charts.add(Chart.bars("Space on the device at most", "[MB]", space));
    return charts;
  }

  private Chart figures(String title, String unit, String figure) {
    return bars(title, unit, (engine, phase) -> report.median(engine, phase, figure))
        .on(Chart.Scale.BY_GROUP);
  }

  private Chart bars(String title, String unit, ToDoubleBiFunction<EngineKind, Phase> figure) {
    List<Series> series = new ArrayList<>();
    for (EngineKind engine : engines) {
      List<Double> x = new ArrayList<>();
      List<Double> y = new ArrayList<>();
      for (Phase phase : report.phases()) {
        x.add((double) x.size());
        y.add(known(figure.applyAsDouble(engine, phase)));
      }
      series.add(new Series(engine.label(), x, y));
    }
    return Chart.bars(title, unit, report.phases().stream().map(Phase::words).toList(), series);
  }

  private static double known(double value) {
    return value < 0 ? Double.NaN : value;
  }

  private TextTable throughputs() {
    boolean ratios = first != baseline;
    List<String> header = new ArrayList<>(List.of("phase"));
    engines.forEach(engine -> header.add(engine.label()));
    if (ratios) {
      header.add(first.label() + " to " + baseline.label());
    }
    TextTable table = new TextTable(header.toArray(String[]::new));
    for (Phase phase : report.phases()) {
      List<String> cells = new ArrayList<>(List.of(phase.words()));
      for (EngineKind engine : engines) {
        double cpu = report.median(engine, phase, "cpuWithSettleMicros");
        cells.add(
            Numbers.significant(known(report.median(engine, phase, "throughput")) / 1e3)
                + String.format(Locale.ROOT, " (%.1f)", cpu));
      }
      if (ratios) {
        cells.add(String.format(Locale.ROOT, "%.1f", report.ratio(first, phase)));
      }
      table.row(cells.toArray(String[]::new));
    }
    return table;
  }

  private TextTable others() {
    TextTable table =
        new TextTable(
            ("of the same run;"
                    + engines.stream().map(EngineKind::label).collect(Collectors.joining(";")))
                .split(";"));
    for (Phase phase : report.phases()) {
      if (phase.writes()) {
        row(table, "bytes written, " + phase.words(), phase, "writtenBytes", 1);
      }
    }
    for (Phase phase : report.phases()) {
      latencies(table, phase);
    }
    Phase last = report.phases().get(report.phases().size() - 1);
    row(table, "space at the end [MB]", last, "spaceBytes", MEGABYTE);
    row(table, "peak resident memory [MB]", last, "residentBytes", MEGABYTE);
    row(table, "memory by its own account [MB]", last, "engineBytes", MEGABYTE);
    return table;
  }

  private void latencies(TextTable table, Phase phase) {
    List<String> cells = new ArrayList<>(List.of("p50, p99, p99.9, " + phase.words() + " [us]"));
    for (EngineKind engine : engines) {
      cells.add(
          Stream.of("p50Micros", "p99Micros", "p999Micros")
              .map(figure -> Numbers.significant(known(report.median(engine, phase, figure))))
              .collect(Collectors.joining(", ")));
    }
    table.row(cells.toArray(String[]::new));
  }

  private void row(TextTable table, String name, Phase phase, String figure, double unit) {
    List<String> cells = new ArrayList<>(List.of(name));
    for (EngineKind engine : engines) {
      cells.add(Numbers.significant(known(report.median(engine, phase, figure)) / unit));
    }
    table.row(cells.toArray(String[]::new));
  }
}
