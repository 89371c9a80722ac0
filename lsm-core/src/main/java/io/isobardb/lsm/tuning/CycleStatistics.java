package io.isobardb.lsm.tuning;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.flush.Flusher;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeWork;
import io.isobardb.lsm.version.Version;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.stats.CacheStats;
import io.isobardb.tuner.memory.StoreCycle;
import io.isobardb.tuner.memory.TreeCycle;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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

  /** A cache that has grown by more than this part of its size in one cycle is still filling. */
  private static final int STILL_FILLING = 8;

  /** L0 is as full as before if the difference is within this part of the write memory. */
  private static final int SAME_PHASE = 4;

  /** ... or within this part of what the cycle has flushed, of whose cost it is then as little. */
  private static final int SAME_SHARE = 16;

  /** More than this of the write memory never counts as lent: writers may want it any time. */
  private static final double MOST_LENT = 0.5;

  /** A store that grew by more than this part of its size in one cycle is being loaded. */
  private static final int LOADING = 8;

  private final Engine engine;
  private final Epochs readers;
  private final BufferCache cache;
  private final Flusher flusher;
  private volatile long logStart;
  private volatile long flushedStart;
  private long operations;
  private long l0Start;
  private long diskStart;
  private CacheStats cacheStart;
  private Map<Integer, Before> trees = Map.of();

  /** What was known of a tree when the cycle began. */
  private record Before(long writtenBytes, TreeWork.Sums work) {
    static final Before NOTHING = new Before(0, new TreeWork.Sums(0, 0, 0, 0, 0, 0));
  }

  CycleStatistics(Engine engine, Epochs readers, BufferCache cache, Flusher flusher) {
    this.engine = engine;
    this.readers = readers;
    this.cache = cache;
    this.flusher = flusher;
    this.cacheStart = cache.stats();
    begin();
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
      now.put(tree.id(), new Before(tree.bytesWritten(), tree.work().sums()));
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

  /** Whether what was flushed in this cycle is more than twice what write memory may hold. */
  boolean flushedEnough() {
    return flusher.bytesWritten() - flushedStart > 2 * engine.gate().limitBytes();
  }

  /** Whether anything was done in this cycle that memory could have made cheaper. */
  boolean busy() {
    CacheStats now = cache.stats();
    return grownBytes() > 0
        || now.queryMisses() > cacheStart.queryMisses()
        || now.mergeMisses() > cacheStart.mergeMisses();
  }

  /**
   * Whether the cache was still filling: then what a larger one would save is not known, since it
   * has evicted nothing yet. Not so if it has stopped growing: then it has all there is to cache.
   */
  boolean cacheIsFilling() {
    CacheStats now = cache.stats();
    return now.heldPages() < now.targetPages()
        && now.evictions() == cacheStart.evictions()
        && now.heldPages() - cacheStart.heldPages() > now.targetPages() / STILL_FILLING;
  }

  /**
   * Whether L0 holds about as much as when the cycle began, so that the cycle has as much of
   * merging in it as belongs to what was flushed: L0 fills for a while, and is emptied at a time.
   */
  boolean hasWholeRounds() {
    long flushed = flusher.bytesWritten() - flushedStart;
    long near = Math.max(engine.gate().limitBytes() / SAME_PHASE, flushed / SAME_SHARE);
    return Math.abs(l0Bytes() - l0Start) <= near;
  }

  /** Whether the store grew so much that what this cycle cost says little of the next. */
  boolean isLoading() {
    return diskBytes() - diskStart > diskStart / LOADING;
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

  /** All of it, for the tuner. */
  StoreCycle cycle(long number, MemoryWall wall) {
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
        treeCycles());
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
  private List<TreeCycle> treeCycles() {
    List<TreeHandle> handles = new ArrayList<>(engine.catalog().trees());
    handles.sort(Comparator.comparingInt(TreeHandle::id));
    List<TreeCycle> cycles = new ArrayList<>();
    for (TreeHandle tree : handles) {
      TreeCycle cycle = cycle(tree);
      if (cycle.writtenBytes() > 0 || cycle.mergedBytes() > 0 || cycle.flushes() > 0) {
        cycles.add(cycle);
      }
    }
    return cycles;
  }

  private TreeCycle cycle(TreeHandle tree) {
    Before before = before(tree);
    TreeWork.Sums then = before.work();
    TreeWork.Sums now = tree.work().sums();
    Version version = tree.states().current().version();
    return new TreeCycle(
        tree.id(),
        tree.bytesWritten() - before.writtenBytes(),
        now.mergedBytes() - then.mergedBytes(),
        now.memoryFlushedBytes() - then.memoryFlushedBytes(),
        now.otherFlushedBytes() - then.otherFlushedBytes(),
        now.flushes() - then.flushes(),
        Math.max(0, now.shareSum() - then.shareSum()),
        Math.max(0, now.recentReads() - then.recentReads()),
        version.atHeight(0).sizeBytes(),
        tree.priority().floorBytes(),
        tree.priority().weight());
  }

  private Before before(TreeHandle tree) {
    return trees.getOrDefault(tree.id(), Before.NOTHING);
  }
}
