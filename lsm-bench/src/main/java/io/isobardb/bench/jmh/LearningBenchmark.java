package io.isobardb.bench.jmh;

import io.isobardb.bench.engine.Directories;
import io.isobardb.bench.engine.IsobarEngine;
import io.isobardb.bench.engine.Session;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.tuner.model.ReuseTimes;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What it costs a put that {@code levels=OPTIMISED} learns from the writes: puts with and without,
 * and the learning alone. Keys of 16 bytes, values of 100, 16 MB of memory.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class LearningBenchmark {
  private static final int RECORDS = 150_000;

  /** Writes before the measured ones: two windows of learning must have passed. */
  private static final int BEFORE = 20 * RECORDS;

  /** So many at most until something is decided on levels, which happens once a second. */
  private static final int MOST_BEFORE = 20 * BEFORE;

  /** A store that is being written. */
  @State(Scope.Thread)
  public static class Written {
    /** How level sizes come about. */
    @Param({"DYNAMIC", "OPTIMISED"})
    public String levels = "DYNAMIC";

    private final SplittableRandom random = new SplittableRandom(42);
    private final byte[] key = new byte[16];
    private final byte[] value = new byte[100];
    private Path dir = Path.of("");
    private @Nullable IsobarEngine open;
    private @Nullable Session session;

    /** Opens, loads and writes on; it fails if nothing is learnt where it should be. */
    @Setup(Level.Trial)
    public void load() throws IOException {
      boolean learns = levels.equals("OPTIMISED");
      dir = Files.createTempDirectory("isobar-jmh-");
      open =
          IsobarEngine.open(
              dir,
              StoreOptions.builder()
                  .memoryBudget(16 << 20)
                  .logLimit(32 << 20)
                  .memoryTuner(false)
                  .memoryTuner(t -> t.interval(Duration.ofSeconds(1)))
                  .experimental(e -> e.optimisedLevels(learns))
                  .build(),
              1,
              TreeOptions.defaults());
      AtomicInteger decisions = new AtomicInteger();
      open.store()
          .addListener(
              new StoreListener() {
                @Override
                public void leveled(Levels event) {
                  decisions.incrementAndGet();
                }
              });
      session = open.openSession();
      for (int i = 0; i < RECORDS; i++) {
        put(i);
      }
      open.store().flush();
      for (int i = 0; i < BEFORE || learns && decisions.get() == 0 && i < MOST_BEFORE; i++) {
        put(random.nextInt(RECORDS));
      }
      open.settle();
      if (learns && decisions.get() == 0) {
        throw new IllegalStateException("nothing was decided on levels, so nothing was learnt");
      }
    }

    private void put(int record) {
      long hash = record * 0x9e3779b97f4a7c15L;
      ByteBuffer.wrap(key).putLong(hash ^ (hash >>> 32)).putLong(record);
      session.put(0, key, value);
    }

    /** Closes and removes. */
    @TearDown(Level.Trial)
    public void remove() {
      open.close();
      Directories.delete(dir);
    }
  }

  /** The processor time of the thread that puts: what others do on the machine matters less. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.EVENTS)
  public static class Processor {
    /** Puts in an iteration. */
    public long puts;

    /** What they took. */
    public long cpuNanos;

    private long begun;

    /** An iteration begins. */
    @Setup(Level.Iteration)
    public void begin() {
      begun = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    /** An iteration has ended. */
    @TearDown(Level.Iteration)
    public void end() {
      cpuNanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - begun;
    }
  }

  /** What has learnt from some windows of writes. */
  @State(Scope.Thread)
  public static class Learner {
    private final SplittableRandom random = new SplittableRandom(42);
    private final ReuseTimes times =
        new ReuseTimes(RECORDS, ReuseTimes.LEAST_BYTES, 1.0 / 16, 0, 0);
    private long clock;
    private final LongSupplier writes = () -> clock;

    /** Writes three windows: the first is forgotten then. */
    @Setup(Level.Trial)
    public void learn() {
      for (int i = 0; i < 3 * RECORDS; i++) {
        write();
      }
    }

    private boolean write() {
      long hash = mixed();
      clock++;
      boolean looked = times.looksAt(hash);
      if (looked) {
        synchronized (this) {
          times.write(hash, clock, writes);
        }
      }
      return looked;
    }

    private long mixed() {
      return (random.nextInt(RECORDS) + 1) * 0x9E3779B97F4A7C15L;
    }
  }

  /** Overwrites a record. */
  @Benchmark
  public void put(Written written, Processor processor) {
    processor.puts++;
    written.put(written.random.nextInt(RECORDS));
  }

  /** Learns from a write, and nothing else but to draw its key. */
  @Benchmark
  public boolean learn(Learner learner) {
    return learner.write();
  }

  /** Draws a key: what {@link #learn} costs without learning. */
  @Benchmark
  public long draw(Learner learner) {
    return learner.mixed();
  }
}
