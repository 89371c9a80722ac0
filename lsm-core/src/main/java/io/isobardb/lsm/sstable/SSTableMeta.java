package io.isobardb.lsm.sstable;

import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.io.FileNumber;
import org.jspecify.annotations.Nullable;

/**
 * What is known of an SSTable without reading it. Kept in the manifest and in the file's footer.
 *
 * @param fileNumber names the file, {@code NNNNNNNNNN.sst}; unique in the store for ever; memory
 *     SSTables have numbers of the same kind
 * @param treeId the tree it belongs to
 * @param pageCount pages of the file, header and footer page included
 * @param entries entries, delete markers included
 * @param deletes delete markers
 * @param minKey the first key
 * @param maxKey the last key
 * @param minLsn the lowest LSN of any entry
 * @param maxLsn the highest LSN of any entry
 * @param rootPage page number of the index root
 * @param indexHeight index pages on the way to a data page, 1 or more
 * @param filterPage page number of the first filter page; filter pages are contiguous; 0 if the
 *     filter is in the header page
 * @param filterBlocks 64-byte blocks of the filter; 0 if there is none
 * @param sizeBytes bytes of the file on disk (compressed, if it is); for a memory SSTable, of its
 *     pages and its index over entries
 * @param packing how its pages are stored
 * @param pageMapPage page number of the first page-map page, 0 if pages are not compressed
 * @param expiring the entries that expire
 */
public record SSTableMeta(
    long fileNumber,
    int treeId,
    int pageCount,
    long entries,
    long deletes,
    byte[] minKey,
    byte[] maxKey,
    long minLsn,
    long maxLsn,
    int rootPage,
    int indexHeight,
    int filterPage,
    int filterBlocks,
    long sizeBytes,
    Packing packing,
    int pageMapPage,
    Expiring expiring) {

  /**
   * The entries of an SSTable that expire. Kept in the manifest only.
   *
   * @param count how many there are
   * @param first when the first one expires; 0 if there are none
   * @param last when the last one expires; 0 if there are none
   */
  public record Expiring(long count, long first, long last) {
    /** There are none. */
    public static final Expiring NONE = new Expiring(0, 0, 0);

    public Expiring with(long expiry) {
      return new Expiring(
          count + 1, count == 0 ? expiry : Math.min(first, expiry), Math.max(last, expiry));
    }

    /** About how many have expired by then, as if they did so at even intervals. */
    public long expired(long nowMillis) {
      if (count == 0 || nowMillis < first) {
        return 0;
      }
      return nowMillis >= last
          ? count
          : 1 + (long) ((double) (count - 1) * (nowMillis - first) / (last - first));
    }
  }

  /**
   * What can't be of what is said here, in words, or null. Looked at before anything is read by it:
   * a file that says it has two thousand million pages would keep its reader busy.
   *
   * @param pageSize in bytes
   */
  public @Nullable String flaw(int pageSize) {
    boolean packed = !packing.isNone();
    long raw = packed ? 1L + pageCount - pageMapPage : pageCount;
    long storedBytes =
        packed ? (pageMapPage - 1L) * FileLayout.STORED_UNIT + packing.dictionarySpace() : 0;
    boolean fits = packed ? raw * pageSize + storedBytes <= sizeBytes : raw * pageSize == sizeBytes;
    boolean mapped =
        packed
            ? pageMapPage > 0
                && pageMapPage + FileLayout.pageMapPages(pageSize, pageMapPage) <= pageCount
            : pageMapPage == 0;
    if (fileNumber < 1 || fileNumber > MAX_FILE_NUMBER) {
      return "file number " + fileNumber;
    }
    if (!mapped || !packing.isValid()) {
      return "codec " + packing + " with a page map at page " + pageMapPage + " of " + pageCount;
    }
    if (!fits) {
      return pageCount + " pages of " + pageSize + " bytes in a file of " + sizeBytes + " bytes";
    }
    if (rootPage < 1
        || rootPage >= pageCount
        || indexHeight < 1
        || indexHeight > MAX_INDEX_HEIGHT) {
      return "an index of height " + indexHeight + " at page " + rootPage + " of " + pageCount;
    }
    if (!hasRoomForFilter(pageSize)) {
      return "a filter of " + filterBlocks + " blocks at page " + filterPage + " of " + pageCount;
    }
    long most = (long) pageCount * pageSize;
    if (deletes > entries || expiring.count() > entries || entries > most) {
      return entries + " entries, " + deletes + " deletes, " + expiring.count() + " that expire";
    }
    return minLsn > maxLsn ? "LSNs from " + minLsn + " to " + maxLsn : null;
  }

  private boolean hasRoomForFilter(int pageSize) {
    if (filterPage == 0) {
      return Filter.first(pageSize, 0) >= (long) filterBlocks * Filter.BLOCK;
    }
    long perPage = Filter.blocksPerPage(pageSize);
    return filterPage + (filterBlocks + perPage - 1) / perPage <= pageCount;
  }

  /** Whether its pages are compressed in the file. */
  public boolean isPacked() {
    return pageMapPage != 0;
  }

  /** Whether the file has no footer page: what that says is in the header page. */
  public boolean footerInHeader() {
    return rootPage == pageCount - 1;
  }

  /** Whether all that it holds, by then, are expired entries and delete markers. */
  public boolean holdsNothing(long nowMillis) {
    return expiring.count() + deletes == entries && Expiry.isOver(expiring.last(), nowMillis);
  }

  /** Each index page has two entries at least, and there are fewer than 2^31 pages. */
  private static final int MAX_INDEX_HEIGHT = 32;

  /** The caches know a file by 32 bits, and must not take it for another one. */
  private static final long MAX_FILE_NUMBER = (1L << 32) - 1;

  /**
   * What the caches know a file by: 32 bits, another value for each file.
   *
   * @throws IllegalStateException if there is none for this number
   */
  static int cacheNumber(long fileNumber) {
    if (fileNumber > MAX_FILE_NUMBER) {
      throw new IllegalStateException(
          fileName(fileNumber)
              + ": the store has used up all file numbers, the highest is "
              + MAX_FILE_NUMBER
              + "; repairing it makes a new store, which begins anew");
    }
    return (int) fileNumber;
  }

  /** The same SSTable, whose entries all count as written at one LSN. */
  public SSTableMeta at(long lsn) {
    return with(lsn, lsn, sizeBytes);
  }

  /** The same SSTable, with so many bytes. */
  SSTableMeta sized(long bytes) {
    return with(minLsn, maxLsn, bytes);
  }

  private SSTableMeta with(long lowestLsn, long highestLsn, long bytes) {
    return new SSTableMeta(
        fileNumber,
        treeId,
        pageCount,
        entries,
        deletes,
        minKey,
        maxKey,
        lowestLsn,
        highestLsn,
        rootPage,
        indexHeight,
        filterPage,
        filterBlocks,
        bytes,
        packing,
        pageMapPage,
        expiring);
  }

  /** The file's name in the store's directory. */
  public String fileName() {
    return fileName(fileNumber);
  }

  /** The name of the SSTable file with this number. */
  public static String fileName(long fileNumber) {
    return FileNumber.text(fileNumber, 10) + ".sst";
  }
}
