package io.isobardb.lsm.range;

import io.isobardb.lsm.error.ShownKey;
import io.isobardb.lsm.option.KeyOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A delete of all keys of a range: what is older than {@code lsn} is gone for readers at that LSN
 * or a later one.
 *
 * <p>In the log it is an operation whose key is the first one, if there is one. Its value is a byte
 * that says which bounds there are, 1 for the first and 2 for the end, and the end.
 *
 * @param from the first key, null for no bound
 * @param to the key behind the last one, null for no bound
 * @param lsn its record's; entries of the same record stay, since they came behind it
 */
public record RangeDelete(byte @Nullable [] from, byte @Nullable [] to, long lsn) {
  /** What one takes on the heap without its keys, with its place in a list; about. */
  public static final int OBJECT_BYTES = 40;

  private static final int HAS_FROM = 1;
  private static final int HAS_TO = 2;

  /** The value of its operation. */
  public static byte[] value(byte @Nullable [] from, byte @Nullable [] to) {
    byte[] value = new byte[1 + (to == null ? 0 : to.length)];
    value[0] = (byte) ((from == null ? 0 : HAS_FROM) | (to == null ? 0 : HAS_TO));
    if (to != null) {
      System.arraycopy(to, 0, value, 1, to.length);
    }
    return value;
  }

  /**
   * What an operation deletes.
   *
   * @throws IllegalArgumentException if the value is none of {@link #value}
   */
  public static RangeDelete of(byte[] key, byte[] value, long lsn) {
    int has = value.length == 0 ? -1 : value[0];
    if (has < 0 || has > (HAS_FROM | HAS_TO) || ((has & HAS_TO) == 0 && value.length > 1)) {
      throw new IllegalArgumentException("a range delete without its bounds");
    }
    byte[] from = (has & HAS_FROM) == 0 ? null : key;
    byte[] to = (has & HAS_TO) == 0 ? null : Arrays.copyOfRange(value, 1, value.length);
    return new RangeDelete(from, to, lsn);
  }

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
