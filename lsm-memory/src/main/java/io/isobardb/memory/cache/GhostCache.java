package io.isobardb.memory.cache;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;

/**
 * The IDs of the pages that left the buffer cache last, without their contents: what a larger cache
 * would have held. When it is full the oldest ID goes.
 *
 * <pre>
 *  entry i, 16 bytes: key (8) | next newer entry (4) | next older entry (4)
 *  table, 4 bytes a slot: entry + 1, or 0; open addressing, at most half full
 * </pre>
 *
 * <p>Thread rule: all methods may be called by any thread; one lock, taken once a miss or eviction.
 * Costs 24 to 32 bytes an ID, in a block charged to {@link Purpose#GHOST}.
 */
public final class GhostCache implements AutoCloseable {
  private static final int NONE = -1;
  private static final int ENTRY_BYTES = 16;

  private final PagePool pool;
  private final Block block;
  private final Memory memory;
  private final int capacity;
  private final int tableBase;
  private final int tableMask;
  private int size;
  private int newest = NONE;
  private int oldest = NONE;

  /**
   * Entries not in use, linked through {@code older}; those from {@code untouched} on never were.
   */
  private int unused = NONE;

  private int untouched;
  private boolean closed;

  /**
   * An empty ghost cache.
   *
   * @param capacity how many page IDs it holds, from 1 to 2^25
   * @throws io.isobardb.memory.pool.OutOfBudgetException if the pool has no room for it
   */
  public GhostCache(PagePool pool, int capacity) {
    if (capacity < 1 || capacity > 1 << 25) {
      throw new IllegalArgumentException("a ghost cache of " + capacity + " pages");
    }
    this.pool = pool;
    this.capacity = capacity;
    int slots = Integer.highestOneBit(2 * capacity - 1) << 1;
    this.tableMask = slots - 1;
    this.tableBase = capacity * ENTRY_BYTES;
    this.block = pool.blocks().allocate(tableBase + 4 * slots, Purpose.GHOST);
    this.memory = block.memory();
  }

  /** How many page IDs it can hold. */
  public int capacity() {
    return capacity;
  }

  /** How many page IDs it holds. */
  public synchronized int size() {
    return size;
  }

  /** Whether a page left the cache lately. */
  public synchronized boolean contains(long key) {
    checkOpen();
    return memory.getInt(slotOf(key)) != 0;
  }

  /** Notes that a page leaves the cache; it becomes the newest even if it is known. */
  public synchronized void record(long key) {
    checkOpen();
    int slot = slotOf(key);
    int entry = memory.getInt(slot) - 1;
    if (entry != NONE) {
      unlink(entry);
    } else {
      if (size == capacity) {
        removeAt(slotOf(memory.getLong(oldest * ENTRY_BYTES)));
        slot = slotOf(key);
      }
      entry = unused;
      if (entry != NONE) {
        unused = older(entry);
      } else {
        entry = untouched++;
      }
      memory.putLong(entry * ENTRY_BYTES, key);
      memory.putInt(slot, entry + 1);
      size++;
    }
    setNewer(entry, NONE);
    setOlder(entry, newest);
    if (newest != NONE) {
      setNewer(newest, entry);
    } else {
      oldest = entry;
    }
    newest = entry;
  }

  /** Forgets a page, as it comes into the cache; whether it was known. */
  public synchronized boolean remove(long key) {
    checkOpen();
    int slot = slotOf(key);
    if (memory.getInt(slot) == 0) {
      return false;
    }
    removeAt(slot);
    return true;
  }

  /** Gives its memory back. */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      pool.release(block);
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the ghost cache is closed");
    }
  }

  /** The slot of a key, or the free one where it would go. */
  private int slotOf(long key) {
    int i = homeOf(key);
    while (true) {
      int slot = tableBase + 4 * i;
      int entry = memory.getInt(slot);
      if (entry == 0 || memory.getLong((entry - 1) * ENTRY_BYTES) == key) {
        return slot;
      }
      i = (i + 1) & tableMask;
    }
  }

  private int homeOf(long key) {
    return (int) (PageTable.hash(key) >>> 32) & tableMask;
  }

  private void removeAt(int slot) {
    int entry = memory.getInt(slot) - 1;
    unlink(entry);
    setOlder(entry, unused);
    unused = entry;
    size--;
    closeGap((slot - tableBase) / 4);
  }

  /** Moves back what lies behind the gap and may lie in it, so that searches need no marks. */
  private void closeGap(int gap) {
    int i = gap;
    while (true) {
      i = (i + 1) & tableMask;
      int entry = memory.getInt(tableBase + 4 * i);
      if (entry == 0) {
        memory.putInt(tableBase + 4 * gap, 0);
        return;
      }
      int home = homeOf(memory.getLong((entry - 1) * ENTRY_BYTES));
      if (((i - home) & tableMask) >= ((i - gap) & tableMask)) {
        memory.putInt(tableBase + 4 * gap, entry);
        gap = i;
      }
    }
  }

  private void unlink(int entry) {
    int newer = newer(entry);
    int older = older(entry);
    if (newer == NONE) {
      newest = older;
    } else {
      setOlder(newer, older);
    }
    if (older == NONE) {
      oldest = newer;
    } else {
      setNewer(older, newer);
    }
  }

  private int newer(int entry) {
    return memory.getInt(entry * ENTRY_BYTES + 8);
  }

  private int older(int entry) {
    return memory.getInt(entry * ENTRY_BYTES + 12);
  }

  private void setNewer(int entry, int newer) {
    memory.putInt(entry * ENTRY_BYTES + 8, newer);
  }

  private void setOlder(int entry, int older) {
    memory.putInt(entry * ENTRY_BYTES + 12, older);
  }
}
