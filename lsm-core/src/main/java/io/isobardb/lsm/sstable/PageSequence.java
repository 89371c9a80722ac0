package io.isobardb.lsm.sstable;

import io.isobardb.lsm.schedule.Errand;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.pool.PagePool;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Loads pages of an SSTable through the cache for a client, and reads ahead once they follow one
 * another: pieces of the file that grow with what was asked for in a row, so that a short scan
 * reads little in vain and a long one costs few reads.
 *
 * <p>A device reads two or three pages in about the time of one. So the first page that a scan
 * misses is read together with those behind it that it is likely to need: as many as scans have
 * gone over in this SSTable ({@link TableReads#likelyPages}).
 *
 * <p>When the reader comes to the second half of a piece, a helper begins to read the next one,
 * twice as large: so the device works while the reader does. It is one piece ahead at most, and
 * does not read beyond what is wanted. An error there is forgotten, since the reader may never get
 * that far: if it does, it reads the piece itself. Pieces of compressed pages are read by the
 * reader alone.
 *
 * <p>Thread rule: one thread at a time.
 */
final class PageSequence implements AutoCloseable {
  /** A scan that has gone over more pages than these reads ahead. */
  private static final int SHORT_PAGES = 3;

  private static final int NONE = -2;

  private final SSTable table;
  private final Access mode;
  private final Access aheadMode;
  private final int pageSize;

  /** What scans have gone over; null if this is none. */
  private final @Nullable TableReads reads;

  /** Behind the last page that is wanted. */
  private IntSupplier endPage;

  /** Before a single page is waited for. */
  private @Nullable Consumer<SSTable> onMiss;

  private @Nullable ReadAhead ahead;

  /** How large the piece was to be; it may be smaller. */
  private int asked;

  /** What is being read, or was, for the time after {@link #ahead}. */
  private @Nullable ReadAhead coming;

  private @Nullable Errand reading;

  private int last;
  private int inRow;

  /** Behind the pages of a value that does not follow the one before it; nothing says more yet. */
  private int valueEnd = Integer.MAX_VALUE;

  /** How many pages the first piece of a scan has. */
  private int firstPages = 1;

  /** Whether the first page of the row was not in memory. */
  private boolean missedFirst;

  private PageSequence(
      SSTable table,
      Access mode,
      Access aheadMode,
      @Nullable TableReads reads,
      int last,
      int endPage) {
    this.table = table;
    this.mode = mode;
    this.aheadMode = aheadMode;
    this.pageSize = table.space().pageSize();
    this.reads = reads;
    this.last = last;
    this.endPage = () -> endPage;
  }

  /**
   * For a reader that may go on for any length. The pages of a long scan come into the cache cold.
   */
  static PageSequence ofScan(SSTable table) {
    TableReads reads = table.isInMemory() ? null : table.reads();
    return new PageSequence(table, Access.QUERY, Access.SCAN, reads, NONE, table.meta().rootPage());
  }

  /** For a reader of values in overflow pages, which says what comes by {@link #expect}. */
  static PageSequence ofValues(SSTable table, Access mode) {
    return new PageSequence(table, mode, mode, null, NONE, table.meta().rootPage());
  }

  /**
   * Says that a value in {@code pages} pages from {@code first} on comes next: what of several is
   * absent is read together. If it begins where the value before it ended, it goes on with a row.
   */
  void expect(int first, int pages) {
    boolean goesOn = first == last || first == last + 1;
    if (!goesOn) {
      last = first - 1;
      inRow = 0;
    }
    valueEnd = goesOn ? Integer.MAX_VALUE : first + pages;
    if (pages > 1) {
      inRow = Math.max(inRow, Math.max(pages, SHORT_PAGES));
    }
  }

  /**
   * Sets what the reader knows.
   *
   * @param end behind the last page that is wanted; asked before a piece is read
   * @param beforeWait called before a single page is waited for; null for nothing
   */
  void listen(IntSupplier end, @Nullable Consumer<SSTable> beforeWait) {
    endPage = end;
    onMiss = beforeWait;
  }

  /** Brings a page into memory and keeps it there until it is unpinned. */
  int load(int pageNo) {
    if (pageNo != last) {
      inRow = pageNo == last + 1 ? inRow + 1 : 1;
      last = pageNo;
    }
    if (table.isInMemory() || (reads == null && inRow <= SHORT_PAGES)) {
      return loadSingle(pageNo);
    }
    return inRow > SHORT_PAGES ? table.loadPage(pageNo, aheadMode, this) : loadOfShort(pageNo);
  }

  /** The same for one of the first pages of a scan. */
  private int loadOfShort(int pageNo) {
    int page = table.pinIfThere(pageNo, mode);
    if (page != PagePool.NONE) {
      return page;
    }
    missedFirst |= inRow == 1;
    tellMiss();
    ReadAhead now = ahead;
    if (now == null || !now.holds(pageNo)) {
      firstPages = likelyPages(pageNo);
      if (firstPages == 1) {
        return table.loadPage(pageNo, mode);
      }
    }
    return table.loadPage(pageNo, mode, this);
  }

  private void tellMiss() {
    Consumer<SSTable> beforeWait = onMiss;
    if (beforeWait != null) {
      beforeWait.accept(table);
    }
  }

  /** How many pages from one on are likely to be wanted, and are not in memory; 1 at least. */
  private int likelyPages(int pageNo) {
    int likely = reads == null ? 1 : reads.likelyPages() - inRow + 1;
    if (likely > 1) {
      likely = Math.min(likely, end() - pageNo);
    }
    int count = 1;
    while (count < likely && !table.isCached(pageNo + count)) {
      count++;
    }
    return count;
  }

  private int end() {
    return Math.min(valueEnd, endPage.getAsInt());
  }

  /** The reader ends, or is about to be placed elsewhere. */
  void endRow() {
    if (missedFirst && reads != null) {
      reads.onPassed(inRow);
    }
    missedFirst = false;
    last = NONE;
  }

  /** The same for a page that is not one of a row, such as that of an index. */
  int loadSingle(int pageNo) {
    if (onMiss != null) {
      int page = table.pinIfThere(pageNo, mode);
      if (page != PagePool.NONE) {
        return page;
      }
      tellMiss();
    }
    return table.loadPage(pageNo, mode);
  }

  /** A reader of what follows page {@code pageNo}, or null if there is no memory for one. */
  @Nullable ReadAhead ahead(int pageNo) {
    ReadAhead now = ahead;
    if (now == null || !now.holds(pageNo)) {
      now = takeComing(pageNo) ? ahead : larger();
    }
    if (now != null && coming == null && inRow > SHORT_PAGES && now.isPastHalf(pageNo)) {
      begin(now.endPage());
    }
    return now;
  }

  /** Goes on to the piece that was read meanwhile, if it has the page. */
  private boolean takeComing(int pageNo) {
    ReadAhead next = coming;
    Errand errand = reading;
    if (next == null || errand == null) {
      return false;
    }
    coming = null;
    reading = null;
    boolean taken = false;
    try {
      errand.finish();
      taken = next.holds(pageNo);
    } finally {
      if (!taken) {
        next.close();
      }
    }
    if (!taken) {
      return false;
    }
    closeAhead();
    ahead = next;
    asked = Math.min(2 * asked, ReadAhead.LARGEST_BYTES);
    return true;
  }

  /** A reader of pieces as large as what was asked for in a row. */
  private @Nullable ReadAhead larger() {
    boolean first = inRow <= SHORT_PAGES;
    int pages = first ? firstPages : inRow;
    int wanted = (int) Math.min((long) pages * pageSize, ReadAhead.LARGEST_BYTES);
    if (ahead == null || wanted >= (first ? asked + 1 : 2 * asked)) {
      closeAhead();
      asked = wanted;
      ahead = ReadAhead.open(table, wanted);
    }
    if (ahead != null) {
      ahead.endAt(first ? last + firstPages : end());
    }
    return ahead;
  }

  /** Has a helper read the piece from a page on. */
  private void begin(int from) {
    int end = end();
    if (from >= end) {
      return;
    }
    ReadAhead next = ReadAhead.open(table, Math.min(2 * asked, ReadAhead.LARGEST_BYTES));
    if (next == null) {
      return;
    }
    next.endAt(end);
    Errand begun = null;
    try {
      begun = table.space().loads().begin(() -> next.tryRead(from));
    } finally {
      if (begun == null) {
        next.close();
      }
    }
    if (begun != null) {
      coming = next;
      reading = begun;
    }
  }

  private void closeAhead() {
    ReadAhead open = ahead;
    if (open != null) {
      ahead = null;
      open.close();
    }
  }

  @Override
  public void close() {
    endRow();
    ReadAhead next = coming;
    Errand errand = reading;
    if (next != null && errand != null) {
      coming = null;
      reading = null;
      errand.cancel();
      next.close();
    }
    closeAhead();
  }
}
