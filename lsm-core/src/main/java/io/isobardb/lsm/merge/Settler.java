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
 * once the reads since its last write have lost by its runs half of what that takes. That comes to
 * about three times what would have been best if the worst comes, and to nothing where nobody scans
 * (decision 0011). Lookups count against it: what is packed in memory has an index that answers
 * them. A tree of which nearly all is one run already is left alone.
 *
 * <p>A tree that fits without the older versions, by the part of them that scans pass, is settled
 * as well. Until then its pages take each other's place in the cache, so reads lose those that they
 * wait for, too. Scans that pass delete markers lose by these, and by what they hide.
 *
 * <p>A tree that is written to, such as a queue, is rid of its delete markers in the same way, once
 * scans have lost {@link #TIMES_BESIDE_WRITES} times as much by them: what memory has taken in
 * since would have been flushed later, and more markers come.
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
   * How many times what it takes to be rid of delete markers scans must have lost by them, if the
   * tree is written to.
   */
  static final int TIMES_BESIDE_WRITES = 8;

  /**
   * A larger tree is looked at once cursors may have lost this part of the pages that are to go
   * down.
   */
  private static final int LOOK_PART = 16;

  /**
   * What a page costs that a reader waits for, in nanoseconds: a third of a call to the device, as
   * scans of entries of a kilobyte read about three pages at once.
   */
  static final int NANOS_PER_PAGE = 20_000;

  /** How many bytes a merge rewrites while a reader's call to the device is under way. */
  private static final int CALL_BYTES = 6 << 10;

  /** How many times as fast as a merge rewrites bytes a call brings them. */
  private static final int CALL_TIMES = 4;

  private final Engine engine;
  private final Merger merger;
  private final Flushes flushes;

  /** Trees that are being settled, and up to where. */
  private final Map<TreeHandle, MergeDown.Settled> begun = new HashMap<>();

  /** Trees that are being rid of delete markers beside writes, and up to where. */
  private final Map<TreeHandle, MergeDown.Settled> cleaned = new HashMap<>();

  /** What scans of a tree had lost by delete markers when it was last rid of them. */
  private final Map<TreeHandle, Long> paidNanos = new HashMap<>();

  Settler(Engine engine, Merger merger, Flushes flushes) {
    this.engine = engine;
    this.merger = merger;
    this.flushes = flushes;
  }

  /**
   * Begins to settle a tree that nobody writes to, or goes on with that.
   *
   * @param reads since it was last written to
   * @return whether it should be asked again soon
   */
  boolean request(TreeHandle tree, Reads reads) {
    MergeDown.Settled wish = begun.get(tree);
    if (wish == null && !fits(sizes(tree), reads.scans().passedPart())) {
      mergeWhatIsPaidFor(tree);
      return false;
    }
    if (wish == null) {
      if (reads.scans().nanos() < priceNanos(tree, reads)
          && !markersPay(sizes(tree), reads, engine.catalog().space().pool().limitBytes())) {
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
      paidNanos.put(tree, tree.memory().readLoss().scans().markerNanos());
      forget(tree);
      return false;
    }
    merger.add(tree, wish);
    return true;
  }

  /**
   * Begins to rid a tree of delete markers beside writes, or goes on with that.
   *
   * @param isWritten whether it has been written to; only then this begins
   * @return whether it should be asked again soon
   */
  boolean requestClean(TreeHandle tree, boolean isWritten) {
    MergeDown.Settled wish = cleaned.get(tree);
    long lost = tree.memory().readLoss().scans().markerNanos();
    if (wish == null) {
      if (!isWritten
          || !mayWrite()
          || !markersPay(sizes(tree), lost - paidNanos.getOrDefault(tree, 0L))) {
        return false;
      }
      wish = new MergeDown.Settled(engine.log().end());
      cleaned.put(tree, wish);
    }
    TreeState state = tree.states().current();
    boolean isFlushed = state.minMemoryLsn(engine.log().durable()) >= wish.belowLsn();
    if (!mayWrite() || isFlushed && wish.isDone(state.version())) {
      paidNanos.put(tree, lost);
      cleaned.remove(tree);
      merger.forget(tree, wish);
      return false;
    }
    if (isFlushed) {
      merger.add(tree, wish);
    } else {
      flushes.flushAll(tree);
    }
    return true;
  }

  private boolean markersPay(Sizes sizes, long lostNanos) {
    long budget = engine.catalog().space().pool().limitBytes();
    return markersPayBesideWrites(sizes, lostNanos, budget);
  }

  private boolean fits(Sizes sizes, double passedPart) {
    return sizes.fit(engine.catalog().space().pool().limitBytes(), passedPart);
  }

  private void mergeWhatIsPaidFor(TreeHandle tree) {
    Map<Long, Double> lost = mayWrite() ? ReadLosses.pagesLost(tree) : Map.of();
    if (!lost.isEmpty()) {
      int waitedBytes = waitedBytes(engine.catalog().space().pageSize());
      merger.mergeForReads(tree, new ReadLosses(lost, waitedBytes, 0, 1));
    }
  }

  /**
   * How many bytes a merge rewrites in the time that a reader waits for a page. With the default
   * size of a page that is a page.
   */
  static int waitedBytes(int pageBytes) {
    return CALL_BYTES + pageBytes / CALL_TIMES;
  }

  /**
   * How much cursors of a large tree have to lose until it is worth a look again, in nanoseconds of
   * {@link ReadLoss}; {@code Long.MAX_VALUE} if it is one run.
   */
  long nanosToLook(TreeHandle tree) {
    Version version = tree.states().current().version();
    Sizes sizes = sizes(tree);
    long above = sizes.all() - version.atHeight(0).sizeBytes();
    if (above == 0 || sizes.disk() == 0 || fits(sizes, 0) || !mayWrite()) {
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

  /** Forgets a tree that is closed. */
  void close(TreeHandle tree) {
    forget(tree);
    cleaned.remove(tree);
    paidNanos.remove(tree);
  }

  /**
   * What scans of a tree have to lose with one run more until it is settled, in nanoseconds; {@code
   * Long.MAX_VALUE} if it is not to be.
   *
   * @param reads since it was last written to
   */
  long priceNanos(TreeHandle tree, Reads reads) {
    return mayWrite()
        ? priceNanos(sizes(tree), reads, engine.catalog().space().pool().limitBytes())
        : Long.MAX_VALUE;
  }

  private static Sizes sizes(TreeHandle tree) {
    TreeState state = tree.states().current();
    long written = state.active().content().bytesUsed();
    int runs = state.runCount() + (written > 0 ? 1 : 0);
    long largest = written;
    for (int i = 0; i < state.runCount(); i++) {
      largest = Math.max(largest, state.run(i).sizeBytes());
    }
    return new Sizes(runs, state.memoryBytes(), state.version().sizeBytes(), largest);
  }

  private boolean mayWrite() {
    return mayWrite(engine);
  }

  /** Whether what need not be merged may be. */
  static boolean mayWrite(Engine engine) {
    return engine.log().isOpen()
        && !engine.environment().storage().discardsChanges()
        && engine.failure().cause() == null
        && !engine.space().isFull();
  }

  /**
   * What a tree has, in bytes.
   *
   * @param runs that a scan goes through
   * @param memory in memory
   * @param disk on disk
   * @param largest run of both
   */
  record Sizes(int runs, long memory, long disk, long largest) {
    long all() {
      return memory + disk;
    }

    /** Whether it fits into the store's memory once a part of it is gone. */
    boolean fit(long budgetBytes, double without) {
      return all() * (1 - without) <= MOST_PART * budgetBytes;
    }

    boolean areOne() {
      return runs < 2 || largest > MOST_TIMES * (all() - largest);
    }
  }

  /**
   * What has been read of a tree by a moment, or since one.
   *
   * @param pages that were read from its files
   */
  record Reads(ReadLoss.Scans scans, long pages) {
    static Reads of(TreeHandle tree) {
      return new Reads(tree.memory().readLoss().scans(), ReadLosses.pagesRead(tree));
    }

    /** What has come since {@code before}. */
    Reads since(Reads before) {
      // Merges take pages that were read along.
      return new Reads(scans.since(before.scans), Math.max(0, pages - before.pages));
    }
  }

  /**
   * The rule: a pure function.
   *
   * @param budgetBytes the store's memory
   */
  static long priceNanos(Sizes sizes, Reads reads, long budgetBytes) {
    long cost = costNanos(sizes, reads, budgetBytes);
    return cost == Long.MAX_VALUE || sizes.areOne() ? Long.MAX_VALUE : cost / (sizes.runs() - 1);
  }

  /**
   * Whether scans have lost by delete markers what it takes to be rid of them, however many runs
   * there are. A pure function, too.
   */
  static boolean markersPay(Sizes sizes, Reads reads, long budgetBytes) {
    return (sizes.fit(budgetBytes, 0) || !sizes.areOne())
        && reads.scans().markerNanos() >= costNanos(sizes, reads, budgetBytes);
  }

  /**
   * Whether scans beside writes have lost enough by delete markers to be rid of them, if the tree
   * fits into memory. A pure function, too.
   */
  static boolean markersPayBesideWrites(Sizes sizes, long lostNanos, long budgetBytes) {
    return sizes.disk() > 0
        && sizes.fit(budgetBytes, 0)
        && lostNanos / TIMES_BESIDE_WRITES >= NANOS_PER_BYTE * (sizes.memory() + sizes.all());
  }

  private static long costNanos(Sizes sizes, Reads reads, long budgetBytes) {
    if (sizes.disk() == 0 || !sizes.fit(budgetBytes, reads.scans().passedPart())) {
      return Long.MAX_VALUE;
    }
    // What is in memory is flushed, and then merged with what is on disk.
    long nanos = NANOS_PER_BYTE * (sizes.memory() + sizes.all());
    // What fits already is read once, merged or not.
    long waited = sizes.fit(budgetBytes, 0) ? 0 : NANOS_PER_PAGE * reads.pages();
    return Math.max(0, nanos - waited);
  }
}
