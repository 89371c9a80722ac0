package io.isobardb.bench.experiment;

import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.drive.Workload;
import io.isobardb.bench.drive.Workload.Keys;
import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Results.Pair;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.bench.model.OperationMix;
import io.isobardb.cli.report.Chart;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.Runs;
import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.RunPolicy;
import io.isobardb.tuner.model.RunsModel;
import io.isobardb.tuner.model.WriteCost;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * What one tree costs by how many sorted runs its levels may have: bytes written, pages read,
 * space; counted on simulated stores, beside what {@link RunsModel} says.
 */
final class ExactRuns implements SimulatedExperiment {
  static final String KEYS = "keys";
  static final String SPACE = "maxSpace";
  static final String RUNS = "runs";
  static final String FILTERS = "filters";
  private static final String BY_LEVEL = "by level";
  private static final String ALIKE = "alike";
  private static final String LEVELED = "LEVELED";
  private static final String LAZY = "LAZY(8)";
  private static final String TIERED = "TIERED(8)";
  private static final String WIDE = "TIERED(16)";
  private static final String USUAL = "1.25";
  private static final String MORE = "1.6";
  private static final String DOUBLE = "2.0";

  static final String FOUND = "pages read for a key that is there [1/op]";
  static final String ABSENT = "pages read for an absent key [1/op]";
  private static final String FOUND_RUNS = "runs asked for a key that is there [1/op]";
  private static final String ABSENT_RUNS = "runs asked for an absent key [1/op]";
  private static final String SCAN_RUNS = "runs opened by a scan [1/op]";
  private static final String BITS = "filters [bits per key]";

  static final String MODEL_WRITTEN = "RunsModel: written [B/op]";
  private static final String MODEL_FLUSHED = "RunsModel: flushed [B/op]";
  private static final String MODEL_TIERS = "RunsModel: written to tiers [B/op]";
  static final String MODEL_FOUND = "RunsModel: pages for a key that is there [1/op]";
  static final String MODEL_ABSENT = "RunsModel: pages for an absent key [1/op]";
  private static final String MODEL_SCAN_RUNS = "RunsModel: runs of a scan [1/op]";
  private static final String MODEL_SPACE = "RunsModel: on disk [bytes per byte of distinct keys]";

  private static final List<Integer> SCANS = List.of(10, 100);

  /** Writes before what is measured, by records. */
  private static final int BEFORE = 4;

  /** Writes and reads come in so many parts, in turn. */
  private static final int ROUNDS = 16;

  /** So many times fewer scans than writes, per entry. */
  private static final int FEWER_SCANS = 4;

  /** Operations by which the model advises, and the names of what they are. */
  private static final Map<String, OperationMix> MIXES = new LinkedHashMap<>();

  static {
    MIXES.put("writes alone", new OperationMix(100, 0, 0, 0, 10, 1));
    MIXES.put("half lookups", new OperationMix(50, 50, 0, 0, 10, 1));
    MIXES.put("mostly absent keys", new OperationMix(10, 10, 80, 0, 10, 1));
    MIXES.put("half scans of 10", new OperationMix(50, 0, 0, 50, 10, 1));
    MIXES.put("some of all, scans of 100", new OperationMix(50, 30, 10, 10, 100, 1));
  }

  private static final int PAGE_BYTES = 8192;

  /** How far a model may be off. */
  private static final double OFF = 0.1;

  @Override
  public About about() {
    return new About(
        "exact-runs",
        "One tree, what it costs by the runs of its levels, on simulated stores",
        "Dostoevsky (Dayan and Idreos, SIGMOD 2018), Monkey (SIGMOD 2017)",
        "Several runs on the upper levels write much less, in the same space, for few pages more.",
        "100 M records, 20 GB of memory, of which 1/16 is for writes, 10 GB of log, times the scale,"
            + " on a simulated disk with a simulated clock. All is loaded in the order of the keys."
            + " Four times as many writes as there are records come first. Then 16 times in turn a"
            + " sixteenth as many writes, lookups of absent keys and of others, and scans of 10 and"
            + " of 100 entries. Merges keep up.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> points = new ArrayList<>();
    for (String keys : List.of("uniform", "zipf")) {
      Point of = Point.of(KEYS, keys);
      points.addAll(policies(of, USUAL, BY_LEVEL, LEVELED, "LAZY(2)", "LAZY(4)", LAZY));
      points.addAll(policies(of, MORE, BY_LEVEL, LEVELED, LAZY));
      points.addAll(policies(of, DOUBLE, BY_LEVEL, LEVELED, TIERED, WIDE));
    }
    points.addAll(policies(Point.of(KEYS, "uniform"), USUAL, ALIKE, LEVELED, LAZY));
    return points;
  }

  private static List<Point> policies(Point keys, String space, String filters, String... runs) {
    List<Point> points = List.of(keys.with(SPACE, space).with(FILTERS, filters));
    return Point.each(points, RUNS, List.of(runs));
  }

  @Override
  public List<Row> measure(Point point, Bench bench) {
    Shape shape = Shape.of(1, bench.scale().count(Bench.RECORDS));
    StoreOptions.Builder builder = bench.options(point.with(SingleTree.SIXTEENTHS, 1));
    boolean byLevel = point.text(FILTERS).equals(BY_LEVEL);
    ExperimentalOptions.set(builder, e -> e.filtersByLevel(byLevel));
    StoreOptions options = builder.pageSize(PAGE_BYTES).build();
    TreeOptions tree =
        TreeOptions.builder()
            .runs(Runs.parse(point.text(RUNS)))
            .maxSpace(point.real(SPACE))
            .build();
    Keys keys = point.text(KEYS).equals("zipf") ? Keys.ZIPF : Keys.UNIFORM;
    try (SimulatedRig rig = new SimulatedRig(options, shape, tree, bench.seed())) {
      rig.load();
      rig.measure(Workload.mixed(100, keys), BEFORE * shape.records());
      Map<String, Double> figures = rounds(rig, keys, shape.records() / ROUNDS);
      addStatistics(figures, rig.treeStats());
      addModel(figures, point, options, shape, keys);
      return List.of(Bench.row(point, figures));
    }
  }

  /** All kinds of operations in turn; what each costs, in the mean. */
  private static Map<String, Double> rounds(SimulatedRig rig, Keys keys, long operations) {
    Map<String, Double> sums = new LinkedHashMap<>();
    double most = 0;
    for (int round = 0; round < ROUNDS; round++) {
      Map<String, Double> written = rig.measure(Workload.mixed(100, keys), operations);
      most = Math.max(most, written.get(SimulatedRig.MOST_SPACE));
      written.remove(Meter.QUERY_READ);
      written.forEach((name, figure) -> sums.merge(name, figure, Double::sum));
      add(sums, BITS, rig.filterBits());
      Map<String, Double> absent = rig.measure(Workload.mixed(0, Keys.ABSENT), operations);
      add(sums, ABSENT, pages(absent));
      add(sums, ABSENT_RUNS, absent.getOrDefault(SimulatedRig.RUNS_ASKED, 0.0));
      Map<String, Double> found = rig.measure(Workload.mixed(0, keys), operations);
      add(sums, FOUND, pages(found));
      add(sums, FOUND_RUNS, found.getOrDefault(SimulatedRig.RUNS_ASKED, 0.0));
      for (int entries : SCANS) {
        long scans = Math.max(1, operations / entries / FEWER_SCANS);
        Map<String, Double> scanned = rig.measure(Workload.mixed(0, keys).scanning(entries), scans);
        add(sums, scanPages(entries), pages(scanned));
        double runs = scanned.getOrDefault(SimulatedRig.RUNS_OPENED, 0.0);
        add(sums, SCAN_RUNS, runs / SCANS.size());
      }
    }
    sums.replaceAll((name, sum) -> sum / ROUNDS);
    sums.put(SimulatedRig.MOST_SPACE, most);
    return sums;
  }

  /** What the tree's own statistics say, of all since the store was opened. */
  private static void addStatistics(Map<String, Double> figures, StoreStats.TreeStats tree) {
    StoreStats.ExpectedCosts expected = tree.expected();
    figures.put("statistics: write amplification", tree.writeAmplification());
    figures.put("statistics: write amplification expected", expected.writeAmplification());
    figures.put("statistics: read amplification", tree.readers().readAmplification());
    figures.put("statistics: read amplification expected", expected.readAmplification());
    figures.put("statistics: space amplification", tree.spaceAmplification());
    figures.put("statistics: space amplification expected", expected.spaceAmplification());
  }

  private static void add(Map<String, Double> sums, String name, double figure) {
    sums.merge(name, figure, Double::sum);
  }

  static String scanPages(int entries) {
    return "pages read by a scan of " + entries + " [1/op]";
  }

  private static double pages(Map<String, Double> figures) {
    return figures.getOrDefault(Meter.QUERY_READ, 0.0);
  }

  static String modelScan(int entries) {
    return "RunsModel: pages of a scan of " + entries + " [1/op]";
  }

  /** What the model says of such a store, given what an entry takes, and how full memory was. */
  private static void addModel(
      Map<String, Double> figures, Point point, StoreOptions options, Shape shape, Keys keys) {
    ModelledStore store = ModelledStore.of(options, shape, figures);
    if (store == null) {
      return;
    }
    double pageEntries = options.pageSize() / store.mergedBytes();
    RunsModel.Reads reads =
        new RunsModel.Reads(pageEntries, figures.get(BITS), point.text(FILTERS).equals(BY_LEVEL));
    RunsModel model =
        new RunsModel(
            store.asFullAsItWas(), RunPolicy.parse(point.text(RUNS)), reads, point.real(SPACE));
    Popularity popularity = ModelledStore.popularity(shape, keys);
    RunsModel.Costs costs = model.costs(popularity);
    WriteCost cost = model.cost(popularity);
    figures.put(MODEL_WRITTEN, store.bytes(cost, costs.tiers()));
    figures.put(MODEL_FLUSHED, store.flushBytes(cost));
    figures.put(MODEL_TIERS, store.tierBytes(cost, costs.tiers()));
    figures.put(MODEL_FOUND, costs.found());
    figures.put(MODEL_ABSENT, costs.absent());
    figures.put(MODEL_SCAN_RUNS, costs.runs());
    for (int entries : SCANS) {
      figures.put(modelScan(entries), costs.scan(entries));
    }
    figures.put(MODEL_SPACE, costs.space());
  }

  @Override
  public List<Chart> charts(Results results) {
    List<Chart> charts = new ArrayList<>();
    for (String keys : List.of("uniform", "zipf")) {
      Results usual = byLevel(results).where(KEYS, keys).where(SPACE, USUAL);
      charts.add(Charts.bars(keys + ": bytes written", usual, SPACE, RUNS, Meter.WRITTEN));
      charts.add(Charts.bars(keys + ": pages of a key", usual, SPACE, RUNS, FOUND));
      charts.add(Charts.bars(keys + ": pages of an absent key", usual, SPACE, RUNS, ABSENT));
      for (int entries : SCANS) {
        String title = keys + ": pages of a scan of " + entries;
        charts.add(Charts.bars(title, usual, SPACE, RUNS, scanPages(entries)));
      }
    }
    return charts;
  }

  private static Results byLevel(Results results) {
    return results.where(FILTERS, BY_LEVEL);
  }

  @Override
  public List<Verdict> check(Results results) {
    List<Verdict> verdicts = new ArrayList<>();
    Results uniform = byLevel(results).where(KEYS, "uniform");
    Results zipf = byLevel(results).where(KEYS, "zipf");
    verdicts.add(written(uniform, "uniform", USUAL, LAZY, 0.75));
    verdicts.add(written(zipf, "zipf", USUAL, LAZY, 0.9));
    verdicts.add(written(uniform, "uniform", MORE, LAZY, 0.65));
    verdicts.add(written(zipf, "zipf", MORE, LAZY, 0.8));
    for (String tiered : List.of(TIERED, WIDE)) {
      verdicts.add(written(uniform, "uniform", DOUBLE, tiered, 0.5));
      verdicts.add(written(zipf, "zipf", DOUBLE, tiered, 0.6));
    }
    Results usual = byLevel(results).where(SPACE, USUAL);
    verdicts.add(read(usual, "a key that is there", FOUND, 1.05));
    verdicts.add(read(usual, "an absent key", ABSENT, 1.2));
    verdicts.add(read(usual, "a scan of 10", scanPages(10), 1.5));
    verdicts.add(read(usual, "a scan of 100", scanPages(100), 1.15));
    Results both = results.where(KEYS, "uniform").where(SPACE, USUAL);
    verdicts.add(
        Claims.spread(
            "Pages of an absent key, filters by level divided by alike, LAZY(8), are at most 0.67",
            both.where(RUNS, LAZY).pairs(FILTERS, BY_LEVEL, ALIKE, ABSENT),
            0.67));
    verdicts.add(
        Claims.notMore(
            "Tiers and levels never hold more than maxSpace says, by 5 %",
            pairs(
                results,
                row -> true,
                row -> row.figure(SimulatedRig.MOST_SPACE),
                row -> Double.parseDouble(row.parameter(SPACE))),
            5));
    for (String runs : List.of(LEVELED, "LAZY(2)", "LAZY(4)", LAZY, TIERED, WIDE)) {
      Predicate<Row> of = row -> row.parameter(RUNS).equals(runs);
      verdicts.add(model(results, of, runs + ", bytes", MODEL_WRITTEN, Meter.WRITTEN));
      verdicts.add(model(results, of, runs + ", runs asked, found", MODEL_FOUND, FOUND_RUNS));
      verdicts.add(model(results, of, runs + ", runs asked, absent", MODEL_ABSENT, ABSENT_RUNS));
      verdicts.add(model(results, of, runs + ", space", MODEL_SPACE, SimulatedRig.SPACE));
    }
    MIXES.forEach((name, mix) -> verdicts.add(advice(usual, name, mix)));
    return verdicts;
  }

  private static Verdict written(
      Results results, String keys, String space, String runs, double most) {
    return Claims.spread(
        String.format(
            "%s, maxSpace %s: bytes per put, %s divided by LEVELED, are at most %s",
            keys, space, runs, most),
        results.where(SPACE, space).pairs(RUNS, runs, LEVELED, Meter.WRITTEN),
        most);
  }

  private static Verdict read(Results results, String what, String figure, double most) {
    return Claims.spread(
        "Pages of " + what + ", LAZY(8) divided by LEVELED, are at most " + most,
        results.pairs(RUNS, LAZY, LEVELED, figure),
        most);
  }

  private static Verdict model(
      Results results, Predicate<Row> of, String what, String model, String figure) {
    return Claims.ratio(
        what + ": RunsModel divided by what was seen is within 10 %",
        pairs(results, of, row -> row.figure(model), row -> row.figure(figure)),
        1 - OFF,
        1 + OFF);
  }

  /** A figure of a row, or what is to be compared with one. */
  private interface Side {
    double of(Row row);
  }

  private static List<Pair> pairs(Results results, Predicate<Row> rows, Side left, Side right) {
    List<Pair> pairs = new ArrayList<>();
    for (Row row : results.rows()) {
      if (rows.test(row)) {
        String where = row.parameter(KEYS) + " " + row.parameter(SPACE);
        pairs.add(new Pair(where, left.of(row), right.of(row)));
      }
    }
    return pairs;
  }

  /** Whether the policy that the model finds best is the best one, or costs little more. */
  private static Verdict advice(Results results, String name, OperationMix mix) {
    List<Pair> pairs = new ArrayList<>();
    for (String keys : results.values(KEYS)) {
      for (String seed : results.values("seed")) {
        List<Row> rows = results.where(KEYS, keys).where("seed", seed).rows();
        if (rows.stream().noneMatch(row -> modelled(mix, row) > 0)) {
          continue; // None was measured, or the model has no such stores.
        }
        Row chosen = cheapest(rows, row -> modelled(mix, row));
        Row best = cheapest(rows, row -> measured(mix, row));
        String where = keys + ", " + chosen.parameter(RUNS) + " for " + best.parameter(RUNS);
        pairs.add(new Pair(where, measured(mix, chosen), measured(mix, best)));
      }
    }
    return Claims.notMore(
        name + ": what the model advises costs at most 5 % more than the best", pairs, 5);
  }

  private static Row cheapest(List<Row> rows, Side cost) {
    return rows.stream()
        .min(Comparator.comparingDouble(cost::of))
        .orElseThrow(() -> new IllegalStateException("no policy was measured"));
  }

  private static double measured(OperationMix mix, Row row) {
    double scan = row.figure(scanPages((int) mix.scanLength()));
    return cost(mix, row.figure(Meter.WRITTEN), row.figure(FOUND), row.figure(ABSENT), scan);
  }

  private static double modelled(OperationMix mix, Row row) {
    double scan = row.figure(modelScan((int) mix.scanLength()));
    double written = row.figure(MODEL_WRITTEN);
    return cost(mix, written, row.figure(MODEL_FOUND), row.figure(MODEL_ABSENT), scan);
  }

  private static double cost(
      OperationMix mix, double written, double found, double absent, double scan) {
    return mix.cost(new OperationMix.Parts(written, found, absent, scan), PAGE_BYTES);
  }
}
