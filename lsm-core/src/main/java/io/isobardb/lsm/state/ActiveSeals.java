package io.isobardb.lsm.state;

import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.component.ActiveUse;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Puts one active SSTable of a tree in the place of another, and knows what the one of now has been
 * used for.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class ActiveSeals {
  private final TreeHandle tree;
  private final AtomicBoolean sealing = new AtomicBoolean();

  /** What had been written and read when the active SSTable was begun. */
  private volatile ActiveUse before = new ActiveUse(0, 0, 0, 0, true, false);

  ActiveSeals(TreeHandle tree) {
    this.tree = tree;
  }

  /** What the active SSTable has been used for so far. */
  public ActiveUse use() {
    ActiveUse begun = before;
    TreeState state = tree.states().current();
    return new ActiveUse(
        tree.activeTree().bytesUsed(),
        state.memoryBytes(),
        tree.counts().bytesWritten() - begun.writtenBytes(),
        tree.memory().readLoss().nanosPerRun() - begun.readNanos(),
        state.version().sizeBytes() == 0,
        tree.memory().isSliced());
  }

  /**
   * Seals the active SSTable if it is still {@code full}, and puts an empty one in its place.
   *
   * <p>The new one is published before its boundary is read from {@code logEnd}: a writer that
   * reserves from there on sees it, and a writer that reserved before finds, by the boundary, the
   * one that was sealed. So for every key the newer component has the newer versions.
   *
   * @param next makes that empty one
   * @param logEnd the end of what is reserved in the log
   * @return whether this call sealed it
   */
  public boolean seal(ActiveTree full, Supplier<ActiveTree> next, LongSupplier logEnd) {
    if (tree.activeTree() != full || !sealing.compareAndSet(false, true)) {
      return false;
    }
    try {
      if (tree.activeTree() != full) {
        return false;
      }
      Table.StartLsn start = new Table.StartLsn();
      ActiveTree fresh = next.get();
      tree.states().swap(state -> state.sealed(tree.order(), new Table.Active(fresh, start)));
      long end = logEnd.getAsLong();
      start.set(end);
      full.sealedAt(end);
      long written = tree.counts().bytesWritten();
      long nanos = tree.memory().readLoss().nanosPerRun();
      before = new ActiveUse(0, 0, written, nanos, true, false);
      return true;
    } finally {
      sealing.set(false);
    }
  }
}
