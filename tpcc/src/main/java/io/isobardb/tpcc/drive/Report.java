package io.isobardb.tpcc.drive;

import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.store.StoreSpec;
import io.isobardb.tpcc.work.Kind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** A run as text for people and as plain maps for programs. */
public final class Report {
  private final StoreSpec store;
  private final RunSpec run;
  private final Scale scale;
  private final RunResult result;
  private final String configuration;
  private final List<Rule> rules;

  /** The report on {@code result}; {@code configuration} says how the engine was set. */
  public Report(StoreSpec store, RunSpec run, Scale scale, RunResult result, String configuration) {
    this.store = store;
    this.run = run;
    this.scale = scale;
    this.result = result;
    this.configuration = configuration;
    rules = Rules.of(result, run, scale);
  }

  /** Whether all rules were kept. */
  public boolean holds() {
    return rules.stream().allMatch(Rule::holds);
  }

  /** The report as text. */
  public String text() {
    StringBuilder text = new StringBuilder();
    line(text, "TPC-C-derived load: not audited, not comparable with published TPC-C results");
    line(text, "%s", configuration);
    line(
        text,
        "%d warehouses%s, %d terminals %s, %s %s, commits %s, %d MB, deliveries search from %s, seed %d",
        scale.warehouses(),
        scale.full()
            ? ""
            : " (scaled down: "
                + scale.items()
                + " items, "
                + scale.customers()
                + " customers per district)",
        run.threads(),
        run.waits() ? "with keying and think times" : "that never wait",
        store.locking().name().toLowerCase(Locale.ROOT),
        run.isolation().name().toLowerCase(Locale.ROOT).replace('_', ' '),
        store.syncCommits() ? "synced" : "synced in the background",
        store.memoryBytes() >> 20,
        run.deliveryHints() ? "the last one" : "the first key",
        run.seed());
    line(text, "an acknowledged commit: %s", store.survival().words());
    line(text, "");
    table(text);
    line(text, "");
    rules.forEach(rule -> line(text, "%s", rule));
    line(text, "");
    line(
        text,
        "%,.0f NewOrders per minute (%,.0f transactions per second) over %.1f s",
        result.newOrdersPerMinute(),
        result.transactionsPerSecond(),
        result.measuredNanos() / 1e9);
    if (result.usage().deviceBytesWritten() >= 0) {
      line(
          text,
          "%,.0f bytes written to devices per transaction, %,.0f with the merges left at the end:"
              + " %.2f times what transactions wrote",
          result.perTransaction(result.usage().deviceBytesWritten()),
          result.perTransaction(result.settledUsage().deviceBytesWritten()),
          result.writeAmplification());
    }
    if (result.usage().cpuNanos() >= 0) {
      line(
          text,
          "%,.0f us of processor time per transaction, %,.0f with the merges left at the end",
          result.perTransaction(result.usage().cpuNanos()) / 1e3,
          result.perTransaction(result.settledUsage().cpuNanos()) / 1e3);
    }
    return text.toString();
  }

  private void table(StringBuilder text) {
    line(
        text,
        "%-12s %10s %7s %9s %9s %9s %9s %9s %9s",
        "transaction",
        "done",
        "share",
        "mean ms",
        "p50 ms",
        "p90 ms",
        "p99 ms",
        "max ms",
        "retries");
    Tally tally = result.tally();
    for (Kind kind : Kind.values()) {
      row(text, kind.label(), tally.responses(kind), tally.retries(kind));
    }
    row(text, " executed", tally.deferred(), 0);
  }

  private void row(StringBuilder text, String name, Histogram times, long retries) {
    line(
        text,
        "%-12s %,10d %6.2f%% %9.3f %9.3f %9.3f %9.3f %9.1f %,9d",
        name,
        times.getTotalCount(),
        100.0 * times.getTotalCount() / Math.max(1, result.tally().done()),
        times.getMean() / 1e6,
        millis(times, 50),
        millis(times, 90),
        millis(times, 99),
        times.getMaxValue() / 1e6,
        retries);
  }

  private static double millis(Histogram times, double percentile) {
    return times.getValueAtPercentile(percentile) / 1e6;
  }

  private static void line(StringBuilder text, String format, Object... values) {
    text.append(String.format(Locale.ROOT, format, values)).append(System.lineSeparator());
  }

  /** The report as maps, lists, numbers and texts. */
  public Map<String, Object> toMap() {
    Tally tally = result.tally();
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("kind", "TPC-C-derived, not audited");
    map.put("engine", store.engine().label());
    map.put("configuration", configuration);
    map.put("warehouses", scale.warehouses());
    map.put("fullScale", scale.full());
    map.put("terminals", run.threads());
    map.put("waits", run.waits());
    map.put("deliveryHints", run.deliveryHints());
    map.put("isolation", run.isolation().name());
    map.put("locking", store.locking().name());
    map.put("syncCommits", store.syncCommits());
    map.put("survives", store.survival().toMap());
    map.put("memoryBytes", store.memoryBytes());
    map.put("seed", run.seed());
    map.put("seconds", result.measuredNanos() / 1e9);
    map.put("newOrdersPerMinute", result.newOrdersPerMinute());
    map.put("transactionsPerSecond", result.transactionsPerSecond());
    map.put("bytesPutPerTransaction", result.perTransaction(tally.bytesPut()));
    usage(map, "", result.usage());
    usage(map, "Settled", result.settledUsage());
    map.put("writeAmplification", result.writeAmplification());
    List<Object> transactions = new ArrayList<>();
    for (Kind kind : Kind.values()) {
      Map<String, Object> row = times(kind.label(), tally.responses(kind));
      row.put("retries", tally.retries(kind));
      row.put("givenUp", tally.givenUp(kind));
      transactions.add(row);
    }
    transactions.add(times("Delivery executed", tally.deferred()));
    map.put("transactions", transactions);
    List<Object> kept = new ArrayList<>();
    for (Rule rule : rules) {
      Map<String, Object> entry = new LinkedHashMap<>();
      entry.put("rule", rule.name());
      entry.put("value", rule.value());
      entry.put("limits", rule.limits());
      entry.put("holds", rule.holds());
      kept.add(entry);
    }
    map.put("rules", kept);
    map.put("holds", holds());
    return map;
  }

  private void usage(Map<String, Object> map, String suffix, Usage usage) {
    map.put(
        "deviceBytesPerTransaction" + suffix, result.perTransaction(usage.deviceBytesWritten()));
    map.put("cpuNanosPerTransaction" + suffix, result.perTransaction(usage.cpuNanos()));
  }

  private static Map<String, Object> times(String name, Histogram times) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("name", name);
    row.put("done", times.getTotalCount());
    row.put("meanMillis", times.getMean() / 1e6);
    row.put("p50Millis", millis(times, 50));
    row.put("p90Millis", millis(times, 90));
    row.put("p99Millis", millis(times, 99));
    row.put("maxMillis", times.getMaxValue() / 1e6);
    return row;
  }
}
