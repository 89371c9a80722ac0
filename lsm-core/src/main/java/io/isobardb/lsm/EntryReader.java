package io.isobardb.lsm;

import java.nio.ByteBuffer;

/** Looks at entries in place; see {@link Cursor#forEach}. */
@FunctionalInterface
public interface EntryReader {
  /**
   * Looks at an entry: at what remains in each buffer. Both are read-only and big-endian, and used
   * again for other entries. What is made of them, slices and duplicates, must not be used after
   * the call: their memory may hold something else then, or be gone.
   *
   * @param key the whole key, from the buffer's position to its limit
   * @param value the whole value, likewise
   * @return whether to go on to the next entry
   */
  boolean read(ByteBuffer key, ByteBuffer value);
}
