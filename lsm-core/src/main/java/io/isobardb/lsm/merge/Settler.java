package io.isobardb.lsm.merge;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.state.ReadLoss;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.lsm.version.Version;
import java.util.HashMap;
import java.util.Map;

/**
 * Makes one run on disk of a tree that is scanned and not written to: its memory is flushed, and
 * all is merged down to the last level.
 *
 * <p>What is in memory hides older versions on disk. A scan passes both, however much of them is
 * cached, and no merge in memory changes that. So a tree of which all fits into memory is settled
 * once the scans since its last write have lost by its runs half of what that takes. That comes to
 * about three times what would have been best if the worst comes, and to nothing where nobody scans
 * (decision 0011). Lookups count against it: what is packed in memory has an index that answers
 * them. A tree of which nearly all is one run already is left alone.
 *
 * <p>Reads of a larger tree wait for the device, once for each run on disk that they come to. What
 * it has in memory stays there. Its SSTables are merged down one by one, with what goes along, once
 * readers have waited for as many pages in vain as that rewrites ({@link ReadLosses}).
 *
 * <p>Thread rule: for {@link IdleWatch}, which calls one method at a time.
 */
final class Settler {
  /**
   * What flushing or merging a byte costs more than leaving it, in nanoseconds. It takes twice that
   * time, but most of the work would come later otherwise.
   */
  static final int NANOS_PER_BYTE = 2;

  /** A tree is settled if it has no more than this part of the budget. */
  private static final double MOST_PART = 0.75;

  /**
   * A tree is settled if its largest run is no more than this many times as large as all others:
   * then a byte is not written more often for it than on its way through levels.
   */
  private static final int MOST_TIMES = 8;

  /**
   * A larger tree is looked at once cursors may have lost this part of the pages that are to go
   * down.
   */
  private static final int LOOK_PART = 2;

  private final Engine engine;
  private final Merger merger;
  private final Flushes flushes;

  /** Trees that are being settled, and up to where. */
  private final Map<TreeHandle, MergeDown.Settled> begun = new HashMap<>();

  Settler(Engine engine, Merger merger, Flushes flushes) {
    this.engine = engine;
    this.merger = merger;
    this.flushes = flushes;
  }

  /**
   * Begins to settle a tree that nobody writes to, or goes on with that.
   *
   * @param lostNanos {@link ReadLoss#nanosOfScans} since it was last written to
   * @return whether it should be asked again soon
   */
  boolean request(TreeHandle tree, long lostNanos) {
    MergeDown.Settled wish = begun.get(tree);
    if (wish == null && isLarge(tree)) {
      mergeWhatIsPaidFor(tree);
      return false;
    }
    if (wish == null) {
      if (lostNanos < priceNanos(tree)) {
        return false;
      }
      wish = new MergeDown.Settled(engine.log().end());
      begun.put(tree, wish);
    }
    if (!mayWrite()) {
      forget(tree);
      return false;
    }
    TreeState state = tree.states().current();
    if (state.memoryBytes() > 0) {
      flushes.flushAll(tree);
      return true;
    }
    if (wish.isDone(state.version())) {
      forget(tree);
      return false;
    }
    merger.add(tree, wish);
    return true;
  }

  private boolean isLarge(TreeHandle tree) {
    TreeState state = tree.states().current();
    long bytes = state.memoryBytes() + state.version().sizeBytes();
    return bytes > MOST_PART * engine.catalog().space().pool().limitBytes();
  }

  private void mergeWhatIsPaidFor(TreeHandle tree) {
    Map<Long, Double> lost = mayWrite() ? ReadLosses.pagesLost(tree) : Map.of();
    if (!lost.isEmpty()) {
      int pageBytes = engine.catalog().space().pageSize();
      // To read and write a page in large pieces takes about as long as a reader waits for one.
      merger.mergeForReads(tree, new ReadLosses(lost, pageBytes, 0, 1));
    }
  }

  /**
   * How much cursors of a large tree have to lose until it is worth a look again, in nanoseconds of
   * {@link ReadLoss}; {@code Long.MAX_VALUE} if there is nothing to go down.
   */
  long nanosToLook(TreeHandle tree) {
    Version version = tree.states().current().version();
    long above = version.sizeBytes() - version.atHeight(0).sizeBytes();
    if (above == 0 || !isLarge(tree) || !mayWrite()) {
      return Long.MAX_VALUE;
    }
    long pages = above / engine.catalog().space().pageSize();
    return ReadLoss.SEEK_NANOS * Math.max(1, pages / LOOK_PART);
  }

  /** Ends what was begun for a tree: it is written to, or gone. Merges under way go on. */
  void forget(TreeHandle tree) {
    MergeDown.Settled wish = begun.remove(tree);
    if (wish != null) {
      merger.forget(tree, wish);
    }
  }

  /**
   * What scans of a tree have to lose with one run more until it is settled, in nanoseconds; {@code
   * Long.MAX_VALUE} if it is not to be.
   */
  long priceNanos(TreeHandle tree) {
    TreeState state = tree.states().current();
    long written = state.active().content().bytesUsed();
    int runs = state.runCount() + (written > 0 ? 1 : 0);
    long largest = written;
    for (int i = 0; i < state.runCount(); i++) {
      largest = Math.max(largest, state.run(i).sizeBytes());
    }
    Sizes sizes = new Sizes(state.memoryBytes(), state.version().sizeBytes(), largest);
    return mayWrite()
        ? priceNanos(runs, sizes, engine.catalog().space().pool().limitBytes())
        : Long.MAX_VALUE;
  }

  private boolean mayWrite() {
    return engine.log().isOpen()
        && !engine.environment().storage().discardsChanges()
        && engine.failure().cause() == null
        && !engine.space().isFull();
  }

  /**
   * What a tree has, in bytes.
   *
   * @param memory in memory
   * @param disk on disk
   * @param largest run of both
   */
  record Sizes(long memory, long disk, long largest) {
    long all() {
      return memory + disk;
    }
  }

  /**
   * The rule: a pure function.
   *
   * @param runs that a scan goes through
   * @param budgetBytes the store's memory
   * @see ReadLoss#nanosOfScans
   */
  static long priceNanos(int runs, Sizes sizes, long budgetBytes) {
    boolean fits = sizes.all() <= MOST_PART * budgetBytes;
    boolean isOne = runs < 2 || sizes.largest() > MOST_TIMES * (sizes.all() - sizes.largest());
    if (sizes.disk() == 0 || !fits || isOne) {
      return Long.MAX_VALUE;
    }
    // What is in memory is flushed, and then merged with what is on disk.
    return NANOS_PER_BYTE * (sizes.memory() + sizes.all()) / (runs - 1);
  }
}
