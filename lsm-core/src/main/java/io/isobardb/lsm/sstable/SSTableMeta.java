package io.isobardb.lsm.sstable;

/**
 * What is known of an SSTable without reading it. Kept in the manifest and in the file's footer.
 *
 * @param fileNumber names the file, {@code NNNNNNNNNN.sst}; unique in the store for ever
 * @param treeId the tree it belongs to
 * @param pageCount pages of the file, header and footer included
 * @param entries entries, delete markers included
 * @param deletes delete markers
 * @param minKey the first key
 * @param maxKey the last key
 * @param minLsn the lowest LSN of any entry
 * @param maxLsn the highest LSN of any entry
 * @param rootPage page number of the index root
 * @param indexHeight index pages on the way to a data page, 1 or more
 * @param filterPage page number of the first filter page; filter pages are contiguous
 * @param filterBlocks 64-byte blocks of the filter; 0 if there is none
 * @param sizeBytes bytes of the file on disk (compressed, if it is); for a memory SSTable, of its
 *     pages
 * @param codec {@code 0} none, {@code 1} LZ4
 * @param pageMapPage page number of the first page-map page, 0 if pages are not compressed
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
    int codec,
    int pageMapPage) {

  /** The file's name in the store's directory. */
  public String fileName() {
    return fileName(fileNumber);
  }

  /** The name of the SSTable file with this number. */
  public static String fileName(long fileNumber) {
    return String.format("%010d.sst", fileNumber);
  }
}
