package io.isobardb.lsm.sstable;

import io.isobardb.memory.cache.Access;
import org.jspecify.annotations.Nullable;

/**
 * Loads pages of an SSTable through the cache for a client, and reads ahead once they follow one
 * another: pieces of the file that grow with what was asked for in a row, so that a short scan
 * reads little in vain and a long one costs few reads.
 *
 * <p>Thread rule: one thread at a time.
 */
final class PageSequence implements AutoCloseable {
  /** Pages in a row that are loaded one by one. */
  private static final int SINGLE_PAGES = 3;

  private static final int NONE = -2;

  private final SSTable table;
  private final Access mode;
  private final Access aheadMode;
  private final int pageSize;
  private final int endPage;
  private @Nullable ReadAhead ahead;

  /** How large the pieces were to be; they may be smaller. */
  private int asked;

  private int last;
  private int inRow;

  private PageSequence(
      SSTable table, Access mode, Access aheadMode, int last, int inRow, int endPage) {
    this.table = table;
    this.mode = mode;
    this.aheadMode = aheadMode;
    this.pageSize = table.space().pageSize();
    this.last = last;
    this.inRow = inRow;
    this.endPage = endPage;
  }

  /**
   * For a reader that may go on for any length. The pages of a long scan come into the cache cold.
   */
  static PageSequence ofScan(SSTable table) {
    return new PageSequence(table, Access.QUERY, Access.SCAN, NONE, 0, table.meta().pageCount());
  }

  /** For a reader that needs {@code pages} pages from {@code first} on. */
  static PageSequence of(SSTable table, Access mode, int first, int pages) {
    return new PageSequence(
        table, mode, mode, first - 1, pages > SINGLE_PAGES ? pages : 0, first + pages);
  }

  /** Brings a page into memory and keeps it there until it is unpinned. */
  int load(int pageNo) {
    inRow = pageNo == last + 1 ? inRow + 1 : 1;
    last = pageNo;
    if (inRow <= SINGLE_PAGES || table.isInMemory()) {
      return table.loadPage(pageNo, mode);
    }
    return table.loadPage(pageNo, aheadMode, this);
  }

  /** A reader of what follows page {@code pageNo}, or null if there is no memory for one. */
  @Nullable ReadAhead ahead(int pageNo) {
    ReadAhead now = ahead;
    if (now != null && now.holds(pageNo)) {
      return now;
    }
    int wanted = (int) Math.min((long) inRow * pageSize, ReadAhead.LARGEST_BYTES);
    if (now == null || wanted >= 2 * asked) {
      close();
      asked = wanted;
      now = ReadAhead.open(table, wanted);
      ahead = now;
      if (now != null) {
        now.endAt(endPage);
      }
    }
    return now;
  }

  @Override
  public void close() {
    ReadAhead open = ahead;
    if (open != null) {
      ahead = null;
      open.close();
    }
  }
}
