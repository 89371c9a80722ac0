package io.isobardb.lsm;

import java.nio.ByteBuffer;

/** Looks at a value in place; see {@link Tree#read}. */
@FunctionalInterface
public interface ValueReader<T> {
  /**
   * Makes something of a value.
   *
   * @param value read-only, big-endian, from position 0 to its limit; not valid after the call
   */
  T read(ByteBuffer value);
}
