package io.isobardb.bench.jmh;

import io.isobardb.bench.engine.Directories;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A hundred records in one call on a cached store: 16-byte keys, 100-byte values, 256 MB of memory.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class BatchBenchmark {
  private static final int RECORDS = 500_000;
  private static final int CALL = 100;

  /** The open store, loaded, and one thread's keys. */
  @State(Scope.Thread)
  public static class Loaded {
    private final SplittableRandom random = new SplittableRandom(42);
    private final byte[] value = new byte[100];
    private Path dir = Path.of("");
    private @Nullable Store store;
    private @Nullable Tree tree;

    /** Opens and loads. */
    @Setup(Level.Trial)
    public void load() throws IOException {
      dir = Files.createTempDirectory("isobar-jmh-");
      StoreOptions options =
          StoreOptions.builder().memoryBudget(256 << 20).durability(Durability.ASYNC).build();
      store = Store.open(dir, options);
      tree = store.openTree("records");
      for (int record = 0; record < RECORDS; record++) {
        tree.put(key(record), value);
      }
      store.awaitQuiet();
    }

    /** Closes and removes. */
    @TearDown(Level.Trial)
    public void remove() {
      store.close();
      Directories.delete(dir);
    }

    private byte[] randomKey() {
      return key(random.nextInt(RECORDS));
    }

    private static byte[] key(long record) {
      long hash = record * 0x9e3779b97f4a7c15L;
      return ByteBuffer.allocate(16).putLong(hash ^ (hash >>> 32)).putLong(record).array();
    }
  }

  /** Overwrites a hundred records by one batch. */
  @Benchmark
  public void batch(Loaded loaded) {
    WriteBatch batch = loaded.store.newBatch();
    for (int i = 0; i < CALL; i++) {
      batch.put(loaded.tree, loaded.randomKey(), loaded.value);
    }
    loaded.store.write(batch);
  }

  /** Reads a hundred records. */
  @Benchmark
  public List<byte @Nullable []> multiGet(Loaded loaded) {
    List<byte[]> keys = new ArrayList<>(CALL);
    for (int i = 0; i < CALL; i++) {
      keys.add(loaded.randomKey());
    }
    return loaded.tree.multiGet(keys);
  }
}
