package io.isobardb.lsm.store;

import io.isobardb.lsm.commit.BatchFormat;
import io.isobardb.lsm.commit.Committer;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.transaction.LockOwner;
import io.isobardb.memory.pool.SlotCounters;
import java.util.Collection;

/**
 * Writes batches, those of users and those of transactions.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class BatchWriter {
  private final Engine engine;
  private final Committer committer;
  private final Operations operations;
  private final Transactions transactions;
  private final SlotCounters batches;
  private final RecorderSlot recorders;

  BatchWriter(
      Engine engine,
      Committer committer,
      Operations operations,
      Transactions transactions,
      RecorderSlot recorders) {
    this.recorders = recorders;
    this.engine = engine;
    this.committer = committer;
    this.operations = operations;
    this.transactions = transactions;
    this.batches = new SlotCounters(engine.operations(), 1);
  }

  /** How many batches of users were written. */
  long count() {
    return batches.sum(0);
  }

  /**
   * Writes a batch to these trees, once there is room, and its keys are locked against
   * transactions, if there are any.
   *
   * @param limit how long it may wait
   */
  void write(
      BatchFormat.Builder added,
      Collection<TreeHandle> trees,
      boolean logged,
      boolean sync,
      WaitLimit limit) {
    BatchFormat.Builder batch;
    long begun;
    int slot = operations.enter();
    try {
      checkOpen(trees);
      batch = added.resolved(this::order);
      operations.count(slot, batch.count());
      begun = engine.latencies().begin(batches.add(slot, 0, 1));
      committer.admit(batch, limit);
      if (!transactions.inUse()) {
        long written = committer.write(batch, logged, slot, limit);
        recorders.onBatch(batch);
        awaitSync(written, sync);
        engine.latencies().wroteBatch(begun);
        return;
      }
    } finally {
      operations.exit(slot);
    }
    writeLocked(batch, trees, logged, sync, limit);
    engine.latencies().wroteBatch(begun);
  }

  /** As {@link #write}, of what there was room for, beside transactions. */
  private void writeLocked(
      BatchFormat.Builder batch,
      Collection<TreeHandle> trees,
      boolean logged,
      boolean sync,
      WaitLimit limit) {
    LockOwner locked = transactions.newWriter(limit);
    try {
      transactions.lockWithRoom(
          locked,
          () -> transactions.lock(locked, batch, limit),
          () -> hasRoom(batch),
          () -> awaitRoom(batch, limit));
      int slot = operations.enter();
      try {
        checkOpen(trees);
        long written = committer.write(batch, logged, slot, limit);
        transactions.locks().releaseAll(locked);
        recorders.onBatch(batch);
        awaitSync(written, sync);
      } finally {
        operations.exit(slot);
      }
    } finally {
      transactions.locks().releaseAll(locked);
    }
  }

  /**
   * Waits until what was written survives a failure of the machine, if {@code sync} says so. Within
   * the operation that has written it.
   */
  void awaitSync(long written, boolean sync) {
    if (sync) {
      committer.awaitDurable(written);
    }
  }

  private KeyOrder order(int treeId) {
    TreeHandle tree = engine.catalog().tree(treeId);
    if (tree == null) {
      throw new IllegalStateException("there is no tree with number " + treeId);
    }
    return tree.order();
  }

  /** Within an operation: what is open then stays until the operation ends. */
  private static void checkOpen(Collection<TreeHandle> trees) {
    for (TreeHandle tree : trees) {
      tree.checkOpen();
    }
  }

  /** Waits for room for what is going to be written. */
  void awaitRoom(BatchFormat.Builder batch, WaitLimit limit) {
    int slot = operations.enter();
    try {
      committer.admit(batch, limit);
    } finally {
      operations.exit(slot);
    }
  }

  /** Whether there still is room for that. */
  boolean hasRoom(BatchFormat.Builder batch) {
    return committer.admits(batch);
  }

  /**
   * Carries a transaction's commit out; gives what to hand to {@link #awaitSync}.
   *
   * @param trees those that {@code batch} writes to
   * @param limit how long it may wait for its place in the log
   */
  long commit(
      BatchFormat.Builder batch, Collection<TreeHandle> trees, boolean logged, WaitLimit limit) {
    int slot = operations.enter();
    try {
      checkOpen(trees);
      operations.count(slot, batch.count());
      long written = committer.write(batch, logged, slot, limit);
      recorders.onBatch(batch);
      return written;
    } finally {
      operations.exit(slot);
    }
  }
}
