package io.isobardb.bench.search;

import io.isobardb.bench.search.Findings.Pair;
import io.isobardb.bench.search.Findings.Weight;
import io.isobardb.bench.search.Findings.Without;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.TextTable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What came of a search, as text and tables. */
final class TuneReport {
  /** Values of each of two knobs in the table of their surface. */
  private static final int VALUES = 6;

  private final Load load;
  private final Findings findings;
  private final Metric metric;

  TuneReport(Load load, Findings findings) {
    this.load = load;
    this.findings = findings;
    metric = findings.metric();
  }

  Findings findings() {
    return findings;
  }

  /** The whole of it. */
  String text() {
    StringBuilder text = new StringBuilder();
    text.append(runs()).append('\n');
    conclusions().forEach(line -> text.append(line).append('\n'));
    TextTable without = without();
    if (without.rows().size() > 1) {
      text.append("\nWithout one knob, which has its default then:\n\n").append(without);
    }
    if (findings.hasSurface()) {
      text.append(
          "\nHow much each knob matters around the best setting, by a model of all runs:\n\n");
      text.append(weights());
      TextTable surface = surface();
      if (surface != null) {
        text.append('\n').append(surfaceTitle()).append(":\n\n").append(surface);
      }
    }
    if (isForPaste()) {
      text.append("\nTo paste:\n\n").append(properties());
    }
    return text.toString();
  }

  /** All of it for programs; times in seconds. */
  Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("workload", load.description());
    map.put("metric", metric.label());
    map.put("unit", metric == Metric.COST ? load.costs() : metric.unit());
    List<Object> runs = new ArrayList<>();
    for (Trial trial : findings.trials()) {
      Map<String, Object> run = new LinkedHashMap<>();
      run.put("why", trial.phase().name().toLowerCase(Locale.ROOT));
      run.put("options", findings.space().options(trial.setting()));
      run.put("seed", trial.seed());
      run.put("seconds", trial.seconds());
      if (trial.isFailed()) {
        run.put("failure", trial.failure());
      }
      run.put("metrics", labelled(trial.figures()));
      runs.add(run);
    }
    map.put("runs", runs);
    map.put("conclusions", conclusions());
    List<String> best = findings.best();
    if (best != null) {
      map.put("best", findings.space().options(best));
      map.put("isBetterThanDefaults", isForPaste() && findings.isBetter(findings.ratio()));
      List<Object> binding = new ArrayList<>();
      findings.binding().forEach(bound -> binding.add(bound.text()));
      map.put("binding", binding);
      map.put("pairs", findings.pairs());
      Map<String, Object> without = new LinkedHashMap<>();
      findings.without().forEach(each -> without.put(each.knob().name(), each.ratio()));
      map.put("timesWithout", without);
    }
    if (findings.hasSurface()) {
      Map<String, Object> weights = new LinkedHashMap<>();
      findings.weights().forEach(each -> weights.put(each.knob().name(), each.times()));
      map.put("weights", weights);
    }
    return map;
  }

  private static Map<String, Object> labelled(Map<Metric, Double> figures) {
    Map<String, Object> labelled = new LinkedHashMap<>();
    figures.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(each -> labelled.put(each.getKey().label(), each.getValue()));
    return labelled;
  }

  /** Whether there is something better than the defaults. */
  boolean isForPaste() {
    return findings.best() != null && !findings.best().equals(findings.defaults());
  }

  /** A row for each run. */
  TextTable runs() {
    List<String> header = new ArrayList<>(List.of("run", "why"));
    findings.space().knobs().forEach(knob -> header.add(knob.name()));
    List<Metric> metrics = load.metrics().stream().sorted().toList();
    metrics.forEach(each -> header.add(each.label()));
    header.add("s");
    TextTable table = new TextTable(header.toArray(String[]::new));
    int number = 0;
    for (Trial trial : findings.trials()) {
      List<String> row = new ArrayList<>();
      row.add(Integer.toString(++number));
      row.add(why(trial));
      row.addAll(trial.setting());
      for (Metric each : metrics) {
        row.add(trial.isFailed() ? "-" : number(each, trial.figure(each)));
      }
      row.add(Numbers.significant(trial.seconds()));
      table.row(row.toArray(String[]::new));
    }
    return table;
  }

  private static String number(Metric metric, double value) {
    return metric == Metric.MEMORY ? metric.tell(value) : Numbers.significant(value);
  }

  private static String why(Trial trial) {
    return trial.isFailed()
        ? "failed"
        : trial.phase().name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  /** What the reader should conclude, in sentences. */
  List<String> conclusions() {
    List<String> lines = new ArrayList<>();
    List<String> best = findings.best();
    if (findings.failures() > 0) {
      String last =
          findings.trials().stream()
              .filter(Trial::isFailed)
              .reduce((one, other) -> other)
              .map(Trial::failure)
              .orElse("");
      lines.add(Numbers.count(findings.failures(), "run") + " failed, the last one: " + last);
    }
    if (best == null) {
      lines.add("No setting that was run keeps " + bounds() + ".");
      nearest(lines);
      return lines;
    }
    lines.add("Best: " + told(best) + ".");
    lines.add(
        String.format(
            Locale.ROOT,
            "Its %s is %s in the mean of %s; the defaults have %s.",
            metric.label(),
            metric.tell(findings.measured(best, metric)),
            Numbers.count(findings.runsOfBest(), "run"),
            metric.tell(findings.measured(findings.defaults(), metric))));
    lines.add(sure());
    if (!findings.plan().goal().bounds().isEmpty()) {
      lines.add(binding());
    }
    lines.add(gain(best));
    if (metric == Metric.COST) {
      lines.add("The cost is " + load.costs() + " per operation.");
    }
    return lines;
  }

  private String bounds() {
    return findings.plan().goal().bounds().stream()
        .map(Bound::text)
        .collect(Collectors.joining(" and "));
  }

  private void nearest(List<String> lines) {
    List<String> free = findings.bestWithoutBounds();
    if (free != null) {
      String broken =
          findings.binding().stream()
              .map(bound -> figure(bound, free))
              .collect(Collectors.joining(", "));
      lines.add("The best one without conditions is " + told(free) + ", with " + broken + ".");
    }
  }

  private String figure(Bound bound, List<String> setting) {
    return bound.metric().label()
        + " "
        + bound.metric().tell(findings.measured(setting, bound.metric()));
  }

  private String sure() {
    if (!findings.hasSurface()) {
      return "It is not among the values of the knobs: no model tells how sure that is.";
    }
    Prediction at = findings.predicted(findings.best());
    return String.format(
        Locale.ROOT,
        "Single runs deviate by %.1f %%. A model of all runs is sure of the best one's mean within"
            + " %.1f %%.",
        100 * findings.noise(),
        100 * at.deviation());
  }

  private String binding() {
    List<Bound> binding = findings.binding();
    List<String> free = findings.bestWithoutBounds();
    if (binding.isEmpty() || free == null) {
      return "No condition binds: the best of all settings that were run keeps " + bounds() + ".";
    }
    return String.format(
        Locale.ROOT,
        "%s binds: without it %s would have %s %s.",
        binding.stream().map(Bound::text).collect(Collectors.joining(" and ")),
        told(free),
        metric.label(),
        metric.tell(findings.measured(free, metric)));
  }

  private String gain(List<String> best) {
    if (best.equals(findings.defaults())) {
      return "Nothing is better than the defaults: leave the options as they are.";
    }
    List<Pair> pairs = findings.pairs();
    if (pairs.isEmpty()) {
      return "It was not compared with the defaults in turns: take the difference with care.";
    }
    String ratio =
        String.format(
            Locale.ROOT,
            "%s times the defaults' %s in the median of %s in turns, and better in %d",
            Numbers.significant(findings.ratio()),
            metric.label(),
            Numbers.count(pairs.size(), "pair"),
            findings.won());
    return findings.isBetter(findings.ratio())
        ? "With other seeds: " + ratio + "."
        : "With other seeds it is no better: " + ratio + ". Leave the options as they are.";
  }

  private String told(List<String> setting) {
    return findings.space().options(setting).entrySet().stream()
        .map(each -> each.getKey() + "=" + each.getValue())
        .collect(Collectors.joining(", "));
  }

  /** What the best setting has with each knob, by what is left without it. */
  TextTable without() {
    TextTable table = new TextTable("knob", "with it / without", "what the knob brings");
    for (Without each : findings.without()) {
      double share = 100 * (metric.isMoreBetter() ? each.ratio() - 1 : 1 - each.ratio());
      String brings =
          Double.isNaN(share) ? "failed" : String.format(Locale.ROOT, "%+.1f %%", share);
      table.row(each.knob().name(), Numbers.significant(each.ratio()), brings);
    }
    return table;
  }

  /** A row for each knob, those that matter most first. */
  TextTable weights() {
    TextTable table = new TextTable("knob", "from best to worst over its range");
    for (Weight weight : findings.weights()) {
      table.row(weight.knob().name(), Numbers.significant(weight.times()) + " times");
    }
    return table;
  }

  String surfaceTitle() {
    return String.format(
        Locale.ROOT,
        "%s [%s] over the two that matter most, as a model sees it",
        metric.label(),
        metric.unit());
  }

  /** The surface over two knobs, with the values of the first in columns. */
  @Nullable TextTable surface() {
    List<Weight> weights = findings.weights();
    if (weights.size() < 2) {
      return null;
    }
    Knob across = weights.get(0).knob();
    Knob down = weights.get(1).knob();
    List<String> header = new ArrayList<>(List.of(down.name() + " \\ " + across.name()));
    header.addAll(across.spread(VALUES));
    TextTable table = new TextTable(header.toArray(String[]::new));
    for (String value : down.spread(VALUES)) {
      List<String> row = new ArrayList<>(List.of(value));
      for (double figure : surfaceRow(across, down, value)) {
        row.add(Double.isNaN(figure) ? "-" : Numbers.significant(figure));
      }
      table.row(row.toArray(String[]::new));
    }
    return table;
  }

  /** The metric over the values of one knob, at a value of another; NaN where no store takes it. */
  List<Double> surfaceRow(Knob across, Knob down, String value) {
    List<Knob> knobs = findings.space().knobs();
    List<String> base = Space.with(findings.best(), knobs.indexOf(down), value);
    List<Double> row = new ArrayList<>();
    for (String each : across.spread(VALUES)) {
      List<String> setting = Space.with(base, knobs.indexOf(across), each);
      row.add(
          findings.space().isTaken(setting)
              ? metric.measured(findings.predicted(setting).mean())
              : Double.NaN);
    }
    return row;
  }

  /** Values that the surface has of a knob. */
  static List<String> surfaceValues(Knob knob) {
    return knob.spread(VALUES);
  }

  /** The best setting as a file for {@code StoreOptions.fromProperties}. */
  String properties() {
    StringBuilder text = new StringBuilder();
    text.append("# ").append(load.description()).append(": the best ").append(metric.label());
    if (!findings.pairs().isEmpty()) {
      text.append(", ").append(Numbers.significant(findings.ratio()));
      text.append(" times the defaults' in ");
      text.append(Numbers.count(findings.pairs().size(), "pair"));
    }
    text.append("\n# StoreOptions.fromProperties(properties, \"").append(TuneCommand.PREFIX);
    text.append("\")\n");
    StringBuilder tree = new StringBuilder();
    for (Map.Entry<String, String> each : findings.space().options(findings.best()).entrySet()) {
      if (TreeKnobs.NAMES.contains(each.getKey())) {
        tree.append(TreeKnobs.call(each.getKey(), each.getValue()));
      } else {
        text.append(TuneCommand.PREFIX).append(each.getKey()).append('=');
        text.append(each.getValue()).append('\n');
      }
    }
    if (!tree.isEmpty()) {
      text.append("# Of the tree: TreeOptions.builder()").append(tree).append(".build()\n");
    }
    return text.toString();
  }
}
