package io.isobardb.lsm.transaction;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.state.TreeHandle;
import org.jspecify.annotations.Nullable;

/** The exclusive lock of all keys of a range, there or not. */
final class RangeLock extends RecordLock {
  private static final byte[] NO_KEY = {};

  private final byte @Nullable [] from;
  private final byte @Nullable [] to;
  private final LockOwner announcer;

  RangeLock(TreeHandle tree, byte @Nullable [] from, byte @Nullable [] to, LockOwner owner) {
    super(tree, from == null ? NO_KEY : from, owner);
    this.from = from;
    this.to = to;
    this.announcer = owner;
  }

  /** Its first owner. */
  LockOwner announcer() {
    return announcer;
  }

  byte @Nullable [] from() {
    return from;
  }

  boolean covers(byte[] other) {
    return !isBefore(other) && (from == null || compare(from, other) <= 0);
  }

  /** Whether all of it lies before a key. */
  boolean isBefore(byte[] other) {
    return to != null && compare(to, other) <= 0;
  }

  boolean overlaps(RangeLock other) {
    return (other.from == null || !isBefore(other.from)) && (from == null || !other.isBefore(from));
  }

  @Override
  boolean meets(LoadedRange range) {
    return tree == range.tree()
        && !isBefore(range.low())
        && (from == null || compare(from, range.high()) <= 0);
  }

  /** Whether it has keys of a range that somebody went through. */
  boolean overlaps(KeySpan range) {
    byte[] low = range.low();
    return (from == null || !range.isBefore(from)) && (low == null || !isBefore(low));
  }

  /** For messages. */
  String text() {
    return "range ["
        + RangeDelete.text(from)
        + ", "
        + RangeDelete.text(to)
        + ") of tree '"
        + tree.name()
        + "'";
  }

  private int compare(byte[] a, byte[] b) {
    KeyOrder order = tree.order();
    return order.compare(a, 0, a.length, b, 0, b.length);
  }
}
