package io.isobardb.lsm.transaction;

import io.isobardb.lsm.state.TreeHandle;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** The exclusive lock of one key, as long as somebody owns it. */
class RecordLock {
  final TreeHandle tree;
  final byte[] key;

  /** Null once nobody does: then the lock is no longer in the table. Written under the monitor. */
  private volatile @Nullable LockOwner owner;

  private @Nullable ArrayDeque<LockOwner> waiting;

  RecordLock(TreeHandle tree, byte[] key, LockOwner owner) {
    this.tree = tree;
    this.key = key;
    this.owner = owner;
  }

  @Nullable LockOwner owner() {
    return owner;
  }

  /** Whether it locks a key that lies in a range. */
  boolean meets(LoadedRange range) {
    return range.holds(tree, key);
  }

  /** Gets in line; false if nobody owns the lock any more. */
  synchronized boolean enqueue(LockOwner waiter) {
    if (owner == null) {
      return false;
    }
    ArrayDeque<LockOwner> line = waiting;
    if (line == null) {
      line = new ArrayDeque<>(2);
      waiting = line;
    }
    line.addLast(waiter);
    return true;
  }

  /** Leaves the line; false if it is too late: the waiter owns the lock. */
  synchronized boolean leave(LockOwner waiter) {
    if (owner == waiter) {
      return false;
    }
    if (waiting != null) {
      waiting.remove(waiter);
    }
    return true;
  }

  /** Gives the lock to the owner that waits longest; null if none does. */
  synchronized @Nullable LockOwner handOn() {
    LockOwner next = waiting == null ? null : waiting.pollFirst();
    if (next != null) {
      next.waitsFor(null);
    }
    owner = next;
    return next;
  }

  /** Makes all that wait look again. */
  synchronized void wakeAll() {
    if (waiting != null) {
      waiting.forEach(LockOwner::wake);
    }
  }
}
