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
import io.isobardb.tuner.shape.RunsTuner;
import io.isobardb.tuner.shape.ShapeDecision;
import io.isobardb.tuner.shape.ShapeProgress;
import io.isobardb.tuner.shape.ShapeProgress.Stage;
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
  private static final long TABLE_OPERATIONS = 8;

  /** What was found of a tree that has grown or shrunk so much since is forgotten. */
  private static final double OTHER_SIZE = 2;

  private final TreeHandle tree;
  private ShapeProgress progress = ShapeProgress.START;
  private Phases phases = Phases.NONE;
  private Found ofLevels = Found.NOTHING;
  private Found ofTiers = Found.NOTHING;

  /** What was found since a change is judged. */
  private Calibration trial = Calibration.NONE;

  private @Nullable ShapeChoice assumed;
  private boolean isNew;
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
   * @param forReadsBytes that those of them wrote that reads have paid for
   * @param pagesRead that lookups and scans took from files
   */
  record Spent(double flushedBytes, double mergedBytes, double forReadsBytes, double pagesRead) {}

  /**
   * What was found beside the model while the tree had runs of a kind.
   *
   * @param entries that it had then
   */
  private record Found(Calibration calibration, long entries) {
    static final Found NOTHING = new Found(Calibration.NONE, 0);
  }

  /** What was done, and what it has cost. */
  record Ended(Window seen, Spent spent) {}

  /**
   * Begins to watch a tree.
   *
   * @param isNew whether it was created since the store was opened
   */
  WatchedTree(TreeHandle tree, boolean isNew) {
    this.tree = tree;
    this.isNew = isNew;
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

  /** What was found beside the model while the tree had such runs. */
  Calibration calibration(Runs having) {
    return calibration(having.isLeveled() ? ofLevels : ofTiers);
  }

  private Calibration calibration(Found found) {
    double grown = (double) Math.max(1, entries) / Math.max(1, found.entries);
    return grown < OTHER_SIZE && grown > 1 / OTHER_SIZE ? found.calibration : Calibration.NONE;
  }

  /** The number of the last window that has ended. */
  long windows() {
    return windows;
  }

  /** What it has. */
  ShapeChoice having() {
    return new ShapeChoice(tree.shape().runs(), tree.shape().l0Start());
  }

  /** What it has, or would have. */
  ShapeChoice choice() {
    ShapeChoice other = assumed;
    return other == null ? having() : other;
  }

  /** It is looked at as if it had this. */
  void assume(ShapeChoice choice) {
    assumed = choice;
  }

  /** Whether it was flushed for the first time, and {@link #setBegun} was not called since. */
  boolean isToBegin() {
    return isNew && tree.states().current().version().tableCount() > 0;
  }

  /** It was decided what it begins with. */
  void setBegun() {
    isNew = false;
  }

  /** All that was done to it since the store was opened. */
  Window all() {
    OperationStats all = tree.counts().stats();
    StoreStats.RunStats lookups = tree.runsAsked().stats();
    double absent =
        lookups.lookups() == 0 ? 0 : (double) all.gets() * lookups.absent() / lookups.lookups();
    double found = Math.max(0, all.gets() - absent);
    return new Window(
        0, all.puts(), all.deletes(), found, all.gets() - found, all.scans(), all.steps());
  }

  /** Goes on from what was decided before the store was closed. */
  void goOn(ShapeDecision last) {
    progress = last.after();
    windows = last.window();
  }

  /** Forgets what was decided and found: somebody has set the tree's runs. */
  void forget() {
    progress = ShapeProgress.START;
    phases = Phases.NONE;
    ofLevels = Found.NOTHING;
    ofTiers = Found.NOTHING;
    trial = Calibration.NONE;
    assumed = null;
  }

  /**
   * Something was decided, and is about to be carried out. If it ends a trial, what was found in
   * that is known from now on.
   */
  void setDecision(ShapeDecision decision) {
    boolean ends = progress.stage() == Stage.MEASURING;
    progress = decision.after();
    if (ends && progress.stage() != Stage.MEASURING) {
      calibrate(trial);
      trial = Calibration.NONE;
    }
  }

  /** What is decided if a change can't be judged any more. */
  ShapeDecision left(String reason) {
    return RunsTuner.leave(progress, windows, tree.id(), choice().toString(), reason);
  }

  /**
   * A window has told what the tree costs beside the model. While a change is judged, that is put
   * aside: it is judged by what was known before.
   */
  void calibrate(Calibration window) {
    if (progress.stage() == Stage.MEASURING) {
      trial = trial.after(window);
      return;
    }
    boolean isLeveled = tree.shape().runs().isLeveled();
    Found found = new Found(calibration(isLeveled ? ofLevels : ofTiers).after(window), entries);
    if (isLeveled) {
      ofLevels = found;
    } else {
      ofTiers = found;
    }
  }

  static long operations(OperationStats stats) {
    return stats.gets() + stats.puts() + stats.deletes() + stats.scans();
  }

  /** Operations on it so far. */
  long operations() {
    return operations(tree.counts().stats());
  }

  /** Whether there were as many operations as a window has. */
  boolean isWindowOver() {
    return operations() - operations(operations) >= windowOperations();
  }

  /** How many operations a window has. */
  long windowOperations() {
    long tables = tree.states().current().version().tableCount();
    long wanted = Math.max(LEAST_OPERATIONS, lastEntries() / ENTRIES_PART);
    return Math.min(MOST_OPERATIONS, Math.max(wanted, TABLE_OPERATIONS * tables));
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
            workNow.mergedForReadsBytes() - work.mergedForReadsBytes(),
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
