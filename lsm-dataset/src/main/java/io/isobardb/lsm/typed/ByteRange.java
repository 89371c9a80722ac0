package io.isobardb.lsm.typed;

import io.isobardb.lsm.CursorOptions;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Keys in byte order from one on to another, which does not belong to it; null is open. Nobody
 * changes the arrays.
 */
record ByteRange(byte @Nullable [] low, byte @Nullable [] high) {
  static final ByteRange ALL = new ByteRange(null, null);
  private static final ByteRange NONE = new ByteRange(new byte[0], new byte[0]);

  /** The key that comes next in byte order. */
  static byte[] next(byte[] key) {
    return Arrays.copyOf(key, key.length + 1);
  }

  static ByteRange prefix(byte[] prefix) {
    for (int last = prefix.length - 1; last >= 0; last--) {
      if (prefix[last] != (byte) 0xFF) {
        byte[] end = Arrays.copyOf(prefix, last + 1);
        end[last]++;
        return new ByteRange(prefix, end);
      }
    }
    return new ByteRange(prefix, null);
  }

  /** This range without what is before a key. */
  ByteRange from(byte[] key, boolean inclusive) {
    byte[] from = inclusive ? key : next(key);
    return low == null || Arrays.compareUnsigned(from, low) > 0 ? new ByteRange(from, high) : this;
  }

  /** This range without what is behind a key. */
  ByteRange to(byte[] key, boolean inclusive) {
    byte[] to = inclusive ? next(key) : key;
    return high == null || Arrays.compareUnsigned(to, high) < 0 ? new ByteRange(low, to) : this;
  }

  ByteRange intersect(ByteRange other) {
    ByteRange begun = other.low == null ? this : from(other.low, true);
    return other.high == null ? begun : begun.to(other.high, false);
  }

  boolean contains(byte[] key) {
    return (low == null || Arrays.compareUnsigned(key, low) >= 0)
        && (high == null || Arrays.compareUnsigned(key, high) < 0);
  }

  /** Whether it may be bounded by a key: by one in it, or at its ends if that is left out. */
  boolean takes(byte[] key, boolean inclusive) {
    return inclusive
        ? contains(key)
        : (low == null || Arrays.compareUnsigned(next(key), low) >= 0)
            && (high == null || Arrays.compareUnsigned(key, high) <= 0);
  }

  /** The same among keys of at most {@code most} bytes; its bounds are no longer than that. */
  ByteRange within(int most) {
    byte[] from = low != null && low.length > most ? after(low, most) : low;
    byte[] to = high != null && high.length > most ? after(high, most) : high;
    boolean none = low != null && from == null;
    return none || isEmpty() ? NONE : new ByteRange(from, to);
  }

  /** The first key of at most {@code most} bytes behind a longer one; null if there is none. */
  private static byte @Nullable [] after(byte[] key, int most) {
    return prefix(Arrays.copyOf(key, most)).high;
  }

  boolean isEmpty() {
    return low != null && high != null && Arrays.compareUnsigned(low, high) >= 0;
  }

  CursorOptions options() {
    CursorOptions options = CursorOptions.all();
    options = low == null ? options : options.from(low);
    return high == null ? options : options.to(high);
  }
}
