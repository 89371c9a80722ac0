package io.isobardb.lsm.store;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.commit.Snapshots;
import io.isobardb.lsm.merge.LevelCosts;
import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.recovery.StoreParts;
import io.isobardb.lsm.schedule.IoLimits;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.TableReads;
import io.isobardb.lsm.state.FilterRates;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.lsm.state.TreeWork;
import io.isobardb.lsm.tuning.LevelPlanner;
import io.isobardb.lsm.tuning.TunerService;
import io.isobardb.lsm.version.Version;
import io.isobardb.tuner.memory.Decision;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Asks all parts of an open store for what {@link StoreStats} tells. */
final class StatsCollector {
  /** What an SSTable takes on the heap, beside its keys: counted in a histogram, rounded up. */
  private static final int TABLE_BYTES = 470 + TableReads.BYTES;

  /** What an open file takes there: measured with some thousand. */
  private static final int FILE_BYTES = 950;

  private StatsCollector() {}

  /**
   * What the statistics have from the store's handle.
   *
   * @param totals the operations
   * @param batches batches written
   * @param snapshots how many are open
   * @param cursors how many are open
   */
  record Handles(OperationTotals totals, long batches, int snapshots, int cursors) {}

  static StoreStats collect(
      StoreParts parts,
      Transactions transactions,
      Handles handles,
      StoreStats.Latencies latencies) {
    Engine engine = parts.engine();
    Map<String, TreeHandle> trees = byName(engine);
    List<StoreStats.TreeStats> treeStats = new ArrayList<>();
    long heapBytes = 0;
    for (TreeHandle tree : trees.values()) {
      TreeState state = tree.states().current();
      Version version = state.version();
      List<Long> levels = new ArrayList<>();
      for (int i = 1; i <= version.levelCount(); i++) {
        levels.add(version.level(i).sizeBytes());
      }
      TreeWork.Sums work = tree.work().sums();
      treeStats.add(
          new StoreStats.TreeStats(
              tree.name(),
              tree.counts().stats(),
              state.memoryBytes(),
              state.memoryRunCount(),
              version.groups().size(),
              version.tiers().stream().map(tier -> tier.run().sizeBytes()).toList(),
              List.copyOf(levels),
              version.tableCount(),
              version.sizeBytes(),
              parts.merger().debtBytes(tree),
              parts.merger().chainBytes(tree),
              work.memoryFlushedBytes() + work.otherFlushedBytes(),
              work.mergedBytes(),
              work.mergedForReadsBytes(),
              tree.runsAsked().stats(),
              expected(parts, tree, version),
              tree.work().sweeps(),
              tree.failedFolds(),
              state.ranges().count(),
              LevelPlanner.bytes(tree.levels().plan(), version.atHeight(0).sizeBytes()),
              tree.levels().reason()));
      heapBytes += heapBytes(state);
    }
    Map<StallReason, StoreStats.StallStats> stalls = new EnumMap<>(StallReason.class);
    for (StallReason reason : StallReason.values()) {
      stalls.put(
          reason,
          new StoreStats.StallStats(
              engine.gate().stalls(reason), engine.gate().stallNanos(reason)));
    }
    Scheduler.Interruptions interruptions = engine.environment().scheduler().interruptions();
    return new StoreStats(
        engine.failure().cause() != null,
        engine.space().isFull() || engine.log().isDiskFull(),
        handles.totals().sum(trees.values()),
        handles.batches(),
        latencies,
        parts.pool().ledger(),
        parts.cache().stats(),
        engine.gate().usedBytes(),
        engine.gate().limitBytes(),
        engine.log().writtenBytes(),
        engine.log().syncs(),
        engine.log().sizeBytes(),
        engine.log().allocatedBytes(),
        engine.log().unsyncedNanos(),
        parts.flusher().flushes(),
        parts.flusher().bytesWritten(),
        parts.merger().merges(),
        parts.merger().bytesRead(),
        parts.merger().bytesWritten(),
        parts.merger().voided(),
        parts.merger().bytesVoided(),
        interruptions.pauses(),
        interruptions.preemptions(),
        interruptions.processorWaits(),
        engine.snapshots().time().leaps(),
        parts.memoryMerger().merges(),
        parts.storage().bytesRead(),
        parts.storage().bytesWritten(),
        ioLimits(parts, interruptions),
        stalls,
        engine.gate().refused(),
        transactions.stats(),
        readerStats(engine, handles),
        new StoreStats.FileStats(parts.storage().descriptorsHeld(), heapBytes),
        tunerStats(parts),
        treeStats);
  }

  private static StoreStats.ExpectedCosts expected(
      StoreParts parts, TreeHandle tree, Version version) {
    TreeWork.Sums work = tree.work().sums();
    double flushed = work.memoryFlushedBytes() + work.otherFlushedBytes();
    LevelCosts merges = parts.merger().expected(tree);
    StoreStats.RunStats gets = tree.runsAsked().stats();
    FilterRates rates = FilterRates.of(version);
    double found = gets.foundOnDisk();
    double asked = found + (found + gets.absent()) * rates.upper() + gets.absent() * rates.last();
    return new StoreStats.ExpectedCosts(
        flushed * (1 + merges.written()) / Math.max(1, tree.counts().stats().bytesWritten()),
        asked / Math.max(1, gets.lookups()),
        merges.space());
  }

  private static StoreStats.IoLimitStats ioLimits(
      StoreParts parts, Scheduler.Interruptions interruptions) {
    IoLimits limits = parts.services().ioLimits();
    return new StoreStats.IoLimitStats(
        limits.urgentBytes(),
        limits.allBytes(),
        limits.pieceBytes(),
        parts.services().learntBytes(),
        interruptions.throttled(),
        limits.reason());
  }

  /** What of a store lies on the heap. */
  static MemoryLimits.OnHeap onHeap(Engine engine) {
    long trees = 0;
    long files = 0;
    long ranges = 0;
    for (TreeHandle tree : engine.catalog().trees()) {
      TreeState state = tree.states().current();
      trees++;
      files += heapBytes(state);
      ranges += state.ranges().count();
    }
    return new MemoryLimits.OnHeap(trees, files, ranges);
  }

  private static long heapBytes(TreeState state) {
    long bytes = 0;
    for (Run run : state.disk()) {
      for (Table table : run.tables()) {
        if (table instanceof Table.Stored stored) {
          bytes += heapBytes(stored.content());
        }
      }
    }
    return bytes;
  }

  private static long heapBytes(SSTable table) {
    int keys = table.meta().minKey().length + table.meta().maxKey().length;
    return TABLE_BYTES + keys + (table.isFileOpen() ? FILE_BYTES : 0);
  }

  private static StoreStats.ReaderStats readerStats(Engine engine, Handles handles) {
    Snapshots.Oldest oldest = engine.snapshots().oldest();
    return new StoreStats.ReaderStats(
        handles.snapshots(),
        handles.cursors(),
        oldest == null ? 0 : Math.max(0, engine.nanos() - oldest.nanos()),
        oldest == null ? 0 : Math.max(0, engine.log().visible() - oldest.lsn()));
  }

  private static StoreStats.TunerStats tunerStats(StoreParts parts) {
    TunerService tuner = parts.services().tuner();
    Decision last = tuner == null ? null : tuner.last();
    return new StoreStats.TunerStats(
        tuner != null && tuner.dividesMemory(),
        tuner == null ? 0 : tuner.decisions(),
        parts.wall().targetBytes(),
        last == null ? 0 : last.seen().cycle(),
        tuner == null ? "" : tuner.reason());
  }

  private static Map<String, TreeHandle> byName(Engine engine) {
    Map<String, TreeHandle> byName = new TreeMap<>();
    engine.catalog().trees().forEach(tree -> byName.put(tree.name(), tree));
    return byName;
  }
}
