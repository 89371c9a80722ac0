package io.isobardb.lsm.sstable;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.memory.cache.Extras;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Where the newest version of each key of an SSTable lies, by the key's hash. A point read then
 * touches a line of the index and the entry, instead of index pages and the heads and offsets of a
 * data page.
 *
 * <pre>
 *  bucket: one cache line of 8 slots, taken from the first on
 *  slot:   page (bits 32 to 63) | offset of the entry in the page (16 to 31) | tag (0 to 15)
 * </pre>
 *
 * A key lies in the first bucket from its home on that had a free slot, which is 0. The tag is made
 * of bits of the hash, and never 0.
 *
 * <p>Immutable once it is filled, as the SSTable is. So an answer is never out of date. Of an
 * SSTable in memory it has pool pages. Its own pages are charged to {@link Purpose#WRITE}, and live
 * as long as those of the SSTable. Of one on disk it has page numbers, and may go before the
 * SSTable does ({@link Extras}): where an entry lies does not change with what the cache holds.
 *
 * <p>Thread rule: {@link #guess} by any thread in an epoch, or by a holder of an SSTable in memory.
 */
final class EntryIndex implements Extras.Extra {
  /** There is no such key. */
  static final long ABSENT = SSTable.ABSENT;

  /** The index can't tell: another key looks the same. */
  static final long UNSURE = -2;

  private static final int BUCKET_SHIFT = 6;
  private static final int BUCKET_BYTES = 1 << BUCKET_SHIFT;
  private static final int SLOT_BYTES = 8;
  private static final int LAST_SLOT = BUCKET_BYTES - SLOT_BYTES;
  private static final int TAG = 0xFFFF;

  /** So many buckets are for 80 entries: 10.4 bytes each, and three slots of four are in use. */
  private static final int BUCKETS_FOR_80 = 13;

  private final PagePool pool;
  private final int[] pages;
  private final int buckets;
  private final int pageShift;
  private final Runnable unlink;

  private EntryIndex(PagePool pool, int[] pages, int buckets, Runnable unlink) {
    this.pool = pool;
    this.unlink = unlink;
    this.pages = pages;
    this.buckets = buckets;
    this.pageShift = Integer.numberOfTrailingZeros(pool.pageSize()) - BUCKET_SHIFT;
  }

  /** Bytes, in pages, that an index over so many entries takes. */
  static long bytesFor(PagePool pool, long entries) {
    return pagesFor(pool, entries) * pool.pageSize();
  }

  private static long buckets(long entries) {
    return entries * BUCKETS_FOR_80 / 80 + 1;
  }

  static long pagesFor(PagePool pool, long entries) {
    return (buckets(entries) * BUCKET_BYTES + pool.pageSize() - 1) / pool.pageSize();
  }

  /**
   * An index over the data pages among {@code tablePages}.
   *
   * @param tablePages pool pages by page number, from 1 on, as a {@link PageBuilder} filled them
   * @param entries how many entries they hold, all versions counted
   * @return null if the pool has no room
   */
  static @Nullable EntryIndex of(PagePool pool, int[] tablePages, long entries) {
    EntryIndex index = empty(pool, Purpose.WRITE, entries, () -> {});
    if (index != null) {
      Filling filling = index.new Filling();
      for (int pageNo = 1; pageNo < tablePages.length; pageNo++) {
        filling.add(tablePages[pageNo], tablePages[pageNo]);
      }
    }
    return index;
  }

  /**
   * An index that has nothing yet.
   *
   * @param entries how many there will be at most
   * @param unlink sees to it that nobody finds it any more
   * @return null if the pool has no room
   */
  static @Nullable EntryIndex empty(PagePool pool, Purpose purpose, long entries, Runnable unlink) {
    int[] pages = new int[(int) pagesFor(pool, entries)];
    for (int i = 0; i < pages.length; i++) {
      pages[i] = pool.tryAllocate(purpose);
      if (pages[i] == PagePool.NONE) {
        while (--i >= 0) {
          pool.release(pages[i], purpose);
        }
        return null;
      }
      pool.memory(pages[i]).zero(pool.base(pages[i]), pool.pageSize());
    }
    return new EntryIndex(pool, pages, (int) buckets(entries), unlink);
  }

  /** Puts the entries of an SSTable into its index, page by page in their order. */
  final class Filling {
    private byte[] key = new byte[PageLayout.maxKeyBytes(pool.pageSize())];
    private byte[] before = new byte[key.length];
    private int lengthBefore = -1;

    EntryIndex index() {
      return EntryIndex.this;
    }

    /**
     * Adds what a page holds, if it is a data page.
     *
     * @param page of the pool
     * @param number what the index is to call it
     * @return how many entries it holds, all versions counted, of kinds that a reader knows
     */
    int add(int page, int number) {
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      if (memory.getByte(base + PageLayout.TYPE) != PageLayout.DATA) {
        return 0;
      }
      int count = PageReader.count(memory, base);
      int known = 0;
      for (int slot = 0; slot < count; slot++) {
        int entry = PageReader.entry(memory, base, slot);
        known += Kind.isData(PageReader.kind(memory, base, entry)) ? 1 : 0;
        int length = PageReader.copyKey(memory, base, slot, key);
        // Of the versions of a key the newest comes first.
        if (lengthBefore < 0 || !Arrays.equals(key, 0, length, before, 0, lengthBefore)) {
          EntryIndex.this.add(KeyHash.hash(key, 0, length), number, entry);
        }
        byte[] other = before;
        before = key;
        lengthBefore = length;
        key = other;
      }
      return known;
    }
  }

  private void add(long hash, int page, int entry) {
    long word = (long) page << 32 | (long) entry << 16 | tag(hash);
    for (int bucket = home(hash); ; bucket = next(bucket)) {
      int in = pages[bucket >>> pageShift];
      Memory memory = pool.memory(in);
      int at = at(in, bucket);
      for (int slot = at; slot <= at + LAST_SLOT; slot += SLOT_BYTES) {
        if (memory.getLong(slot) == 0) {
          memory.putLong(slot, word);
          return;
        }
      }
    }
  }

  /**
   * Reads the line that {@link #guess} reads first. Of many keys the processor waits for all these
   * lines at once, if nothing else comes in between.
   *
   * @return anything; to be kept, so that the compiler does not leave the reading out
   */
  int fetch(long hash) {
    int bucket = home(hash);
    int in = pages[bucket >>> pageShift];
    return pool.memory(in).getByte(at(in, bucket));
  }

  /**
   * Where the only key lies that may be one with this hash, without a look at that key: page and
   * entry as a location has them, {@link #ABSENT} or {@link #UNSURE}.
   */
  long guess(long hash) {
    int tag = tag(hash);
    for (int bucket = home(hash); ; bucket = next(bucket)) {
      int in = pages[bucket >>> pageShift];
      Memory memory = pool.memory(in);
      int at = at(in, bucket);
      long found = 0;
      long matches = 0;
      long word = 0;
      // Without a branch: which slot it is can't be predicted, and the line is not there yet.
      for (int slot = at; slot <= at + LAST_SLOT; slot += SLOT_BYTES) {
        word = memory.getLong(slot);
        long same = (((word ^ tag) & TAG) - 1) >> 63;
        found |= word & same;
        matches -= same;
      }
      if (matches == 1) {
        return found >>> 32 << 32 | found >>> 16 & 0xFFFF;
      }
      if (matches > 1) {
        return UNSURE;
      }
      if (word == 0) {
        return ABSENT;
      }
    }
  }

  /**
   * Whether an entry has this key.
   *
   * @param location in a page of the pool
   */
  static boolean isKey(PagePool pool, long location, byte[] key) {
    int page = SSTable.pageOf(location);
    int entry = SSTable.entryOf(location);
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    int suffix = PageReader.suffixLength(memory, base, entry);
    int prefix = key.length - suffix;
    // The prefix ends where the heap begins. Reckoned, not read, so that no load waits for another.
    int prefixAt = base + pool.pageSize() - PageLayout.TAIL - prefix;
    return prefix == memory.getUnsignedShort(base + PageLayout.PREFIX_LENGTH)
        && memory.compare(
                base + PageReader.suffixOffset(memory, base, entry), suffix, key, prefix, suffix)
            == 0
        && memory.compare(prefixAt, prefix, key, 0, prefix) == 0;
  }

  private static int tag(long hash) {
    return (int) hash & TAG | 1;
  }

  private int home(long hash) {
    return Filter.block(hash, buckets);
  }

  private int next(int bucket) {
    return bucket + 1 == buckets ? 0 : bucket + 1;
  }

  private int at(int page, int bucket) {
    return pool.base(page) + ((bucket & ((1 << pageShift) - 1)) << BUCKET_SHIFT);
  }

  /** Bytes of its pages. */
  long sizeBytes() {
    return (long) pages.length * pool.pageSize();
  }

  @Override
  public int[] pages() {
    return pages;
  }

  @Override
  public void unlink() {
    unlink.run();
  }

  /** Gives its pages up, of an SSTable in memory; readers in an epoch may still look. */
  void retire() {
    pool.retire(pages, pages.length, Purpose.WRITE);
  }
}
