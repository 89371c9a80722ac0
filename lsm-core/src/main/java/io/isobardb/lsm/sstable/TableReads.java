package io.isobardb.lsm.sstable;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * What readers have asked of an SSTable on disk since it was opened or written. One single get in
 * {@value #SAMPLE} is counted; cursors and pages that were read from the file all are.
 *
 * <p>Thread rule: all methods may be called by any thread. Of two that count a cursor at once, one
 * may be lost: it is a statistic, and readers share no lock for it.
 */
public final class TableReads {
  /** One single get in so many is counted; a power of two. */
  public static final int SAMPLE = 64;

  /** What it takes on the heap. */
  public static final int BYTES = 120;

  private static final int ASKED = 0;
  private static final int PASSED = 1;
  private static final int FOUND = 2;
  private static final int DELETED = 3;
  private static final int CURSORS = 4;
  private static final int PAGES = 5;
  private static final int TAKEN = 6;
  private static final int ROW = 7;
  private static final int COUNTS = 8;

  /** The mean row is kept in so many parts of a page. */
  private static final int PAGE_PARTS = 256;

  /** About so many scans make the mean. */
  private static final int MEAN_OF = 8;

  /** More pages are not read at first, however long scans are. */
  private static final int MOST_LIKELY_PAGES = 8;

  /** A page more is read if at least this part of scans need it, about. */
  private static final int LEAST_PART = PAGE_PARTS / 6;

  private final AtomicLongArray counts = new AtomicLongArray(COUNTS);

  TableReads() {}

  /** Counts a lookup that came to it and went on. */
  public void countAbsent(boolean passed) {
    counts.getAndIncrement(ASKED);
    if (passed) {
      counts.getAndIncrement(PASSED);
    }
  }

  /** Counts a lookup that it answered. */
  public void countFound(boolean deleted) {
    counts.getAndIncrement(ASKED);
    counts.getAndIncrement(PASSED);
    counts.getAndIncrement(deleted ? DELETED : FOUND);
  }

  /** A cursor was placed in it. */
  void onPlaced() {
    counts.lazySet(CURSORS, counts.getPlain(CURSORS) + 1);
  }

  /** A scan has gone over so many pages in a row, the first of which was read from the file. */
  void onPassed(int pages) {
    int row = Math.min(pages, MOST_LIKELY_PAGES) * PAGE_PARTS;
    int mean = (int) counts.getPlain(ROW);
    counts.lazySet(ROW, mean == 0 ? row : mean + (row - mean) / MEAN_OF);
  }

  /** How many pages a scan is likely to go over, if the first one is not in memory. */
  int likelyPages() {
    return Math.max(1, ((int) counts.getPlain(ROW) + PAGE_PARTS - LEAST_PART) / PAGE_PARTS);
  }

  /** A page was read from its file for a reader. */
  void onPageRead() {
    counts.getAndIncrement(PAGES);
  }

  /** Whether there is anything to tell. */
  public boolean any() {
    return asked() > 0 || cursors() > 0 || pagesRead() > 0;
  }

  /** Lookups whose key lay in its range. */
  public long asked() {
    return counts.get(ASKED);
  }

  /** Those of them that its filter let pass. */
  public long passed() {
    return counts.get(PASSED);
  }

  /** Those of them that found a value or an operand. */
  public long found() {
    return counts.get(FOUND);
  }

  /** Those of them that found that the key is deleted. */
  public long deleted() {
    return counts.get(DELETED);
  }

  /** How often cursors were placed in it. */
  public long cursors() {
    return counts.get(CURSORS);
  }

  /** Pages that were read from its file for readers since this was called last; by one thread. */
  public long takePagesRead() {
    long all = pagesRead();
    return all - counts.getAndSet(TAKEN, all);
  }

  /**
   * About how many pages readers would not have read if what it holds had stood in the last level.
   * A cursor placed in it costs one page, and so does a lookup that went on, or found that its key
   * was deleted. Of the further pages that scans read, a part would not be there. What the cache
   * had costs nothing.
   *
   * @param passedPart see {@code ReadLoss.Scans}
   */
  public double pagesLost(double passedPart) {
    double found = (double) SAMPLE * found();
    double vain = (double) SAMPLE * (passed() - found()) + cursors();
    if (vain <= 0) {
      return 0;
    }
    double ofVain = pagesRead() * vain / (vain + found);
    double further = cursors() == 0 ? 0 : Math.max(0, ofVain - vain);
    return Math.min(vain, ofVain) + passedPart * further;
  }

  /** Pages that were read from its file for readers. */
  public long pagesRead() {
    return counts.get(PAGES);
  }
}
