package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.CPU;
import static io.isobardb.bench.experiment.Meter.MEGABYTE;
import static io.isobardb.bench.experiment.Meter.THROUGHPUT;

import io.isobardb.bench.drive.Dataset;
import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.engine.Directories;
import io.isobardb.bench.engine.Engine;
import io.isobardb.bench.engine.EngineKind;
import io.isobardb.bench.engine.EngineOptions;
import io.isobardb.bench.engine.IsobarEngine;
import io.isobardb.bench.engine.Session;
import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.bench.process.ProcessCounters;
import io.isobardb.cli.report.Chart;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Many trees under one small budget, written in turns: an experiment of our own. */
final class Thrash implements Experiment {
  private static final String ENGINE = "engine";
  private static final String ISOBAR = EngineKind.ISOBAR.label();

  /** The RocksDB that promises what Isobar does. */
  private static final String ROCKS = EngineKind.ROCKSDB_SYNC100MS.label();

  private static final String STALLING = EngineKind.ROCKSDB_STALL.label();
  private static final String TREES = "trees";
  private static final String MEMORY = "memory [MB]";
  private static final String SUSTAINED = "throughput until all is merged [op/s]";
  private static final String RESIDENT = "resident memory above the start [MB]";
  private static final String CLAIMED = "memory by its own account [MB]";
  private static final String DEBT = "time for what was left to do [s]";
  private static final String DEVICE = "device written [B/op]";
  private static final int LITTLE = 32;

  /** What RocksDB takes with {@link #MANY} trees, whatever it is told. */
  private static final int EQUAL = 160;

  private static final int MANY = 256;
  private static final long WRITES = 300_000_000;
  private static final long REHEARSAL_BUDGET = 8 << 20;
  private static final double REHEARSAL_SECONDS = 12;

  /** Other settings of RocksDB, with few and with many trees. */
  private static final List<EngineKind> VARIANTS =
      List.of(EngineKind.ROCKSDB, EngineKind.ROCKSDB_BUFFERED, EngineKind.ROCKSDB_STALL);

  /** With 256 a write to the one that stalls did not return within minutes. */
  private static final List<Integer> VARIANT_TREES = List.of(8, 64);

  private static final int LOOK_EVERY = 1024;
  private static final double MAX_SECONDS = 25;

  @Override
  public About about() {
    return new About(
        "thrash",
        "8 to 256 trees on 32 MB: is there a cliff?",
        "An experiment of our own",
        "Stores fall off a cliff when many trees share little write memory: an engine on top of"
            + " RocksDB went from 191 MB/s with 8 trees to 0.9 MB/s with 16. RocksDB itself, with a"
            + " WriteBufferManager, keeps its pace but not its budget, unless writes are to wait for it."
            + " Isobar is to keep both.",
        "300 M writes of 1 KB times the scale, one tree after the other, random keys, one client"
            + " thread, 32 MB for everything whatever the scale. With 256 trees Isobar also gets 160 MB,"
            + " about what RocksDB takes then. Isobar has its defaults; RocksDB has one"
            + " cache of 32 MB that its write buffers are charged to, with a WriteBufferManager of a"
            + " quarter of it, which lets writes go on beyond that, or, as rocksdb-stall, wait"
            + " (allow_stall). Writes are not synced one by one. rocksdb-sync100ms promises what Isobar"
            + " does: each write is handed to the system, and the log is synced every 100 ms. rocksdb is"
            + " RocksDB's default, which never syncs its log, and rocksdb-buffered keeps the log in the"
            + " process for up to 100 ms. Each point in a process of its own, whose heap is touched before and"
            + " which has run the engine with 8 MB for some seconds, so that the resident memory that"
            + " comes on top is the engine's, to some megabytes.");
  }

  @Override
  public List<EngineKind> engines() {
    List<EngineKind> engines = new ArrayList<>();
    engines.add(EngineKind.ISOBAR);
    engines.add(EngineKind.ROCKSDB_SYNC100MS);
    engines.addAll(VARIANTS);
    return engines;
  }

  @Override
  public boolean ownProcesses() {
    return true;
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> points = new ArrayList<>();
    for (int trees : List.of(8, 16, 32, 64, MANY)) {
      points.add(point(trees, EngineKind.ISOBAR, LITTLE));
      points.add(point(trees, EngineKind.ROCKSDB_SYNC100MS, LITTLE));
      if (VARIANT_TREES.contains(trees)) {
        VARIANTS.forEach(variant -> points.add(point(trees, variant, LITTLE)));
      }
    }
    points.add(point(MANY, EngineKind.ISOBAR, EQUAL));
    return points;
  }

  private static Point point(int trees, EngineKind engine, int megabytes) {
    return Point.of(TREES, trees).with(ENGINE, engine.label()).with(MEMORY, megabytes);
  }

  @Override
  public List<Row> measure(Point point, Bench bench) {
    int trees = point.number(TREES);
    Path dir = bench.empty("thrash");
    try {
      Files.createDirectories(dir);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make " + dir, e);
    }
    rehearse(point.text(ENGINE), dir, bench);
    long budget = (long) point.number(MEMORY) << 20;
    EngineOptions options = new EngineOptions(dir, budget, true, false, trees);
    try (Engine engine = open(point.text(ENGINE), options, bench)) {
      return List.of(
          new Row(
              point.parameters(),
              write(
                  engine,
                  trees,
                  bench.scale().count(WRITES),
                  bench.seconds(MAX_SECONDS),
                  bench.seed())));
    } finally {
      Directories.delete(dir);
    }
  }

  /**
   * Lets compilers settle on a store with as little memory as may be, which is thrown away. They
   * take some ten seconds of a processor: in a short run more than all the writes.
   */
  private static void rehearse(String engine, Path dir, Bench bench) {
    Path rehearsal = dir.resolve("rehearsal");
    EngineOptions options = new EngineOptions(rehearsal, REHEARSAL_BUDGET, true, false, 8);
    try {
      Files.createDirectories(rehearsal);
      try (Engine rehearsed = open(engine, options, bench)) {
        write(
            rehearsed,
            8,
            bench.scale().count(WRITES),
            Math.min(REHEARSAL_SECONDS, bench.seconds(REHEARSAL_SECONDS)),
            bench.seed());
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make " + rehearsal, e);
    }
    Directories.delete(rehearsal);
  }

  private static Engine open(String engine, EngineOptions options, Bench bench) {
    return engine.equals(ISOBAR)
        ? IsobarEngine.open(options, bench.freeOptions())
        : EngineKind.of(engine).open(options);
  }

  private static Map<String, Double> write(
      Engine engine, int trees, long writes, double maxSeconds, long seed) {
    Dataset data = new Dataset(Shape.KEY_BYTES, Shape.VALUE_BYTES);
    SplittableRandom random = new SplittableRandom(seed);
    byte[] key = new byte[Shape.KEY_BYTES];
    byte[] value = new byte[Shape.VALUE_BYTES];
    long records = Math.max(1, writes / trees);
    ProcessCounters before = ProcessCounters.now();
    long memory = 0;
    long start = System.nanoTime();
    long done = 0;
    try (Session session = engine.openSession()) {
      while (done < writes) {
        long record = random.nextLong(records);
        data.key(record, key);
        data.value(record, done, value);
        session.put((int) (done % trees), key, value);
        if (++done % LOOK_EVERY == 0) {
          memory = Math.max(memory, engine.memoryBytes());
        }
        if ((System.nanoTime() - start) / 1e9 > maxSeconds) {
          break;
        }
      }
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    memory = Math.max(memory, engine.memoryBytes());
    engine.settle();
    double settled = (System.nanoTime() - start) / 1e9;
    ProcessCounters after = ProcessCounters.now();
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put(THROUGHPUT, done / seconds);
    figures.put(SUSTAINED, done / settled);
    figures.put(DEBT, settled - seconds);
    figures.put(CPU, (after.cpuNanos() - before.cpuNanos()) / 1e3 / done);
    figures.put(DEVICE, (after.writtenBytes() - before.writtenBytes()) / (double) done);
    figures.put(CLAIMED, memory / MEGABYTE);
    figures.put(RESIDENT, (after.peakResidentBytes() - before.peakResidentBytes()) / MEGABYTE);
    figures.put("operations", (double) done);
    return figures;
  }

  @Override
  public List<Chart> charts(Results all) {
    Results results = all.where(MEMORY, "" + LITTLE);
    return List.of(
        Charts.bars("Throughput until all is merged", results, TREES, ENGINE, SUSTAINED),
        Charts.bars("Throughput while writing", results, TREES, ENGINE, THROUGHPUT),
        Charts.bars("Memory above the start", results, TREES, ENGINE, RESIDENT),
        Charts.bars("Bytes written to the device", results, TREES, ENGINE, DEVICE));
  }

  @Override
  public List<Verdict> check(Results all) {
    Results results = all.where(MEMORY, "" + LITTLE);
    Results isobar = results.where(ENGINE, ISOBAR);
    double few = isobar.where(TREES, "8").mean(SUSTAINED);
    return List.of(
        Claims.notMore(
            "No cliff: with more trees Isobar keeps more than a third of its throughput with 8",
            isobar.rows().stream()
                .map(
                    row ->
                        new Results.Pair(
                            row.parameter(TREES) + " trees", few, row.figure(SUSTAINED)))
                .toList(),
            200),
        Claims.notMore(
            "Isobar keeps its budget of 32 MB",
            isobar.rows().stream()
                .map(
                    row ->
                        new Results.Pair(
                            row.parameter(TREES) + " trees",
                            row.figure(CLAIMED),
                            (LITTLE << 20) / MEGABYTE))
                .toList(),
            0),
        Claims.less(
            "Isobar takes less resident memory than RocksDB",
            results.pairs(ENGINE, ISOBAR, ROCKS, RESIDENT)),
        Claims.less(
            "Isobar writes more entries a second than RocksDB until all is merged",
            results.pairs(ENGINE, ROCKS, ISOBAR, SUSTAINED)),
        Claims.less(
            "With as much resident memory as RocksDB takes Isobar writes more entries a second",
            List.of(
                new Results.Pair(
                    MANY + " trees",
                    results.where(TREES, "" + MANY).where(ENGINE, ROCKS).mean(SUSTAINED),
                    all.where(MEMORY, "" + EQUAL).mean(SUSTAINED)))),
        Claims.less(
            "Isobar writes more entries a second than RocksDB whose writes wait for memory",
            results.pairs(ENGINE, STALLING, ISOBAR, SUSTAINED)));
  }
}
