package io.isobardb.cli.inspect;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.TextTable;
import io.isobardb.cli.report.Chart;
import io.isobardb.cli.report.Chart.Series;
import io.isobardb.cli.report.Page;
import io.isobardb.tuner.memory.Decision;
import io.isobardb.tuner.shape.ShapeDecision;
import io.isobardb.tuner.workload.LevelDecision;
import io.isobardb.tuner.workload.LevelDecision.Action;
import io.isobardb.tuner.workload.LevelReport;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** What a memory tuner has decided, and what was decided on levels, as a page to look at. */
final class TunePage {
  private static final double MEGABYTE = 1 << 20;

  /** With more, pictures would hide the table. */
  private static final int MOST_TREES = 4;

  private TunePage() {}

  static Page of(
      String store,
      List<Decision> decisions,
      List<LevelDecision> levels,
      List<ShapeDecision> shapes) {
    List<String> lead = new ArrayList<>(lead(decisions));
    if (!levels.isEmpty()) {
      lead.add(levelsLead(levels));
    }
    Page page = new Page("Memory tuner of " + store).lead(lead);
    if (!decisions.isEmpty()) {
      memory(page, decisions);
    }
    if (!levels.isEmpty()) {
      levels(page, levels);
    }
    if (!shapes.isEmpty()) {
      page.heading("Decisions on runs, the newest first").table(shapeTable(shapes));
    }
    return page;
  }

  private static TextTable shapeTable(List<ShapeDecision> shapes) {
    TextTable table =
        new TextTable("runs", "tree", "window", "model", "expected", "found", "action", "why");
    for (int i = shapes.size() - 1; i >= 0; i--) {
      ShapeDecision decision = shapes.get(i);
      table.row(
          decision.from() + " to " + decision.to(),
          String.valueOf(decision.tree()),
          String.valueOf(decision.window()),
          String.format(Locale.ROOT, "%.4f", decision.modelled()),
          String.format(Locale.ROOT, "%.4f", decision.expected()),
          String.format(Locale.ROOT, "%.4f", decision.found()),
          decision.action().name(),
          decision.reason());
    }
    return table;
  }

  private static void memory(Page page, List<Decision> decisions) {
    List<Series> memory =
        List.of(
            series("write memory", decisions, decision -> decision.fromBytes() / MEGABYTE),
            series("budget", decisions, decision -> decision.seen().budgetBytes() / MEGABYTE));
    List<Series> costs =
        List.of(
            series("cost", decisions, decision -> decision.pressure().cost()),
            series("written", decisions, decision -> decision.pressure().writeCost()),
            series("read", decisions, decision -> decision.pressure().readCost()));
    page.charts(
            List.of(
                Chart.lines("Where the wall stood", "cycle", "[MB]", memory),
                Chart.lines("What operations cost", "cycle", "[weighted pages/operation]", costs)))
        .heading("Decisions, the newest first")
        .table(table(decisions));
  }

  private static void levels(Page page, List<LevelDecision> levels) {
    page.heading("Levels")
        .paragraph(
            "Costs are entries that merges wrote for each entry put. What is planned is told in"
                + " percent of the last level.")
        .charts(
            levels.stream()
                .map(LevelDecision::tree)
                .distinct()
                .limit(MOST_TREES)
                .map(tree -> costs(tree, levels))
                .toList())
        .heading("Decisions on levels, the newest first")
        .table(levelTable(levels));
  }

  private static Chart costs(int tree, List<LevelDecision> levels) {
    List<LevelDecision> its = levels.stream().filter(each -> each.tree() == tree).toList();
    return Chart.lines(
        "What merges cost in tree " + tree,
        "cycle",
        "[entries/entry put]",
        List.of(
            levelSeries("found", its, LevelDecision::found),
            levelSeries("by the model", its, LevelDecision::modelled)));
  }

  private static Series levelSeries(
      String name, List<LevelDecision> decisions, ToDoubleFunction<LevelDecision> figure) {
    return new Series(
        name,
        decisions.stream().map(each -> (double) each.cycle()).toList(),
        decisions.stream().mapToDouble(figure).boxed().toList());
  }

  private static String levelsLead(List<LevelDecision> levels) {
    return String.format(
        Locale.ROOT,
        "Of the plans for levels, %,d proved themselves and %,d had to be taken back.",
        levels.stream().filter(each -> each.action() == Action.KEEP).count(),
        levels.stream().filter(each -> each.action() == Action.TAKE_BACK).count());
  }

  private static Series series(
      String name, List<Decision> decisions, ToDoubleFunction<Decision> figure) {
    return new Series(
        name,
        decisions.stream().map(decision -> (double) decision.seen().cycle()).toList(),
        decisions.stream().mapToDouble(figure).boxed().toList());
  }

  private static List<String> lead(List<Decision> decisions) {
    if (decisions.isEmpty()) {
      return List.of("The memory tuner has decided nothing yet.");
    }
    Decision first = decisions.get(0);
    Decision last = decisions.get(decisions.size() - 1);
    long steps = decisions.stream().filter(decision -> decision.stepBytes() != 0).count();
    return List.of(
        String.format(
            Locale.ROOT,
            "Write memory went from %s to %s of a budget of %s: %s of %s moved the wall.",
            ByteSize.format(first.fromBytes()),
            ByteSize.format(last.toBytes()),
            ByteSize.format(last.seen().budgetBytes()),
            Numbers.count(steps, "decision"),
            String.format(Locale.ROOT, "%,d", decisions.size())),
        String.format(
            Locale.ROOT,
            "An operation cost %s weighted pages in the first cycle, %s in the last one.",
            Numbers.significant(first.pressure().cost()),
            Numbers.significant(last.pressure().cost())),
        "The last decision: " + last.reason() + ".");
  }

  private static TextTable table(List<Decision> decisions) {
    TextTable table =
        new TextTable("cycle", "from", "to", "cost", "expected", "found", "method", "why");
    List<Decision> newest = new ArrayList<>(decisions);
    Collections.reverse(newest);
    for (Decision decision : newest) {
      table.row(
          Long.toString(decision.seen().cycle()),
          ByteSize.format(decision.fromBytes()),
          ByteSize.format(decision.toBytes()),
          Numbers.significant(decision.pressure().cost()),
          Numbers.significant(decision.predictedCost()),
          Numbers.significant(decision.foundCost()),
          decision.method().toString(),
          decision.reason());
    }
    return table;
  }

  private static TextTable levelTable(List<LevelDecision> levels) {
    TextTable table =
        new TextTable("cycle", "tree", "model", "expected", "found", "action", "planned", "why");
    List<LevelDecision> newest = new ArrayList<>(levels);
    Collections.reverse(newest);
    for (LevelDecision decision : newest) {
      table.row(
          Long.toString(decision.cycle()),
          Integer.toString(decision.tree()),
          Numbers.significant(decision.modelled()),
          Numbers.significant(decision.expected()),
          Numbers.significant(decision.found()),
          decision.action().name(),
          LevelReport.planned(decision.plan()),
          decision.reason());
    }
    return table;
  }
}
