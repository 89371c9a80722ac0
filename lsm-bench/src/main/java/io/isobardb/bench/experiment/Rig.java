package io.isobardb.bench.experiment;

import io.isobardb.bench.drive.Driver;
import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.drive.Workload;
import io.isobardb.bench.engine.Directories;
import io.isobardb.bench.engine.IsobarEngine;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** A fresh store under a driver; deleted when closed. Used by one thread at a time. */
final class Rig implements AutoCloseable {
  /** How much longer a paced run may take: as many operations again, at half the rate. */
  private static final int PACED = 4;

  private final Path dir;
  private final IsobarEngine engine;
  private final Driver driver;
  private final int threads;
  private final double maxSeconds;

  /** Opens the store in {@code dir}; each run at full speed takes {@code maxSeconds} at most. */
  Rig(Path dir, StoreOptions options, Shape shape, int threads, long seed, double maxSeconds) {
    try {
      Files.createDirectories(dir);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make " + dir, e);
    }
    this.dir = dir;
    this.maxSeconds = maxSeconds;
    this.threads = threads;
    engine = IsobarEngine.open(dir, options, shape.trees(), shape.treeOptions());
    driver = new Driver(engine, shape, threads, seed);
  }

  Store store() {
    return engine.store();
  }

  /** Puts all records into a store that is empty. */
  void load() throws InterruptedException {
    driver.load();
    engine.settle();
  }

  /** Operations that are not measured. */
  void run(Workload workload, long operations) throws InterruptedException {
    driver.run(workload, operations, maxSeconds);
  }

  /**
   * Operations measured from one quiet store to the next: work left over from before is waited for,
   * and what they leave behind is charged to them. Throughput is what can be sustained.
   */
  Map<String, Double> measure(Workload workload, long operations) throws InterruptedException {
    engine.settle();
    Meter meter = new Meter(store(), threads);
    Driver.Done done = driver.run(workload, operations, maxSeconds);
    engine.settle();
    return meter.figures(done, operations);
  }

  /**
   * As {@link #measure}, with so many operations per second, in four times the time at most, and
   * what writes took from when they were due.
   */
  Map<String, Double> measureAt(double rate, Workload workload, long operations)
      throws InterruptedException {
    engine.settle();
    Meter meter = new Meter(store(), threads);
    Driver.Done done = driver.pace(workload, operations, rate, PACED * maxSeconds);
    engine.settle();
    Map<String, Double> figures = meter.figures(done, operations);
    figures.put(Meter.P99, done.latencies().getValueAtPercentile(99) / 1e6);
    return figures;
  }

  /** Operations measured as they go, with no wait before or after. */
  Map<String, Double> window(Workload workload, long operations) throws InterruptedException {
    Meter meter = new Meter(store(), threads);
    return meter.figures(driver.run(workload, operations, maxSeconds), operations);
  }

  @Override
  public void close() {
    driver.close();
    engine.close();
    Directories.delete(dir);
  }
}
