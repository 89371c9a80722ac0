package io.isobardb.memory.cache;

import io.isobardb.memory.page.Memory;
import java.io.IOException;

/** Brings the contents of a page. */
@FunctionalInterface
public interface PageLoader {
  /**
   * Reads and checks the page of {@code key} into {@code memory} at {@code base}.
   *
   * @throws IOException if that failed; the page is then not in the {@link BufferCache}
   */
  void load(long key, Memory memory, int base) throws IOException;
}
