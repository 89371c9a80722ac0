package io.isobardb.bench.experiment;

import io.isobardb.bench.drive.Driver;
import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.drive.Workload;
import io.isobardb.bench.engine.Directories;
import io.isobardb.bench.engine.IsobarEngine;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.lsm.StoreOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Where points are measured: a directory, a scale, a seed. Loads what a point is to find once, and
 * gives each point a copy. Used by one thread at a time.
 */
final class Bench {
  /** The sizes of the paper's main experiments. */
  static final double BUDGET_GIGABYTES = 20;

  static final double LOG_GIGABYTES = 10;
  static final long RECORDS = 100_000_000;

  /** With fewer operations, one merge of L0 more or less would be what is measured. */
  static final long OPERATIONS = 3 * RECORDS;

  /**
   * The part of the highest throughput at which bytes are counted: so little that merges keep up in
   * any case. Where they only just do, L0 is short in one run and long in the next, and costs a
   * third less to merge when it is long.
   */
  private static final double LOAD = 0.5;

  private static final double POINT_SECONDS = 12;

  private final Path dir;
  private final RunSettings settings;
  private final long seed;
  private final double longestSeconds;
  private final Consumer<String> progress;
  private int copies;

  /** {@code longestSeconds} is a limit for the runs at full speed, below those they have. */
  Bench(
      Path dir, RunSettings settings, long seed, double longestSeconds, Consumer<String> progress) {
    this.dir = dir;
    this.settings = settings;
    this.seed = seed;
    this.longestSeconds = longestSeconds;
    this.progress = progress;
  }

  Scale scale() {
    return settings.scale();
  }

  long seed() {
    return seed;
  }

  int threads() {
    return settings.threads();
  }

  /** The time that a run may take which is to take {@code small} seconds in the scale small. */
  double seconds(double small) {
    return Math.min(longestSeconds, scale().seconds(small));
  }

  /** Tells whoever waits what is going on. */
  void progress(String text) {
    progress.accept(text);
  }

  /** Options with nothing set but what was given for all points. */
  StoreOptions.Builder freeOptions() {
    return settings.storeOptions();
  }

  /** What was given for all points, and over it what an experiment sets itself, by name. */
  Map<String, String> options(Map<String, String> own) {
    Map<String, String> all = new LinkedHashMap<>(settings.options());
    all.putAll(own);
    return all;
  }

  /** Options that most points share: the paper's memory and log, no tuner. */
  StoreOptions.Builder options() {
    return freeOptions()
        .memoryBudget(scale().budget(BUDGET_GIGABYTES))
        .logLimit(scale().log(LOG_GIGABYTES))
        .memoryTuner(false);
  }

  /** As {@link #options()}, with so many sixteenths of the budget to write to as the point says. */
  StoreOptions.Builder options(Point point) {
    long sixteenth = scale().budget(BUDGET_GIGABYTES) / 16;
    return options().writeMemory(Math.round(sixteenth * point.real(SingleTree.SIXTEENTHS)));
  }

  /** A directory of the name that is not there yet. */
  Path empty(String name) {
    Path empty = dir.resolve(name + "-" + ++copies);
    Directories.delete(empty);
    return empty;
  }

  /** A store with {@code shape} loaded and at rest, under a driver. */
  Rig rig(StoreOptions options, Shape shape, double smallSeconds) throws Exception {
    Path copy = empty("store");
    copy(loaded(shape), copy);
    return new Rig(copy, options, shape, threads(), seed, seconds(smallSeconds));
  }

  /** A usual point: warmed up with half as many operations as are measured then. */
  List<Row> point(
      Point point, StoreOptions options, Shape shape, Workload workload, long operations)
      throws Exception {
    try (Rig rig = rig(options, shape, POINT_SECONDS)) {
      rig.run(workload, operations / 2);
      return List.of(row(point, rig.measure(workload, operations)));
    }
  }

  /**
   * A point of a workload that writes much: the throughput is what half of the operations reach at
   * full speed; all else is measured after that, at half of that rate. While writers only ever wait
   * for merges, write memory is full under any scheme.
   */
  List<Row> pacedPoint(
      Point point, StoreOptions options, Shape shape, Workload workload, long operations)
      throws Exception {
    try (Rig rig = rig(options, shape, POINT_SECONDS)) {
      Map<String, Double> full = rig.measure(workload, operations / 2);
      double most = full.get(Meter.THROUGHPUT);
      Map<String, Double> figures = rig.measureAt(LOAD * most, workload, operations);
      figures.put(Meter.THROUGHPUT, most);
      figures.put("at full speed: " + Meter.STALLED, full.get(Meter.STALLED));
      figures.put("at full speed: " + Meter.WRITTEN, full.get(Meter.WRITTEN));
      figures.put("at full speed: " + Meter.CPU, full.get(Meter.CPU));
      return List.of(row(point, figures));
    }
  }

  /** The directory of a closed store of the shape. */
  private Path loaded(Shape shape) throws Exception {
    String name =
        String.format("%dx%d%s", shape.trees(), shape.records(), shape.logged() ? "" : "-unlogged");
    return loaded(
        name,
        loading -> {
          StoreOptions options = options().build();
          try (IsobarEngine engine =
                  IsobarEngine.open(loading, options, shape.trees(), shape.treeOptions());
              Driver driver = new Driver(engine, shape, threads(), seed)) {
            driver.load();
            engine.store().flush();
            engine.settle();
          }
        });
  }

  /** Makes a closed store. */
  interface Loader {
    void load(Path empty) throws Exception;
  }

  /** The directory of a closed store of that name, loaded the first time it is asked for. */
  Path loaded(String name, Loader loader) throws Exception {
    Path loaded = dir.resolve("loaded-" + name);
    if (!Files.exists(loaded)) {
      progress("loading " + name);
      Path loading = empty("loading");
      loader.load(loading);
      Files.move(loading, loaded);
    }
    return loaded;
  }

  /**
   * SSTables are never changed: links to them are as good as copies, and cost the device nothing.
   */
  static void copy(Path from, Path to) {
    try (Stream<Path> files = Files.list(from)) {
      Files.createDirectories(to);
      for (Path file : files.toList()) {
        Path target = to.resolve(file.getFileName());
        if (!file.getFileName().toString().endsWith(".sst") || !linked(file, target)) {
          Files.copy(file, target);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot copy " + from + " to " + to, e);
    }
  }

  private static boolean linked(Path file, Path target) {
    try {
      Files.createLink(target, file);
      return true;
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }

  /** Figures beside a point's parameters. */
  static Row row(Point point, Map<String, Double> figures) {
    return new Row(point.parameters(), figures);
  }
}
