package io.isobardb.lsm.range;

import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;

/**
 * What the range deletes of a store's trees take on the Java heap, and how much they may.
 *
 * <p>Each tree counts what it keeps, with each change. A write counts for what its range deletes
 * will about take from before it has its place in the log until they count with the tree. Nothing
 * here refuses anything: a replay may go beyond the bound. The ledger has all up to the bound.
 *
 * <p>Not counted: what readers of older states keep.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class RangeMemory {
  /** Range deletes may take this part of the memory budget. */
  private static final int SHARE = 8;

  /** What a range delete takes besides its two keys, in bytes; about. */
  public static final int BYTES_EACH = 200;

  private final PagePool pool;

  /** Changed under the lock of this. */
  private volatile long bytes;

  /**
   * @param pool has the budget and the ledger
   */
  public RangeMemory(PagePool pool) {
    this.pool = pool;
  }

  /** What they take now, in bytes; about. */
  public long bytes() {
    return bytes;
  }

  /** What they may take, in bytes. */
  public long mostBytes() {
    return pool.limitBytes() / SHARE;
  }

  /** Whether there is room for so much more. */
  public boolean fits(long more) {
    return bytes + more <= mostBytes();
  }

  /** Adds what is there from now on, or with a negative number no more. */
  public void add(long more) {
    if (more != 0) {
      synchronized (this) {
        bytes += more;
        recount();
      }
    }
  }

  /** Tells the ledger again, after a change of the budget. */
  public synchronized void recount() {
    pool.blocks().countOnHeap(Purpose.RANGE_DELETES, Math.min(bytes, mostBytes()));
  }

  /** Has pages give way to what the ledger could not count yet. Holds no lock. */
  public void makeRoom() {
    if (pool.blocks().owes()) {
      pool.vacate();
    }
  }
}
