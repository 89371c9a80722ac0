package io.isobardb.lsm.tuning;

import io.isobardb.lsm.setting.OptionLimits;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.pool.PagePool;

/**
 * How a memory budget is divided; all in bytes. The gate of the write memory, the cache and the
 * reserves take their limits from here, so that what the gate lets in has pages, and flushes have
 * the pages that they need to make more come free.
 *
 * <pre>
 * budget = fixed          blocks: the log's buffers, tables, the spare memory
 *        + slabs          pages: write memory, the least cache, the reserve
 *        + what is left   read-ahead, headroom, more cache
 * </pre>
 *
 * @param writeBytes the write memory: what was asked for, as far as it can be had
 * @param mostWriteBytes the most that it can have
 * @param sharedBytes what write memory and cache have together
 * @param blockBytes left to blocks, the fixed ones included
 * @param slabBytes left to slabs by blocks that can be done without
 */
public record MemoryAccount(
    long writeBytes, long mostWriteBytes, long sharedBytes, long blockBytes, long slabBytes) {
  /**
   * The least cache, in pages. A merge holds one of each run that it reads: of the dozen that L0
   * has at most, and of the levels.
   */
  static final int LEAST_CACHE_PAGES = BufferCache.MINIMUM_PAGES;

  /** The least write memory, in pages. */
  private static final int LEAST_WRITE_PAGES = 16;

  /** Pages kept for writes, flushes and merges that have begun. */
  private static final int RESERVE_PAGES = 32;

  /** How many of {@link #RESERVE_PAGES} are for flushes and merges alone. */
  private static final int RELIEF_PAGES = 16;

  /** Blocks that come and go: when the manifest is rolled, or the tuner's file is written. */
  private static final long PASSING_BYTES = 96 << 10;

  /** What is kept for needs that can't wait has these bounds. */
  private static final long MOST_HEADROOM = 8 << 20;

  private static final long LEAST_HEADROOM = 512 << 10;

  /** The least budget for a pool whose blocks take {@code fixedBytes}. */
  static long leastBudget(PagePool pool, long fixedBytes) {
    long pages = LEAST_WRITE_PAGES + LEAST_CACHE_PAGES + RESERVE_PAGES;
    long least = fixedBytes + PASSING_BYTES + pool.slabBytesFor(pages);
    return Math.max(OptionLimits.leastBudget(pool.pageSize()), Math.max(4 * fixedBytes, least));
  }

  /**
   * Divides a budget of at least {@link #leastBudget(PagePool, long)}.
   *
   * @param fixedBytes of blocks that are held as long as the store is open
   * @param wantedBytes the write memory that was asked for
   */
  public static MemoryAccount of(PagePool pool, long budget, long fixedBytes, long wantedBytes) {
    long pageSize = pool.pageSize();
    long besides = LEAST_CACHE_PAGES + RESERVE_PAGES;
    long blocks = fixedBytes + PASSING_BYTES;
    long most = (pool.pagesWithin(budget - blocks) - besides) * pageSize;
    long least = Math.min(most, LEAST_WRITE_PAGES * pageSize);
    long write = Math.max(least, Math.min(wantedBytes, most));
    long slabs = slabBytes(pool, write);
    long left = Math.max(0, budget - blocks - slabs);
    // A merge reads a dozen SSTables at once, each a piece at a time: its blocks have room here.
    long readAhead = Math.min(left / 2, headroom(budget / 16));
    long headroom = Math.min(left / 2, headroom(budget / 32));
    long shared = budget - fixedBytes - readAhead - headroom;
    return new MemoryAccount(
        write,
        Math.min(most, shared - LEAST_CACHE_PAGES * pageSize),
        shared,
        fixedBytes + readAhead,
        Math.min(slabs, budget - fixedBytes));
  }

  /** What blocks that can be done without leave to slabs for so much write memory. */
  static long slabBytes(PagePool pool, long writeBytes) {
    long pages = (writeBytes + pool.pageSize() - 1) / pool.pageSize();
    return pool.slabBytesFor(pages + LEAST_CACHE_PAGES + RESERVE_PAGES);
  }

  private static long headroom(long share) {
    return Math.max(Math.min(share, MOST_HEADROOM), LEAST_HEADROOM);
  }

  /** Holds back what this account reserves. */
  public void apply(PagePool pool) {
    pool.reservePages(RESERVE_PAGES, RELIEF_PAGES);
    pool.keepForBlocks(blockBytes);
    pool.blocks().keepForSlabs(slabBytes);
  }

  /** The blocks that a pool holds now and goes on holding. */
  static long fixedBytes(PagePool pool) {
    return pool.blocks().lastingBytes();
  }
}
