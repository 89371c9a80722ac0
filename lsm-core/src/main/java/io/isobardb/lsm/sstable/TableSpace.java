package io.isobardb.lsm.sstable;

import io.isobardb.lsm.io.IoMode;
import io.isobardb.lsm.io.Storage;
import io.isobardb.memory.pool.PagePool;

/**
 * Where the SSTables of one store live: its memory, its buffer cache, its files.
 *
 * @param pool where pages come from; its page size is that of the SSTables
 * @param cache holds pages of files
 * @param storage the store's directory
 * @param ioMode how files are opened
 * @param storeIdHigh the store's ID, upper half
 * @param storeIdLow the store's ID, lower half
 */
public record TableSpace(
    PagePool pool,
    PageCache cache,
    Storage storage,
    IoMode ioMode,
    long storeIdHigh,
    long storeIdLow) {

  /** Size of a page in bytes. */
  public int pageSize() {
    return pool.pageSize();
  }

  long fileSeed(long fileNumber) {
    return PageLayout.fileSeed(storeIdHigh, storeIdLow, fileNumber);
  }
}
