package io.isobardb.lsm.state;

import io.isobardb.lsm.component.Sealed;
import io.isobardb.lsm.sstable.SSTable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * The states of one tree: the current one, and older ones still in use.
 *
 * <p>Thread rule: {@link #current} is for readers within an epoch; everybody else uses {@link
 * #acquire} and {@link #release}. {@link #swap} is called by one thread at a time per tree, or by
 * several, in any order; each sees the state the one before left.
 *
 * <p>Invariant: what a state can reach is freed after that state and all before it are out of use.
 * Pages are then retired, so that readers within an epoch may finish.
 */
public final class TreeStates {
  private volatile TreeState current;

  /** States not yet cleaned up, oldest first, the current one last. Guarded by this. */
  private final Deque<TreeState> chain = new ArrayDeque<>();

  private final Runnable onFreed;

  /**
   * @param onFreed told, under no lock, that the last user of old states has let go what only they
   *     could reach; may be anybody who reads, so it must return at once
   */
  public TreeStates(TreeState first, Runnable onFreed) {
    this.current = first;
    this.onFreed = onFreed;
    chain.add(first);
  }

  /** The current state, for a reader within an epoch. */
  public TreeState current() {
    return current;
  }

  /** The current state, kept until {@link #release}. */
  public TreeState acquire() {
    while (true) {
      TreeState state = current;
      if (state.tryAcquire()) {
        return state;
      }
    }
  }

  /**
   * Keeps a state that was seen within the caller's epoch.
   *
   * @return false if it is out of use already; then look at {@link #current} again
   */
  public boolean tryAcquire(TreeState state) {
    return state.tryAcquire();
  }

  /** Ends a use. Frees what nobody can reach any more. */
  public void release(TreeState state) {
    if (state.drop()) {
      cleanUp();
    }
  }

  /** Replaces the current state; what only the old one holds is freed in time. */
  public void swap(UnaryOperator<TreeState> change) {
    swap(change, List.of());
  }

  /**
   * As {@link #swap(UnaryOperator)}.
   *
   * @param cleanups run, besides, when the replaced state and all before it are out of use
   */
  public void swap(UnaryOperator<TreeState> change, List<Runnable> cleanups) {
    TreeState old;
    synchronized (this) {
      old = current;
      TreeState next = change.apply(old);
      old.cleanups.addAll(cleanups);
      Set<Object> kept = contents(next);
      for (Object content : contents(old)) {
        if (!kept.contains(content)) {
          old.cleanups.add(() -> free(content));
        }
      }
      chain.addLast(next);
      current = next;
    }
    release(old);
  }

  /** States not cleaned up yet, the current one included. */
  public synchronized int liveStates() {
    return chain.size();
  }

  /**
   * Gives up everything, at close. The caller has seen to it that nobody uses the tree any more.
   *
   * @param drop whether the files are to be deleted
   */
  public void close(boolean drop) {
    List<Runnable> due = new ArrayList<>();
    synchronized (this) {
      for (TreeState state : chain) {
        due.addAll(state.cleanups);
      }
      chain.clear();
      for (Object content : contents(current)) {
        due.add(content instanceof SSTable table && !drop ? table::release : () -> free(content));
      }
    }
    due.forEach(Runnable::run);
  }

  private void cleanUp() {
    List<Runnable> due = new ArrayList<>();
    synchronized (this) {
      while (!chain.isEmpty() && chain.peekFirst() != current && chain.peekFirst().unused()) {
        due.addAll(chain.removeFirst().cleanups);
      }
    }
    if (!due.isEmpty()) {
      due.forEach(Runnable::run);
      onFreed.run();
    }
  }

  private static void free(Object content) {
    if (content instanceof Sealed entries) {
      entries.free();
    } else {
      SSTable table = (SSTable) content;
      table.markObsolete();
      table.release();
    }
  }

  /** In the order of the runs, so that equal histories free in equal order. */
  private static Set<Object> contents(TreeState state) {
    Set<Object> contents = new LinkedHashSet<>();
    contents.add(state.active().content());
    for (int i = 0; i < state.runCount(); i++) {
      for (Table table : state.run(i).tables()) {
        contents.add(table.content());
      }
    }
    return contents;
  }
}
