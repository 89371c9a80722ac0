package io.isobardb.bench.experiment;

import io.isobardb.bench.drive.Dataset;
import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.drive.Workload;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.observe.StoreStats.TreeStats;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.sstable.Filter;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.tuning.MemoryWall;
import io.isobardb.lsm.version.Level;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.commons.rng.sampling.distribution.RejectionInversionZipfSampler;
import org.apache.commons.rng.sampling.distribution.SharedStateDiscreteSampler;

/**
 * A store on a simulated disk, with a simulated clock, under a driver: equal seeds count equal
 * bytes, however busy the machine is. After each operation background work gets {@value #STEPS}
 * steps, so that merges keep up. Used by one thread.
 */
final class SimulatedRig implements AutoCloseable {
  static final String SPACE = "on disk [bytes per byte of the last level]";
  static final String LEVEL_SPACE = "tiers and levels [bytes per byte of the last level]";
  static final String MOST_SPACE =
      "the most in tiers and levels [bytes per byte of the last level]";
  static final String RUNS_ASKED = "runs that a lookup asks on disk";
  static final String RUNS_OPENED = "runs that a scan opens on disk";
  static final String SWEEP = "taken in per sweep [MB]";
  static final String OCCUPANCY = "write memory in use [%]";
  static final String SLICED = "flushed by slices [%]";
  static final String BATCH = "written per merge of L0 [MB]";
  static final String SWEEPS = "sweeps";
  static final String MEMORY_MERGED = "merges in memory wrote [B/op]";
  static final String WITHIN_L0 = "merges within L0 wrote [B/op]";
  static final String FROM_L0 = "merges of L0 with what is below wrote [B/op]";
  static final String WITHIN_TIERS = "merges within tiers wrote [B/op]";
  static final String DOWN = "merges of tiers and levels with what is below wrote [B/op]";
  static final String SLICES = "SSTables flushed [per 1000 op]";
  static final String MERGES = "disk merges [per 1000 op]";
  static final String WAITS = "waits";
  static final String LEVELS = "levels";
  static final String MEMORY_WEIGHT = "freed by flushes [B per byte written]";
  static final String STORED_ENTRY = "last level [B per record]";
  static final String KEPT = "plans of levels kept";
  static final String TAKEN_BACK = "plans of levels taken back";

  /** A step carries 32 KB: several times what a write costs in flushes and merges. */
  private static final int STEPS = 2;

  private static final double ZIPF_EXPONENT = 0.99;

  /** Operations between two looks at how full write memory is. */
  private static final int LOOK_EVERY = 256;

  private final SimulatedScheduler scheduler;
  private final Store store;
  private final List<Tree> trees = new ArrayList<>();
  private final Shape shape;
  private final Dataset data;
  private final SplittableRandom random;
  private final SharedStateDiscreteSampler zipf;
  private final Told told = new Told();
  private final byte[] key;
  private final byte[] value;
  private long version;

  /** What the store has told of its flushes and merges. */
  private static final class Told implements StoreListener {
    final Map<MergeKind, Long> merges = new EnumMap<>(MergeKind.class);
    final Map<MergeKind, Long> written = new EnumMap<>(MergeKind.class);
    long slicedBytes;
    long flushedBytes;
    long freedBytes;
    long flushes;

    /** SSTables on disk are others than at the last look. */
    boolean changed;

    @Override
    public void onFlushed(Flush event) {
      changed = true;
      flushes++;
      flushedBytes += event.bytesWritten();
      freedBytes += event.bytesFreed();
      slicedBytes += event.kind() == FlushKind.FULL ? 0 : event.bytesWritten();
    }

    @Override
    public void onMerged(Merge event) {
      changed = true;
      merges.merge(event.kind(), 1L, Long::sum);
      written.merge(event.kind(), event.bytesWritten(), Long::sum);
    }

    /** Not cleared: most plans are made before what is measured. */
    final Map<String, Long> plans = new HashMap<>();

    @Override
    public void onLeveled(Levels event) {
      plans.merge(event.action(), 1L, Long::sum);
    }

    void clear() {
      merges.clear();
      written.clear();
      slicedBytes = 0;
      flushedBytes = 0;
      freedBytes = 0;
      flushes = 0;
    }
  }

  /**
   * The heap of a process whose simulated disk holds so many records and so much log. Merges keep
   * their inputs until they are done, so that a disk holds up to twice the records.
   */
  static long heapBytes(long records, long logBytes) {
    return Experiment.HEAP_BYTES + 2 * records * Shape.RECORD_BYTES + logBytes;
  }

  /** Opens an empty store. */
  SimulatedRig(StoreOptions options, Shape shape, long seed) {
    this(options, shape, shape.treeOptions(), seed);
  }

  /** Opens an empty store with trees that have these options. */
  SimulatedRig(StoreOptions options, Shape shape, TreeOptions treeOptions, long seed) {
    SimulatedClock clock = new SimulatedClock();
    SimulatedStorage storage = new SimulatedStorage(clock);
    this.shape = shape;
    random = new SplittableRandom(seed);
    scheduler = new SimulatedScheduler(clock, random.nextLong());
    store =
        Inside.open(
            new Environment(storage, clock, scheduler, new SplittableRandom(seed)), options);
    data = new Dataset(shape.keyBytes(), shape.valueBytes());
    key = new byte[shape.keyBytes()];
    value = new byte[shape.valueBytes()];
    int records = Math.toIntExact(shape.records());
    zipf = RejectionInversionZipfSampler.of(random::nextLong, records, ZIPF_EXPONENT);
    store.addListener(told);
    for (int i = 0; i < shape.trees(); i++) {
      trees.add(store.openTree("t" + i, treeOptions));
    }
  }

  /** Gives the write memory another size, as the memory tuner would; returns when it has that. */
  void resizeWriteMemory(long bytes) {
    MemoryWall wall = Inside.wall(store);
    wall.moveTo(bytes);
    while (wall.step()) {
      background();
    }
  }

  /**
   * Puts every record once, in the order of the keys, so that all lies in the last level. What
   * comes before a measurement has to give the levels above their sizes.
   */
  void load() {
    long[][] keys = new long[Math.toIntExact(shape.records())][];
    for (int i = 0; i < keys.length; i++) {
      data.key(i, key);
      keys[i] = new long[] {ByteBuffer.wrap(key).getLong(), i};
    }
    Arrays.sort(keys, (a, b) -> Long.compareUnsigned(a[0], b[0]));
    for (int tree = 0; tree < shape.trees(); tree++) {
      for (long[] record : keys) {
        put(tree, record[1]);
      }
    }
    settle();
  }

  /** Flushes, and does all that there is to do in the background. */
  void settle() {
    store.flush();
    scheduler.runUntilIdle();
  }

  /** Merges all of the first tree into its last level. */
  void compact() {
    trees.get(0).compact(null, null);
    scheduler.runUntilIdle();
  }

  /** Deletes so many records of the first tree, which lie anywhere in the order of the keys. */
  void deleteFirst(long count) {
    for (long record = 0; record < count; record++) {
      data.key(record, key);
      trees.get(0).delete(key);
      background();
    }
  }

  /** Gets the same records, each so many times in a row; pages read from disk by one get. */
  double pagesOfFirst(long count, int times) {
    long before = store.stats().cache().queryMisses();
    for (long record = 0; record < count; record++) {
      data.key(record, key);
      for (int i = 0; i < times; i++) {
        trees.get(0).get(key);
      }
      background();
    }
    return (store.stats().cache().queryMisses() - before) / (double) (count * times);
  }

  /** What the first tree's statistics say now. */
  TreeStats treeStats() {
    return store.stats().trees().get(0);
  }

  /** All that lies on the simulated disk of SSTables. */
  long diskBytes() {
    return store.stats().diskBytes();
  }

  /** Bytes that flushes and merges have written. */
  long writtenBytes() {
    StoreStats stats = store.stats();
    return stats.flushBytesWritten() + stats.mergeBytesWritten();
  }

  /** Pages that queries and merges have read. */
  long pagesRead() {
    return store.stats().cache().misses();
  }

  /** The most memory that the store has held. */
  long peakMemoryBytes() {
    return store.stats().ledger().peakBytes();
  }

  /** Bits of filter per key in the SSTables of the first tree on disk. */
  double filterBits() {
    long blocks = 0;
    long entries = 0;
    for (Level<SSTableMeta> run : Inside.handle(trees.get(0)).states().current().version().runs()) {
      for (SSTableMeta table : run.elements()) {
        blocks += table.filterBlocks();
        entries += table.entries();
      }
    }
    return (double) blocks * Filter.BLOCK * Byte.SIZE / Math.max(1, entries);
  }

  /** Does so many operations, and as many again; what the latter cost. */
  Map<String, Double> measureSecond(Workload workload, long operations) {
    measure(workload, operations);
    return measure(workload, operations);
  }

  /**
   * What operations cost in a store that was loaded and has had others before.
   *
   * @param age how many times as many it has had
   */
  static Map<String, Double> measure(
      StoreOptions options, Shape shape, long seed, Workload workload, long operations, int age) {
    try (SimulatedRig rig = new SimulatedRig(options, shape, seed)) {
      rig.load();
      rig.measure(workload, age * operations);
      return rig.measure(workload, operations);
    }
  }

  /** Does so many operations; what they cost. */
  Map<String, Double> measure(Workload workload, long operations) {
    StoreStats before = store.stats();
    told.clear();
    double used = 0;
    long looks = 0;
    long writes = 0;
    double space = 0;
    double most = treeStats().spaceAmplification();
    for (long i = 0; i < operations; i++) {
      writes += one(workload) ? 1 : 0;
      if (i % LOOK_EVERY == 0) {
        StoreStats now = store.stats();
        space += now.trees().get(0).spaceAmplification();
        used += (double) now.writeMemoryBytes() / now.writeMemoryLimitBytes();
        looks++;
      }
      if (told.changed) {
        told.changed = false;
        most = Math.max(most, treeStats().spaceAmplification());
      }
    }
    StoreStats now = store.stats();
    double ops = operations;
    double flushed = now.flushBytesWritten() - before.flushBytesWritten();
    double merged = now.mergeBytesWritten() - before.mergeBytesWritten();
    double sweeps = sweeps(now) - sweeps(before);
    double put = (double) writes * (shape.keyBytes() + shape.valueBytes());
    double last = now.trees().stream().mapToLong(SimulatedRig::lastLevel).sum();
    double stored = now.diskBytes();
    long l0 = told.merges.getOrDefault(StoreListener.MergeKind.L0, 0L);
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put(Meter.WRITTEN, (flushed + merged) / ops);
    figures.put(Meter.FLUSH_WRITTEN, flushed / ops);
    figures.put(Meter.MERGE_WRITTEN, merged / ops);
    figures.put(MEMORY_MERGED, written(StoreListener.MergeKind.MEMORY) / ops);
    figures.put(WITHIN_L0, written(StoreListener.MergeKind.WITHIN_L0) / ops);
    figures.put(FROM_L0, written(StoreListener.MergeKind.L0) / ops);
    figures.put(WITHIN_TIERS, written(StoreListener.MergeKind.WITHIN_TIERS) / ops);
    figures.put(DOWN, written(StoreListener.MergeKind.LEVEL) / ops);
    figures.put(SPACE, stored / Math.max(1, last));
    figures.put(LEVEL_SPACE, space / Math.max(1, looks));
    figures.put(MOST_SPACE, most);
    figures.put(SWEEP, put / Math.max(1, sweeps) / Meter.MEGABYTE);
    figures.put(SWEEPS, sweeps);
    figures.put(Meter.WRITE_MEMORY, now.writeMemoryLimitBytes() / Meter.MEGABYTE);
    figures.put(OCCUPANCY, 100 * used / Math.max(1, looks));
    figures.put(SLICED, 100.0 * told.slicedBytes / Math.max(1, told.flushedBytes));
    figures.put(SLICES, 1000 * told.flushes / ops);
    figures.put(MERGES, 1000 * (now.merges() - before.merges()) / ops);
    figures.put("merges of L0", (double) l0);
    figures.put(BATCH, written(StoreListener.MergeKind.L0) / Math.max(1.0, l0) / Meter.MEGABYTE);
    figures.put(WAITS, waits(now) - waits(before));
    addRunsAsked(figures, before.trees().get(0).readers(), now.trees().get(0).readers());
    double queries = now.cache().queryMisses() - before.cache().queryMisses();
    figures.put(Meter.QUERY_READ, queries / ops);
    double mergeReads = now.cache().mergeMisses() - before.cache().mergeMisses();
    figures.put(Meter.MERGE_READ, mergeReads / ops);
    figures.put(MEMORY_WEIGHT, (double) told.freedBytes / Math.max(1, told.flushedBytes));
    figures.put(STORED_ENTRY, last / shape.trees() / shape.records());
    figures.put(LEVELS, (double) now.trees().get(0).levelBytes().size());
    figures.put(KEPT, (double) told.plans.getOrDefault("KEEP", 0L));
    figures.put(TAKEN_BACK, (double) told.plans.getOrDefault("TAKE_BACK", 0L));
    return figures;
  }

  private static void addRunsAsked(
      Map<String, Double> figures, StoreStats.RunStats before, StoreStats.RunStats now) {
    double lookups = now.lookups() - before.lookups();
    double scans = now.scans() - before.scans();
    if (lookups > 0) {
      figures.put(RUNS_ASKED, (now.lookupRuns() - before.lookupRuns()) / lookups);
    }
    if (scans > 0) {
      figures.put(RUNS_OPENED, (now.scanRuns() - before.scanRuns()) / scans);
    }
  }

  private double written(StoreListener.MergeKind kind) {
    return told.written.getOrDefault(kind, 0L);
  }

  private static long lastLevel(TreeStats tree) {
    return tree.levelBytes().get(tree.levelBytes().size() - 1);
  }

  private static double waits(StoreStats stats) {
    return stats.stalls().values().stream().mapToLong(StoreStats.StallStats::count).sum();
  }

  private static double sweeps(StoreStats stats) {
    return stats.trees().stream().mapToLong(TreeStats::flushSweeps).sum();
  }

  private boolean one(Workload workload) {
    int tree = tree(workload);
    long record = record(workload.keys());
    boolean write = workload.writePercent() == 100 || random.nextInt(100) < workload.writePercent();
    if (write) {
      put(tree, record);
    } else {
      data.key(record, key);
      read(trees.get(tree), workload.scans() ? workload.entries() : 0);
      background();
    }
    return write;
  }

  /** Gets the record of the key; or goes over so many from there on, unless that is 0. */
  private void read(Tree tree, int entries) {
    if (entries == 0) {
      tree.get(key);
      return;
    }
    try (Cursor cursor = tree.cursor(CursorOptions.all().from(key.clone()))) {
      boolean more = cursor.first();
      for (int i = 1; i < entries && more; i++) {
        more = cursor.next();
      }
    }
  }

  private int tree(Workload workload) {
    int hot = workload.hotTrees();
    if (hot == 0 || hot >= shape.trees()) {
      return random.nextInt(shape.trees());
    }
    return random.nextInt(100) < workload.hotPercent()
        ? random.nextInt(hot)
        : hot + random.nextInt(shape.trees() - hot);
  }

  private long record(Workload.Keys keys) {
    long bits = keys == Workload.Keys.ZIPF ? Dataset.mix(zipf.sample()) : random.nextLong();
    long record = Math.multiplyHigh(bits >>> 1, shape.records() << 1);
    return keys == Workload.Keys.ABSENT ? shape.records() + record : record;
  }

  private void put(int tree, long record) {
    data.key(record, key);
    data.value(record, version++, value);
    trees.get(tree).put(key, value);
    background();
  }

  private void background() {
    for (int i = 0; i < STEPS && scheduler.runOne(); i++) {}
  }

  @Override
  public void close() {
    store.close();
  }
}
