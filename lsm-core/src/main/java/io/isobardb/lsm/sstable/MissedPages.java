package io.isobardb.lsm.sstable;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Pages that are not in memory, for {@link PageLoads}. A page that is added twice in a row counts
 * once.
 *
 * <p>Thread rule: one thread changes it. While it is being loaded nobody does.
 */
public final class MissedPages {
  private @Nullable SSTable[] tables = new @Nullable SSTable[8];
  private int[] pages = new int[8];
  private int count;

  /** How many there are. */
  public int count() {
    return count;
  }

  /** Removes all. */
  public void clear() {
    count = 0;
  }

  /** Adds a page of an SSTable on disk, which the caller holds until the page is loaded. */
  public void add(SSTable table, int pageNo) {
    if (count > 0 && tables[count - 1] == table && pages[count - 1] == pageNo) {
      return;
    }
    if (count == pages.length) {
      tables = Arrays.copyOf(tables, 2 * count);
      pages = Arrays.copyOf(pages, 2 * count);
    }
    tables[count] = table;
    pages[count++] = pageNo;
  }

  SSTable table(int i) {
    SSTable table = tables[i];
    if (i >= count || table == null) {
      throw new IndexOutOfBoundsException(i);
    }
    return table;
  }

  int page(int i) {
    return pages[i];
  }
}
