package io.isobardb.lsm.component;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A split-block Bloom filter in pool pages that grows while it is read: 64-byte blocks of eight
 * words, one bit in each word.
 *
 * <p>Thread rule: {@link #add} and {@link #mayContain} by any thread, until {@link #retire}, and by
 * readers in an epoch after it. A key added before its entry is published is found by all readers
 * that can see the entry.
 */
final class ActiveFilter {
  private static final int BLOCK_SHIFT = 6;

  private final PagePool pool;
  private final int[] pages;
  private final int pageBlocksShift;
  private final int blocks;

  private ActiveFilter(PagePool pool, int[] pages, int blocks) {
    this.pool = pool;
    this.pages = pages;
    this.pageBlocksShift = Integer.numberOfTrailingZeros(pool.pageSize()) - BLOCK_SHIFT;
    this.blocks = blocks;
  }

  /** Pages that a filter with this many bits takes. */
  static int pagesFor(PagePool pool, long bits) {
    long pageBits = 8L * pool.pageSize();
    return (int) Math.max(1, (bits + pageBits - 1) / pageBits);
  }

  /** An empty filter of whole pages with at least so many bits; null if the pool has no room. */
  static @Nullable ActiveFilter create(PagePool pool, long bits) {
    int[] pages = new int[pagesFor(pool, bits)];
    for (int i = 0; i < pages.length; i++) {
      pages[i] = pool.allocate(Purpose.WRITE);
      if (pages[i] == PagePool.NONE) {
        while (--i >= 0) {
          pool.release(pages[i], Purpose.WRITE);
        }
        return null;
      }
      pool.memory(pages[i]).zero(pool.base(pages[i]), pool.pageSize());
    }
    return new ActiveFilter(pool, pages, pages.length * (pool.pageSize() >>> BLOCK_SHIFT));
  }

  int pageCount() {
    return pages.length;
  }

  /** Adds a key by its hash. */
  void add(long hash) {
    int block = block(hash);
    int page = pages[block >>> pageBlocksShift];
    Memory memory = pool.memory(page);
    int at = at(page, block);
    int low = (int) hash;
    for (int i = 0; i < 8; i++) {
      long bit = 1L << (low * salt(i) >>> 26);
      if ((memory.getLongOpaque(at + 8 * i) & bit) == 0) {
        memory.getAndOrLong(at + 8 * i, bit);
      }
    }
  }

  /** Whether a key with this hash may have been added; false is certain. */
  boolean mayContain(long hash) {
    int block = block(hash);
    int page = pages[block >>> pageBlocksShift];
    Memory memory = pool.memory(page);
    int at = at(page, block);
    int low = (int) hash;
    long missing = 0;
    for (int i = 0; i < 8; i++) {
      missing |= ~memory.getLong(at + 8 * i) >>> (low * salt(i) >>> 26);
    }
    return (missing & 1) == 0;
  }

  private int block(long hash) {
    return (int) ((hash >>> 32) * blocks >>> 32);
  }

  private int at(int page, int block) {
    return pool.base(page) + ((block & ((1 << pageBlocksShift) - 1)) << BLOCK_SHIFT);
  }

  /** Odd multipliers, one for each word. */
  private static int salt(int i) {
    return switch (i) {
      case 0 -> 0x47b6137b;
      case 1 -> 0x44974d91;
      case 2 -> 0x8824ad5b;
      case 3 -> 0xa2b7289d;
      case 4 -> 0x705495c7;
      case 5 -> 0x2df1424b;
      case 6 -> 0x9efc4947;
      default -> 0x5c6bfb31;
    };
  }

  /** Gives the pages up; readers in an epoch may still look. */
  void retire() {
    for (int page : pages) {
      pool.retire(page, Purpose.WRITE);
    }
  }

  /**
   * The filters of a growing tree, each with its own keys. Each that follows has twice the size, or
   * much more in a large tree, for what the tree grows by, so that no key has to be added again,
   * and few are asked.
   *
   * <p>Thread rule: {@link #extend} and {@link #retire} by one thread at a time.
   */
  static final class Chain {
    /** In a large tree a filter is for so many times what those before are for. */
    private static final int LARGE_STEP = 8;

    /** A smaller tree has no filter: it would take a good part of what it is for. */
    private static final int LEAST_FILTERED_PAGES = 16;

    private static final ActiveFilter[] NONE = {};

    private final PagePool pool;
    private final long firstBytes;

    /** What writers add to; the first is set before the keys already there are added. */
    private volatile @Nullable ActiveFilter growing;

    /** What readers ask; set once all keys are in. */
    private volatile ActiveFilter[] asked = NONE;

    /** No page was free at the last attempt: the pages of a tree that is worth another one. */
    private int attemptPages;

    /** What the filters are made for together. */
    private long filteredBytes;

    /**
     * @param firstBytes the size of a tree that the first filter is for
     */
    Chain(PagePool pool, long firstBytes) {
      this.pool = pool;
      this.firstBytes = firstBytes;
    }

    /** What writers add keys to now; null if there is no filter. */
    @Nullable ActiveFilter growing() {
      return growing;
    }

    /** Whether a key with this hash may have been added; false is certain. */
    boolean mayContain(long hash) {
      ActiveFilter[] all = asked;
      // The youngest is the largest, and has most of the keys.
      for (int i = all.length - 1; i >= 0; i--) {
        if (all[i].mayContain(hash)) {
          return true;
        }
      }
      return all.length == 0;
    }

    /**
     * Once the filter is no more than the tree it is for: makes one, and adds what is there. Once
     * the tree has outgrown it: makes another, for keys to come.
     *
     * @param held pages of the tree, filters included
     * @param addKeys adds the keys that are in the tree
     * @return the pages that the new filter takes; 0 if none was made
     */
    int extend(int held, Consumer<ActiveFilter> addKeys) {
      ActiveFilter[] before = asked;
      long bytes = (long) held * pool.pageSize();
      boolean large = bytes > MemoryRules.MOST_ACTIVE_BYTES;
      long wanted = large ? LARGE_STEP * filteredBytes : firstBytes << before.length;
      long bits = Math.max(firstBytes, wanted) / 64 * 10;
      boolean due =
          before.length == 0
              ? held >= Math.max(LEAST_FILTERED_PAGES, pagesFor(pool, bits))
              : bytes > filteredBytes;
      if (!due || held < attemptPages) {
        return 0;
      }
      ActiveFilter created = create(pool, bits);
      if (created == null) {
        // No room now: try again when the tree has doubled.
        attemptPages = 2 * held;
        return 0;
      }
      filteredBytes += Math.max(firstBytes, wanted);
      ActiveFilter[] all = Arrays.copyOf(before, before.length + 1);
      all[before.length] = created;
      if (before.length > 0) {
        // Readers first: a writer may add a key to it as soon as it is visible.
        asked = all;
        growing = created;
      } else {
        growing = created;
        addKeys.accept(created);
        asked = all;
      }
      return created.pageCount();
    }

    /** Gives the pages up; readers in an epoch may still look. */
    void retire() {
      for (ActiveFilter filter : asked) {
        filter.retire();
      }
    }
  }
}
