package io.isobardb.bench.jmh;

import io.isobardb.bench.engine.Directories;
import io.isobardb.bench.engine.Engine;
import io.isobardb.bench.engine.EngineKind;
import io.isobardb.bench.engine.EngineOptions;
import io.isobardb.bench.engine.Session;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
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
 * Single operations on a cached store: 16-byte keys, 100-byte values, 256 MB of memory. The get and
 * the put make no garbage on the caller's side, so {@code -prof gc} shows the engine's.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class PointBenchmark {
  private static final long SEED = 42;

  /** The open engine, loaded. */
  @State(Scope.Benchmark)
  public static class Loaded {
    /** An {@link EngineKind}. */
    @Param({"isobar"})
    public String engine = "isobar";

    /** How many records are loaded. */
    @Param({"500000"})
    public int records = 500_000;

    /** How many records are overwritten last, at random, which nothing then settles. */
    @Param({"0"})
    public int updates;

    private Path dir = Path.of("");
    private @Nullable Engine open;

    /** Opens and loads. */
    @Setup(Level.Trial)
    public void load() throws IOException {
      dir = Files.createTempDirectory("isobar-jmh-");
      open = EngineKind.of(engine).open(new EngineOptions(dir, 256 << 20, true, false, 1));
      try (Session session = open.openSession()) {
        byte[] value = new byte[100];
        for (int i = 0; i < records; i++) {
          byte[] key = new byte[16];
          setKey(key, i);
          session.put(0, key, value);
        }
        open.settle();
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < updates; i++) {
          byte[] key = new byte[16];
          setKey(key, random.nextInt(records));
          session.put(0, key, value);
        }
      }
    }

    /** Closes and removes. */
    @TearDown(Level.Trial)
    public void remove() {
      open.close();
      Directories.delete(dir);
    }
  }

  /** One thread's session and arrays. */
  @State(Scope.Thread)
  public static class Client {
    private final SplittableRandom random = new SplittableRandom(SEED);
    private final byte[] key = new byte[16];
    private final byte[] value = new byte[100];
    private @Nullable Session session;
    private int records;

    /** Opens the session. */
    @Setup(Level.Trial)
    public void open(Loaded loaded) {
      session = loaded.open.openSession();
      records = loaded.records;
    }

    /** Closes the session. */
    @TearDown(Level.Trial)
    public void close() {
      session.close();
    }

    /** A key for the engine to keep, if it does. */
    private byte[] ownKey() {
      byte[] own = randomKey(0);
      return session.keepsArrays() ? own.clone() : own;
    }

    private byte[] randomKey(int from) {
      setKey(key, from + random.nextInt(records));
      return key;
    }
  }

  /** Reads a record that is there. */
  @Benchmark
  public int get(Client client) {
    return client.session.get(0, client.randomKey(0), client.value);
  }

  /** Reads a record that is not there. */
  @Benchmark
  public int getAbsent(Client client) {
    return client.session.get(0, client.randomKey(client.records), client.value);
  }

  /** Overwrites a record. */
  @Benchmark
  public void put(Client client) {
    client.session.put(0, client.ownKey(), client.value);
  }

  /** Visits 100 entries from a random record on. */
  @Benchmark
  public int scan100(Client client) {
    return scan(client, 100);
  }

  /** Visits 10,000 entries from a random record on. */
  @Benchmark
  public int scan10000(Client client) {
    return scan(client, 10_000);
  }

  private static int scan(Client client, int limit) {
    return client.session.scan(
        0, client.randomKey(0), limit, (key, keyLength, value, valueLength) -> {});
  }

  private static void setKey(byte[] key, long record) {
    long hash = record * 0x9e3779b97f4a7c15L;
    ByteBuffer.wrap(key).putLong(hash ^ (hash >>> 32)).putLong(record);
  }
}
