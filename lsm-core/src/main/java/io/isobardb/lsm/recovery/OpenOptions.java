package io.isobardb.lsm.recovery;

import io.isobardb.lsm.commit.Sealing;
import io.isobardb.lsm.commit.StaticShares;
import io.isobardb.lsm.component.MemoryComponent;
import io.isobardb.lsm.flush.FlushRules;
import io.isobardb.lsm.flush.Flusher;
import io.isobardb.lsm.merge.LevelingOptions;
import io.isobardb.lsm.merge.MemoryMerging;
import io.isobardb.lsm.merge.Merger;
import io.isobardb.lsm.merge.PartitionedLeveling;
import io.isobardb.lsm.merge.TableSizes;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.tuning.Tuning;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What opening a store needs to know; all sizes in bytes.
 *
 * @param writeMemory where the memory tuner begins, and what large writes may count on
 * @param tuning what was said of the memory tuner
 * @param rules what is flushed of which tree, and the length of the log
 * @param leveling how trees are shaped on disk
 * @param memoryComponent how a tree's write memory is arranged
 * @param staticTrees among how many trees write memory is split evenly; 0 if it is shared
 * @param activeBytes at which an active SSTable is sealed, if the write memory is not too small for
 *     that; 0 if it follows the write memory
 * @param pageSize for a new store; an existing one keeps its own
 * @param orders the key orders that trees may have, by name
 */
public record OpenOptions(
    long memoryBudget,
    long writeMemory,
    Tuning tuning,
    FlushRules rules,
    LevelingOptions leveling,
    MemoryComponent memoryComponent,
    int staticTrees,
    int activeBytes,
    int pageSize,
    IoMode ioMode,
    long asyncSyncNanos,
    int backgroundJobs,
    boolean createIfMissing,
    Map<String, KeyOrder> orders) {

  /** So many pages of the budget for each flush or merge that goes on at once. */
  private static final int JOB_PAGES = 256;

  /** The even shares of the write memory, null if there are none. */
  @Nullable StaticShares shares() {
    return staticTrees == 0
        ? null
        : new StaticShares(staticTrees, memoryComponent.flushesWhole() ? 2 : 1);
  }

  /** These options for a store that has its own page size. */
  OpenOptions withPageSize(int bytes) {
    int jobs = (int) Math.max(1, Math.min(backgroundJobs, memoryBudget / bytes / JOB_PAGES));
    return new OpenOptions(
        memoryBudget,
        writeMemory,
        tuning,
        rules,
        leveling,
        memoryComponent,
        staticTrees,
        activeBytes,
        bytes,
        ioMode,
        asyncSyncNanos,
        jobs,
        createIfMissing,
        orders);
  }

  /** These options with as much write memory as there can be. */
  OpenOptions withWriteMemory(long bytes) {
    return new OpenOptions(
        memoryBudget,
        bytes,
        tuning,
        rules,
        leveling,
        memoryComponent,
        staticTrees,
        activeBytes,
        pageSize,
        ioMode,
        asyncSyncNanos,
        backgroundJobs,
        createIfMissing,
        orders);
  }

  /** What flushes keep to. */
  Flusher.Settings flushing() {
    int jobs = Math.max(1, backgroundJobs / 2);
    return new Flusher.Settings(rules, leveling.l0(), new TableSizes(pageSize), jobs);
  }

  /** What merges keep to. */
  Merger.Settings merging() {
    return new Merger.Settings(
        new PartitionedLeveling(leveling),
        new MemoryMerging(memoryComponent),
        new TableSizes(pageSize),
        Math.max(1, backgroundJobs - 1));
  }

  /** When active SSTables are sealed. */
  Sealing sealing() {
    return new Sealing(memoryComponent, activeBytes, pageSize, shares());
  }

  /** The size of the log's ring. */
  int ringBytes() {
    long wanted = Math.max(Math.min(memoryBudget / 32, 4 << 20), 64 << 10);
    return (int) Long.highestOneBit(wanted);
  }

  /** The size of a log segment. */
  long segmentBytes() {
    long wanted = Math.max(Math.min(rules.logLimitBytes() / 8, 64 << 20), 128 << 10);
    return wanted & -4096L;
  }
}
