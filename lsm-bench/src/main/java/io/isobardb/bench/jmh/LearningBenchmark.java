package io.isobardb.bench.jmh;

import io.isobardb.tuner.model.ReuseTimes;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What a write costs more with {@code levels=OPTIMISED}, which learns from it. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class LearningBenchmark {
  private static final int RECORDS = 150_000;

  private final SplittableRandom random = new SplittableRandom(42);

  /** As a store's: 64 KB, one key in 16 at most. */
  private final ReuseTimes times = new ReuseTimes(RECORDS, ReuseTimes.LEAST_BYTES, 1.0 / 16, 0, 0);

  private long clock;
  private final LongSupplier writes = () -> clock;

  /** Writes three windows: the first is forgotten then. */
  @Setup(Level.Trial)
  public void fill() {
    for (int i = 0; i < 3 * RECORDS; i++) {
      learn();
    }
  }

  /** Learns from a write, and nothing else but to draw its key. */
  @Benchmark
  public boolean learn() {
    long hash = draw();
    clock++;
    boolean looked = times.looksAt(hash);
    if (looked) {
      synchronized (this) {
        times.write(hash, clock, writes);
      }
    }
    return looked;
  }

  /** Draws a key: what {@link #learn} costs without learning. */
  @Benchmark
  public long draw() {
    return (random.nextInt(RECORDS) + 1) * 0x9E3779B97F4A7C15L;
  }
}
