package io.isobardb.lsm.store;

import io.isobardb.lsm.commit.BatchFormat;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.transaction.LockOwner;
import io.isobardb.lsm.transaction.ReadSet;
import io.isobardb.lsm.transaction.WriteSet;
import java.util.List;

/**
 * What a transaction has read and is going to write, when it is to be committed.
 *
 * @param owner holds the transaction's locks, which stay until its end
 * @param lockTimeoutNanos for each lock that is taken now
 * @param limit how long it may wait
 */
public record Commit(
    OpenStore store,
    LockOwner owner,
    WriteSet writes,
    ReadSet reads,
    long lockTimeoutNanos,
    WaitLimit limit) {
  /**
   * Validates, and writes. From the write to its sync it is within one operation: so it is not told
   * that the store was closed once it is written.
   *
   * @param locked whether what is to be written is locked already
   * @param sync whether to wait until it survives a failure of the machine
   * @param onWritten runs once it can be seen, within the operation and before the wait
   */
  public void write(boolean locked, boolean sync, Runnable onWritten) {
    List<TreeHandle> trees = writes.trees();
    trees.forEach(TreeHandle::checkOpen);
    boolean logged = trees.isEmpty() || trees.get(0).settings().logged();
    BatchFormat.Builder batch = new BatchFormat.Builder();
    writes.forEachRange((tree, range) -> batch.deleteRange(tree.id(), range.from(), range.to()));
    writes.forEach(
        (tree, key, write) ->
            batch.add(write.kind(), tree.id(), key, write.value(), write.expiry()));
    Transactions transactions = store.transactions();
    if (batch.count() > 0) {
      store.batches().awaitRoom(batch, limit);
      if (!locked) {
        transactions.lockWithRoom(
            owner,
            this::lockWrites,
            () -> store.batches().hasRoom(batch),
            () -> store.batches().awaitRoom(batch, limit));
      }
    }
    if (reads.isEmpty() && batch.count() == 0) {
      onWritten.run();
      return;
    }
    int slot = store.operations().enter();
    try {
      owner.beginCommit();
      transactions.checkLoads(owner, reads);
      reads.validate(transactions.versions(), transactions.locks(), owner);
      if (batch.count() == 0) {
        onWritten.run();
        return;
      }
      long written = store.batches().commit(batch, trees, logged, limit);
      onWritten.run();
      store.batches().awaitSync(written, sync);
    } finally {
      store.operations().exit(slot);
    }
  }

  private void lockWrites() {
    writes.forEachRange(
        (tree, range) -> store.transactions().lockRange(owner, tree, range, mostNanos()));
    writes.forEach((tree, key, write) -> store.transactions().lock(owner, tree, key, mostNanos()));
  }

  /** How long it waits for a lock. */
  private long mostNanos() {
    return Math.min(lockTimeoutNanos, limit.leftNanos(store.engine().environment().clock()));
  }
}
