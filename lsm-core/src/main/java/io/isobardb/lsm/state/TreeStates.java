package io.isobardb.lsm.state;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.range.RangeMemory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
  private final RangeMemory rangeMemory;

  /** What the range deletes of the current state count for. Guarded by this. */
  private long rangeBytes;

  /**
   * @param rangeMemory counts what range deletes take
   * @param onFreed told, under no lock, that the last user of old states has let go what only they
   *     could reach; may be any reader, so it must return at once
   */
  public TreeStates(TreeState first, RangeMemory rangeMemory, Runnable onFreed) {
    this.current = first;
    this.rangeMemory = rangeMemory;
    this.onFreed = onFreed;
    chain.add(first);
    count(first.rangeBytes());
  }

  /** Has range deletes count for this much; the caller holds the lock, or is alone. */
  private void count(long bytes) {
    rangeMemory.add(bytes - rangeBytes);
    rangeBytes = bytes;
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
    release(replace(change, cleanups));
  }

  /**
   * As {@link #swap(UnaryOperator, List)}, for a caller that has to do something first when readers
   * see the new state.
   *
   * @return the state before, for the caller to {@link #release}
   */
  TreeState replace(UnaryOperator<TreeState> change, List<Runnable> cleanups) {
    synchronized (this) {
      TreeState old = current;
      TreeState next = change.apply(old);
      old.cleanups.addAll(cleanups);
      Map<Object, Table> unused = contents(old);
      unused.keySet().removeAll(contents(next).keySet());
      unused.values().forEach(table -> old.cleanups.add(table::free));
      count(next.rangeBytes());
      chain.addLast(next);
      current = next;
      return old;
    }
  }

  /**
   * Adds a range delete. Readers see it when its LSN is visible.
   *
   * @param visible all readers that are not among {@code readers} read here or later
   * @param readers the readers at an older LSN, and those after a crash
   */
  public synchronized void deleteRange(
      KeyOrder order, RangeDelete delete, RangeDeletes.Readers readers, long visible) {
    current.ranges().add(order, delete, readers, visible);
    count(current.rangeBytes());
  }

  /** Gives up the range deletes that nobody needs any more; see {@link #deleteRange}. */
  public synchronized void forgetRanges(RangeDeletes.Readers readers, long visible) {
    current.ranges().keepNeeded(readers, visible);
    count(current.rangeBytes());
  }

  /**
   * The range deletes of the current state up to an LSN are in the manifest.
   *
   * @param readers as of {@link #deleteRange}
   */
  synchronized void onRangesSaved(long upTo, RangeDeletes.Readers readers) {
    current.ranges().onSaved(upTo, current.version().rangeDeletes(), readers);
    count(current.rangeBytes());
  }

  /** States not cleaned up yet, the current one included. */
  public synchronized int liveStates() {
    return chain.size();
  }

  /** Gives up everything; files stay. The caller has seen to it that nobody uses the tree. */
  public void close() {
    closeMemory().forEach(Table::close);
  }

  /**
   * As {@link #close}, but leaves the SSTables that have files to the caller.
   *
   * @return these, one table of each
   */
  public List<Table> closeMemory() {
    List<Runnable> due = new ArrayList<>();
    List<Table> stored = new ArrayList<>();
    synchronized (this) {
      for (TreeState state : chain) {
        due.addAll(state.cleanups);
      }
      chain.clear();
      count(0);
      for (Table table : contents(current).values()) {
        if (table.hasFile()) {
          stored.add(table);
        } else {
          due.add(table::free);
        }
      }
    }
    due.forEach(Runnable::run);
    return stored;
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

  /**
   * What a state reaches, each with one of its tables, in the order of the runs, so that equal
   * histories free in equal order.
   */
  private static Map<Object, Table> contents(TreeState state) {
    Map<Object, Table> contents = new LinkedHashMap<>();
    contents.put(state.active().content(), state.active());
    for (int i = 0; i < state.runCount(); i++) {
      for (Table table : state.run(i).tables()) {
        contents.putIfAbsent(table.content(), table);
      }
    }
    return contents;
  }
}
