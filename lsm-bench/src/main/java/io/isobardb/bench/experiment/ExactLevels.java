package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.WRITTEN;
import static io.isobardb.bench.experiment.SingleTree.SCHEME;
import static io.isobardb.bench.experiment.SingleTree.SIXTEENTHS;

import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.drive.Workload;
import io.isobardb.bench.drive.Workload.Keys;
import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.cli.console.UsageException;
import io.isobardb.cli.report.Chart;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.option.Levels;
import io.isobardb.tuner.model.EngineModel;
import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.WriteCost;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Bytes written by one tree whose level sizes follow L0's batches, are planned, or have the paper's
 * ratio, which is what {@link EngineModel} tells of; counted on simulated stores.
 */
final class ExactLevels implements SimulatedExperiment {
  private static final String KEYS = "keys";
  private static final String UNIFORM = "uniform";
  private static final String ZIPF = "zipf";
  private static final String SHIFT = "uniform then zipf";
  private static final String BACK = "uniform to zipf and back";
  private static final String DYNAMIC = "DYNAMIC";
  private static final String OPTIMISED = "OPTIMISED";
  private static final String RATIO = "ratio of 10";
  private static final String MODELLED = "EngineModel: flushes and merges [B/op]";
  private static final String FLUSHED_BY_MODEL = "EngineModel: flushes [B/op]";
  private static final String MODELLED_AS_FULL =
      "EngineModel, memory as full as it was: flushes and merges [B/op]";
  private static final String READ = "pages read afterwards [1/op]";

  /** Writes before those that are measured, by records: plans are made, judged and followed. */
  private static final int BEFORE = 8;

  private static final int MEASURED = 3;

  /** Reads come in so many parts, with writes between. */
  private static final int READ_ROUNDS = 16;

  @Override
  public About about() {
    return new About(
        "exact-levels",
        "One tree, bytes written by how its level sizes come about, on simulated stores",
        "An experiment of our own",
        "levels=OPTIMISED writes no more than DYNAMIC, and follows a shift.",
        "100 M records, 20 GB of memory, 10 GB of log, times the scale, write-only, on a simulated"
            + " disk with a simulated clock: a seed counts the same bytes on every machine. All is"
            + " loaded in the order of the keys. Eight times as many writes as there are records come"
            + " first (after each shift as many again), then three times as many are measured, then as"
            + " many reads as records, in 16 parts with as many writes before each. Merges keep up.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> points = new ArrayList<>();
    for (String keys : List.of(UNIFORM, ZIPF, SHIFT, BACK)) {
      points.addAll(
          Point.each(
              Point.each(List.of(Point.of(KEYS, keys)), SIXTEENTHS, List.of("2", "8")),
              SCHEME,
              List.of(DYNAMIC, OPTIMISED, RATIO)));
    }
    return points;
  }

  @Override
  public List<Row> measure(Point point, Bench bench) {
    Shape shape = Shape.of(1, bench.scale().count(Bench.RECORDS));
    StoreOptions options = options(point, bench);
    try (SimulatedRig rig = new SimulatedRig(options, shape, bench.seed())) {
      rig.load();
      Keys drawn = Keys.UNIFORM;
      for (Keys phase : phases(point.text(KEYS))) {
        drawn = phase;
        rig.measure(Workload.mixed(100, drawn), BEFORE * shape.records());
      }
      Workload writes = Workload.mixed(100, drawn);
      Map<String, Double> figures =
          new LinkedHashMap<>(rig.measure(writes, MEASURED * shape.records()));
      if (point.text(SCHEME).equals(RATIO)) {
        addModel(figures, options, shape, drawn);
      }
      figures.put(READ, pagesPerRead(rig, shape.records() / READ_ROUNDS, drawn));
      return List.of(Bench.row(point, figures));
    }
  }

  /** Which keys are drawn, one after the other; the last ones are measured. */
  private static List<Keys> phases(String keys) {
    return switch (keys) {
      case UNIFORM -> List.of(Keys.UNIFORM);
      case ZIPF -> List.of(Keys.ZIPF);
      case SHIFT -> List.of(Keys.UNIFORM, Keys.ZIPF);
      case BACK -> List.of(Keys.UNIFORM, Keys.ZIPF, Keys.UNIFORM);
      default -> throw new UsageException("no keys are called '" + keys + "'");
    };
  }

  /** The mean over some moments: what a read costs depends on how full L0 and memory are. */
  private static double pagesPerRead(SimulatedRig rig, long operations, Keys keys) {
    double pages = 0;
    for (int round = 0; round < READ_ROUNDS; round++) {
      rig.measure(Workload.mixed(100, keys), operations);
      Double read = rig.measure(Workload.mixed(0, keys), operations).get(Meter.QUERY_READ);
      pages += read == null ? 0 : read;
    }
    return pages / READ_ROUNDS;
  }

  private static StoreOptions options(Point point, Bench bench) {
    StoreOptions.Builder options = bench.options(point);
    switch (point.text(SCHEME)) {
      case DYNAMIC -> {}
      case OPTIMISED -> options.levels(Levels.optimised());
      case RATIO -> ExperimentalOptions.set(options, e -> e.levelSizeRatio(10));
      default -> throw new UsageException("no scheme is called '" + point.text(SCHEME) + "'");
    }
    return options.build();
  }

  /** What the model says of such a store, given what an entry takes in memory and on disk. */
  private static void addModel(
      Map<String, Double> figures, StoreOptions options, Shape shape, Keys keys) {
    ModelledStore store = ModelledStore.of(options, shape, figures);
    if (store == null) {
      return;
    }
    Popularity popularity = ModelledStore.popularity(shape, keys);
    WriteCost cost = new EngineModel(store.full()).cost(popularity);
    figures.put(FLUSHED_BY_MODEL, store.flushBytes(cost));
    figures.put(MODELLED, store.bytes(cost));
    WriteCost found = new EngineModel(store.asFullAsItWas()).cost(popularity);
    figures.put(MODELLED_AS_FULL, store.bytes(found));
  }

  @Override
  public List<Chart> charts(Results results) {
    List<Chart> charts = new ArrayList<>();
    for (String keys : results.values(KEYS)) {
      Results rows = results.where(KEYS, keys);
      charts.add(Charts.bars(keys + ": bytes written", rows, SIXTEENTHS, SCHEME, WRITTEN));
    }
    return charts;
  }

  @Override
  public List<Verdict> check(Results results) {
    List<Verdict> verdicts = new ArrayList<>();
    for (String keys : results.values(KEYS)) {
      verdicts.add(
          Claims.spread(
              keys + ": bytes per operation, OPTIMISED divided by DYNAMIC, are at most 1.01",
              results.where(KEYS, keys).pairs(SCHEME, OPTIMISED, DYNAMIC, WRITTEN),
              1.01));
    }
    verdicts.add(
        Claims.spread(
            "Pages read afterwards, OPTIMISED divided by DYNAMIC, are at most 1.01",
            results.pairs(SCHEME, OPTIMISED, DYNAMIC, READ),
            1.01));
    return verdicts;
  }
}
