package io.isobardb.lsm.sstable;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.util.Arrays;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the pages of an SSTable in memory, charged to {@link Purpose#WRITE}. Page number 0 is not
 * used. If there is room, an {@link EntryIndex} is made over its entries.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class MemorySink implements PageSink {
  /** An index takes at most this part of the pages: small entries have none. */
  private static final int MOST_INDEX = 8;

  private final PagePool pool;
  private final LongPredicate room;
  private int[] pages = new int[16];
  private int count = 1;
  private @Nullable EntryIndex index;

  /**
   * An empty sink.
   *
   * @param room asked at the end: whether so many bytes may be spent on an index over entries
   */
  public MemorySink(PagePool pool, LongPredicate room) {
    this.pool = pool;
    this.room = room;
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
    long indexBytes = EntryIndex.bytesFor(pool, meta.entries());
    if (indexBytes > meta.sizeBytes() / MOST_INDEX || !room.test(indexBytes)) {
      return meta;
    }
    EntryIndex made = EntryIndex.of(pool, pages(), meta.entries());
    index = made;
    return made == null ? meta : meta.sized(meta.sizeBytes() + made.sizeBytes());
  }

  /**
   * The pool pages by page number, once the SSTable is finished; they then belong to the caller.
   */
  int[] pages() {
    return Arrays.copyOf(pages, count);
  }

  /** The index over the entries, which then belongs to the caller; null if there is none. */
  @Nullable EntryIndex index() {
    return index;
  }

  @Override
  public void abort() {
    for (int i = 1; i < count; i++) {
      pool.release(pages[i], Purpose.WRITE);
    }
    count = 1;
    EntryIndex made = index;
    if (made != null) {
      made.retire();
      index = null;
    }
  }
}
