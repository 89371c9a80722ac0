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
 * <p>When the reader comes to the second half of a piece, a helper begins to read the next one,
 * twice as large: so the device works while the reader does. It is one piece ahead at most, and
 * does not read beyond what is wanted. An error there is forgotten, since the reader may never get
 * that far: if it does, it reads the piece itself. Pieces of compressed pages are read by the
 * reader alone.
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

  private PageSequence(
      SSTable table, Access mode, Access aheadMode, int last, int inRow, int endPage) {
    this.table = table;
    this.mode = mode;
    this.aheadMode = aheadMode;
    this.pageSize = table.space().pageSize();
    this.last = last;
    this.inRow = inRow;
    this.endPage = () -> endPage;
  }

  /**
   * For a reader that may go on for any length. The pages of a long scan come into the cache cold.
   */
  static PageSequence ofScan(SSTable table) {
    return new PageSequence(table, Access.QUERY, Access.SCAN, NONE, 0, table.meta().rootPage());
  }

  /** For a reader that needs {@code pages} pages from {@code first} on. */
  static PageSequence of(SSTable table, Access mode, int first, int pages) {
    return new PageSequence(
        table, mode, mode, first - 1, pages > SINGLE_PAGES ? pages : 0, first + pages);
  }

  /**
   * Sets what the reader knows.
   *
   * @param end behind the last page that is wanted; asked before a piece is read
   * @param beforeWait called before a single page is waited for
   */
  void listen(IntSupplier end, Consumer<SSTable> beforeWait) {
    endPage = end;
    onMiss = beforeWait;
  }

  /** Brings a page into memory and keeps it there until it is unpinned. */
  int load(int pageNo) {
    inRow = pageNo == last + 1 ? inRow + 1 : 1;
    last = pageNo;
    if (inRow <= SINGLE_PAGES || table.isInMemory()) {
      return loadSingle(pageNo);
    }
    return table.loadPage(pageNo, aheadMode, this);
  }

  /** The same for a page that is not one of a row, such as that of an index. */
  int loadSingle(int pageNo) {
    Consumer<SSTable> beforeWait = onMiss;
    if (beforeWait != null) {
      int page = table.pinIfThere(pageNo, mode);
      if (page != PagePool.NONE) {
        return page;
      }
      beforeWait.accept(table);
    }
    return table.loadPage(pageNo, mode);
  }

  /** A reader of what follows page {@code pageNo}, or null if there is no memory for one. */
  @Nullable ReadAhead ahead(int pageNo) {
    ReadAhead now = ahead;
    if (now == null || !now.holds(pageNo)) {
      now = takeComing(pageNo) ? ahead : larger();
    }
    if (now != null && coming == null && now.isPastHalf(pageNo)) {
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
    int wanted = (int) Math.min((long) inRow * pageSize, ReadAhead.LARGEST_BYTES);
    if (ahead == null || wanted >= 2 * asked) {
      closeAhead();
      asked = wanted;
      ahead = ReadAhead.open(table, wanted);
    }
    if (ahead != null) {
      ahead.endAt(endPage.getAsInt());
    }
    return ahead;
  }

  /** Has a helper read the piece from a page on. */
  private void begin(int from) {
    int end = endPage.getAsInt();
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
