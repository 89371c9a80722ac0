package io.isobardb.lsm.commit;

import io.isobardb.lsm.error.TooManyRangeDeletesException;
import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.range.RangeMemory;
import io.isobardb.lsm.range.TreeRanges;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.lsm.state.TreeHandle;
import java.util.HashSet;
import java.util.Set;

/**
 * Admits range deletes while there is memory for them. Beyond half of it flushes are asked for. At
 * the bound a write waits for a flush or a merge that may free some, and is refused if there is
 * none. Nothing is kept for writers that have passed.
 *
 * <p>Thread rule: all methods may be called by any thread; {@link #admit} waits, holding nothing.
 */
public final class RangeRoom {
  /** A tree is flushed early if its unsaved range deletes take this part of the bound. */
  private static final int UNSAVED_SHARE = 8;

  /** A write waits for so many flushes and merges of the store at most. */
  private static final int MOST_JOBS = 64;

  private final Engine engine;
  private final RangeMemory memory;
  private final Relief relief;

  /** What may free some. No method blocks. */
  public interface Relief {
    /** Whether a flush of a tree would find range deletes that hide nothing any more. */
    boolean findsNeedlessRanges(TreeHandle tree);

    /** Flushes all of a tree; false if somebody else has its memory. */
    boolean flushAll(TreeHandle tree);

    /** Begins the disk merges of a tree that are due; whether one is under way, or will be. */
    boolean merges(TreeHandle tree);

    /** Flushes and merges that have been done, of all trees. */
    long jobsDone();
  }

  public RangeRoom(Engine engine, Relief relief) {
    this.engine = engine;
    this.memory = engine.catalog().rangeMemory();
    this.relief = relief;
  }

  /** Whether range deletes that had room, and may have waited since, could pass without a wait. */
  boolean admits(long bytes) {
    return bytes == 0 || memory.fits(bytes);
  }

  /**
   * Lets range deletes pass that take about {@code bytes}; 0 for none.
   *
   * @throws TooManyRangeDeletesException if there is no room, and won't be by itself
   * @throws IllegalArgumentException if there never is so much
   * @throws io.isobardb.lsm.error.WriteStalledException if it would wait longer than it may
   */
  void admit(long bytes, WaitLimit limit) {
    if (bytes == 0) {
      return;
    }
    memory.makeRoom();
    long most = memory.mostBytes();
    if (bytes > most) {
      throw new IllegalArgumentException(
          "the range deletes of one write take "
              + bytes
              + " bytes of memory, which is more than the "
              + most
              + " that the memory budget has for all of them; write fewer at once, or raise"
              + " memoryBudget");
    }
    if (!memory.fits(bytes + most / 2)) {
      save(most / UNSAVED_SHARE);
    }
    if (!memory.fits(bytes)) {
      engine.gate().await(StallReason.RANGE_DELETES, new Wait(bytes)::isOver, limit);
    }
  }

  /** Has trees flushed whose range deletes that the manifest lacks take so much. */
  private void save(long leastBytes) {
    if (engine.failure().cause() != null || engine.space().isFull()) {
      return;
    }
    for (TreeHandle tree : engine.catalog().trees()) {
      if (!tree.closed() && ranges(tree).unsaved().heapBytes() >= leastBytes) {
        relief.flushAll(tree);
      }
    }
  }

  private static TreeRanges ranges(TreeHandle tree) {
    return tree.states().current().ranges();
  }

  /** A write that waits. */
  private final class Wait {
    private final long bytes;
    private final long jobsBefore = relief.jobsDone();

    /** Trees of which a flush was begun for this write. */
    private final Set<TreeHandle> flushed = new HashSet<>();

    Wait(long bytes) {
      this.bytes = bytes;
    }

    /** At each look: whether there is room; or an exception if nothing will make any. */
    boolean isOver() {
      if (memory.fits(bytes)) {
        return true;
      }
      engine.failure().check();
      engine.space().check();
      // What is visible is taken first: a reader that is not registered later reads there or later.
      long visible = engine.log().visible();
      boolean coming = false;
      for (TreeHandle tree : engine.catalog().trees()) {
        if (!tree.closed() && ranges(tree).count() > 0) {
          tree.states().forgetRanges(engine.snapshots(), visible);
          coming |= isReliefComing(tree, visible);
        }
      }
      if (memory.fits(bytes)) {
        return true;
      }
      if (!coming || relief.jobsDone() - jobsBefore > MOST_JOBS) {
        throw refusal();
      }
      return false;
    }

    private boolean isReliefComing(TreeHandle tree, long visible) {
      boolean unsaved = ranges(tree).unsaved().newestLsn(visible) >= 0;
      if (unsaved || !flushed.contains(tree) && relief.findsNeedlessRanges(tree)) {
        if (relief.flushAll(tree)) {
          flushed.add(tree);
        }
        return true;
      }
      return flushed.contains(tree) && tree.memory().isTaken() || relief.merges(tree);
    }
  }

  private TooManyRangeDeletesException refusal() {
    String most = "";
    long count = 0;
    for (TreeHandle tree : engine.catalog().trees()) {
      if (ranges(tree).count() > count) {
        count = ranges(tree).count();
        most = " (about " + count + " are in tree '" + tree.name() + "')";
      }
    }
    return new TooManyRangeDeletesException(
        "range deletes take "
            + memory.bytes()
            + " of the "
            + memory.mostBytes()
            + " bytes that the memory budget has for them"
            + most
            + ", and neither a flush nor a merge can free any now; close old snapshots, cursors and"
            + " transactions, compact the tree, write fewer and larger range deletes, or raise"
            + " memoryBudget");
  }
}
