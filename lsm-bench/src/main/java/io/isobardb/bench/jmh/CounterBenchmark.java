package io.isobardb.bench.jmh;

import io.isobardb.bench.engine.Directories;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.option.MergeOperator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
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
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Counters that 8 threads add to: by a merge operator, which reads nothing, and by transactions
 * that lock, read and write. Each is exact.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(1)
@Threads(8)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class CounterBenchmark {
  private static final byte[] ONE = {0, 0, 0, 0, 0, 0, 0, 1};
  private static final TransactionOptions PESSIMISTIC =
      TransactionOptions.builder().locking(Locking.PESSIMISTIC).build();

  /** The open store. */
  @State(Scope.Benchmark)
  public static class Counters {
    /** How many counters there are. */
    @Param({"1000"})
    public int counters = 1000;

    private Path dir = Path.of("");
    private @Nullable Store store;
    private @Nullable Tree tree;

    /** Opens it. */
    @Setup(Level.Trial)
    public void open() throws IOException {
      dir = Files.createTempDirectory("isobar-jmh-");
      StoreOptions options =
          StoreOptions.builder().memoryBudget(256 << 20).durability(Durability.ASYNC).build();
      store = Store.open(dir, options);
      TreeOptions adding = TreeOptions.builder().mergeOperator(MergeOperator.ADD_LONG).build();
      tree = store.openTree("counters", adding);
    }

    /** Closes and removes. */
    @TearDown(Level.Trial)
    public void remove() {
      store.close();
      Directories.delete(dir);
    }

    private byte[] someKey() {
      int counter = ThreadLocalRandom.current().nextInt(counters);
      return ByteBuffer.allocate(Integer.BYTES).putInt(counter).array();
    }
  }

  /** Adds one without reading. */
  @Benchmark
  public void merge(Counters counters) {
    counters.tree.merge(counters.someKey(), ONE);
  }

  /** Locks, reads, adds one, writes. */
  @Benchmark
  public void readModifyWrite(Counters counters) {
    byte[] key = counters.someKey();
    counters.store.runInTransaction(
        PESSIMISTIC,
        transaction -> {
          byte[] before = transaction.getForUpdate(counters.tree, key);
          long sum = before == null ? 0 : ByteBuffer.wrap(before).getLong();
          byte[] after = ByteBuffer.allocate(Long.BYTES).putLong(sum + 1).array();
          transaction.put(counters.tree, key, after);
        });
  }

  /** Reads a counter that the same thread adds to. */
  @Benchmark
  public byte @Nullable [] mergeAndGet(Counters counters) {
    byte[] key = counters.someKey();
    counters.tree.merge(key, ONE);
    return counters.tree.get(key);
  }
}
