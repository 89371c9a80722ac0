package io.isobardb.lsm.store;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.entry.Moment;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.error.TreeDroppedException;
import io.isobardb.lsm.read.Bounds;
import io.isobardb.lsm.read.Overlay;
import io.isobardb.lsm.read.TreeCursor;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.transaction.KeySpan;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The open cursors of a store: what they hold is given back when memory is short, when their tree
 * is dropped and when the store is closed, even if a user forgot to close them.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class OpenCursors {
  private final Engine engine;
  private final Operations operations;
  private final LeakWatch leaks;
  private final RecorderSlot recorders;

  private final Set<OpenCursor> cursors;
  private final AtomicLong opened = new AtomicLong();

  /** What to do once none is open, or null. */
  private volatile @Nullable Runnable afterLast;

  /** Held by the one cursor that may take pages again when there were not enough. */
  private final Lock turns = new ReentrantLock();

  OpenCursors(
      Engine engine,
      Operations operations,
      LeakWatch leaks,
      CursorSet open,
      RecorderSlot recorders) {
    this.recorders = recorders;
    this.cursors = open.cursors;
    this.engine = engine;
    this.operations = operations;
    this.leaks = leaks;
  }

  /**
   * Opens a cursor.
   *
   * @param at what it reads at; registered, and given back when the cursor is closed or this fails
   * @param overlay what goes before the tree's own entries, or null
   * @param passed where to note what it has passed, or null
   */
  public OpenCursor open(
      TreeHandle tree,
      Bounds bounds,
      Moment at,
      @Nullable Overlay overlay,
      @Nullable KeySpan passed) {
    OpenCursor added;
    boolean refused;
    try {
      int slot = operations.enter();
      try {
        tree.checkOpen();
        TreeCursor cursor = new TreeCursor(tree, engine::queryCursor, turns, overlay, at, bounds);
        added = new OpenCursor(this, tree, cursor, at.lsn(), passed, watch(tree, bounds));
        cursors.add(added);
        tree.counts().countScan();
        // A thread that refuses first and then closes all cursors has not seen this one, or is seen
        // here.
        refused = operations.isClosed() || tree.refused();
        if (refused) {
          added.closeWithin();
        }
      } finally {
        operations.exit(slot);
      }
    } catch (RuntimeException | Error e) {
      engine.snapshots().release(at.lsn());
      throw e;
    }
    if (refused) {
      tree.checkOpen();
      operations.checkOpen();
      // A drop was taken back in between, and the cursor is closed.
      throw new TreeDroppedException(tree.name());
    }
    return added;
  }

  /** What tells a recorder of a cursor; null if there is none. */
  private @Nullable ScanWatch watch(TreeHandle tree, Bounds bounds) {
    Recorder recorder = recorders.current();
    return recorder == null ? null : new ScanWatch(recorder, tree, bounds.from());
  }

  /** What to throw if a cursor over a tree is used after it was closed. */
  StoreClosedException onClosed(TreeHandle tree) {
    operations.checkOpen();
    tree.checkOpen();
    return new StoreClosedException(
        "the cursor over tree '"
            + tree.name()
            + "' is closed; one of a transaction is closed when that ends");
  }

  /** A number that no other cursor of the store has. */
  long nextNumber() {
    return opened.getAndIncrement();
  }

  /** Where a cursor is being opened, if that is remembered. */
  LeakWatch.@Nullable Origin origin(TreeHandle tree) {
    return leaks.taken("a cursor over tree ", tree.name());
  }

  /** A cursor was closed. */
  void onClosed(OpenCursor cursor) {
    cursors.remove(cursor);
    leaks.onClosed(cursor.origin());
    engine.snapshots().release(cursor.lsn());
    Runnable action = afterLast;
    if (action != null && cursors.isEmpty()) {
      action.run();
    }
  }

  /** Runs {@code action}, maybe more than once, when no cursor is open, be it now or later. */
  void afterLast(Runnable action) {
    afterLast = action;
    if (cursors.isEmpty()) {
      action.run();
    }
  }

  /** How many are open. */
  public int count() {
    return cursors.size();
  }

  /**
   * Passes if the caller is not in a reader that a cursor calls: it would wait for that cursor.
   *
   * @param of a tree, or null for all
   * @param call as users write it
   * @throws IllegalStateException if it is; nothing was done
   */
  void checkNotReading(@Nullable TreeHandle of, String call) {
    for (OpenCursor cursor : cursors) {
      if (cursor.isReading() && (of == null || cursor.isOver(of))) {
        throw new IllegalStateException(
            call + " was called by an EntryReader, whose cursor it would wait for: return first");
      }
    }
  }

  /** Closes those over a tree. */
  void closeOver(TreeHandle tree) {
    for (OpenCursor cursor : cursors) {
      if (cursor.isOver(tree)) {
        cursor.closeWithin();
      }
    }
  }

  /** Closes those that no call uses now; whether none is left. */
  boolean closeIdle() {
    cursors.forEach(OpenCursor::closeUnlessBusy);
    return cursors.isEmpty();
  }

  /** Closes all. */
  public void closeAll() {
    for (OpenCursor cursor : cursors) {
      cursor.closeWithin();
    }
  }
}
