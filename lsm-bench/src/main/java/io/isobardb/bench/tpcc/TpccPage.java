package io.isobardb.bench.tpcc;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.TextTable;
import io.isobardb.cli.report.Chart;
import io.isobardb.cli.report.Chart.Series;
import io.isobardb.cli.report.Page;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A run of the TPC-C-derived load as a page to look at, and as tables for a document. Immutable.
 */
final class TpccPage {
  private final Map<String, Object> results;
  private final Map<?, ?> report;
  private final Map<Double, Double> perSecond;
  private final double residentBytes;
  private final Map<String, String> facts;

  /**
   * A page.
   *
   * @param results the report, and the conditions that were checked
   * @param perSecond NewOrders per minute, by the seconds since the ramp-up began
   * @param residentBytes the most that was resident
   * @param facts by which command it was measured, and where
   */
  TpccPage(
      Map<String, Object> results,
      Map<Double, Double> perSecond,
      double residentBytes,
      Map<String, String> facts) {
    this.results = results;
    this.report = (Map<?, ?>) results.get("report");
    this.perSecond = perSecond;
    this.residentBytes = residentBytes;
    this.facts = facts;
  }

  Page page() {
    TextTable rules = new TextTable("rule", "found", "allowed", "");
    for (Map<?, ?> rule : maps("rules")) {
      rules.row(
          String.valueOf(rule.get("rule")),
          String.valueOf(rule.get("value")),
          String.valueOf(rule.get("limits")).strip(),
          (Boolean) rule.get("holds") ? "kept" : "BROKEN");
    }
    Page page =
        new Page("TPC-C-derived load on " + report.get("engine"))
            .lead(lead())
            .charts(charts())
            .heading("Transactions")
            .table(transactions())
            .heading("Rules of a valid run")
            .table(rules);
    results.forEach(
        (name, violations) -> {
          if (name.startsWith("consistency")) {
            page.heading("Violations, " + name).table(violations((Map<?, ?>) violations));
          }
        });
    return page.heading("How")
        .facts(facts)
        .facts(Map.of("configuration", String.valueOf(report.get("configuration"))));
  }

  /** The run's figures for a document, with the picture. */
  String markdown(String picture) {
    StringBuilder out = new StringBuilder("    ./" + facts.get("command") + "\n\n");
    facts.forEach(
        (name, value) ->
            out.append(name.equals("command") ? "" : "- " + name + ": " + value + "\n"));
    TextTable table = new TextTable("", String.valueOf(report.get("engine")));
    table.row("NewOrders a minute", figure("newOrdersPerMinute", 1));
    table.row("transactions a second", figure("transactionsPerSecond", 1));
    table.row(
        "processor time per transaction, merges included [us]",
        figure("cpuNanosPerTransactionSettled", 1e3));
    table.row(
        "bytes written per transaction, merges included",
        figure("deviceBytesPerTransactionSettled", 1));
    table.row("write amplification", figure("writeAmplification", 1));
    table.row("peak resident memory [MB]", Numbers.significant(residentBytes / (1 << 20)));
    out.append('\n').append(table.markdown()).append('\n').append(transactions().markdown());
    return out.append("\n![NewOrders over time, response times](")
        .append(picture)
        .append(")\n")
        .toString();
  }

  private List<String> lead() {
    List<String> broken =
        maps("rules").stream()
            .filter(rule -> !(Boolean) rule.get("holds"))
            .map(rule -> String.valueOf(rule.get("rule")))
            .toList();
    List<String> lead = new ArrayList<>();
    lead.add(
        String.format(
            Locale.ROOT,
            "%s NewOrders a minute, %s transactions a second, over %s s.",
            figure("newOrdersPerMinute", 1),
            figure("transactionsPerSecond", 1),
            figure("seconds", 1)));
    lead.add(
        String.format(
            Locale.ROOT,
            "A transaction took %s us of processor time and wrote %s to the device, merges"
                + " included. Resident memory at most: %s.",
            figure("cpuNanosPerTransactionSettled", 1e3),
            ByteSize.format(number("deviceBytesPerTransactionSettled")),
            ByteSize.format(residentBytes)));
    lead.add(
        broken.isEmpty()
            ? "All rules of a valid run were kept."
            : "Broken rules: " + String.join("; ", broken) + ".");
    lead.add("Not audited, and not comparable with published TPC-C results.");
    return lead;
  }

  List<Chart> charts() {
    Series orders =
        new Series("NewOrders", List.copyOf(perSecond.keySet()), List.copyOf(perSecond.values()));
    List<String> names = new ArrayList<>();
    List<Series> series = new ArrayList<>();
    maps("transactions").forEach(each -> names.add(String.valueOf(each.get("name"))));
    for (String percentile : List.of("p50", "p90", "p99")) {
      List<Double> x = new ArrayList<>();
      List<Double> y = new ArrayList<>();
      for (Map<?, ?> each : maps("transactions")) {
        x.add((double) x.size());
        y.add(((Number) each.get(percentile + "Millis")).doubleValue());
      }
      series.add(new Series(percentile, x, y));
    }
    return List.of(
        Chart.lines(
            "NewOrders over time, ramp-up included", "time [s]", "[1/minute]", List.of(orders)),
        Chart.bars("Response times", "[ms]", names, series).on(Chart.Scale.LOGARITHMIC));
  }

  private TextTable transactions() {
    TextTable table = new TextTable("transaction", "done", "mean ms", "p50", "p90", "p99", "max");
    for (Map<?, ?> each : maps("transactions")) {
      table.row(
          String.valueOf(each.get("name")),
          String.format(Locale.ROOT, "%,d", ((Number) each.get("done")).longValue()),
          millis(each, "mean"),
          millis(each, "p50"),
          millis(each, "p90"),
          millis(each, "p99"),
          millis(each, "max"));
    }
    return table;
  }

  private static String millis(Map<?, ?> transaction, String what) {
    return Numbers.significant(((Number) transaction.get(what + "Millis")).doubleValue());
  }

  private static TextTable violations(Map<?, ?> counts) {
    TextTable table = new TextTable("condition", "violations");
    counts.forEach((condition, count) -> table.row(condition.toString(), count.toString()));
    return table;
  }

  private List<Map<?, ?>> maps(String name) {
    List<Map<?, ?>> maps = new ArrayList<>();
    ((List<?>) report.get(name)).forEach(each -> maps.add((Map<?, ?>) each));
    return maps;
  }

  private double number(String name) {
    return ((Number) report.get(name)).doubleValue();
  }

  private String figure(String name, double unit) {
    double value = number(name);
    return value < 0 ? "-" : Numbers.significant(value / unit);
  }
}
