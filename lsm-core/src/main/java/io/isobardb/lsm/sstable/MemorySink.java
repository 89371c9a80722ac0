package io.isobardb.lsm.sstable;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.util.Arrays;

/**
 * Keeps the pages of an SSTable in memory, charged to {@link Purpose#WRITE}. Page number 0 is not
 * used.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class MemorySink implements PageSink {
  private final PagePool pool;
  private int[] pages = new int[16];
  private int count = 1;

  /** An empty sink. */
  public MemorySink(PagePool pool) {
    this.pool = pool;
    pages[0] = PagePool.NONE;
  }

  @Override
  public int pageSize() {
    return pool.pageSize();
  }

  @Override
  public Memory memory(int page) {
    return pool.memory(page);
  }

  @Override
  public int base(int page) {
    return pool.base(page);
  }

  @Override
  public int allocate() {
    return allocate(pool, Purpose.WRITE);
  }

  /** A page for background work. */
  public static int allocate(PagePool pool, Purpose purpose) {
    return pool.allocatePatiently(purpose);
  }

  @Override
  public void release(int page) {
    pool.release(page, Purpose.WRITE);
  }

  @Override
  public void emit(int pageNo, int page, boolean hot) {
    if (pageNo != count) {
      throw new IllegalArgumentException("page " + pageNo + " follows page " + (count - 1));
    }
    if (count == pages.length) {
      pages = Arrays.copyOf(pages, count * 2);
    }
    pages[count++] = page;
  }

  @Override
  public SSTableMeta finish(SSTableMeta meta) {
    return meta;
  }

  /**
   * The pool pages by page number, once the SSTable is finished; they then belong to the caller.
   */
  public int[] pages() {
    return Arrays.copyOf(pages, count);
  }

  @Override
  public void abort() {
    for (int i = 1; i < count; i++) {
      pool.release(pages[i], Purpose.WRITE);
    }
    count = 1;
  }
}
