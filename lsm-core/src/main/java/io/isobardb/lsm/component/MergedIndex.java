package io.isobardb.lsm.component;

import static io.isobardb.lsm.component.ActiveNodes.ENTRY_KEY;
import static io.isobardb.lsm.component.ActiveNodes.ENTRY_LINK;

import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.page.Words;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One flat index over the entries of several sealed active SSTables, which stay in the leaves that
 * they were written to: an array of places in pool pages, sorted by (key ascending, LSN
 * descending). What was overwritten is still there. The leaves belong to the index.
 *
 * <pre>
 *   0                  8        12       16
 *   +------------------+--------+--------+
 *   | head             | leaf   | offset |   one entry
 *   +------------------+--------+--------+
 * </pre>
 *
 * A head is the eight key bytes after what all keys have in common, as an unsigned word, or 0 if
 * the order is not that of the bytes.
 *
 * <p>Immutable. Thread rule: lookups by any thread within an epoch; a cursor's user keeps the index
 * from being freed. It is made by {@link IndexMerge}.
 */
public final class MergedIndex implements WrittenEntries {
  static final int PLACE_SHIFT = 4;
  static final int PLACE_LEAF = 8;
  static final int PLACE_OFFSET = 12;

  /** Bits of the filter for an entry. */
  private static final int FILTER_BITS = 10;

  private final PagePool pool;
  private final KeyOrder order;
  private final boolean bytes;

  /** What all keys begin with. */
  private final byte[] prefix;

  private final int[] pages;
  private final int pageShift;
  private final int count;
  private final @Nullable ActiveFilter filter;
  private final int[] leaves;
  private final long indexBytes;
  private final long bytesUsed;
  private final long minLsn;

  // Guarded by this.
  private boolean handedOver;
  private boolean freed;

  MergedIndex(
      PagePool pool,
      KeyOrder order,
      Places places,
      @Nullable ActiveFilter filter,
      int[] leaves,
      long minLsn) {
    this.pool = pool;
    this.order = order;
    this.bytes = order.isBytes();
    this.prefix = places.prefix();
    this.pages = places.pages();
    this.count = places.count();
    this.pageShift = Integer.numberOfTrailingZeros(pool.pageSize()) - PLACE_SHIFT;
    this.filter = filter;
    this.leaves = leaves;
    this.minLsn = minLsn;
    long own = pages.length + (filter == null ? 0 : filter.pageCount());
    long held = own;
    for (int leaf : leaves) {
      held += NodeWalk.leafPages(pool, leaf);
    }
    this.indexBytes = own * pool.pageSize();
    this.bytesUsed = held * pool.pageSize();
  }

  /**
   * The array of an index.
   *
   * @param prefix what all keys begin with
   * @param pages where it lies
   * @param count how many entries it has
   */
  record Places(byte[] prefix, int[] pages, int count) {}

  /** Bytes that an index over so many entries takes besides them. */
  public static long bytesFor(PagePool pool, long entries) {
    long places = (entries << PLACE_SHIFT) + pool.pageSize();
    return places + (long) pool.pageSize() * ActiveFilter.pagesFor(pool, filterBits(entries));
  }

  static long filterBits(long entries) {
    return entries * FILTER_BITS;
  }

  @Override
  public int find(byte[] key, Probe probe) {
    if (filter != null && !filter.mayContain(probe.hash())) {
      return Probe.ABSENT;
    }
    int at = lowerBound(key, 0, key.length, Math.min(probe.lsn(), ActiveNodes.NEWEST));
    if (at > 0 && hasKey(at - 1, key) && missing(at - 1, probe.lsn())) {
      return Probe.RETRY;
    }
    if (at == count || !hasKey(at, key)) {
      return Probe.ABSENT;
    }
    int leaf = leaf(at);
    Memory memory = pool.memory(leaf);
    int entry = pool.base(leaf) + offset(at);
    int from = entry + ENTRY_KEY + key.length;
    int kind = ActiveNodes.kind(memory, entry);
    int stored = ActiveNodes.valueLength(memory, entry);
    int length = Kind.valueLength(kind, stored);
    long expiry = Kind.expiry(kind, memory, from + stored);
    int said = probe.judge(kind, ActiveNodes.lsn(memory, entry), expiry);
    if (said == Probe.ELSEWHERE) {
      length = memory.getInt(from + 4);
      if (probe.hasRoom(length)) {
        ByteBuffer target = probe.target();
        OverflowChain.copy(pool, memory.getInt(from), 0, target, target.position(), length);
      }
      return length;
    }
    if (said == Probe.HERE && probe.hasRoom(length)) {
      ByteBuffer target = probe.target();
      memory.get(from, target, target.position(), length);
    }
    return said == Probe.HERE ? length : said;
  }

  @Override
  public long newestLsn(byte[] key, long hash) {
    if (filter != null && !filter.mayContain(hash)) {
      return Probe.ABSENT;
    }
    int at = lowerBound(key, 0, key.length, ActiveNodes.NEWEST);
    return at < count && hasKey(at, key) ? lsn(at) : Probe.ABSENT;
  }

  /** Whether versions up to {@code lsn} may have been pruned below this newer version. */
  private boolean missing(int at, long lsn) {
    int leaf = leaf(at);
    Memory memory = pool.memory(leaf);
    int entry = pool.base(leaf) + offset(at);
    return memory.getInt(entry + ENTRY_LINK) != 0 && ActiveNodes.prunedFrom(memory, entry) <= lsn;
  }

  /**
   * The first place that is not before ({@code key}, {@code lsn}); the number of places if none.
   */
  int lowerBound(byte[] key, int offset, int length, long lsn) {
    if (bytes) {
      int common = Math.min(prefix.length, length);
      int c = Arrays.compareUnsigned(key, offset, offset + common, prefix, 0, common);
      if (c != 0 || common < prefix.length) {
        return c > 0 ? count : 0;
      }
    }
    long head = bytes ? Words.head(key, offset + prefix.length, length - prefix.length) : 0;
    int low = 0;
    int high = count;
    while (low < high) {
      int middle = (low + high) >>> 1;
      long found = place(middle).getLong(placeAt(middle));
      boolean before;
      if (found != head) {
        before = Long.compareUnsigned(found, head) < 0;
      } else {
        int c = compareKey(middle, key, offset, length);
        before = c < 0 || c == 0 && lsn(middle) > lsn;
      }
      if (before) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private int compareKey(int at, byte[] key, int offset, int length) {
    int leaf = leaf(at);
    Memory memory = pool.memory(leaf);
    int entry = pool.base(leaf) + offset(at);
    int stored = ActiveNodes.keyLength(memory, entry);
    if (bytes) {
      return memory.compare(entry + ENTRY_KEY, stored, key, offset, length);
    }
    byte[] copy = new byte[stored];
    memory.get(entry + ENTRY_KEY, copy, 0, stored);
    return order.compare(copy, 0, stored, key, offset, length);
  }

  private boolean hasKey(int at, byte[] key) {
    int leaf = leaf(at);
    Memory memory = pool.memory(leaf);
    int entry = pool.base(leaf) + offset(at);
    return ActiveNodes.keyLength(memory, entry) == key.length
        && memory.compare(entry + ENTRY_KEY, key.length, key, 0, key.length) == 0;
  }

  private long lsn(int at) {
    int leaf = leaf(at);
    return ActiveNodes.lsn(pool.memory(leaf), pool.base(leaf) + offset(at));
  }

  private Memory place(int at) {
    return pool.memory(pages[at >>> pageShift]);
  }

  private int placeAt(int at) {
    return pool.base(pages[at >>> pageShift]) + ((at & ((1 << pageShift) - 1)) << PLACE_SHIFT);
  }

  /** The leaf that an entry lies in. */
  int leaf(int at) {
    return place(at).getInt(placeAt(at) + PLACE_LEAF);
  }

  /** Where in its leaf an entry starts. */
  int offset(int at) {
    return place(at).getInt(placeAt(at) + PLACE_OFFSET);
  }

  @Override
  public EntryCursor cursor(
      Purpose purpose, byte @Nullable [] low, byte @Nullable [] high, long visible) {
    // It goes over the entries where they are: nothing is taken, and all is there while this is.
    return new MergedIndexCursor(pool, this);
  }

  @Override
  public long entries() {
    return count;
  }

  @Override
  public long bytesUsed() {
    return bytesUsed;
  }

  /** Bytes of what is not entries. */
  public long indexBytes() {
    return indexBytes;
  }

  /** Not known: its entries are from several. */
  @Override
  public boolean isOlder(long lsn) {
    return false;
  }

  @Override
  public long minLsn() {
    return minLsn;
  }

  @Override
  public synchronized int[] handOver() {
    if (freed || handedOver) {
      throw new IllegalStateException("the leaves are not this index's any more");
    }
    handedOver = true;
    return leaves;
  }

  @Override
  public synchronized void free() {
    if (freed) {
      return;
    }
    freed = true;
    pool.retire(pages, pages.length, Purpose.WRITE);
    if (filter != null) {
      filter.retire();
    }
    if (!handedOver) {
      for (int leaf : leaves) {
        NodeWalk.retireLeaf(pool, leaf);
      }
    }
  }
}
