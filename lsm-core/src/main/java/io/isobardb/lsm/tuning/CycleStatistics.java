package io.isobardb.lsm.tuning;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.flush.Flusher;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeWork;
import io.isobardb.lsm.tuning.CycleRules.Cache;
import io.isobardb.lsm.tuning.CycleRules.CycleView;
import io.isobardb.lsm.tuning.CycleRules.Disk;
import io.isobardb.lsm.tuning.CycleRules.Written;
import io.isobardb.lsm.version.Version;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.stats.CacheStats;
import io.isobardb.tuner.memory.StoreCycle;
import io.isobardb.tuner.memory.TreeCycle;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * What a store has done since a cycle began: the difference between its counters now and then.
 *
 * <p>Nothing is counted for it that would be felt: reads count themselves in the cache line of the
 * epoch's slot that they hold, misses, slices and merges count beside their I/O.
 *
 * <p>Thread rule: one thread at a time, save for {@link #grownBytes}, which any may call.
 */
final class CycleStatistics {
  /** A ghost cache that has only begun to fill counts as this part of its capacity. */
  private static final int LEAST_GHOST = 8;

  /** Levels have grown if they hold more than at the beginning of as many cycles before. */
  private static final int CYCLES_BEFORE = 3;

  /** More than this of the write memory never counts as lent: writers may want it any time. */
  private static final double MOST_LENT = 0.5;

  private final Engine engine;
  private final Epochs readers;
  private final BufferCache cache;
  private final Flusher flusher;
  private volatile long logStart;
  private volatile long flushedStart;
  private long operations;
  private long l0Start;
  private long diskStart;

  /** What levels held at the beginning of the last cycles that have ended. */
  private final Deque<Long> diskBefore = new ArrayDeque<>();

  private CacheStats cacheStart;
  private Map<Integer, Before> trees = Map.of();

  /** What was known of a tree when the cycle began. */
  private record Before(long writtenBytes, TreeWork.Sums work) {
    static final Before NOTHING = new Before(0, new TreeWork.Sums(0, 0, 0, 0, 0, 0, 0));
  }

  CycleStatistics(Engine engine, Epochs readers, BufferCache cache, Flusher flusher) {
    this.engine = engine;
    this.readers = readers;
    this.cache = cache;
    this.flusher = flusher;
    this.cacheStart = cache.stats();
    begin();
  }

  /** The cycle has ended, and was not given up. */
  void end() {
    diskBefore.add(diskStart);
    if (diskBefore.size() > CYCLES_BEFORE) {
      diskBefore.remove();
    }
  }

  /** A new cycle begins. */
  void begin() {
    logStart = engine.log().end();
    flushedStart = flusher.bytesWritten();
    operations = operations();
    l0Start = l0Bytes();
    diskStart = diskBytes();
    cacheStart = cache.stats();
    Map<Integer, Before> now = new HashMap<>();
    for (TreeHandle tree : engine.catalog().trees()) {
      now.put(tree.id(), new Before(tree.counts().bytesWritten(), tree.work().sums()));
    }
    trees = now;
  }

  private long operations() {
    return readers.counted() + engine.operations().counted();
  }

  /** Bytes written in this cycle: to the log or, by unlogged trees, by flushes. Cheap. */
  long grownBytes() {
    return Math.max(engine.log().end() - logStart, flusher.bytesWritten() - flushedStart);
  }

  /**
   * What tells whether the cycle ends.
   *
   * @param grownBefore what had been written when the timer last ran down
   * @param dueBytes at which the cycle is looked at
   * @param budget all memory of the store
   */
  CycleView view(long grownBefore, long dueBytes, long budget, int intervals, boolean settled) {
    CacheStats now = cache.stats();
    long grown = grownBytes();
    boolean evicted = now.evictions() != cacheStart.evictions();
    return new CycleView(
        new Written(
            grown, grown - grownBefore, flusher.bytesWritten() - flushedStart, dueBytes, budget),
        new Disk(l0Start, l0Bytes(), mostBefore(), diskBytes(), engine.gate().limitBytes()),
        new Cache(cacheStart.heldPages(), now.heldPages(), now.targetPages(), evicted),
        intervals,
        settled,
        grown > 0
            || now.queryMisses() > cacheStart.queryMisses()
            || now.mergeMisses() > cacheStart.mergeMisses());
  }

  /** Merges make levels larger and smaller all the time, though nothing is loaded. */
  private long mostBefore() {
    return diskBefore.stream().mapToLong(it -> it).reduce(diskStart, Math::max);
  }

  private long l0Bytes() {
    long bytes = 0;
    for (TreeHandle tree : engine.catalog().trees()) {
      bytes += tree.states().current().version().l0Bytes();
    }
    return bytes;
  }

  private long diskBytes() {
    long bytes = 0;
    for (TreeHandle tree : engine.catalog().trees()) {
      bytes += tree.states().current().version().sizeBytes();
    }
    return bytes - l0Bytes();
  }

  /**
   * All of it, for the tuner.
   *
   * @param steepness of a tree's merges by a model, as {@link TreeCycle} has it
   */
  StoreCycle cycle(long number, MemoryWall wall, ToDoubleFunction<TreeHandle> steepness) {
    CacheStats now = cache.stats();
    int pageBytes = engine.catalog().space().pageSize();
    long ghost = Math.max(now.ghostPages(), now.ghostCapacityPages() / LEAST_GHOST);
    return new StoreCycle(
        number,
        wall.sharedBytes(),
        wall.writeBytes(),
        pageBytes,
        operations() - operations,
        now.queryMisses() - cacheStart.queryMisses(),
        now.mergeMisses() - cacheStart.mergeMisses(),
        now.queryGhostHits() - cacheStart.queryGhostHits(),
        now.mergeGhostHits() - cacheStart.mergeGhostHits(),
        (long) (ghost * pageBytes / (1 - lentShare(now, wall.writeBytes() / pageBytes))),
        treeCycles(steepness));
  }

  /**
   * Which part of the write memory the cache had while it was needed, since writers did not. For as
   * much cache as the ghosts stand for, the wall must move by so much more: of what it leaves
   * behind, the cache has had this part already.
   */
  private double lentShare(CacheStats now, long writePages) {
    double misses = Math.max(1, now.queryMisses() - cacheStart.queryMisses());
    double held = (now.heldAtMisses() - cacheStart.heldAtMisses()) / misses;
    double lent = Math.max(0, held - now.targetPages());
    return Math.min(MOST_LENT, lent / Math.max(1, writePages));
  }

  /** The trees that have done something, by ID. */
  private List<TreeCycle> treeCycles(ToDoubleFunction<TreeHandle> steepness) {
    List<TreeHandle> handles = new ArrayList<>(engine.catalog().trees());
    handles.sort(Comparator.comparingInt(TreeHandle::id));
    List<TreeCycle> cycles = new ArrayList<>();
    for (TreeHandle tree : handles) {
      TreeCycle cycle = cycle(tree, steepness.applyAsDouble(tree));
      if (cycle.writtenBytes() > 0 || cycle.mergedBytes() > 0 || cycle.flushes() > 0) {
        cycles.add(cycle);
      }
    }
    return cycles;
  }

  private TreeCycle cycle(TreeHandle tree, double steepness) {
    Before before = before(tree);
    TreeWork.Sums then = before.work();
    TreeWork.Sums now = tree.work().sums();
    Version version = tree.states().current().version();
    return new TreeCycle(
        tree.id(),
        tree.counts().bytesWritten() - before.writtenBytes(),
        now.mergedBytes() - then.mergedBytes(),
        now.memoryFlushedBytes() - then.memoryFlushedBytes(),
        now.otherFlushedBytes() - then.otherFlushedBytes(),
        now.flushes() - then.flushes(),
        Math.max(0, now.shareSum() - then.shareSum()),
        Math.max(0, now.recentReads() - then.recentReads()),
        version.atHeight(0).sizeBytes(),
        tree.priority().floorBytes(),
        tree.priority().weight(),
        steepness);
  }

  private Before before(TreeHandle tree) {
    return trees.getOrDefault(tree.id(), Before.NOTHING);
  }
}
