package io.isobardb.lsm.component;

import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;

/**
 * What the {@link FirstEntries} of a store's trees take of the write memory, and how much they may.
 *
 * <p>They lie on the heap where a page for each tree with an entry in memory would take much of the
 * write memory: then a page would be flushed for an entry or two. The ledger has them.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class FirstRoom {
  /** First entries take this part of the write memory at most. */
  private static final int MOST_SHARE = 2;

  /** They take this part of what the JVM's heap may be at most. */
  private static final int HEAP_SHARE = 16;

  /** The ledger is told in steps of this part of the write memory. */
  private static final int STEP_SHARE = 32;

  private final PagePool pool;
  private final IntSupplier trees;
  private final double crowdedPart;
  private final AtomicLong bytes = new AtomicLong();
  private volatile long limitBytes;

  /** What the ledger knows. Changed under the lock of this. */
  private volatile long toldBytes;

  /**
   * @param trees how many hold something in memory, or are about to
   * @param crowdedPart the part of the write memory beyond which pages for all trees are much
   * @param limitBytes the size of the write memory; 0 for no first entries
   */
  public FirstRoom(PagePool pool, IntSupplier trees, double crowdedPart, long limitBytes) {
    this.pool = pool;
    this.trees = trees;
    this.crowdedPart = crowdedPart;
    this.limitBytes = limitBytes;
  }

  /** Where pages come from. */
  public PagePool pool() {
    return pool;
  }

  /** Changes the size of the write memory. */
  public void setLimitBytes(long bytes) {
    limitBytes = bytes;
  }

  /** What they take now, in bytes; about. */
  public long bytes() {
    return bytes.get();
  }

  /** Whether pages for all trees would be too much. */
  boolean isCrowded() {
    return (double) trees.getAsInt() * pool.pageSize() > crowdedPart * limitBytes;
  }

  /** Counts more first entries; false if there is no room. */
  boolean tryTake(long more) {
    long most = Math.min(limitBytes / MOST_SHARE, Runtime.getRuntime().maxMemory() / HEAP_SHARE);
    if (bytes.addAndGet(more) > most && more > 0) {
      bytes.addAndGet(-more);
      return false;
    }
    tell();
    return true;
  }

  /** Counts less. */
  void give(long less) {
    bytes.addAndGet(-less);
    tell();
  }

  private void tell() {
    if (inSteps() != toldBytes) {
      synchronized (this) {
        toldBytes = inSteps();
        pool.blocks().countOnHeap(Purpose.WRITE, toldBytes);
      }
    }
  }

  private long inSteps() {
    long step = Math.max(1, limitBytes / STEP_SHARE);
    return (bytes.get() + step - 1) / step * step;
  }

  /** Has pages give way to what the ledger could not count yet. Holds no lock. */
  public void makeRoom() {
    if (toldBytes > 0 && pool.blocks().owes()) {
      pool.vacate();
    }
  }
}
