package io.isobardb.bench.model;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.cli.console.TextTable;
import io.isobardb.tuner.model.RunPolicy;
import io.isobardb.tuner.model.RunsModel.Costs;
import io.isobardb.tuner.model.WriteCost;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What policies of runs per level cost under one workload, side by side. Not thread-safe. */
final class RunsReport {
  /** Scans that are told of if no mix of operations says another length. */
  private static final double[] SCANS = {10, 100, 1000};

  private record Row(RunPolicy policy, WriteCost written, Costs costs, double cost) {}

  private final String workload;
  private final long itemBytes;
  private final long pageBytes;
  private final @Nullable OperationMix mix;
  private final List<Row> rows = new ArrayList<>();

  /**
   * @param mix what policies are compared by; null if that is not asked
   */
  RunsReport(String workload, long itemBytes, long pageBytes, @Nullable OperationMix mix) {
    this.workload = workload;
    this.itemBytes = itemBytes;
    this.pageBytes = pageBytes;
    this.mix = mix;
  }

  void add(RunPolicy policy, WriteCost written, Costs costs) {
    double cost = mix == null ? Double.NaN : mix.cost(costs, itemBytes, pageBytes);
    rows.add(new Row(policy, written, costs, cost));
    if (mix != null) {
      rows.sort(Comparator.comparingDouble(Row::cost));
    }
  }

  private double[] scans() {
    return mix == null ? SCANS : new double[] {mix.scanLength()};
  }

  /** The policies as a table, the best first if there is a mix. */
  String text() {
    StringBuilder out = new StringBuilder(workload).append('\n');
    List<String> header = new ArrayList<>(List.of("runs"));
    OperationMix chosen = mix;
    if (chosen != null) {
      out.append(chosen.text()).append('\n').append(chosen.unit()).append('\n');
      header.add("cost");
    }
    header.add("bytes per byte put");
    header.add("pages found");
    header.add("absent");
    for (double entries : scans()) {
      header.add("scan of " + OperationMix.format(entries));
    }
    header.addAll(List.of("space", "tiers", "levels"));
    TextTable table = new TextTable(header.toArray(new String[0]));
    for (Row row : rows) {
      table.row(cells(row).toArray(new String[0]));
    }
    out.append('\n').append(table);
    if (rows.size() == 1) {
      out.append('\n').append(parts(rows.get(0)));
    }
    return out.toString();
  }

  private List<String> cells(Row row) {
    List<String> cells = new ArrayList<>(List.of(row.policy.toString()));
    if (mix != null) {
      cells.add(number(row.cost));
    }
    cells.add(number(row.costs.written()));
    cells.add(number(row.costs.found()));
    cells.add(String.format(Locale.ROOT, "%.4f", row.costs.absent()));
    for (double entries : scans()) {
      cells.add(number(row.costs.scan(entries)));
    }
    cells.add(number(row.costs.space()));
    cells.add(Integer.toString(row.costs.tiers()));
    cells.add(Integer.toString(row.costs.levels()));
    return cells;
  }

  private static String parts(Row row) {
    double[] parts = row.written.levels();
    int tiers = row.costs.tiers();
    String toTiers =
        tiers == 0 ? "" : ", merges into tiers " + numbers(Arrays.copyOf(parts, tiers));
    return "flushes "
        + number(row.written.flush())
        + toTiers
        + ", merges into levels "
        + numbers(Arrays.copyOfRange(parts, tiers, parts.length))
        + "\n";
  }

  private static String numbers(double[] parts) {
    return Arrays.stream(parts).mapToObj(RunsReport::number).collect(Collectors.joining(" + "));
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }

  String json() throws IOException {
    List<Map<String, Object>> list = new ArrayList<>();
    for (Row row : rows) {
      Map<String, Object> map = new LinkedHashMap<>();
      map.put("runs", row.policy.toString());
      if (mix != null) {
        map.put("cost", row.cost);
      }
      map.put("written", row.costs.written());
      map.put("flush", row.written.flush());
      map.put("merges", row.written.levels());
      map.put("found", row.costs.found());
      map.put("absent", row.costs.absent());
      for (double entries : scans()) {
        map.put("scan" + OperationMix.format(entries).replace(",", ""), row.costs.scan(entries));
      }
      map.put("space", row.costs.space());
      map.put("tiers", row.costs.tiers());
      map.put("levels", row.costs.levels());
      list.add(map);
    }
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("workload", workload);
    if (mix != null) {
      report.put("operations", mix.text());
      report.put("unit", mix.unit());
    }
    report.put("policies", list);
    return JSON.std.asString(report) + "\n";
  }
}
