package io.isobardb.lsm.wal;

import io.isobardb.lsm.io.Storage;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.util.UUID;

/**
 * What a log that is not open is read with.
 *
 * @param scratch for headers of segments
 * @param window for records
 */
record ScanMemory(PagePool pool, Block scratch, Block window) implements AutoCloseable {
  private static final int WINDOW_BYTES = 256 << 10;

  /**
   * Takes memory of a pool.
   *
   * @throws OutOfBudgetException if the pool has too little; nothing is taken then
   */
  static ScanMemory of(PagePool pool) {
    Block scratch = pool.blocks().allocate(Segments.SCRATCH_BYTES, Purpose.LOG);
    try {
      return new ScanMemory(pool, scratch, pool.blocks().allocate(WINDOW_BYTES, Purpose.LOG));
    } catch (OutOfBudgetException e) {
      pool.release(scratch);
      throw e;
    }
  }

  /** A log's segments, which nothing is written to. */
  Segments segments(Storage storage, UUID storeId) {
    LogOptions options =
        new LogOptions(LogOptions.MIN_SEGMENT_BYTES, WINDOW_BYTES, false, Long.MAX_VALUE, 0);
    return new Segments(storage, storeId, scratch.memory(), options);
  }

  @Override
  public void close() {
    pool.release(window);
    pool.release(scratch);
  }
}
