package io.isobardb.lsm.entry;

import io.isobardb.lsm.error.ShownKey;
import io.isobardb.lsm.option.KeyOrder;
import org.jspecify.annotations.Nullable;

/**
 * A delete of all keys of a range: what is older than {@code lsn} is gone for readers at that LSN
 * or a later one.
 *
 * @param from the first key, null for no bound
 * @param to the key behind the last one, null for no bound
 * @param lsn its record's; entries of the same record stay, since they came behind it
 */
public record RangeDelete(byte @Nullable [] from, byte @Nullable [] to, long lsn) {
  /** What one takes on the heap without its keys, with its place in a list; about. */
  public static final int OBJECT_BYTES = 40;

  /**
   * Whether the bounds say nothing.
   *
   * @throws IllegalArgumentException if {@code from} is behind {@code to}
   */
  public static boolean isEmpty(KeyOrder order, byte @Nullable [] from, byte @Nullable [] to) {
    if (from == null || to == null) {
      return false;
    }
    int c = order.compare(from, 0, from.length, to, 0, to.length);
    if (c > 0) {
      throw new IllegalArgumentException(
          "a range of keys can't begin at " + text(from) + ", behind its end " + text(to));
    }
    return c == 0;
  }

  /** What it takes on the heap, in bytes; about. */
  public long heapBytes() {
    return OBJECT_BYTES
        + (from == null ? 0 : Cuts.keyBytes(from))
        + (to == null ? 0 : Cuts.keyBytes(to));
  }

  /** A bound for messages; "-" if there is none. */
  public static String text(byte @Nullable [] bound) {
    return bound == null ? "-" : ShownKey.of(bound);
  }

  @Override
  public String toString() {
    return "[" + text(from) + ", " + text(to) + ") at " + lsn;
  }
}
