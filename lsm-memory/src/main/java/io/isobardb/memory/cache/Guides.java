package io.isobardb.memory.cache;

import io.isobardb.memory.page.Memory;

/**
 * Tells which pages lead to others, as filters and indexes do: the cache keeps them for longer. Any
 * thread; the answer for the same contents is always the same.
 */
@FunctionalInterface
public interface Guides {
  /** Those of a cache whose pages are all alike. */
  Guides NONE = (memory, base) -> false;

  /** Whether the page at {@code base} is one; asked once its contents are there. */
  boolean isGuide(Memory memory, int base);
}
