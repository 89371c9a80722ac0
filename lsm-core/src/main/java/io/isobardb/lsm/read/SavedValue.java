package io.isobardb.lsm.read;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.expiry.Expiry;

/**
 * A value that a cursor keeps, as its sources do not stand on it. Made for reuse.
 *
 * <p>Thread rule: one thread at a time.
 */
final class SavedValue {
  private static final int NONE = -1;
  private static final byte[] NOTHING = {};

  private byte[] bytes = NOTHING;
  private int length = NONE;
  private long expiry = Expiry.NEVER;

  /** Keeps the value of an entry, unless it is an overflow value: then it has none. */
  void save(LeafCursor entry) {
    length = NONE;
    if (Kind.isPut(entry.kind())) {
      int size = entry.valueLength();
      if (bytes.length < size) {
        bytes = new byte[2 * size];
      }
      entry.copyValue(0, bytes, 0, size);
      length = size;
      expiry = entry.expiry();
    }
  }

  /** Keeps a value that was made, whose array is its own from now on. */
  void save(byte[] value, long expires) {
    bytes = value;
    length = value.length;
    expiry = expires;
  }

  /** Whether it has one. */
  boolean isThere() {
    return length != NONE;
  }

  /** The array that holds it from index 0 on. */
  byte[] bytes() {
    return bytes;
  }

  int length() {
    return length;
  }

  /** When it expires, or {@link Expiry#NEVER}. */
  long expiry() {
    return expiry;
  }
}
