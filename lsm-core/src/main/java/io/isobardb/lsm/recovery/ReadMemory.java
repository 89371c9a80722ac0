package io.isobardb.lsm.recovery;

import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.sstable.PageLayout;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.cache.CacheNeighbours;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.util.UUID;
import java.util.function.IntFunction;

/**
 * What must be there before SSTables can be read: a pool, a cache with its tables, and the spare
 * memory. All of it, or nothing: what can't be had whole is given back.
 *
 * <p>Thread rule: made and closed by one thread.
 */
public record ReadMemory(PagePool pool, BufferCache cache, Block spare) implements AutoCloseable {
  /**
   * Takes memory of a pool, which is closed if that fails.
   *
   * @param pool belongs to the result
   * @param cacheBytes the cache's target
   * @param ghostPages how many evicted pages the cache remembers
   * @param neighbours those that the cache shares the pool with
   * @throws OutOfBudgetException if the pool has too little
   */
  public static ReadMemory of(
      PagePool pool, long cacheBytes, int ghostPages, CacheNeighbours neighbours) {
    BufferCache cache = null;
    try {
      cache = new BufferCache(pool, cacheBytes, ghostPages, neighbours, PageLayout::isGuide);
      Block spare = pool.blocks().allocate(TableSpace.spareBytes(pool.pageSize()), Purpose.CACHE);
      return new ReadMemory(pool, cache, spare);
    } catch (Throwable e) {
      if (cache != null) {
        cache.close();
      }
      pool.close();
      throw e;
    }
  }

  /** A store's SSTables, read and written with this memory. */
  public TableSpace space(
      Storage storage, IoMode ioMode, UUID storeId, IntFunction<TableSpace.TreeLabel> trees) {
    return new TableSpace(
        pool,
        cache,
        storage,
        ioMode,
        storeId.getMostSignificantBits(),
        storeId.getLeastSignificantBits(),
        spare,
        trees);
  }

  /** Gives everything back. Nobody reads any more, and nobody else holds memory of the pool. */
  @Override
  public void close() {
    cache.close();
    pool.release(spare);
    pool.close();
  }
}
