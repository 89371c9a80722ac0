package io.isobardb.lsm;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.io.SimulatedStorage;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.memory.cache.CacheStats;
import io.isobardb.memory.pool.Ledger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** A simulated store under a mix of reads and writes, whose memory tuner is watched. */
final class TunedStore implements AutoCloseable {
  /** What clients do: a share of writes in 1/100, to the first of the trees mostly or to any. */
  record Mix(int writePercent, boolean skewed) {
    static Mix writes(int percent) {
      return new Mix(percent, false);
    }
  }

  /** Pages written and read since some moment. */
  record Cost(long writtenBytes, long readPages, long operations, int pageBytes) {
    double perOperation() {
      return ((double) writtenBytes / pageBytes + readPages) / operations;
    }
  }

  /** 10,000 operations a second: a cycle by the timer's shortest interval. */
  private static final long OPERATION_NANOS = 100_000;

  private final SimulatedWorld world;
  private final StoreOptions options;
  private final SplittableRandom random;
  private final int records;
  private final int valueBytes;
  final List<StoreListener.Tuning> decisions = new ArrayList<>();
  private Store store;
  private Tree[] trees;
  private long highest;

  TunedStore(long seed, StoreOptions options, int treeCount, int records, int valueBytes) {
    this(new SimulatedWorld(seed), seed, options, treeCount, records, valueBytes);
  }

  /** A store on a disk that may hold one already. */
  TunedStore(
      SimulatedStorage disk,
      long seed,
      StoreOptions options,
      int treeCount,
      int records,
      int valueBytes) {
    this(new SimulatedWorld(disk, seed), seed, options, treeCount, records, valueBytes);
  }

  private TunedStore(
      SimulatedWorld world,
      long seed,
      StoreOptions options,
      int treeCount,
      int records,
      int valueBytes) {
    this.world = world;
    this.options = options;
    this.random = new SplittableRandom(seed);
    this.records = records;
    this.valueBytes = valueBytes;
    this.trees = new Tree[treeCount];
    open();
  }

  private void open() {
    store = world.open(options);
    store.addListener(
        new StoreListener() {
          @Override
          public void tuned(Tuning event) {
            decisions.add(event);
          }
        });
    for (int i = 0; i < trees.length; i++) {
      trees[i] = store.openTree("t" + i);
    }
  }

  /** Closes and opens the store. */
  void reopen() {
    store.close();
    open();
  }

  Store store() {
    return store;
  }

  SimulatedWorld world() {
    return world;
  }

  /** Writes all records, in an order without order. */
  void load() {
    int step = 7919;
    for (int i = 0; i < records; i++) {
      put((int) ((long) i * step % records));
    }
    store.flush();
    store.awaitQuiet();
  }

  private Tree tree(int record) {
    return trees[record % trees.length];
  }

  private static byte[] key(int record) {
    return String.format("user%010d", record).getBytes(StandardCharsets.US_ASCII);
  }

  private void put(int record) {
    byte[] value = new byte[valueBytes];
    Arrays.fill(value, (byte) record);
    tree(record).put(key(record), value);
    world.background(8);
  }

  /** Runs the mix, uniformly over the records. */
  void run(Mix mix, int operations) {
    for (int i = 0; i < operations; i++) {
      world.clock().advance(OPERATION_NANOS);
      int record = random.nextInt(records);
      if (mix.skewed() && random.nextInt(10) != 0) {
        record -= record % trees.length;
      }
      if (random.nextInt(100) < mix.writePercent()) {
        put(record);
      } else {
        byte[] value = tree(record).get(key(record));
        assertTrue(value == null || value[0] == (byte) record);
        world.background(1);
      }
    }
    checkBudget();
  }

  /** The store never had more than the largest budget so far. */
  private void checkBudget() {
    Ledger ledger = store.stats().ledger();
    highest = Math.max(highest, ledger.limitBytes());
    assertTrue(ledger.peakBytes() <= highest, ledger::toString);
  }

  /** As {@link #run}; what it cost. */
  Cost measure(Mix mix, int operations) {
    long written = written();
    long read = read();
    run(mix, operations);
    return new Cost(written() - written, read() - read, operations, options.pageSize());
  }

  private long written() {
    StoreStats stats = store.stats();
    return stats.flushBytesWritten() + stats.mergeBytesWritten();
  }

  private long read() {
    CacheStats cache = store.stats().cache();
    return cache.queryMisses() + cache.mergeMisses();
  }

  /** The size that the write memory has or is to have. */
  long target() {
    return store.stats().tuner().targetBytes();
  }

  /** The decisions, one a line. */
  String text() {
    StringBuilder text = new StringBuilder();
    for (StoreListener.Tuning it : decisions) {
      text.append(
          String.format(
              "%3d ops %7d x %6d KB -> %6d KB w %.4f r %.4f cost %.4f (expected %.4f) %s: %s%n",
              it.cycle(),
              it.operations(),
              it.fromBytes() >> 10,
              it.toBytes() >> 10,
              it.writeCost(),
              it.readCost(),
              it.cost(),
              it.expectedCost(),
              it.method(),
              it.reason()));
    }
    return text.toString();
  }

  @Override
  public void close() {
    store.close();
  }
}
