package io.isobardb.bench.compare;

import io.isobardb.bench.engine.Engine;
import io.isobardb.bench.process.ProcessCounters;
import io.isobardb.cli.console.Progress.Watcher;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;

/**
 * Runs phases on one open engine and measures them.
 *
 * <p>Phases other than the load begin with an unmeasured quarter of their operations, those that
 * only read with more if compiled code is not yet what it will be. After a phase that writes,
 * background work is waited for and charged to it.
 */
final class PhaseRunner implements AutoCloseable {
  private static final int WARM_UP_SHARE = 4;

  /**
   * Phases that only read are warmed up until the JIT compiler is idle: until then they run slow
   * code, on the cores that the compiler leaves them.
   */
  private static final double BUSY_COMPILER_SHARE = 0.05;

  private static final double LEAST_WARM_UP_SECONDS = 5;

  /** In durations of the phase: the longest wait for the compiler. */
  private static final double COMPILER_DURATIONS = 3;

  /** Long enough to read a cache full at the pace of a slow device. */
  private static final double WARM_UP_SECONDS = 60;

  private final CompareSpec spec;
  private final Engine engine;
  private final ExecutorService threads;
  private final List<Worker> workers = new ArrayList<>();
  private final Watcher progress;

  /** {@code progress} is told once a second what is going on, and how much of the phase is done. */
  PhaseRunner(CompareSpec spec, Engine engine, Watcher progress) {
    this.spec = spec;
    this.engine = engine;
    this.progress = progress;
    threads = Executors.newFixedThreadPool(spec.threads());
    for (int i = 0; i < spec.threads(); i++) {
      workers.add(new Worker(spec, engine, i, Dataset.mix(spec.seed() + i)));
    }
  }

  /** Runs one phase. */
  PhaseResult run(Phase phase) throws InterruptedException {
    long operations = phase.operations(spec.records(), spec.operations());
    double limitSeconds = phase == Phase.LOAD ? 1e6 : spec.durationSeconds();
    workers.forEach(worker -> worker.prepare(phase, operations / spec.threads() + 1));
    if (phase != Phase.LOAD) {
      warmUp(phase, Math.max(1, operations / WARM_UP_SHARE));
    }
    ProcessCounters before = ProcessCounters.now();
    long start = System.nanoTime();
    long engineBytes = parallel(phase, operations, limitSeconds, false);
    long end = System.nanoTime();
    ProcessCounters after = ProcessCounters.now();
    if (phase.writes()) {
      engine.settle();
    }
    double settleSeconds = (System.nanoTime() - end) / 1e9;
    ProcessCounters settled = ProcessCounters.now();

    long done = 0;
    Histogram latencies = new Histogram(workers.get(0).latencies());
    for (Worker worker : workers) {
      done += worker.done();
      latencies.add(worker.latencies());
    }
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put("operations", (double) done);
    figures.put("seconds", (end - start) / 1e9);
    figures.put("throughput", done * 1e9 / (end - start));
    figures.put("p50Micros", latencies.getValueAtPercentile(50) / 1e3);
    figures.put("p99Micros", latencies.getValueAtPercentile(99) / 1e3);
    figures.put("p999Micros", latencies.getValueAtPercentile(99.9) / 1e3);
    figures.put("maxMicros", latencies.getMaxValue() / 1e3);
    figures.put("cpuMicros", (after.cpuNanos() - before.cpuNanos()) / 1e3 / done);
    figures.put("cpuWithSettleMicros", (settled.cpuNanos() - before.cpuNanos()) / 1e3 / done);
    figures.put("settleSeconds", phase.writes() ? settleSeconds : 0);
    figures.put("writtenBytes", perOperation(before.writtenBytes(), settled.writtenBytes(), done));
    figures.put("readBytes", perOperation(before.readBytes(), settled.readBytes(), done));
    figures.put("spaceBytes", (double) engine.spaceBytes());
    figures.put("engineBytes", (double) Math.max(engineBytes, engine.memoryBytes()));
    figures.put("residentBytes", (double) settled.peakResidentBytes());
    return new PhaseResult(phase, figures);
  }

  private void warmUp(Phase phase, long operations) throws InterruptedException {
    long start = System.nanoTime();
    parallel(phase, operations, WARM_UP_SECONDS, true);
    if (phase.writes()) {
      return;
    }
    double least = Math.min(LEAST_WARM_UP_SECONDS, spec.durationSeconds());
    double most = Math.max(least, COMPILER_DURATIONS * spec.durationSeconds());
    boolean compiling = true;
    double seconds = seconds(start);
    while (seconds < least || (compiling && seconds < most)) {
      long compiled = compilerMillis();
      long slice = System.nanoTime();
      parallel(phase, Integer.MAX_VALUE, 1, true);
      compiling = (compilerMillis() - compiled) / 1e3 > BUSY_COMPILER_SHARE * seconds(slice);
      seconds = seconds(start);
    }
  }

  private static double seconds(long sinceNanos) {
    return (System.nanoTime() - sinceNanos) / 1e9;
  }

  private static long compilerMillis() {
    return ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
  }

  private static double perOperation(long before, long after, long operations) {
    return before < 0 ? -1 : (double) (after - before) / operations;
  }

  /** Runs the phase on all threads; returns the most memory the engine was seen to hold, or -1. */
  private long parallel(Phase phase, long operations, double limitSeconds, boolean warmUp)
      throws InterruptedException {
    CountDownLatch go = new CountDownLatch(1);
    LongAdder done = new LongAdder();
    long start = System.nanoTime();
    long deadline = start + (long) (limitSeconds * 1e9);
    List<Future<?>> runs = new ArrayList<>();
    for (int i = 0; i < workers.size(); i++) {
      Worker worker = workers.get(i);
      long share = (operations - i + workers.size() - 1) / workers.size();
      runs.add(
          threads.submit(
              () -> {
                go.await();
                worker.run(phase, share, deadline, done);
                return null;
              }));
    }
    go.countDown();
    long engineBytes = -1;
    for (Future<?> run : runs) {
      while (true) {
        try {
          run.get(1, TimeUnit.SECONDS);
          break;
        } catch (TimeoutException e) {
          engineBytes = Math.max(engineBytes, engine.memoryBytes());
          tell(phase, done.sum(), operations, seconds(start) / limitSeconds, warmUp);
        } catch (ExecutionException e) {
          throw new IllegalStateException(phase.label() + " failed: " + e.getCause(), e.getCause());
        }
      }
    }
    return engineBytes;
  }

  private void tell(Phase phase, long done, long operations, double time, boolean warmUp) {
    if (warmUp) {
      // How long it takes depends on the compiler; the measured part counts for all of the phase.
      progress.at(phase.label() + ", warming up", 0, 1);
    } else {
      String text = String.format("%s: %,d of %,d", phase.label(), done, operations);
      progress.at(text, Math.min(1, Math.max((double) done / operations, time)), 1);
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
    workers.forEach(Worker::close);
  }
}
