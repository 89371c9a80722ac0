package io.isobardb.lsm.state;

import io.isobardb.lsm.option.KeyOrder;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * A range of keys: above {@code low}, up to and with {@code high}; {@code null} is no bound.
 *
 * @param low exclusive
 * @param high inclusive
 */
public record Range(byte @Nullable [] low, byte @Nullable [] high) {
  /** All keys. */
  public static final Range ALL = new Range(null, null);

  /** Whether the key is above the lower bound. */
  public boolean above(KeyOrder order, byte[] key, int offset, int length) {
    return low == null || order.compare(key, offset, length, low, 0, low.length) > 0;
  }

  /** Whether the key is not above the upper bound. */
  public boolean notBeyond(KeyOrder order, byte[] key, int offset, int length) {
    return high == null || order.compare(key, offset, length, high, 0, high.length) <= 0;
  }

  /** Whether the key lies in the range. */
  public boolean contains(KeyOrder order, byte[] key, int offset, int length) {
    return above(order, key, offset, length) && notBeyond(order, key, offset, length);
  }

  /** What both ranges cover, or null if that is nothing. */
  public @Nullable Range intersect(KeyOrder order, Range other) {
    byte[] l =
        low == null || (other.low != null && compare(order, other.low, low) > 0) ? other.low : low;
    byte[] h =
        high == null || (other.high != null && compare(order, other.high, high) < 0)
            ? other.high
            : high;
    return l != null && h != null && compare(order, l, h) >= 0 ? null : new Range(l, h);
  }

  private static int compare(KeyOrder order, byte[] a, byte[] b) {
    return order.compare(a, 0, a.length, b, 0, b.length);
  }

  /** The bounds in hexadecimal digits, the first bytes of each. */
  @Override
  public String toString() {
    return "(" + text(low) + ", " + text(high) + "]";
  }

  private static String text(byte @Nullable [] bound) {
    if (bound == null) {
      return "-";
    }
    HexFormat hex = HexFormat.of();
    return bound.length <= 16 ? hex.formatHex(bound) : hex.formatHex(bound, 0, 16) + "...";
  }
}
