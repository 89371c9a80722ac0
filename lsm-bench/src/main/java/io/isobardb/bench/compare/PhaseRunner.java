package io.isobardb.bench.compare;

import io.isobardb.bench.drive.Driver;
import io.isobardb.bench.drive.Driver.Done;
import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.drive.Workload;
import io.isobardb.bench.drive.Workload.Keys;
import io.isobardb.bench.engine.Engine;
import io.isobardb.bench.process.ProcessCounters;
import io.isobardb.cli.console.Progress.Watcher;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs a phase on an open engine and measures it.
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

  /**
   * What is over sooner is the clock's and the scheduler's. Phases that write end when they have
   * done what they were to do: what more would be measured is another state.
   */
  static final double LEAST_SECONDS = 1;

  /** Long enough to read a cache full at the pace of a slow device. */
  private static final double WARM_UP_SECONDS = 60;

  private final CompareSpec spec;
  private final Engine engine;
  private final Driver driver;
  private final Phase phase;
  private final Workload workload;
  private final Watcher progress;
  private long engineBytes;

  /** {@code progress} is told once a second what is going on, and how much of the phase is done. */
  PhaseRunner(CompareSpec spec, Engine engine, Phase phase, Watcher progress) {
    this.phase = phase;
    this.workload = spec.inPlace() ? phase.workload().inPlace() : phase.workload();
    this.spec = spec;
    this.engine = engine;
    this.progress = progress;
    Shape shape = new Shape(1, spec.records(), spec.keyBytes(), spec.valueBytes(), true);
    driver =
        phase == Phase.GET_VIRTUAL
            ? Driver.ofVirtualThreads(engine, shape, Phase.VIRTUAL_THREADS, spec.seed())
            : new Driver(engine, shape, spec.threads(), spec.seed());
  }

  /** Runs the phase. */
  PhaseResult run() throws InterruptedException {
    long operations = phase.operations(spec.records(), spec.operations());
    if (phase == Phase.ZIPF) {
      driver.draw(operations);
    }
    if (phase != Phase.LOAD) {
      warmUp(Math.max(1, operations / WARM_UP_SHARE));
    }
    if (phase == Phase.ZIPF) {
      // Else what is measured would read what the warming up has just read, in the same order.
      driver.draw(operations);
    }
    if (phase == Phase.SCAN_UNSETTLED) {
      unsettle();
    }
    engineBytes = -1;
    long begin = System.nanoTime();
    driver.eachSecond(done -> tell(done, operations, begin));
    ProcessCounters before = ProcessCounters.now();
    Done done = measured(operations);
    long end = System.nanoTime();
    ProcessCounters after = ProcessCounters.now();
    if (phase.writes()) {
      engine.settle();
    }
    double settleSeconds = (System.nanoTime() - end) / 1e9;
    ProcessCounters settled = ProcessCounters.now();

    long count = done.operations();
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put("operations", (double) count);
    figures.put("seconds", done.seconds());
    figures.put("throughput", count / done.seconds());
    figures.put("p50Micros", done.latencies().getValueAtPercentile(50) / 1e3);
    figures.put("p99Micros", done.latencies().getValueAtPercentile(99) / 1e3);
    figures.put("p999Micros", done.latencies().getValueAtPercentile(99.9) / 1e3);
    figures.put("maxMicros", done.latencies().getMaxValue() / 1e3);
    figures.put("cpuMicros", (after.cpuNanos() - before.cpuNanos()) / 1e3 / count);
    figures.put("cpuWithSettleMicros", (settled.cpuNanos() - before.cpuNanos()) / 1e3 / count);
    figures.put("settleSeconds", phase.writes() ? settleSeconds : 0);
    figures.put("writtenBytes", perOperation(before.writtenBytes(), settled.writtenBytes(), count));
    figures.put("readBytes", perOperation(before.readBytes(), settled.readBytes(), count));
    figures.put("spaceBytes", (double) engine.spaceBytes());
    figures.put("engineBytes", (double) Math.max(engineBytes, engine.memoryBytes()));
    figures.put("residentBytes", (double) settled.peakResidentBytes());
    return new PhaseResult(phase, figures);
  }

  private Done measured(long operations) throws InterruptedException {
    try {
      return phase == Phase.LOAD ? driver.load() : driver.run(workload, operations, limits());
    } catch (IllegalStateException e) {
      throw new IllegalStateException(phase.label() + ": " + e.getMessage(), e.getCause());
    }
  }

  private Driver.Limits limits() {
    double most = spec.durationSeconds();
    return new Driver.Limits(phase.writes() ? 0 : Math.min(LEAST_SECONDS, most), most);
  }

  /**
   * As many updates as there are records, half of them uniform, half Zipf's; nothing is settled.
   */
  private void unsettle() throws InterruptedException {
    driver.eachSecond(done -> progress.at(phase.label() + ", updating", 0, 1));
    for (Keys keys : List.of(Keys.UNIFORM, Keys.ZIPF)) {
      driver.run(Workload.mixed(100, keys), Math.max(1, spec.records() / 2), WARM_UP_SECONDS);
    }
  }

  private void warmUp(long operations) throws InterruptedException {
    long start = System.nanoTime();
    // How long it takes depends on the compiler; the measured part counts for all of the phase.
    driver.eachSecond(done -> progress.at(phase.label() + ", warming up", 0, 1));
    driver.run(workload, operations, WARM_UP_SECONDS);
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
      driver.run(workload, Integer.MAX_VALUE, 1);
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

  private void tell(long done, long operations, long sinceNanos) {
    engineBytes = Math.max(engineBytes, engine.memoryBytes());
    double time = phase == Phase.LOAD ? 0 : seconds(sinceNanos) / spec.durationSeconds();
    String text = String.format("%s: %,d of %,d", phase.label(), done, operations);
    progress.at(text, Math.min(1, Math.max((double) done / operations, time)), 1);
  }

  @Override
  public void close() {
    driver.close();
  }
}
