package io.isobardb.lsm.tuning;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.memory.stats.CacheStats;
import io.isobardb.memory.stats.Ledger;
import io.isobardb.tuner.memory.Decision;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** A simulated store under a mix of reads and writes, whose memory tuner is watched. */
public final class TunedStore implements AutoCloseable {
  /** Which records are asked for. */
  public enum Keys {
    /** Any. */
    UNIFORM,
    /** Nine times out of ten one of the first tree. */
    HOT_TREE,
    /** Zipf's law with exponent 0.99, the hot ones anywhere. */
    ZIPF
  }

  /** What clients do: a share of writes in 1/100, and to which records. */
  public record Mix(int writePercent, Keys keys) {
    static Mix writes(int percent) {
      return new Mix(percent, Keys.UNIFORM);
    }
  }

  /**
   * Pages written and read since some moment.
   *
   * @param flushed by flushes
   * @param merged by disk merges
   * @param mergeReads by those, too
   * @param queryReads by clients
   * @param grownL0 by how much L0 has grown: pages whose merging is still to come
   */
  public record Cost(
      double flushed,
      double merged,
      double mergeReads,
      double queryReads,
      double grownL0,
      long operations) {
    static final Cost NONE = new Cost(0, 0, 0, 0, 0, 0);

    double perOperation() {
      return writtenPerOperation() + mergeReadsPerOperation() + queryReadsPerOperation();
    }

    double writtenPerOperation() {
      return (flushed + merged * settled()) / operations;
    }

    double mergeReadsPerOperation() {
      return mergeReads * settled() / operations;
    }

    double queryReadsPerOperation() {
      return queryReads / operations;
    }

    /** What merges cost, had L0 lost as much as it got. */
    private double settled() {
      return flushed > 0 ? Math.min(2, flushed / Math.max(1, flushed - grownL0)) : 1;
    }

    Cost and(Cost other) {
      return new Cost(
          flushed + other.flushed,
          merged + other.merged,
          mergeReads + other.mergeReads,
          queryReads + other.queryReads,
          grownL0 + other.grownL0,
          operations + other.operations);
    }
  }

  /** 10,000 operations a second: a cycle by the timer's shortest interval. */
  private static final long OPERATION_NANOS = 100_000;

  /** A prime: its multiples are all records, in an order without order. */
  private static final int STEP = 7919;

  private final SimulatedWorld world;
  private final StoreOptions options;
  private final SplittableRandom random;
  private final int records;
  private final int valueBytes;
  public final List<StoreListener.Tuning> decisions = new ArrayList<>();
  private Store store;
  private Tree[] trees;
  private double[] zipf = {};
  private long highest;

  public TunedStore(long seed, StoreOptions options, int treeCount, int records, int valueBytes) {
    this(new SimulatedWorld(seed), seed, options, treeCount, records, valueBytes);
  }

  /** A store on a disk that may hold one already. */
  public TunedStore(
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
          public void onTuned(Tuning event) {
            decisions.add(event);
          }
        });
    for (int i = 0; i < trees.length; i++) {
      trees[i] = store.openTree("t" + i);
    }
  }

  /** Closes and opens the store. */
  public void reopen() {
    store.close();
    open();
  }

  public Store store() {
    return store;
  }

  public SimulatedWorld world() {
    return world;
  }

  /** Writes all records, in an order without order. */
  public void load() {
    for (int i = 0; i < records; i++) {
      put((int) ((long) i * STEP % records));
    }
    store.flush();
    store.awaitQuiet();
  }

  private Tree tree(int record) {
    return trees[record % trees.length];
  }

  private static byte[] key(int record) {
    byte[] key = "user0000000000".getBytes(StandardCharsets.US_ASCII);
    for (int i = key.length - 1, rest = record; rest > 0; i--, rest /= 10) {
      key[i] += (byte) (rest % 10);
    }
    return key;
  }

  private void put(int record) {
    put(tree(record), record);
  }

  void put(Tree tree, int record) {
    byte[] value = new byte[valueBytes];
    Arrays.fill(value, (byte) record);
    tree.put(key(record), value);
    world.background(8);
  }

  private int record(Keys keys) {
    if (keys == Keys.ZIPF) {
      int rank = Arrays.binarySearch(zipf(), random.nextDouble());
      return (int) ((long) Math.min(records - 1, rank < 0 ? -rank - 1 : rank) * STEP % records);
    }
    int record = random.nextInt(records);
    return keys == Keys.HOT_TREE && random.nextInt(10) != 0
        ? record - record % trees.length
        : record;
  }

  /** How likely a record is to be among the first ones of the ranks, for each rank. */
  private double[] zipf() {
    if (zipf.length == 0) {
      zipf = new double[records];
      double sum = 0;
      for (int i = 0; i < records; i++) {
        sum += StrictMath.pow(i + 1, -0.99);
        zipf[i] = sum;
      }
      for (int i = 0; i < records; i++) {
        zipf[i] /= sum;
      }
    }
    return zipf;
  }

  /** Runs the mix. */
  public void run(Mix mix, int operations) {
    for (int i = 0; i < operations; i++) {
      world.clock().advance(OPERATION_NANOS);
      int record = record(mix.keys());
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
  public Cost measure(Mix mix, int operations) {
    Cost before = total();
    run(mix, operations);
    Cost after = total();
    return new Cost(
        after.flushed - before.flushed,
        after.merged - before.merged,
        after.mergeReads - before.mergeReads,
        after.queryReads - before.queryReads,
        after.grownL0 - before.grownL0,
        operations);
  }

  private Cost total() {
    StoreStats stats = store.stats();
    CacheStats cache = stats.cache();
    double page = options.pageSize();
    double l0 = 0;
    for (StoreStats.TreeStats tree : stats.trees()) {
      l0 += tree.diskBytes() - tree.levelBytes().stream().mapToLong(it -> it).sum();
    }
    return new Cost(
        stats.flushBytesWritten() / page,
        stats.mergeBytesWritten() / page,
        cache.mergeMisses(),
        cache.queryMisses(),
        l0 / page,
        0);
  }

  /** The size that the write memory has or is to have. */
  public long target() {
    return store.stats().tuner().targetBytes();
  }

  /** The tuner's decisions as its file has them: the newest, some hundred, with their estimates. */
  public List<Decision> recorded() throws IOException {
    return world.storage().exists(TunerFile.NAME)
        ? TunerFile.parse(world.text(TunerFile.NAME)).decisions()
        : List.of();
  }

  /** Bytes of all records. */
  public long dataBytes() {
    return (long) records * (valueBytes + key(0).length);
  }

  /** The decisions, one a line. */
  public String text() {
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
