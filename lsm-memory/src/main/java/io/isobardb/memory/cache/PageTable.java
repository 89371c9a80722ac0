package io.isobardb.memory.cache;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;

/**
 * Which disk page lies in which pool page: open addressing in one block of the pool. The table is
 * the frame array too: all there is to know of a frame is its value word, so a hit touches one
 * cache line.
 *
 * <pre>
 *  bucket: one cache line of 4 slots       slot: key (8) | value (8)
 *  value:  page (bits 0-31) | pins (32-47) | HOT (48) | VALID (49) | DOOMED (50) | MOVED (51)
 *          | GUIDE (52) | turns a guide has left (53-55)
 *  after the buckets: per bucket an int, how many entries had to pass it because it was full
 * </pre>
 *
 * An entry lies in the first bucket from its home on that had a free slot; a search ends at a
 * bucket that no entry passed.
 *
 * <p>Thread rule: all but {@link #insert} and {@link #moveTo} may be called by any thread
 * <em>within an epoch</em>; inserts of one key exclude each other, and {@code moveTo} excludes
 * inserts.
 *
 * <p>Invariants. A slot goes (0, -) → (key, not valid) → (key, valid) → (key, not valid) → (0, -);
 * the thread that makes a step to or from valid owns the slot until the key is 0. A page is
 * unlinked at most once within an epoch, and not linked again before the readers of that epoch have
 * left. So a reader that sees a valid value, then its key, and then the same page in the value
 * again (or swaps the value by comparison) knows that the page belongs to the key.
 */
final class PageTable {
  static final long PIN = 1L << 32;
  static final long PINS = 0xFFFFL << 32;
  static final long HOT = 1L << 48;
  static final long VALID = 1L << 49;

  /** Goes with its last pin. */
  static final long DOOMED = 1L << 50;

  /** Lives on in a larger table; this word does not change any more. */
  static final long MOVED = 1L << 51;

  /** Leads to other pages, so that it stays for {@link #GUIDE_TURNS} turns after it was hot. */
  static final long GUIDE = 1L << 52;

  /** Turns of the clock's hand. */
  static final int GUIDE_TURNS = 7;

  private static final int TURNS_SHIFT = 53;
  private static final long TURN = 1L << TURNS_SHIFT;
  private static final long TURNS = (long) GUIDE_TURNS << TURNS_SHIFT;

  /** No slot, no value. */
  static final int NO_SLOT = -1;

  private static final long SAME = VALID | 0xFFFFFFFFL;
  private static final int SLOT_BYTES = 16;
  private static final int BUCKET_BYTES = 64;
  private static final int BUCKET_SHIFT = 6;
  private static final int MAX_BUCKETS = (Integer.MAX_VALUE - 65536) / (BUCKET_BYTES + 4);

  private final Block block;
  private final Memory memory;
  private final int buckets;
  private final int passedBase;
  private final AtomicInteger guides = new AtomicInteger();

  /**
   * Allocates a table for so many frames, or for as many as a block can hold.
   *
   * @throws io.isobardb.memory.pool.OutOfBudgetException if the pool has no room for it
   */
  PageTable(PagePool pool, long frames) {
    // 2.4 of 4 slots in use: about one entry in twenty lies outside its home bucket.
    this.buckets = (int) Math.min(Math.max(frames, 16) * 5 / 12 + 1, MAX_BUCKETS);
    this.block = pool.blocks().allocate(buckets * (BUCKET_BYTES + 4), Purpose.METADATA);
    this.memory = block.memory();
    this.passedBase = buckets * BUCKET_BYTES;
  }

  Block block() {
    return block;
  }

  /** Frames it can hold. */
  int capacity() {
    return (int) (buckets * 12L / 5);
  }

  int slots() {
    return buckets * 4;
  }

  /** Mixed bits of a key; the upper half chooses the bucket. */
  static long hash(long key) {
    long h = key * 0x9E3779B97F4A7C15L;
    h = (h ^ (h >>> 32)) * 0xBF58476D1CE4E5B9L;
    return h ^ (h >>> 29);
  }

  /** The page of a key, or {@link BufferCache#ABSENT}; with {@code touch} it becomes hot. */
  int find(long key, boolean touch) {
    while (true) {
      int slot = locate(key);
      if (slot == NO_SLOT) {
        return BufferCache.ABSENT;
      }
      long value = memory.getLongAcquire(slot + 8);
      if ((value & VALID) != 0
          && memory.getLongAcquire(slot) == key
          && ((memory.getLongOpaque(slot + 8) ^ value) & SAME) == 0) {
        if (touch && (value & (HOT | MOVED)) == 0) {
          memory.compareAndSetLong(slot + 8, value, value | HOT);
        }
        return (int) value;
      }
    }
  }

  /** The value of a key, or 0 if it is absent. */
  long value(long key) {
    while (true) {
      int slot = locate(key);
      if (slot == NO_SLOT) {
        return 0;
      }
      long value = memory.getLongAcquire(slot + 8);
      if ((value & VALID) != 0
          && memory.getLongAcquire(slot) == key
          && ((memory.getLongOpaque(slot + 8) ^ value) & SAME) == 0) {
        return value;
      }
    }
  }

  /**
   * Adds to the pins of a key and sets {@code bits}.
   *
   * @return the value after it; 0 if the key is absent; a value that is MOVED if nothing was done
   *     since the entry is or will be in another table
   * @throws IllegalStateException if that is one pin too many or too few
   */
  long change(long key, int pins, long bits) {
    while (true) {
      int slot = locate(key);
      if (slot == NO_SLOT) {
        return 0;
      }
      long value = memory.getLongAcquire(slot + 8);
      if ((value & VALID) == 0 || memory.getLongAcquire(slot) != key) {
        continue;
      }
      if ((value & MOVED) != 0) {
        return value;
      }
      if (pins > 0 && (value & PINS) == PINS || pins < 0 && (value & PINS) == 0) {
        throw new IllegalStateException(
            (pins > 0 ? "too many pins of " : "not pinned: ") + BufferCache.describe(key));
      }
      long changed = (value + pins * PIN) | bits;
      if (changed == value || memory.compareAndSetLong(slot + 8, value, changed)) {
        return changed;
      }
    }
  }

  /**
   * Adds an entry that is not there; the caller sees to it that there is room.
   *
   * @return its slot
   */
  int insert(long key, long value) {
    int bucket = home(key);
    for (int tried = 0; tried < buckets; tried++) {
      int at = bucket << BUCKET_SHIFT;
      for (int slot = at; slot < at + BUCKET_BYTES; slot += SLOT_BYTES) {
        if (memory.getLongOpaque(slot) == 0 && memory.compareAndSetLong(slot, 0, key)) {
          countGuide(value, 1);
          memory.putLongRelease(slot + 8, value);
          return slot;
        }
      }
      memory.getAndAddInt(passedBase + 4 * bucket, 1);
      bucket = next(bucket);
    }
    throw new IllegalStateException("the page table is full");
  }

  /** Removes a key unless it is pinned; its value, or 0 if it was not removed. */
  long remove(long key) {
    while (true) {
      int slot = locate(key);
      if (slot == NO_SLOT) {
        return 0;
      }
      long value = memory.getLongAcquire(slot + 8);
      if ((value & VALID) == 0 || memory.getLongAcquire(slot) != key) {
        continue;
      }
      if ((value & (PINS | MOVED)) != 0) {
        return 0;
      }
      if (memory.compareAndSetLong(slot + 8, value, 0)) {
        clear(slot, key);
        countGuide(value, -1);
        return value;
      }
    }
  }

  /**
   * Moves the clock's hand over {@code count} slots from {@code from} on: hot entries become cold,
   * cold ones that nobody has pinned are removed and given to {@code victims}, until it is full.
   * Entries whose page {@code leaving} accepts are removed even if hot; with {@code onlyLeaving}
   * the others stay as they are.
   *
   * @param mostGuides guides get more turns than others while there are no more of them
   */
  void sweep(
      int from,
      int count,
      Victims victims,
      IntPredicate leaving,
      boolean onlyLeaving,
      int mostGuides) {
    int slots = slots();
    for (int i = 0; i < count && !victims.isFull(); i++) {
      int slot = (from + i) % slots * SLOT_BYTES;
      long value = memory.getLongAcquire(slot + 8);
      if ((value & (VALID | PINS | MOVED)) != VALID) {
        continue;
      }
      boolean leaves = leaving.test((int) value);
      if (onlyLeaving && !leaves) {
        continue;
      }
      boolean patient = !leaves && (value & DOOMED) == 0;
      if (patient && (value & HOT) != 0) {
        memory.compareAndSetLong(slot + 8, value, cooler(value));
        continue;
      }
      if (patient && (value & TURNS) != 0 && guides.get() <= mostGuides) {
        memory.compareAndSetLong(slot + 8, value, value - TURN);
        continue;
      }
      long key = memory.getLongAcquire(slot);
      if (memory.compareAndSetLong(slot + 8, value, 0)) {
        clear(slot, key);
        victims.add(key, (int) value);
        countGuide(value, -1);
      }
    }
  }

  private static long cooler(long value) {
    long cold = value & ~(HOT | TURNS);
    return (value & GUIDE) == 0 ? cold : cold + GUIDE_TURNS * TURN;
  }

  private void countGuide(long value, int change) {
    if ((value & GUIDE) != 0) {
      guides.addAndGet(change);
    }
  }

  /** Visits the value of every entry, pinned or not, and removes it. For closing. */
  void drain(Victims victims, int slot) {
    long value = memory.getLongAcquire(slot * SLOT_BYTES + 8);
    if ((value & VALID) != 0) {
      victims.add(memory.getLongAcquire(slot * SLOT_BYTES), (int) value);
      if ((value & PINS) != 0) {
        victims.pinned++;
      }
    }
  }

  /** Copies all entries to a table that nobody uses yet, and leaves them here as MOVED. */
  void moveTo(PageTable target) {
    for (int slot = 0; slot < passedBase; slot += SLOT_BYTES) {
      long value = memory.getLongAcquire(slot + 8);
      if ((value & VALID) == 0) {
        continue;
      }
      long key = memory.getLongAcquire(slot);
      long moved = value;
      int copy = target.insert(key, value);
      while (!memory.compareAndSetLong(slot + 8, value, value | MOVED)) {
        value = memory.getLongAcquire(slot + 8);
        if ((value & VALID) == 0) {
          target.clear(copy, key);
          target.countGuide(moved, -1);
          break;
        }
        target.memory.putLongRelease(copy + 8, value);
      }
    }
  }

  private int locate(long key) {
    int bucket = home(key);
    for (int tried = 0; tried < buckets; tried++) {
      int at = bucket << BUCKET_SHIFT;
      for (int slot = at; slot < at + BUCKET_BYTES; slot += SLOT_BYTES) {
        if (memory.getLongAcquire(slot) == key && (memory.getLongOpaque(slot + 8) & VALID) != 0) {
          return slot;
        }
      }
      if (memory.getIntAcquire(passedBase + 4 * bucket) == 0) {
        return NO_SLOT;
      }
      bucket = next(bucket);
    }
    return NO_SLOT;
  }

  /** Frees a slot whose value the caller has made invalid. */
  private void clear(int slot, long key) {
    memory.putLongRelease(slot + 8, 0);
    memory.putLongRelease(slot, 0);
    int last = slot >>> BUCKET_SHIFT;
    for (int bucket = home(key); bucket != last; bucket = next(bucket)) {
      memory.getAndAddInt(passedBase + 4 * bucket, -1);
    }
  }

  private int home(long key) {
    return (int) (((hash(key) >>> 32) * buckets) >>> 32);
  }

  private int next(int bucket) {
    return bucket + 1 == buckets ? 0 : bucket + 1;
  }
}
