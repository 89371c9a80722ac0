package io.isobardb.lsm.state;

import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.component.ActiveUse;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

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
   * Begins to seal the active SSTable if it is still {@code full}: an empty one takes its place.
   * The caller draws the boundary between both at once, whatever happens: writers wait for it.
   *
   * <p>The new one is published before its boundary is read from the log's end: a writer that
   * reserves from there on sees it, and a writer that reserved before finds, by the boundary, the
   * one that was sealed. So for every key the newer component has the newer versions.
   *
   * @param next makes that empty one
   * @return null if another one is active, or somebody else seals it
   */
  public @Nullable Seal begin(ActiveTree full, Supplier<ActiveTree> next) {
    if (tree.activeTree() != full || !sealing.compareAndSet(false, true)) {
      return null;
    }
    Seal begun = null;
    try {
      if (tree.activeTree() == full) {
        Table.StartLsn start = new Table.StartLsn();
        ActiveTree fresh = next.get();
        long written = tree.counts().bytesWritten();
        long nanos = tree.memory().readLoss().nanosPerRun();
        ActiveUse begins = new ActiveUse(0, 0, written, nanos, true, false);
        Seal seal = new Seal(full, start, begins);
        seal.replaced =
            tree.states()
                .replace(
                    state -> state.sealed(tree.order(), new Table.Active(fresh, start)), List.of());
        begun = seal;
      }
    } finally {
      if (begun == null) {
        sealing.set(false);
      }
    }
    return begun;
  }

  /** An active SSTable that another one has taken the place of. */
  public final class Seal {
    private final ActiveTree full;
    private final Table.StartLsn start;
    private final ActiveUse begins;
    private @Nullable TreeState replaced;

    private Seal(ActiveTree full, Table.StartLsn start, ActiveUse begins) {
      this.full = full;
      this.start = start;
      this.begins = begins;
    }

    /**
     * Draws the boundary: what has this LSN, or a higher one, goes into the new one. Takes no heap,
     * of which there may be none.
     */
    public void drawAt(long lsn) {
      start.set(lsn);
      full.sealedAt(lsn);
      before = begins;
      sealing.set(false);
    }

    /** Gives up the tree's state before, once the boundary is drawn. */
    public void end() {
      TreeState state = replaced;
      if (state != null) {
        replaced = null;
        tree.states().release(state);
      }
    }
  }
}
