package io.isobardb.lsm.sstable;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Where the SSTables of one store live: its memory, its buffer cache, its files.
 *
 * @param pool where pages come from; its page size is that of the SSTables
 * @param cache holds pages of files
 * @param storage the store's directory
 * @param ioMode how files are opened
 * @param storeIdHigh the store's ID, upper half
 * @param storeIdLow the store's ID, lower half
 * @param spare {@link #spareBytes} for reads of compressed pages when there is no other memory;
 *     used by one thread at a time, which holds its lock
 * @param trees what is known of trees, by ID
 * @param loads reads beside those of readers' own threads
 */
public record TableSpace(
    PagePool pool,
    BufferCache cache,
    Storage storage,
    IoMode ioMode,
    long storeIdHigh,
    long storeIdLow,
    Block spare,
    IntFunction<TreeLabel> trees,
    PageLoads loads) {

  /**
   * What files and errors say of a tree.
   *
   * @param name null if it is not known
   * @param description as each file's header holds it; empty if not known
   */
  public record TreeLabel(@Nullable String name, byte[] description) {
    private static final TreeLabel UNKNOWN = new TreeLabel(null, new byte[0]);
  }

  /** One whose readers read for themselves. */
  public TableSpace(
      PagePool pool,
      BufferCache cache,
      Storage storage,
      IoMode ioMode,
      long storeIdHigh,
      long storeIdLow,
      Block spare,
      IntFunction<TreeLabel> trees) {
    this(
        pool,
        cache,
        storage,
        ioMode,
        storeIdHigh,
        storeIdLow,
        spare,
        trees,
        PageLoads.withoutHelpers());
  }

  /** The same, with files that helpers may read. */
  public TableSpace with(PageLoads helped) {
    return new TableSpace(
        pool, cache, storage, ioMode, storeIdHigh, storeIdLow, spare, trees, helped);
  }

  /** For {@link #trees} where nothing is known of them. */
  public static TreeLabel unknownTree(int treeId) {
    return TreeLabel.UNKNOWN;
  }

  /** The same, with files that are reached by another storage. */
  public TableSpace by(Storage other) {
    return new TableSpace(pool, cache, other, ioMode, storeIdHigh, storeIdLow, spare, trees, loads);
  }

  /** What to throw if an SSTable's file is not what was written. */
  public CorruptionException corrupt(SSTableMeta meta, long offset, String what) {
    String tree = trees.apply(meta.treeId()).name();
    return new CorruptionException(meta.fileName(), offset, what, tree).in(storage.path());
  }

  /** Size of the spare memory: as much as the largest compressed page needs, read in blocks. */
  public static int spareBytes(int pageSize) {
    return pageSize + 3 * DataFile.BLOCK;
  }

  /** Size of a page in bytes. */
  public int pageSize() {
    return pool.pageSize();
  }

  public long fileSeed(long fileNumber) {
    return PageLayout.fileSeed(storeIdHigh, storeIdLow, fileNumber);
  }
}
