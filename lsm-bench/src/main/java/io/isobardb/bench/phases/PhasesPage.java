package io.isobardb.bench.phases;

import io.isobardb.cli.console.TextTable;
import io.isobardb.cli.report.Chart;
import io.isobardb.cli.report.Chart.Series;
import io.isobardb.cli.report.Page;
import io.isobardb.lsm.observe.StoreListener;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** What phases have cost over time, and what was decided meanwhile, as a page to look at. */
final class PhasesPage {
  private static final String OPERATIONS = "operations [1000]";
  private static final double THOUSAND = 1000;

  private final PhasesReport report;
  private final Map<String, String> facts;

  /** {@code facts} say by which command and where. */
  PhasesPage(PhasesReport report, Map<String, String> facts) {
    this.report = report;
    this.facts = facts;
  }

  Page page() {
    Page page = new Page("Phases: " + report.workload());
    List<String> lead = report.ratios().lines().map(line -> line + ".").toList();
    if (!lead.isEmpty()) {
      page.lead(lead);
    }
    page.charts(
        List.of(
            chart("Pages written and read", PhasedStore.Pages::all),
            chart("Pages written", PhasedStore.Pages::written),
            chart("Pages read by lookups and scans", PhasedStore.Pages::read)));
    page.heading("Pages for each operation, by phases").table(report.table(0));
    page.heading("Without the first tenth of each phase").table(report.table(1));
    for (Outcome outcome : report.outcomes()) {
      if (!outcome.decisions().isEmpty()) {
        page.folded(
            "Decisions of " + outcome.contender() + ", seed " + outcome.seed(), decisions(outcome));
      }
    }
    return page.heading("How").facts(facts);
  }

  /** Means of all seeds; what the first seed's stores have decided stands upright among them. */
  private Chart chart(String title, ToDoubleFunction<PhasedStore.Pages> pages) {
    List<Series> series = new ArrayList<>();
    double most = 0;
    for (String contender : report.contenders()) {
      List<Double> x = new ArrayList<>();
      List<Double> y = new ArrayList<>();
      double begin = 0;
      for (int phase = 0; phase < report.phases().phases().size(); phase++) {
        double operations =
            (double) report.phases().phases().get(phase).operations() / Outcome.PARTS;
        for (int part = 0; part < Outcome.PARTS; part++) {
          x.add((begin + operations / 2) / THOUSAND);
          double mean = mean(contender, phase, part, pages) / operations;
          y.add(mean);
          most = Math.max(most, mean);
          begin += operations;
        }
      }
      series.add(new Series(contender, x, y));
    }
    for (String contender : report.contenders()) {
      Outcome first = report.of(contender).get(0);
      if (!first.decisions().isEmpty()) {
        series.add(upright("decisions of " + contender + ", seed " + first.seed(), first, most));
      }
    }
    return Chart.lines(title, OPERATIONS, "[1/operation]", series);
  }

  private double mean(
      String contender, int phase, int part, ToDoubleFunction<PhasedStore.Pages> pages) {
    return report.of(contender).stream()
        .mapToDouble(each -> pages.applyAsDouble(each.phases().get(phase).get(part)))
        .average()
        .orElse(Double.NaN);
  }

  /** A line along the axis that goes up to {@code top} and back at each decision. */
  private static Series upright(String name, Outcome outcome, double top) {
    List<Double> x = new ArrayList<>();
    List<Double> y = new ArrayList<>();
    for (Outcome.Decision decision : outcome.decisions()) {
      double at = Math.max(0, decision.operations()) / THOUSAND;
      x.addAll(List.of(at, at, at));
      y.addAll(List.of(0.0, top, 0.0));
    }
    return new Series(name, x, y);
  }

  private static TextTable decisions(Outcome outcome) {
    TextTable table = new TextTable("operations", "action", "from", "to", "why");
    for (Outcome.Decision decision : outcome.decisions()) {
      StoreListener.Shape shape = decision.shape();
      table.row(
          Long.toString(decision.operations()),
          shape.action(),
          shape.from(),
          shape.to(),
          shape.reason());
    }
    return table;
  }
}
