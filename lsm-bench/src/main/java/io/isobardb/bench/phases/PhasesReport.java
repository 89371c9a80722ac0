package io.isobardb.bench.phases;

import io.isobardb.cli.console.TextTable;
import io.isobardb.lsm.observe.StoreListener;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * What phases have cost, as text and as JSON. Immutable.
 *
 * @param workload its name
 * @param outcomes of each contender with each seed
 */
record PhasesReport(String workload, PhaseList phases, List<Outcome> outcomes) {
  PhasesReport {
    outcomes = List.copyOf(outcomes);
  }

  List<String> contenders() {
    return outcomes.stream().map(Outcome::contender).distinct().toList();
  }

  List<Outcome> of(String contender) {
    return outcomes.stream().filter(each -> each.contender().equals(contender)).toList();
  }

  private double mean(String contender, ToDoubleFunction<Outcome> cost) {
    return of(contender).stream().mapToDouble(cost).average().orElse(Double.NaN);
  }

  /** A row for each phase, and one for all; a column for each contender. */
  TextTable table(int skipped) {
    List<String> header = new ArrayList<>(List.of("phase", "operations"));
    header.addAll(contenders());
    TextTable table = new TextTable(header.toArray(new String[0]));
    double[] sums = new double[contenders().size()];
    double operations = 0;
    double part = (double) (Outcome.PARTS - skipped) / Outcome.PARTS;
    for (int i = 0; i < phases.phases().size(); i++) {
      Phase phase = phases.phases().get(i);
      double measured = phase.operations() * part;
      operations += measured;
      List<String> row = new ArrayList<>(List.of(phase.name(), text("%,.0f", measured)));
      for (int c = 0; c < sums.length; c++) {
        int at = i;
        double pages = mean(contenders().get(c), each -> each.pages(at, skipped).all());
        sums[c] += pages;
        row.add(text("%.4f", pages / measured));
      }
      table.row(row.toArray(new String[0]));
    }
    List<String> all = new ArrayList<>(List.of("all", text("%,.0f", operations)));
    for (double sum : sums) {
      all.add(text("%.4f", sum / operations));
    }
    table.row(all.toArray(new String[0]));
    return table;
  }

  /** What adaptation costs beside each of the others: means over seeds, two standard errors. */
  String ratios() {
    StringBuilder text = new StringBuilder();
    for (String adapting : contenders()) {
      if (!adapting.startsWith("adaptation")) {
        continue;
      }
      for (String other : contenders()) {
        if (!other.startsWith("adaptation")) {
          text.append(ratio(adapting, other));
        }
      }
    }
    return text.toString();
  }

  private String ratio(String adapting, String other) {
    List<Double> ratios = new ArrayList<>();
    for (Outcome outcome : of(adapting)) {
      for (Outcome beside : of(other)) {
        if (beside.seed() == outcome.seed()) {
          ratios.add(outcome.all() / beside.all());
        }
      }
    }
    double mean = ratios.stream().mapToDouble(it -> it).average().orElse(Double.NaN);
    double squares = ratios.stream().mapToDouble(it -> (it - mean) * (it - mean)).sum();
    int n = ratios.size();
    String error = n < 2 ? "" : text(", within %.3f", 2 * Math.sqrt(squares / (n - 1) / n));
    return text("%s costs %.3f times what %s does%s%n", adapting, mean, other, error);
  }

  /** Everything. */
  String text() {
    StringBuilder out = new StringBuilder();
    out.append(workload).append(": pages written and read for each operation\n\n");
    out.append(table(0)).append('\n').append(ratios());
    out.append("\nwithout the first tenth of each phase\n\n").append(table(1));
    for (Outcome outcome : outcomes) {
      if (!outcome.decisions().isEmpty()) {
        out.append(text("%n%s, seed %d%n", outcome.contender(), outcome.seed()));
        outcome.decisions().forEach(decision -> out.append(line(decision)));
      }
    }
    return out.toString();
  }

  private static String line(Outcome.Decision decision) {
    StoreListener.Shape shape = decision.shape();
    return text(
        "  window %d: %s %s to %s: %s%n",
        shape.window(), shape.action(), shape.from(), shape.to(), shape.reason());
  }

  /** Everything, for JSON. */
  Map<String, Object> toMap() {
    List<Map<String, Object>> list = new ArrayList<>();
    for (Outcome outcome : outcomes) {
      Map<String, Object> map = new LinkedHashMap<>();
      map.put("contender", outcome.contender());
      map.put("seed", outcome.seed());
      map.put("pages", outcome.all());
      List<Map<String, Object>> parts = new ArrayList<>();
      for (int i = 0; i < phases.phases().size(); i++) {
        parts.add(phase(outcome, i));
      }
      map.put("phases", parts);
      map.put("decisions", outcome.decisions().stream().map(PhasesReport::fields).toList());
      list.add(map);
    }
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("workload", workload);
    report.put("outcomes", list);
    return report;
  }

  private Map<String, Object> phase(Outcome outcome, int i) {
    Phase phase = phases.phases().get(i);
    PhasedStore.Pages pages = outcome.pages(i, 0);
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("phase", phase.name());
    map.put("operations", phase.operations());
    map.put("written", pages.written());
    map.put("mergeRead", pages.mergeRead());
    map.put("read", pages.read());
    map.put("parts", outcome.phases().get(i).stream().map(PhasedStore.Pages::all).toList());
    map.put("runs", outcome.runs().get(i));
    return map;
  }

  private static Map<String, Object> fields(Outcome.Decision decided) {
    StoreListener.Shape decision = decided.shape();
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("operations", decided.operations());
    map.put("window", decision.window());
    map.put("action", decision.action());
    map.put("from", decision.from());
    map.put("to", decision.to());
    map.put("modelledCost", decision.modelledCost());
    map.put("expectedCost", decision.expectedCost());
    map.put("foundCost", decision.foundCost());
    map.put("price", decision.price());
    map.put("reason", decision.reason());
    return map;
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values).replace(System.lineSeparator(), "\n");
  }
}
