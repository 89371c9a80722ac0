package io.isobardb.lsm.sstable;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import java.io.IOException;

/**
 * Where an {@link SSTableWriter} puts its pages. Numbers start at 1 and are emitted in ascending
 * order without gaps.
 *
 * <p>Thread rule: one thread at a time. After an exception only {@link #abort} may be called.
 */
public interface PageSink {
  /** Size of a page in bytes. */
  int pageSize();

  /** The region of a page got from {@link #allocate}. */
  Memory memory(int page);

  /** Where in {@link #memory} the page starts. */
  int base(int page);

  /**
   * A pool page to be filled; its contents are undefined.
   *
   * @throws io.isobardb.memory.pool.OutOfBudgetException if there is none
   */
  int allocate();

  /** Gives an allocated page back that will not be emitted. */
  void release(int page);

  /**
   * Takes a finished page over.
   *
   * @param hot whether it should be in the cache once the SSTable is in use
   */
  void emit(int pageNo, int page, boolean hot) throws IOException;

  /**
   * Asked when all pages but those of the filter are emitted: a header page whose end is to hold
   * the filter, or {@link PagePool#NONE} if that gets pages of its own. {@link #finish} is next.
   *
   * @param keyBytes length of the first and of the last key, together
   * @param blocks of the filter, 0 if there is none
   */
  default int headerForFilter(int keyBytes, int blocks) {
    return PagePool.NONE;
  }

  /** Gives back what it can do without while no page is emitted for a while. */
  default void rest() throws IOException {}

  /**
   * Ends the SSTable.
   *
   * @param meta of the pages emitted; page count and size are those of an SSTable in memory
   * @return what describes the SSTable as it is kept
   */
  SSTableMeta finish(SSTableMeta meta) throws IOException;

  /** Frees all that was emitted. */
  void abort();
}
