package io.isobardb.lsm;

import java.nio.ByteBuffer;

/**
 * Looks at a value in place; see {@link Tree#read}.
 *
 * @param <T> what it makes of a value
 */
@FunctionalInterface
public interface ValueReader<T> {
  /**
   * Makes something of a value.
   *
   * @param value read-only, big-endian, from position 0 to its limit. It is empty after the call;
   *     slices and duplicates made of it must not be used any more, since their memory may hold
   *     something else then, or be gone
   * @return what the read gives; never the buffer itself
   */
  T read(ByteBuffer value);
}
