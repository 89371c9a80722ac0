package io.isobardb.lsm.recovery;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.baseline.StaticShares;
import io.isobardb.lsm.commit.Backpressure;
import io.isobardb.lsm.commit.Sealing;
import io.isobardb.lsm.component.FirstRoom;
import io.isobardb.lsm.component.MemoryRules;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.flush.FlushRules;
import io.isobardb.lsm.flush.Flusher;
import io.isobardb.lsm.merge.LevelingOptions;
import io.isobardb.lsm.merge.MemoryMerging;
import io.isobardb.lsm.merge.MergeTiming;
import io.isobardb.lsm.merge.Merger;
import io.isobardb.lsm.merge.TableSizes;
import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.schedule.Bandwidth;
import io.isobardb.lsm.schedule.BandwidthRules;
import io.isobardb.lsm.schedule.ProcessorRules;
import io.isobardb.lsm.version.L0Rules;
import io.isobardb.lsm.wal.LogOptions;
import io.isobardb.memory.pool.PagePool;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What the parts of a store go by, each with a record of its own. Most records are made of the
 * store's options alone, by a method of theirs. What else they take is worked out here: of the
 * store's page size, and of the memory that it has. All sizes in bytes.
 */
final class PartOptions {
  /** Pages of the budget for each flush or merge that goes on at once. */
  private static final int JOB_PAGES = 256;

  private final StoreOptions given;
  private final ExperimentalOptions chosen;
  private final int pageSize;
  private final long writeMemory;
  private final boolean readOnly;
  private final FlushRules flushRules;
  private final LevelingOptions leveling;

  /**
   * @param pageSize the store's own
   * @param writeBytes as much write memory as there can be
   * @param readOnly whether what is written is kept on the heap, for as long as the store is open.
   *     Then nothing is merged on disk, since that would copy levels; nothing waits for it; and no
   *     flush is for the log's sake, which stays.
   */
  PartOptions(StoreOptions given, int pageSize, long writeBytes, boolean readOnly) {
    this.given = given;
    this.chosen = ExperimentalOptions.of(given);
    this.pageSize = pageSize;
    this.writeMemory = writeBytes;
    this.readOnly = readOnly;
    FlushRules rules = FlushRules.of(given);
    this.flushRules = readOnly ? rules.withoutLogLimit() : rules;
    this.leveling = LevelingOptions.of(given);
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

  /** Lookups, for each entry, that pay for an index over a cached SSTable on disk. */
  double indexLookups() {
    return chosen.indexLookups();
  }

  /** Flushes and merges at once. */
  int jobs() {
    long most = given.memoryBudget() / pageSize / JOB_PAGES;
    return (int) Math.max(1, Math.min(given.backgroundThreads(), most));
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

  /** The even shares of the write memory, null if there are none. */
  @Nullable StaticShares shares() {
    Sealing sealing = sealing();
    return sealing.shares() == 0
        ? null
        : new StaticShares(sealing.shares(), MemoryRules.flushesWhole(sealing.component()) ? 2 : 1);
  }

  private TableSizes tableSizes() {
    return new TableSizes(pageSize, chosen.diskTableSize());
  }

  /** What flushes keep to. */
  Flusher.Settings flushing() {
    return new Flusher.Settings(
        flushRules, leveling.l0(), tableSizes(), Math.max(1, jobs() / 2), l0Rules());
  }

  /** What disk merges keep to. */
  Merger.Settings merging() {
    Merger.Slots slots = readOnly ? Merger.Slots.NONE : Merger.Slots.of(jobs());
    return new Merger.Settings(leveling.policy(), tableSizes(), slots, l0Rules());
  }

  private L0Rules l0Rules() {
    return readOnly ? L0Rules.UNLIMITED : L0Rules.of(given);
  }

  /** When memory is merged. */
  MemoryMerging memoryMerging() {
    return new MemoryMerging(chosen.memoryComponent());
  }

  /** When disk merges run. */
  MergeTiming timing() {
    return new MergeTiming(
        given.mergeSchedule(), Backpressure.slowDebt(chosen.mergeDebtLimit()), writeMemory);
  }

  /** When writers are slowed down. */
  Backpressure.Limits backpressure() {
    return Backpressure.Limits.of(given, tableSizes().flushed(0));
  }

  /** How much first entries of trees may take on the heap, and from when on they lie there. */
  FirstRoom firstRoom(PagePool pool, IntSupplier trees) {
    // An index over several active SSTables takes over their leaves.
    boolean inLeaves = chosen.memoryComponent() == MemoryComponent.ACCORDION_INDEX;
    double crowded = inLeaves ? Double.MAX_VALUE : chosen.crowdedPart();
    return new FirstRoom(pool, trees, crowded, writeMemory);
  }

  /** When active SSTables are sealed. */
  Sealing sealing() {
    return Sealing.of(given, pageSize);
  }

  /** How the log is laid out, and when it is synced. */
  LogOptions log() {
    return LogOptions.of(given);
  }
}
