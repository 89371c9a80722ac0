package io.isobardb.lsm.recovery;

import io.isobardb.lsm.MemoryTunerOptions;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.baseline.StaticShares;
import io.isobardb.lsm.commit.Backpressure;
import io.isobardb.lsm.commit.Fullness;
import io.isobardb.lsm.commit.Sealing;
import io.isobardb.lsm.component.MemoryRules;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.flush.FlushExtent;
import io.isobardb.lsm.flush.FlushRules;
import io.isobardb.lsm.flush.Flusher;
import io.isobardb.lsm.merge.LevelingOptions;
import io.isobardb.lsm.merge.MemoryMerging;
import io.isobardb.lsm.merge.MergeTiming;
import io.isobardb.lsm.merge.Merger;
import io.isobardb.lsm.merge.TableSizes;
import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.policy.WriteMemoryAllocation;
import io.isobardb.lsm.schedule.Bandwidth;
import io.isobardb.lsm.schedule.BandwidthRules;
import io.isobardb.lsm.schedule.ProcessorRules;
import io.isobardb.lsm.tuning.Tuning;
import io.isobardb.lsm.version.L0Limits;
import io.isobardb.lsm.version.L0Rules;
import io.isobardb.lsm.wal.LogOptions;
import io.isobardb.tuner.memory.TunerOptions;
import org.jspecify.annotations.Nullable;

/**
 * What the parts of a store go by, each with a record of its own: worked out of the store's
 * options, its page size, and the memory that it has. All sizes in bytes.
 */
final class PartOptions {
  /** Pages of the budget for each flush or merge that goes on at once. */
  private static final int JOB_PAGES = 256;

  /** Dropped segments of the log that are kept for reuse. */
  private static final int SPARE_SEGMENTS = 2;

  private final StoreOptions given;
  private final ExperimentalOptions chosen;
  private final int pageSize;
  private final long writeMemory;
  private final FlushRules flushRules;
  private final LevelingOptions leveling;

  /**
   * @param pageSize the store's own
   * @param writeBytes as much write memory as there can be
   */
  PartOptions(StoreOptions given, int pageSize, long writeBytes) {
    this.given = given;
    this.chosen = ExperimentalOptions.of(given);
    this.pageSize = pageSize;
    this.writeMemory = writeBytes;
    this.flushRules = rules(given);
    this.leveling = leveling(given);
  }

  /** The store's memory. */
  long memoryBudget() {
    return given.memoryBudget();
  }

  /** Where the memory tuner begins, and what large writes may count on. */
  long writeMemory() {
    return writeMemory;
  }

  /** Whether files are read and written past the page cache, where that can be. */
  boolean isDirect() {
    return given.ioMode() == IoMode.DIRECT;
  }

  /** Whether small levels get more bits of filter per key than large ones. */
  boolean filtersByLevel() {
    return chosen.filtersByLevel();
  }

  /** What is flushed of which tree, and the length of the log. */
  FlushRules flushRules() {
    return flushRules;
  }

  /** How trees are shaped on disk. */
  LevelingOptions leveling() {
    return leveling;
  }

  /** Flushes and merges at once. */
  int jobs() {
    long most = given.memoryBudget() / pageSize / JOB_PAGES;
    return (int) Math.max(1, Math.min(given.backgroundThreads(), most));
  }

  private static FlushRules rules(StoreOptions options) {
    ExperimentalOptions chosen = ExperimentalOptions.of(options);
    return new FlushRules(
        chosen.flushPolicy(),
        FlushExtent.strategy(chosen.flushStrategy(), chosen.memoryComponent()),
        options.logLimit(),
        chosen.memoryComponent(),
        new Fullness(chosen.flushTrigger()));
  }

  /** How many bytes of files are deleted in a second; 0 for as many as can be. */
  long deleteRate() {
    return given.deleteRate();
  }

  /** What flushes and merges may use of the device and the processors. */
  Bandwidth.Rules limits() {
    return new Bandwidth.Rules(
        new BandwidthRules(device(), chosen.ioReserve(), chosen.ioMinimum()),
        new ProcessorRules((long) (chosen.processorMinimum() * 1e9)));
  }

  /** What is learnt of a device while a budget slows jobs down would be that budget. */
  private long device() {
    IoBandwidth device = given.ioBandwidth();
    return switch (device.kind()) {
      case AUTO -> given.ioBudget() == null ? BandwidthRules.AUTO : Long.MAX_VALUE;
      case GIVEN -> device.bytesPerSecond();
      case UNLIMITED -> Long.MAX_VALUE;
    };
  }

  private static LevelingOptions leveling(StoreOptions options) {
    ExperimentalOptions chosen = ExperimentalOptions.of(options);
    return new LevelingOptions(
        chosen.levelSizeRatio(),
        chosen.levelDropFactor(),
        chosen.l0Structure(),
        chosen.mergeSelection(),
        new L0Limits(chosen.l0StartGroups(), chosen.l0SlowdownGroups(), chosen.l0StopGroups()),
        options.levels().writeMemoryBytes(),
        chosen.mergesWithinL0());
  }

  /** What was said of the memory tuner. */
  static Tuning tuning(StoreOptions options) {
    MemoryTunerOptions tuner = options.memoryTuner();
    ExperimentalOptions chosen = ExperimentalOptions.of(options);
    return new Tuning(
        tuner.on(),
        tuner.interval().toNanos(),
        options.logLimit(),
        new TunerOptions(
            tuner.writeWeight(),
            tuner.readWeight(),
            chosen.tunerSamples(),
            chosen.tunerFixedStep(),
            chosen.tunerMaxStep(),
            chosen.tunerBoldness(),
            chosen.tunerMinStep(),
            chosen.tunerMinGain(),
            tuner.writeFloor(),
            tuner.cacheFloor(),
            TunerOptions.DEFAULT.floorShare()),
        options.levels().kind() == Levels.Kind.OPTIMISED ? leveling(options) : null);
  }

  /** The even shares of the write memory, null if there are none. */
  @Nullable StaticShares shares() {
    int trees = staticTrees();
    return trees == 0
        ? null
        : new StaticShares(trees, MemoryRules.flushesWhole(chosen.memoryComponent()) ? 2 : 1);
  }

  /** Among how many trees write memory is split evenly; 0 if it is shared. */
  private int staticTrees() {
    boolean even = chosen.writeMemoryAllocation() == WriteMemoryAllocation.STATIC;
    return even ? chosen.staticTrees() : 0;
  }

  /** What flushes keep to. */
  Flusher.Settings flushing() {
    return new Flusher.Settings(
        flushRules, leveling.l0(), new TableSizes(pageSize), Math.max(1, jobs() / 2), l0Rules());
  }

  /** What merges keep to. */
  Merger.Settings merging() {
    return new Merger.Settings(
        leveling.policy(),
        new MemoryMerging(chosen.memoryComponent()),
        new TableSizes(pageSize),
        Merger.Slots.of(jobs()),
        l0Rules());
  }

  /** When disk merges run. */
  MergeTiming timing() {
    return new MergeTiming(
        given.mergeSchedule(),
        Backpressure.slowDebt(chosen.mergeDebtLimit()),
        writeMemory,
        limits().bandwidth().minimumBytes());
  }

  /** When writers are slowed down. */
  Backpressure.Limits backpressure() {
    return new Backpressure.Limits(chosen.mergeDebtLimit(), flushRules.fullness());
  }

  private L0Rules l0Rules() {
    return new L0Rules(leveling.l0Limits(), chosen.l0MostGroups());
  }

  /** When active SSTables are sealed. */
  Sealing sealing() {
    return new Sealing(chosen.memoryComponent(), chosen.activeTableSize(), pageSize, staticTrees());
  }

  /** How the log is laid out, and when it is synced. */
  LogOptions log() {
    long sync = Math.max(1, given.asyncSyncInterval().toNanos());
    int ring = ringBytes(given.memoryBudget());
    return new LogOptions(segmentBytes(given.logLimit()), ring, isDirect(), sync, SPARE_SEGMENTS);
  }

  /** The size of the log's ring. */
  static int ringBytes(long memoryBudget) {
    long wanted = Math.max(Math.min(memoryBudget / 32, 4 << 20), 64 << 10);
    return (int) Long.highestOneBit(wanted);
  }

  /** The size of a log segment. */
  static long segmentBytes(long logLimit) {
    long wanted = Math.max(Math.min(logLimit / 8, 64 << 20), 128 << 10);
    return wanted & -4096L;
  }
}
