package io.isobardb.lsm.sstable;

import io.isobardb.lsm.entry.Lsn;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import org.jspecify.annotations.Nullable;

/**
 * Makes an index over the entries of an SSTable whose data pages are all in memory, where the cache
 * has room. It reads nothing from a file. If a page goes meanwhile, nothing is made.
 *
 * <p>Thread rule: one thread at a time, outside of epochs, by a holder of the SSTable.
 */
public final class TableIndexing implements AutoCloseable {
  /** An index takes at most this part of the file: small entries have none. */
  private static final int MOST_PART = 8;

  /** Pages looked at within one epoch. */
  private static final int PAGES = 16;

  private final SSTable table;
  private final PagePool pool;
  private final BufferCache cache;

  /** How many pages the cache expects. */
  private final int pages;

  private EntryIndex.@Nullable Filling filling;
  private int next = 1;
  private long entries;

  private TableIndexing(SSTable table, int pages) {
    this.table = table;
    this.pool = table.space().pool();
    this.cache = table.space().cache();
    this.pages = pages;
  }

  /** Whether entries are large enough for an index to be a small part of what it is over. */
  public static boolean isWorthIt(SSTable table) {
    long bytes = EntryIndex.bytesFor(table.space().pool(), table.meta().entries());
    return bytes <= table.meta().sizeBytes() / MOST_PART;
  }

  /** Begins, if all pages are there and there is room; else null. */
  public static @Nullable TableIndexing begin(SSTable table) {
    PagePool pool = table.space().pool();
    BufferCache cache = table.space().cache();
    long entries = table.meta().entries();
    int pages = (int) EntryIndex.pagesFor(pool, entries);
    if (table.isIndexed(Lsn.MAX) || !isCached(table) || !cache.expectExtra(pages)) {
      return null;
    }
    EntryIndex made = null;
    TableIndexing begun = null;
    try {
      made = EntryIndex.empty(pool, Purpose.INDEXES, entries, table::dropIndex);
      if (made != null) {
        TableIndexing indexing = new TableIndexing(table, pages);
        indexing.filling = made.new Filling();
        begun = indexing;
      }
    } finally {
      if (begun == null) {
        cancel(table, made, pages);
      }
    }
    return begun;
  }

  private static void cancel(SSTable table, @Nullable EntryIndex made, int pages) {
    if (made != null) {
      for (int page : made.pages()) {
        table.space().pool().release(page, Purpose.INDEXES);
      }
    }
    table.space().cache().extras().cancel(pages);
  }

  /** Whether the cache has all data pages; these do not become hotter. */
  private static boolean isCached(SSTable table) {
    PagePool pool = table.space().pool();
    Epochs epochs = pool.epochs();
    long seen = 0;
    for (int from = 1; from <= lastPage(table); from += PAGES) {
      int slot = epochs.enter();
      try {
        for (int pageNo = from; pageNo < from + PAGES && pageNo <= lastPage(table); pageNo++) {
          int page = table.pageUntouched(pageNo);
          if (page != PagePool.NONE) {
            Memory memory = pool.memory(page);
            int base = pool.base(page);
            if (memory.getByte(base + PageLayout.TYPE) == PageLayout.DATA) {
              seen += PageReader.count(memory, base);
            }
          }
        }
      } finally {
        epochs.exit(slot);
      }
    }
    return seen == table.meta().entries();
  }

  /** Behind it no data page follows. */
  private static int lastPage(SSTable table) {
    return table.meta().rootPage();
  }

  /**
   * Takes in some pages.
   *
   * @param bytes of pages, about
   * @return whether there are more; if not, readers go by the index from now on, if all was there
   */
  public boolean step(int bytes) {
    EntryIndex.Filling to = filling;
    if (to == null) {
      return false;
    }
    int end = next + Math.max(1, bytes / pool.pageSize());
    while (next < end && next <= lastPage(table)) {
      addPages(to, Math.min(next + PAGES, lastPage(table) + 1));
    }
    if (next <= lastPage(table)) {
      return true;
    }
    if (entries == table.meta().entries()) {
      filling = null;
      table.setIndex(to.index());
      cache.addExtra(to.index());
    }
    return false;
  }

  private void addPages(EntryIndex.Filling to, int end) {
    int slot = pool.epochs().enter();
    try {
      for (; next < end; next++) {
        int page = table.pageUntouched(next);
        if (page != PagePool.NONE) {
          entries += to.add(page, table.isInMemory() ? page : next);
        }
      }
    } finally {
      pool.epochs().exit(slot);
    }
  }

  /** Gives back what was not made. */
  @Override
  public void close() {
    EntryIndex.Filling left = filling;
    if (left != null) {
      filling = null;
      cancel(table, left.index(), pages);
    }
  }
}
