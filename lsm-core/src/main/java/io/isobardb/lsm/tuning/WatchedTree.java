package io.isobardb.lsm.tuning;

import io.isobardb.lsm.observe.OperationStats;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeWork;
import io.isobardb.tuner.shape.Calibration;
import io.isobardb.tuner.shape.Phases;
import io.isobardb.tuner.shape.ShapeDecision;
import io.isobardb.tuner.shape.ShapeProgress;
import io.isobardb.tuner.shape.Window;
import org.jspecify.annotations.Nullable;

/**
 * What {@link ShapeService} knows of a tree: what was done to it since its window began, by the
 * counters that there are, and what was decided.
 *
 * <p>Thread rule: one thread at a time.
 */
final class WatchedTree {
  /** A window is as many operations as this part of the tree has entries. */
  private static final int ENTRIES_PART = 32;

  private static final long LEAST_OPERATIONS = 2048;
  private static final long MOST_OPERATIONS = 1 << 20;

  /**
   * SSTables are asked what was read of them at the end of a window: one per so many operations.
   */
  private static final long TABLE_OPERATIONS = 32;

  private final TreeHandle tree;
  private ShapeProgress progress = ShapeProgress.START;
  private Phases phases = Phases.NONE;
  private Calibration calibration = Calibration.NONE;
  private @Nullable Runs assumed;
  private long windows;
  private OperationStats operations;
  private StoreStats.RunStats asked;
  private TreeWork.Sums work;
  private long entries;

  /**
   * What a window has cost.
   *
   * @param flushedBytes that flushes wrote
   * @param mergedBytes that merges wrote
   * @param pagesRead that lookups and scans took from files
   */
  record Spent(double flushedBytes, double mergedBytes, double pagesRead) {}

  /** What was done, and what it has cost. */
  record Ended(Window seen, Spent spent) {}

  WatchedTree(TreeHandle tree) {
    this.tree = tree;
    this.operations = tree.counts().stats();
    this.asked = tree.runsAsked().stats();
    this.work = tree.work().sums();
    this.entries = lastEntries();
    takePagesRead();
  }

  TreeHandle tree() {
    return tree;
  }

  ShapeProgress progress() {
    return progress;
  }

  Phases phases() {
    return phases;
  }

  Calibration calibration() {
    return calibration;
  }

  /** The number of the last window that has ended. */
  long windows() {
    return windows;
  }

  /** The runs that it has, or would have. */
  Runs runs() {
    Runs other = assumed;
    return other == null ? tree.shape().runs() : other;
  }

  /** It is looked at as if it had these. */
  void assume(Runs runs) {
    assumed = runs;
  }

  /** Goes on from what was decided before the store was closed. */
  void goOn(ShapeDecision last) {
    progress = last.after();
    windows = last.window();
  }

  void setDecision(ShapeDecision decision) {
    progress = decision.after();
  }

  void setCalibration(Calibration now) {
    calibration = now;
  }

  static long operations(OperationStats stats) {
    return stats.gets() + stats.puts() + stats.deletes() + stats.scans();
  }

  /** Whether there were as many operations as a window has. */
  boolean isWindowOver() {
    long tables = tree.states().current().version().tableCount();
    long wanted = Math.max(LEAST_OPERATIONS, lastEntries() / ENTRIES_PART);
    wanted = Math.min(MOST_OPERATIONS, Math.max(wanted, TABLE_OPERATIONS * tables));
    return operations(tree.counts().stats()) - operations(operations) >= wanted;
  }

  /** Ends the window, and begins the next one. */
  Ended end() {
    OperationStats now = tree.counts().stats();
    StoreStats.RunStats askedNow = tree.runsAsked().stats();
    TreeWork.Sums workNow = tree.work().sums();
    long entriesNow = lastEntries();
    double gets = now.gets() - operations.gets();
    double puts = now.puts() - operations.puts();
    double lookups = askedNow.lookups() - asked.lookups();
    double absent = lookups == 0 ? 0 : gets * (askedNow.absent() - asked.absent()) / lookups;
    double inserts = Math.max(0, Math.min(puts, entriesNow - entries));
    Window seen =
        new Window(
            inserts,
            puts - inserts,
            now.deletes() - operations.deletes(),
            Math.max(0, gets - absent),
            Math.min(gets, absent),
            now.scans() - operations.scans(),
            now.steps() - operations.steps());
    Spent spent =
        new Spent(
            flushed(workNow) - flushed(work),
            workNow.mergedBytes() - work.mergedBytes(),
            takePagesRead());
    operations = now;
    asked = askedNow;
    work = workNow;
    entries = entriesNow;
    windows++;
    phases = phases.after(seen);
    return new Ended(seen, spent);
  }

  private static double flushed(TreeWork.Sums sums) {
    return (double) sums.memoryFlushedBytes() + sums.otherFlushedBytes();
  }

  long lastEntries() {
    long sum = 0;
    for (SSTableMeta table : tree.states().current().version().atHeight(0).elements()) {
      sum += table.entries();
    }
    return sum;
  }

  /** Of SSTables that were merged away meanwhile nothing is known. */
  private long takePagesRead() {
    long pages = 0;
    for (Run run : tree.states().current().disk()) {
      for (Table table : run.tables()) {
        if (table instanceof Table.Stored stored) {
          pages += stored.content().reads().takePagesRead();
        }
      }
    }
    return pages;
  }
}
