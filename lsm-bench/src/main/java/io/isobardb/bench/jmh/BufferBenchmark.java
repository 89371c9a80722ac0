package io.isobardb.bench.jmh;

import io.isobardb.bench.engine.Directories;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.netty.NettyTree;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
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

/** What a read of a cached value costs that ends in an array, or in one of Netty's buffers. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class BufferBenchmark {
  private static final int RECORDS = 200_000;
  private static final int KEY_BYTES = 16;

  /** How many keys are read: made before, so that nobody is measured who fills them. */
  private static final int KEYS = 1 << 12;

  /** The length of values. */
  @Param({"100", "1000"})
  public int valueBytes = 100;

  private final SplittableRandom random = new SplittableRandom(42);
  private final byte[][] keys = new byte[KEYS][KEY_BYTES];
  private final ByteBuf[] keyBuffers = new ByteBuf[KEYS];
  private Path dir = Path.of("");
  private @Nullable Store store;
  private @Nullable Tree tree;
  private @Nullable NettyTree buffers;
  private @Nullable ByteBuf target;
  private byte[] array = new byte[0];

  /** Opens and loads. */
  @Setup(Level.Trial)
  public void load() throws IOException {
    dir = Files.createTempDirectory("isobar-jmh-");
    store = Store.open(dir, StoreOptions.builder().memoryBudget(512 << 20).build());
    tree = store.openTree("t");
    for (int i = 0; i < RECORDS; i++) {
      tree.put(key(i), new byte[valueBytes]);
    }
    store.flush();
    store.awaitQuiet();
    PooledByteBufAllocator allocator = PooledByteBufAllocator.DEFAULT;
    buffers = NettyTree.of(tree, allocator);
    for (int i = 0; i < KEYS; i++) {
      keys[i] = key(random.nextInt(RECORDS));
      keyBuffers[i] = allocator.directBuffer(KEY_BYTES).writeBytes(keys[i]);
    }
    target = allocator.directBuffer(valueBytes);
    array = new byte[valueBytes];
  }

  /** Closes and removes. */
  @TearDown(Level.Trial)
  public void remove() {
    for (ByteBuf each : keyBuffers) {
      each.release();
    }
    target.release();
    store.close();
    Directories.delete(dir);
  }

  private static byte[] key(int record) {
    byte[] key = new byte[KEY_BYTES];
    long hash = record * 0x9e3779b97f4a7c15L;
    for (int i = 0; i < Long.BYTES; i++) {
      key[i] = (byte) (hash >>> 8 * i);
      key[i + Long.BYTES] = (byte) (record >>> 8 * i);
    }
    return key;
  }

  private byte[] randomKey() {
    return keys[random.nextInt(KEYS)];
  }

  private ByteBuf randomKeyBuffer() {
    return keyBuffers[random.nextInt(KEYS)];
  }

  /** Copies the value into an array that is there. */
  @Benchmark
  public Integer readValue() {
    return tree.read(
        randomKey(),
        value -> {
          int length = value.remaining();
          value.get(array, 0, length);
          return length;
        });
  }

  /** A new array. */
  @Benchmark
  public byte[] newArray() {
    return tree.get(randomKey());
  }

  /** Copies the value into a buffer that is there. */
  @Benchmark
  public int readIntoBuffer() {
    return buffers.get(randomKeyBuffer(), target.clear());
  }

  /** A buffer of the pool, which goes back to it. */
  @Benchmark
  public boolean pooledBuffer() {
    return buffers.get(randomKeyBuffer()).release();
  }
}
