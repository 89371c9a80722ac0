package io.isobardb.lsm.store;

import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.pool.Epochs;
import java.io.IOException;
import java.util.function.BooleanSupplier;
import java.util.function.ToLongFunction;

/**
 * The operations under way in a store, and whether it takes any more: what an operation uses is not
 * taken away from it.
 *
 * <p>A thread that takes something away first has new operations refused, by {@link #refuse} or
 * {@link TreeHandle#refuse}, and then waits for those that have begun, by {@link #awaitBegun}.
 * Since an operation asks after it has begun, it is either refused or waited for.
 *
 * <p>Thread rule: all methods may be called by any thread. Beginning and ending an operation takes
 * no lock. Nobody waits for operations within one ({@link Awaited}): that would never end.
 */
public final class Operations {
  private static final long LOOK_AGAIN_NANOS = 1_000_000;

  private final Epochs epochs;
  private final Scheduler scheduler;
  private final Signal readers;
  private final Signal copies;
  private volatile boolean closed;

  /** How many looks at values the thread is in. */
  private final ThreadLocal<int[]> looks = ThreadLocal.withInitial(() -> new int[1]);

  /**
   * @param epochs those that operations enter; the readers of the store's parts do so, too
   */
  Operations(Epochs epochs, Scheduler scheduler) {
    this.epochs = epochs;
    this.scheduler = scheduler;
    this.readers = scheduler.signal(Awaited.OPERATIONS);
    this.copies = scheduler.signal(Awaited.COPIES);
  }

  /**
   * Begins an operation.
   *
   * @return what to hand to {@link #exit}
   * @throws StoreClosedException if the store is closed
   */
  public int enter() {
    StackRoom.check();
    int slot = epochs.enter();
    if (closed) {
      epochs.exit(slot);
      throw new StoreClosedException("the store is closed");
    }
    Awaited.OPERATIONS.enter();
    return slot;
  }

  /**
   * Begins an operation on a tree, and counts it. The caller has looked for {@link StackRoom}.
   *
   * @return what to hand to {@link #exit}
   * @throws StoreClosedException if the store is closed, or the tree dropped
   */
  public int enter(TreeHandle tree) {
    int slot = epochs.enter();
    while (closed || tree.refused()) {
      epochs.exit(slot);
      tree.checkOpen();
      checkOpen();
      // A drop was taken back in between.
      slot = epochs.enter();
    }
    epochs.count(slot, 1);
    Awaited.OPERATIONS.enter();
    return slot;
  }

  /** Counts {@code done} more of what readers and writers did; for the tuner. */
  public void count(int slot, long done) {
    epochs.count(slot, done);
  }

  /** Ends the operation that {@link #enter} began. */
  public void exit(int slot) {
    Awaited.OPERATIONS.exit();
    epochs.exit(slot);
  }

  /** The calling thread is in a user's look at a value, which is within an operation. */
  void beginLook() {
    looks.get()[0]++;
  }

  /** Takes one {@link #beginLook} back. */
  void endLook() {
    looks.get()[0]--;
  }

  /**
   * Passes if the caller may wait for the operations that have begun: it is not in a look at a
   * value, which is one of them.
   *
   * @param call as users write it
   * @throws IllegalStateException if it is in one; nothing was done
   */
  void refuseWhileLooking(String call) {
    if (looks.get()[0] > 0) {
      throw new IllegalStateException(
          call
              + " was called by a ValueReader, and would wait for the read that called it: return"
              + " first");
    }
  }

  /** Asks the state that a tree has now. */
  public long ask(TreeHandle tree, ToLongFunction<TreeState> question) {
    StackRoom.check();
    int slot = enter(tree);
    try {
      TreeState state = tree.states().acquire();
      try {
        return question.applyAsLong(state);
      } finally {
        tree.states().release(state);
      }
    } finally {
      exit(slot);
    }
  }

  /** Refuses all operations from now on: the store is being closed. */
  public void refuse() {
    closed = true;
    copies.raise();
    scheduler.jobEnded().raise();
  }

  public boolean isClosed() {
    return closed;
  }

  /**
   * Passes if the store takes operations.
   *
   * @throws StoreClosedException if it does not
   */
  public void checkOpen() {
    if (closed) {
      throw new StoreClosedException("the store is closed");
    }
  }

  /** Waits until all operations that have begun by now have ended. */
  public void awaitBegun() {
    awaitReaders(epochs);
  }

  /**
   * Waits until all operations that have begun by now have ended, and {@code also} holds, but for
   * {@code nanos} at most.
   *
   * @return whether that came about
   */
  boolean awaitBegun(BooleanSupplier also, long nanos) {
    long tag = epochs.advance();
    BooleanSupplier ended = () -> epochs.passed(tag) && also.getAsBoolean();
    for (long waited = 0; waited < nanos; waited += LOOK_AGAIN_NANOS) {
      if (readers.await(ended, LOOK_AGAIN_NANOS)) {
        return true;
      }
    }
    return false;
  }

  /** Waits until all operations that have entered some epochs by now have left. */
  void awaitReaders(Epochs entered) {
    long tag = entered.advance();
    while (!readers.await(() -> entered.passed(tag), LOOK_AGAIN_NANOS)) {
      // They leave without a word, for that costs nothing: so this is looked at again.
      continue;
    }
  }

  /** Waits until no job is queued or running, or {@code orUntil} holds when one ends. */
  void awaitJobs(BooleanSupplier orUntil) {
    Awaited.JOBS.check();
    scheduler.jobEnded().await(() -> scheduler.pending() == 0 || orUntil.getAsBoolean());
  }

  /** Waits for what the end of a job brings about, or that of a tree or the store. */
  void awaitJobEnd(BooleanSupplier until) {
    Awaited.JOBS.check();
    scheduler.jobEnded().await(until);
  }

  /** A tree was closed: its jobs are as good as ended. */
  void onTreeClosed() {
    scheduler.jobEnded().raise();
  }

  /**
   * Waits for the end of bulk loads, for a write.
   *
   * @return whether they have ended within its limit
   */
  boolean awaitLoads(BooleanSupplier ended, WaitLimit limit, Clock clock) {
    return limit.await(copies, clock, ended);
  }

  /** Waits for the end of bulk loads or copies; {@link #onCopyEnded} tells of it. */
  void awaitCopies(BooleanSupplier ended) {
    copies.await(ended);
  }

  /** A bulk load or a copy of the store has ended. */
  void onCopyEnded() {
    copies.raise();
  }

  /** What to throw if a file failed in the course of {@code what}. */
  public static IsobarException failed(String what, IOException e) {
    return new IsobarException(what + " failed: " + e.getMessage(), e);
  }
}
