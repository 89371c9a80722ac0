package io.isobardb.lsm.transaction;

import io.isobardb.lsm.state.TreeHandle;

/**
 * The keys between the first and the last one that a bulk load brings to a tree, both included.
 *
 * @param order counts up with the IDs of {@link LockOwner}: an owner with a lower one began earlier
 */
public record LoadedRange(TreeHandle tree, byte[] low, byte[] high, long order) {
  /** Whether a key of a tree lies in the range. */
  public boolean holds(TreeHandle of, byte[] key) {
    return tree == of
        && of.order().compare(low, 0, low.length, key, 0, key.length) <= 0
        && of.order().compare(key, 0, key.length, high, 0, high.length) <= 0;
  }

  /** Whether a range that a cursor has passed has keys in common with this one. */
  boolean overlaps(TreeHandle of, KeySpan passed) {
    if (tree != of || passed.isEmpty() || passed.isBefore(low)) {
      return false;
    }
    byte[] from = passed.low();
    return from == null || of.order().compare(from, 0, from.length, high, 0, high.length) <= 0;
  }
}
