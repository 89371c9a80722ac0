package io.isobardb.bench.experiment.report;

import io.isobardb.bench.experiment.report.Verdict.Outcome;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.TextTable;
import io.isobardb.cli.report.Chart;
import io.isobardb.cli.report.Page;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What came of an experiment.
 *
 * @param title of the experiment
 * @param source where it comes from
 * @param claim what was claimed there, in words
 * @param method what was done here
 * @param verdicts claim by claim, what was found
 * @param charts the pictures
 * @param results all rows
 * @param provenance how, where and of what version: name and value
 */
public record Report(
    String title,
    String source,
    String claim,
    String method,
    List<Verdict> verdicts,
    List<Chart> charts,
    Results results,
    Map<String, String> provenance) {
  public Report {
    verdicts = List.copyOf(verdicts);
    charts = List.copyOf(charts);
    provenance = Collections.unmodifiableMap(new LinkedHashMap<>(provenance));
  }

  /** The page: what holds, then how it looks, then what was claimed and done. */
  public String html() {
    Page page = new Page(title).lead(lead()).heading("Found");
    findings(page, verdicts);
    return page.charts(charts)
        .heading("Figures")
        .table(table(keyFigures()))
        .folded("All figures of all points", table(results.figureNames()))
        .heading("Claimed")
        .paragraph(claim)
        .paragraph(source)
        .heading("Done")
        .paragraph(method)
        .facts(provenance)
        .html();
  }

  /** A page that leads to the pages of several experiments, by their names. */
  public static String index(Map<String, Report> reports) {
    Page page = new Page("Experiments");
    reports.forEach(
        (name, report) -> {
          page.link(report.title, name + ".html").lead(report.lead());
          findings(page, report.verdicts);
        });
    return page.html();
  }

  /** The table and what holds, for a document; {@code picture} lies beside it. */
  public String markdown(String picture) {
    StringBuilder out = new StringBuilder("## " + title + "\n\n");
    out.append("    ./").append(provenance.getOrDefault("command", "")).append("\n\n");
    lead().forEach(line -> out.append(line).append('\n'));
    provenance.forEach(
        (name, value) ->
            out.append(name.equals("command") ? "" : "- " + name + ": " + value + "\n"));
    out.append('\n').append(table(keyFigures()).markdown());
    out.append("\n![").append(title).append("](").append(picture).append(")\n\n");
    for (Verdict verdict : verdicts) {
      out.append("- **").append(verdict.outcome().words()).append(":** ");
      out.append(verdict.claim()).append(" (").append(verdict.numbers()).append(")\n");
    }
    return out.toString();
  }

  private List<String> lead() {
    List<String> lead = new ArrayList<>();
    List<String> counts = new ArrayList<>();
    for (Outcome outcome : Outcome.values()) {
      long count = verdicts.stream().filter(each -> each.outcome() == outcome).count();
      if (count > 0) {
        counts.add(count + " " + outcome.words(count));
      }
    }
    lead.add(
        "Of " + Numbers.count(verdicts.size(), "claim") + ": " + String.join(", ", counts) + ".");
    for (Verdict verdict : verdicts) {
      if (verdict.outcome() == Outcome.DOES_NOT_HOLD) {
        lead.add("Does not hold: " + verdict.claim() + ".");
      }
    }
    return lead;
  }

  private static void findings(Page page, List<Verdict> verdicts) {
    for (Verdict verdict : verdicts) {
      Page.Mark mark =
          switch (verdict.outcome()) {
            case HOLDS -> Page.Mark.GOOD;
            case DOES_NOT_HOLD -> Page.Mark.BAD;
            case NOT_DECIDED -> Page.Mark.OPEN;
          };
      page.finding(verdict.claim(), mark, verdict.outcome().words(), verdict.numbers());
    }
  }

  /** The figures that charts show, of their axes. */
  private Set<String> keyFigures() {
    Set<String> shown = new LinkedHashSet<>();
    charts.forEach(chart -> shown.addAll(List.of(chart.y(), chart.x())));
    Set<String> all = new LinkedHashSet<>(results.figureNames());
    all.retainAll(shown);
    return all;
  }

  /** Parameters that are not the same everywhere, and figures. */
  private TextTable table(Set<String> figures) {
    List<String> parameters =
        results.parameterNames().stream().filter(name -> results.values(name).size() > 1).toList();
    List<String> header = new ArrayList<>(parameters);
    header.addAll(figures);
    TextTable table =
        new TextTable(header.isEmpty() ? new String[] {"not measured"} : array(header));
    for (Row row : header.isEmpty() ? List.<Row>of() : results.rows()) {
      List<String> cells = new ArrayList<>();
      parameters.forEach(name -> cells.add(row.parameter(name)));
      figures.forEach(
          name ->
              cells.add(
                  row.figures().containsKey(name) ? Numbers.significant(row.figure(name)) : ""));
      table.row(array(cells));
    }
    return table;
  }

  private static String[] array(List<String> cells) {
    return cells.toArray(String[]::new);
  }
}
