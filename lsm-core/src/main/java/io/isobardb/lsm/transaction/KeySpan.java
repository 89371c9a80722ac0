package io.isobardb.lsm.transaction;

import io.isobardb.lsm.option.KeyOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The keys a cursor has passed: from the lowest to the highest place it looked at, gaps included.
 * Grows; begins empty.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class KeySpan {
  private final KeyOrder order;
  private final byte @Nullable [] from;
  private final byte @Nullable [] to;

  private boolean empty = true;

  /** The lowest key; null: no bound. */
  private byte @Nullable [] low;

  /** The highest key; null: no bound. */
  private byte @Nullable [] high;

  /** Whether {@link #high} itself is not in the range. */
  private boolean open;

  /**
   * @param from the first key the cursor may reach, or null
   * @param to the first key it may not reach any more, or null
   */
  public KeySpan(KeyOrder order, byte @Nullable [] from, byte @Nullable [] to) {
    this.order = order;
    this.from = from;
    this.to = to;
  }

  /** All keys from {@code from} on, and before {@code to}; null for no bound. */
  public static KeySpan of(KeyOrder order, byte @Nullable [] from, byte @Nullable [] to) {
    KeySpan range = new KeySpan(order, from, to);
    range.addForward(null, null, 0);
    return range;
  }

  boolean isEmpty() {
    return empty;
  }

  /** The lowest key; null for no bound. */
  public byte @Nullable [] low() {
    return low;
  }

  /** Whether the whole range lies before a key. */
  boolean isBefore(byte[] key) {
    return isBefore(key, key.length);
  }

  /** Whether the whole range lies before a key, of which these are the first bytes. */
  public boolean isBefore(byte[] key, int length) {
    byte[] end = high;
    if (end == null) {
      return false;
    }
    int c = order.compare(end, 0, end.length, key, 0, length);
    return c < 0 || c == 0 && open;
  }

  /**
   * All from {@code start} on, which may be null for the cursor's first key, to where it stands:
   * {@code length} bytes of {@code key}, or its end if that is null.
   */
  public void addForward(byte @Nullable [] start, byte @Nullable [] key, int length) {
    lower(start != null && isAbove(start, from) ? start : from);
    if (key != null) {
      raise(Arrays.copyOf(key, length), false);
    } else {
      raise(to, true);
    }
    empty = false;
  }

  /**
   * All before {@code start}, which may be null for the cursor's end, back to where it stands:
   * {@code length} bytes of {@code key}, or its first key if that is null.
   */
  public void addBackward(byte @Nullable [] start, byte @Nullable [] key, int length) {
    raise(start != null && (to == null || isAbove(to, start)) ? start : to, true);
    lower(key != null ? Arrays.copyOf(key, length) : from);
    empty = false;
  }

  private boolean isAbove(byte[] key, byte @Nullable [] bound) {
    return bound == null || order.compare(key, 0, key.length, bound, 0, bound.length) > 0;
  }

  private void lower(byte @Nullable [] to) {
    if (empty || to == null || low != null && isAbove(low, to)) {
      low = to;
    }
  }

  private void raise(byte @Nullable [] to, boolean exclusive) {
    byte[] end = high;
    if (empty || to == null) {
      high = to;
      open = exclusive;
    } else if (end != null) {
      int c = order.compare(to, 0, to.length, end, 0, end.length);
      if (c >= 0) {
        open = exclusive && (c > 0 || open);
        high = to;
      }
    }
  }
}
