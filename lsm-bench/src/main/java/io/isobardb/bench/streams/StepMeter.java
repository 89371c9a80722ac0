package io.isobardb.bench.streams;

import io.isobardb.bench.process.CompilerTime;
import io.isobardb.bench.process.ProcessCounters;
import io.isobardb.lsm.Store;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Measures one step of this process, from when it is made. Work that the step leaves behind is
 * waited for and charged to it: it is over when the process hardly uses a processor.
 *
 * <p>Thread rule: one thread.
 */
final class StepMeter {
  private static final long SLICE_NANOS = 100_000_000;
  private static final int QUIET_SLICES = 3;
  private static final double QUIET_SHARE = 0.1;
  private static final double LONGEST_SETTLE_SECONDS = 30;

  /** The part of a step after which resident memory should be flat. */
  private static final int WARM_SHARE = 5;

  private final StreamsSpec spec;
  private final ProcessCounters before = ProcessCounters.now();
  private final long compilersBefore = CompilerTime.nanos();
  private final long beganNanos = System.nanoTime();
  private final List<Long> resident = new ArrayList<>();

  StepMeter(StreamsSpec spec) {
    this.spec = spec;
  }

  /** Notes how much is resident; once a second in a long step. */
  void sample() {
    resident.add(ProcessCounters.now().residentBytes());
  }

  /**
   * Ends the step.
   *
   * @param latencies in nanoseconds
   */
  StepResult end(String step, long operations, Histogram latencies) {
    double seconds = (System.nanoTime() - beganNanos) / 1e9;
    ProcessCounters after = ProcessCounters.now();
    long compilers = CompilerTime.nanos();
    ProcessCounters settled = settle();
    Map<String, Double> figures = latencies(latencies);
    figures.put("operations", (double) operations);
    figures.put("seconds", seconds);
    double count = Math.max(1, operations);
    figures.put("cpuMicros", (after.cpuNanos() - before.cpuNanos()) / 1e3 / count);
    figures.put("cpuWithSettleMicros", (settled.cpuNanos() - before.cpuNanos()) / 1e3 / count);
    if (compilersBefore >= 0 && compilers >= 0) {
      figures.put("compilerMicros", (compilers - compilersBefore) / 1e3 / count);
    }
    if (before.writtenBytes() >= 0) {
      figures.put("readBytes", (settled.readBytes() - before.readBytes()) / count);
      figures.put("writtenBytes", (settled.writtenBytes() - before.writtenBytes()) / count);
    }
    resident.add(settled.residentBytes());
    figures.put("residentBytes", (double) resident.stream().mapToLong(of -> of).max().orElse(-1));
    List<Long> late = resident.subList(resident.size() / WARM_SHARE, resident.size() - 1);
    if (late.size() > WARM_SHARE) {
      double least = late.stream().mapToLong(of -> of).min().orElse(1);
      double most = late.stream().mapToLong(of -> of).max().orElse(1);
      figures.put("residentSpread", most / least - 1);
    }
    if (spec.engine() == StreamsEngine.ISOBAR) {
      Store store = StateStores.shared();
      figures.put("ledgerBytes", store == null ? 0.0 : store.stats().ledger().peakBytes());
    }
    return new StepResult(step, figures);
  }

  /** What latencies in nanoseconds tell, and how many they are. */
  static Map<String, Double> latencies(Histogram latencies) {
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put("operations", (double) latencies.getTotalCount());
    if (latencies.getTotalCount() > 0) {
      figures.put("p50Micros", latencies.getValueAtPercentile(50) / 1e3);
      figures.put("p99Micros", latencies.getValueAtPercentile(99) / 1e3);
      figures.put("p999Micros", latencies.getValueAtPercentile(99.9) / 1e3);
    }
    return figures;
  }

  private static ProcessCounters settle() {
    long deadline = System.nanoTime() + (long) (LONGEST_SETTLE_SECONDS * 1e9);
    ProcessCounters last = ProcessCounters.now();
    int quiet = 0;
    while (quiet < QUIET_SLICES && System.nanoTime() < deadline) {
      long begin = System.nanoTime();
      LockSupport.parkNanos(SLICE_NANOS);
      ProcessCounters now = ProcessCounters.now();
      boolean idle =
          now.cpuNanos() - last.cpuNanos() < QUIET_SHARE * (System.nanoTime() - begin)
              && now.writtenBytes() - last.writtenBytes() < 1 << 20;
      quiet = idle ? quiet + 1 : 0;
      last = now;
    }
    return last;
  }
}
