package io.isobardb.lsm.sstable;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Purpose;
import java.io.IOException;

/**
 * The buffer cache as SSTables see it.
 *
 * <p>Thread rule: all methods may be called by any thread; {@link #find} inside an epoch of the
 * pool, {@link #load} outside of epochs.
 */
public interface PageCache {
  /** No such page. */
  int ABSENT = -1;

  /** Names a page of a file: what all the methods take. */
  static long key(int file, int pageNo) {
    return (long) file << 32 | pageNo;
  }

  /** Brings a page in. */
  @FunctionalInterface
  interface Loader {
    /** Fills the page at {@code base} with what {@code key} names. */
    void load(long key, Memory memory, int base) throws IOException;
  }

  /** The pool page, which stays what it is until the caller leaves its epoch, or ABSENT. */
  int find(long key);

  /** The pool page, pinned, or ABSENT if it is not in the cache. */
  int pin(long key, AccessMode mode);

  /** The pool page, pinned, brought in by {@code loader} if it is absent. */
  int load(long key, Loader loader, AccessMode mode) throws IOException;

  /** Ends a pin. */
  void unpin(long key);

  /** Takes over a page with its contents; no copy. If the cache has one already, it is retired. */
  void adopt(long key, int page, Purpose from);

  /** Forgets all pages of a file. */
  void drop(int file, int pageCount);
}
