package io.isobardb.bench.model;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.TextTable;
import io.isobardb.tuner.model.WriteCost;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Estimates of one workload, side by side. Not thread-safe. */
final class ModelReport {
  /**
   * One column.
   *
   * @param pagesPerRead NaN if it is not known
   * @param levelEntries sizes of the levels, empty for designs without
   */
  private record Estimate(
      String name, WriteCost cost, double pagesPerRead, double[] levelEntries) {}

  private final String workload;
  private final long entryBytes;
  private final List<Estimate> estimates = new ArrayList<>();

  /** Different keys by writes. */
  private final Map<Double, Double> unique = new LinkedHashMap<>();

  ModelReport(String workload, long entryBytes) {
    this.workload = workload;
    this.entryBytes = entryBytes;
  }

  void add(String name, WriteCost cost, double... levelEntries) {
    addWithReads(name, cost, Double.NaN, levelEntries);
  }

  void addWithReads(String name, WriteCost cost, double pagesPerRead, double... levelEntries) {
    estimates.add(new Estimate(name, cost, pagesPerRead, levelEntries));
  }

  void addUnique(double writes, double keys) {
    unique.put(writes, keys);
  }

  String text() {
    StringBuilder out = new StringBuilder(workload).append('\n');
    unique.forEach(
        (writes, keys) ->
            out.append(
                String.format(
                    Locale.ROOT, "%,.0f writes have %,.0f different keys\n", writes, keys)));
    out.append("bytes written per byte put:\n\n");
    String[] header = new String[estimates.size() + 1];
    header[0] = "by";
    for (int i = 0; i < estimates.size(); i++) {
      header[i + 1] = estimates.get(i).name;
    }
    TextTable table = new TextTable(header);
    row(table, "the log", estimate -> estimate.cost.log());
    row(table, "flushes", estimate -> estimate.cost.flush());
    if (estimates.stream().anyMatch(estimate -> estimate.cost.withinL0() > 0)) {
      row(table, "merges within level 0", estimate -> estimate.cost.withinL0());
    }
    int levels = estimates.stream().mapToInt(e -> e.cost.levels().length).max().orElse(0);
    for (int l = 0; l < levels; l++) {
      int level = l;
      row(
          table,
          "merges into level " + (l + 1),
          estimate -> {
            double[] parts = estimate.cost.levels();
            return level < parts.length ? parts[level] : Double.NaN;
          });
    }
    row(table, "all", estimate -> estimate.cost.total());
    out.append(table);
    if (estimates.stream().anyMatch(estimate -> !Double.isNaN(estimate.pagesPerRead))) {
      TextTable reads = new TextTable(header);
      row(reads, "pages per read, no cache", estimate -> estimate.pagesPerRead);
      out.append('\n').append(reads);
    }
    for (Estimate estimate : estimates) {
      if (estimate.levelEntries.length > 0) {
        out.append("\nlevels, ").append(estimate.name).append(": ").append(sizes(estimate));
      }
    }
    return out.append('\n').toString();
  }

  private void row(TextTable table, String name, ToDoubleFunction<Estimate> part) {
    String[] cells = new String[estimates.size() + 1];
    cells[0] = name;
    for (int i = 0; i < estimates.size(); i++) {
      double value = part.applyAsDouble(estimates.get(i));
      cells[i + 1] = Double.isNaN(value) ? "" : String.format(Locale.ROOT, "%.2f", value);
    }
    table.row(cells);
  }

  private String sizes(Estimate estimate) {
    List<String> sizes = new ArrayList<>();
    for (double entries : estimate.levelEntries) {
      sizes.add(ByteSize.format(entries * entryBytes));
    }
    return String.join(", ", sizes);
  }

  String json() throws IOException {
    List<Map<String, Object>> list = new ArrayList<>();
    for (Estimate estimate : estimates) {
      Map<String, Object> map = new LinkedHashMap<>();
      map.put("name", estimate.name);
      map.put("total", estimate.cost.total());
      map.put("log", estimate.cost.log());
      map.put("flush", estimate.cost.flush());
      map.put("withinL0", estimate.cost.withinL0());
      map.put("levels", estimate.cost.levels());
      if (!Double.isNaN(estimate.pagesPerRead)) {
        map.put("pagesPerRead", estimate.pagesPerRead);
      }
      map.put("levelEntries", estimate.levelEntries);
      list.add(map);
    }
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("workload", workload);
    report.put("entryBytes", entryBytes);
    if (!unique.isEmpty()) {
      List<Map<String, Double>> counts = new ArrayList<>();
      unique.forEach((writes, keys) -> counts.add(Map.of("writes", writes, "keys", keys)));
      report.put("unique", counts);
    }
    report.put("estimates", list);
    return JSON.std.asString(report) + "\n";
  }
}
