package io.isobardb.lsm.recovery;

import io.isobardb.lsm.commit.StaticShares;
import io.isobardb.lsm.component.MemoryComponent;
import io.isobardb.lsm.flush.Flusher;
import io.isobardb.lsm.merge.LevelingOptions;
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
 * @param flushing how much is flushed of which tree, and the length of the log
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
    Flusher.Settings flushing,
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

  /** The least number of pages of an active SSTable. */
  public static final int MIN_ACTIVE_PAGES = 4;

  /**
   * The least that can be asked for, in pages. A cursor holds a page of each run in memory: of a
   * small budget it could not have one of more runs than this makes.
   */
  public static final int MIN_WANTED_PAGES = 8;

  /** So many pages of the budget for each flush or merge that goes on at once. */
  private static final int JOB_PAGES = 256;

  /** The least size of a disk SSTable that goes on behind its last key, in pages. */
  private static final int MIN_TABLE_PAGES = 16;

  /** So many active SSTables the write memory has room for at least. */
  public static final int MIN_ACTIVES = 4;

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
        flushing.withMaxJobs(Math.min(flushing.maxJobs(), Math.max(1, jobs / 2))),
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
        flushing,
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

  /**
   * At which size an active SSTable is sealed while write memory has {@code writeBytes}: if no
   * other is wanted, small enough for the processor's cache.
   */
  public int activeBytes(long writeBytes) {
    long wanted =
        activeBytes == 0
            ? memoryComponent.smallBytes(writeBytes)
            : Math.min(
                writeBytes / MIN_ACTIVES, Math.max(activeBytes, MIN_WANTED_PAGES * pageSize));
    return (int) Math.max(wanted, (long) MIN_ACTIVE_PAGES * pageSize);
  }

  /**
   * The size of a disk SSTable that is written while write memory has {@code writeBytes}: enough
   * pages that those for header, index, filter and footer are few among them.
   */
  public long tableBytes(long writeBytes) {
    long least = Math.max(256 << 10, (long) MIN_TABLE_PAGES * pageSize);
    return Math.max(Math.min(writeBytes / 8, 16 << 20), least);
  }

  /** The size of the log's ring. */
  int ringBytes() {
    long wanted = Math.max(Math.min(memoryBudget / 32, 4 << 20), 64 << 10);
    return (int) Long.highestOneBit(wanted);
  }

  /** The size of a log segment. */
  long segmentBytes() {
    long wanted = Math.max(Math.min(flushing.logLimitBytes() / 8, 64 << 20), 128 << 10);
    return wanted & -4096L;
  }
}
