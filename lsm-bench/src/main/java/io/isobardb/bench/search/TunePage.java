package io.isobardb.bench.search;

import io.isobardb.bench.search.Findings.Weight;
import io.isobardb.cli.console.TextTable;
import io.isobardb.cli.report.Chart;
import io.isobardb.cli.report.Chart.Series;
import io.isobardb.cli.report.Page;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What came of a search as a page to look at.
 *
 * @param facts by which command and where
 */
record TunePage(TuneReport report, Map<String, String> facts) {
  Page page() {
    Findings findings = report.findings();
    Page page = new Page("Options by search").lead(report.conclusions());
    List<Chart> charts = new ArrayList<>(List.of(path(findings)));
    boolean hasSurface = findings.hasSurface();
    if (hasSurface && findings.weights().size() > 1) {
      charts.add(surface(findings));
    }
    page.charts(charts);
    TextTable without = report.without();
    if (without.rows().size() > 1) {
      page.heading("Without one knob").table(without);
    }
    if (hasSurface) {
      page.heading("How much each knob matters").table(report.weights());
      TextTable surface = report.surface();
      if (surface != null) {
        page.heading("The surface").paragraph(report.surfaceTitle() + ".").table(surface);
      }
    }
    if (report.isForPaste()) {
      page.heading("To paste").lines(report.properties());
    }
    return page.folded("All runs", report.runs()).heading("How").facts(facts);
  }

  /** Each run, and the best one yet. */
  private static Chart path(Findings findings) {
    Metric metric = findings.metric();
    List<Double> numbers = new ArrayList<>();
    List<Double> figures = new ArrayList<>();
    for (Trial trial : Chooser.evaluations(findings.trials())) {
      numbers.add(numbers.size() + 1.0);
      figures.add(trial.figure(metric));
    }
    return Chart.lines(
        "The path of the search",
        "run",
        metric.label() + " [" + metric.unit() + "]",
        List.of(
            new Series("run", numbers, figures),
            new Series("best so far", numbers, findings.bestSoFar())));
  }

  private Chart surface(Findings findings) {
    List<Weight> weights = findings.weights();
    Knob across = weights.get(0).knob();
    Knob down = weights.get(1).knob();
    List<Series> series = new ArrayList<>();
    for (String value : TuneReport.surfaceValues(down)) {
      List<Double> row = report.surfaceRow(across, down, value);
      List<Double> places = new ArrayList<>();
      row.forEach(figure -> places.add((double) places.size()));
      series.add(new Series(down.name() + "=" + value, places, row));
    }
    return Chart.bars(
        "Over " + across.name() + ", as a model sees it",
        "[" + findings.metric().unit() + "]",
        TuneReport.surfaceValues(across),
        series);
  }
}
