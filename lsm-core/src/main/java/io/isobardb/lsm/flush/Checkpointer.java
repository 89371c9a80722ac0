package io.isobardb.lsm.flush;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.lsm.schedule.SignalLock;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.VersionEdit;
import java.io.IOException;
import java.util.List;
import java.util.function.Predicate;

/**
 * Flushes on demand, and makes checkpoints: LSNs at which unlogged trees stand after a crash.
 *
 * <p>A checkpoint is what is visible at one moment. It is a snapshot while it is made, so that
 * flushes keep what it sees. When all of it is on disk, and the log synced up to it (else its LSNs
 * could be given out again), the manifest learns of it; from then on merges of unlogged trees keep
 * what it sees, and the one before is let go.
 *
 * <p>Thread rule: all methods may be called by any thread; they wait for flushes.
 */
public final class Checkpointer {
  private final Engine engine;
  private final Flusher flusher;
  private final SignalLock making;

  public Checkpointer(Engine engine, Flusher flusher) {
    this.engine = engine;
    this.flusher = flusher;
    this.making = new SignalLock(engine.environment().scheduler(), Awaited.CHECKPOINT);
  }

  /**
   * Flushes all that was written to a tree, and waits for that.
   *
   * @throws io.isobardb.lsm.error.DiskFullException if there is no room; what was not flushed stays
   *     in memory
   * @throws io.isobardb.lsm.error.StoreFailedException if the store takes no more writes
   */
  public void flush(TreeHandle tree) {
    long end = engine.log().end();
    engine.log().awaitVisible(end);
    while (tree.states().current().minMemoryLsn(engine.log().durable()) < end && !tree.closed()) {
      engine.failure().check();
      engine.space().check();
      flusher.flushAll(tree);
      tree.memory().await();
      // What was sealed for it can be flushed once the writes that had begun then are visible.
      engine.log().awaitVisible(engine.log().end());
    }
    engine.failure().check();
  }

  /** Waits until no more than this of the write memory is in use; errors as {@link #flush}. */
  public void awaitWriteMemory(long bytes) {
    engine
        .gate()
        .awaitFreed(
            () -> {
              engine.failure().check();
              engine.space().check();
              flusher.request();
              return engine.gate().usedBytes() <= bytes;
            });
  }

  /**
   * Makes a checkpoint, and waits for that; errors as {@link #flush}. Then the last one stands.
   *
   * @throws IOException if the manifest could not be written
   */
  public void checkpoint() throws IOException {
    making.lock();
    try {
      engine.failure().check();
      long lsn = engine.snapshots().register();
      try {
        engine.log().flush();
        boolean unlogged = false;
        for (TreeHandle tree : engine.catalog().trees()) {
          if (!tree.settings().logged()) {
            unlogged = true;
            flush(tree);
          }
        }
        if (unlogged) {
          engine.catalog().append(List.of(VersionEdit.store().checkpointLsn(lsn).build()));
          engine.snapshots().setCheckpoint(lsn);
        }
      } finally {
        engine.snapshots().release(lsn);
      }
    } finally {
      making.unlock();
    }
  }

  /** Ends the checkpoint that one of these threads has begun, if they never go on. */
  public void goOnWithout(Predicate<Thread> gone) {
    making.takeFrom(gone);
  }

  /** Does something while no checkpoint is made. */
  public void exclude(Runnable action) {
    making.lock();
    try {
      action.run();
    } finally {
      making.unlock();
    }
  }

  /**
   * Flushes what was written to trees below an LSN at which they were sealed, while nothing from
   * there on is visible; errors as {@link #flush}.
   */
  public void flushBelow(List<TreeHandle> trees, long lsn) {
    engine.log().awaitVisible(lsn);
    for (TreeHandle tree : trees) {
      while (!isFlushed(tree.states().current(), lsn)) {
        engine.failure().check();
        engine.space().check();
        flusher.flushAll(tree);
        tree.memory().await();
      }
    }
    engine.failure().check();
  }

  private static boolean isFlushed(TreeState state, long lsn) {
    return state.runsSince(lsn) >= state.memoryRunCount();
  }

  /** Whether an unlogged tree has entries or range deletes newer than the last checkpoint. */
  public boolean behind() {
    long checkpoint = engine.snapshots().checkpoint();
    for (TreeHandle tree : engine.catalog().trees()) {
      if (!tree.settings().logged()
          && (tree.states().current().minMemoryLsn(engine.log().durable()) != Lsn.MAX
              || newer(tree, checkpoint))) {
        return true;
      }
    }
    return false;
  }

  private static boolean newer(TreeHandle tree, long lsn) {
    TreeState state = tree.states().current();
    RangeDeletes deletes = state.ranges().list();
    return deletes != null && deletes.newest().newestLsn() > lsn
        || state.version().runs().stream()
            .map(Level::elements)
            .flatMap(List::stream)
            .anyMatch(meta -> meta.maxLsn() > lsn);
  }
}
