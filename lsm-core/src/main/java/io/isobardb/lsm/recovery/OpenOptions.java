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
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.option.MergeSchedule;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.policy.WriteMemoryAllocation;
import io.isobardb.lsm.schedule.Bandwidth;
import io.isobardb.lsm.schedule.BandwidthRules;
import io.isobardb.lsm.schedule.ProcessorRules;
import io.isobardb.lsm.tuning.Tuning;
import io.isobardb.lsm.version.L0Limits;
import io.isobardb.tuner.memory.TunerOptions;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What opening a store needs to know; all sizes in bytes.
 *
 * @param writeMemory where the memory tuner begins, and what large writes may count on
 * @param backgroundJobs flushes and merges at once
 * @param known the key orders and merge operators that trees may have
 */
public record OpenOptions(
    long memoryBudget,
    long writeMemory,
    int backgroundJobs,
    Policies policies,
    Files files,
    Known known) {

  /**
   * What trees name and the program gives.
   *
   * @param orders the key orders that trees may have, by name
   * @param operators the merge operators that trees may have, by name
   */
  public record Known(Map<String, KeyOrder> orders, Map<String, MergeOperator> operators) {}

  /** The key orders that trees may have, by name. */
  public Map<String, KeyOrder> orders() {
    return known.orders();
  }

  /**
   * What decisions go by.
   *
   * @param flushing what is flushed of which tree, and the length of the log
   * @param leveling how trees are shaped on disk
   * @param merging how much may wait for merges, and when they run
   * @param component how a tree's write memory is arranged
   * @param staticTrees among how many trees write memory is split evenly; 0 if it is shared
   * @param activeBytes at which an active SSTable is sealed, if the write memory is not too small
   *     for that; 0 if it follows the write memory
   * @param tuning what was said of the memory tuner
   */
  public record Policies(
      FlushRules flushing,
      LevelingOptions leveling,
      Merging merging,
      MemoryComponent component,
      int staticTrees,
      int activeBytes,
      Tuning tuning) {}

  /**
   * What disk merges go by.
   *
   * @param debtLimitBytes how much may wait for them
   * @param schedule when they run
   * @param limits what they and flushes may use of the device and the processors
   */
  public record Merging(long debtLimitBytes, MergeSchedule schedule, Bandwidth.Rules limits) {}

  /**
   * What files go by.
   *
   * @param pageSize for a new store; an existing one keeps its own
   * @param filtersByLevel whether small levels get more bits of filter per key than large ones
   */
  public record Files(
      int pageSize,
      IoMode ioMode,
      long asyncSyncNanos,
      boolean createIfMissing,
      boolean filtersByLevel) {}

  /** Those that a store is opened with. */
  public static OpenOptions of(StoreOptions options) {
    ExperimentalOptions chosen = ExperimentalOptions.of(options);
    boolean shares = chosen.writeMemoryAllocation() == WriteMemoryAllocation.STATIC;
    return new OpenOptions(
        options.memoryBudget(),
        options.writeMemory(),
        options.backgroundThreads(),
        new Policies(
            rules(options),
            leveling(options),
            new Merging(chosen.mergeDebtLimit(), options.mergeSchedule(), limits(options)),
            chosen.memoryComponent(),
            shares ? chosen.staticTrees() : 0,
            chosen.activeTableSize(),
            tuning(options)),
        new Files(
            options.pageSize(),
            options.ioMode(),
            Math.max(1, options.asyncSyncInterval().toNanos()),
            options.createIfMissing(),
            chosen.filtersByLevel()),
        new Known(options.keyOrders(), options.mergeOperators()));
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

  private static Bandwidth.Rules limits(StoreOptions options) {
    ExperimentalOptions chosen = ExperimentalOptions.of(options);
    return new Bandwidth.Rules(
        new BandwidthRules(options.ioBandwidth(), chosen.ioReserve(), chosen.ioMinimum()),
        new ProcessorRules((long) (chosen.processorMinimum() * 1e9)));
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
        options.maxSpace(),
        chosen.mergesWithinL0());
  }

  private static Tuning tuning(StoreOptions options) {
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

  /** Pages of the budget for each flush or merge that goes on at once. */
  private static final int JOB_PAGES = 256;

  /**
   * These options for a store that has its own page size.
   *
   * @param writeBytes as much write memory as there can be
   */
  OpenOptions with(int pageSize, long writeBytes) {
    long jobs = Math.min(backgroundJobs, memoryBudget / pageSize / JOB_PAGES);
    Files own =
        new Files(
            pageSize,
            files.ioMode(),
            files.asyncSyncNanos(),
            files.createIfMissing(),
            files.filtersByLevel());
    return new OpenOptions(memoryBudget, writeBytes, (int) Math.max(1, jobs), policies, own, known);
  }

  /** The even shares of the write memory, null if there are none. */
  @Nullable StaticShares shares() {
    int trees = policies.staticTrees();
    return trees == 0
        ? null
        : new StaticShares(trees, MemoryRules.flushesWhole(policies.component()) ? 2 : 1);
  }

  /** What flushes keep to. */
  Flusher.Settings flushing() {
    int jobs = Math.max(1, backgroundJobs / 2);
    return new Flusher.Settings(
        policies.flushing(),
        policies.leveling().l0(),
        new TableSizes(files.pageSize()),
        jobs,
        policies.leveling().l0Limits());
  }

  /** What merges keep to. */
  Merger.Settings merging() {
    return new Merger.Settings(
        policies.leveling().policy(),
        new MemoryMerging(policies.component()),
        new TableSizes(files.pageSize()),
        Merger.Slots.of(backgroundJobs),
        policies.leveling().l0Limits());
  }

  /** When disk merges run. */
  MergeTiming timing() {
    return new MergeTiming(
        policies.merging().schedule(),
        policies.leveling().l0Limits(),
        Backpressure.slowDebt(policies.merging().debtLimitBytes()),
        writeMemory,
        policies.merging().limits().bandwidth().minimumBytes());
  }

  /** When writers are slowed down. */
  Backpressure.Limits backpressure() {
    return new Backpressure.Limits(
        policies.leveling().l0Limits(),
        policies.merging().debtLimitBytes(),
        policies.flushing().fullness());
  }

  /** When active SSTables are sealed. */
  Sealing sealing() {
    return new Sealing(
        policies.component(), policies.activeBytes(), files.pageSize(), policies.staticTrees());
  }

  /** The size of the log's ring. */
  int ringBytes() {
    long wanted = Math.max(Math.min(memoryBudget / 32, 4 << 20), 64 << 10);
    return (int) Long.highestOneBit(wanted);
  }

  /** The size of a log segment. */
  long segmentBytes() {
    long wanted = Math.max(Math.min(policies.flushing().logLimitBytes() / 8, 64 << 20), 128 << 10);
    return wanted & -4096L;
  }
}
