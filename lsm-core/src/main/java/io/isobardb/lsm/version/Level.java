package io.isobardb.lsm.version;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.memory.page.Words;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A sorted run: disjoint SSTables in the order of their keys. One of L1..Ln, or a group of L0.
 *
 * <p>Immutable. Searches go over one array of words, the heads of the maximum keys behind the run's
 * common prefix, and look at a key only where heads tie: one or two cache misses for a thousand
 * SSTables. They allocate nothing.
 *
 * @param <E> what stands for an SSTable: its {@link SSTableMeta}, or an open handle
 */
public final class Level<E> {
  private final KeyOrder order;
  private final List<E> elements;
  private final SSTableMeta[] metas;
  private final byte[] prefix;
  private final long[] maxHeads; // sign-flipped, so that signed comparison is that of the bytes
  private final long sizeBytes;

  private Level(
      KeyOrder order,
      List<E> elements,
      SSTableMeta[] metas,
      byte[] prefix,
      long[] maxHeads,
      long sizeBytes) {
    this.order = order;
    this.elements = elements;
    this.metas = metas;
    this.prefix = prefix;
    this.maxHeads = maxHeads;
    this.sizeBytes = sizeBytes;
  }

  /** A run without SSTables. */
  public static Level<SSTableMeta> empty(KeyOrder order) {
    return of(List.of(), order);
  }

  /**
   * The run of these SSTables, given in any order.
   *
   * @throws IllegalArgumentException if two overlap, or one's maximum is less than its minimum
   */
  public static Level<SSTableMeta> of(List<SSTableMeta> tables, KeyOrder order) {
    return of(List.of(), tables, order);
  }

  /**
   * A run with more SSTables. Only these are compared, with what will lie beside them.
   *
   * @param part SSTables of a run in its order
   * @param more given in any order
   * @throws IllegalArgumentException if two overlap, or one's maximum is less than its minimum
   */
  static Level<SSTableMeta> of(List<SSTableMeta> part, List<SSTableMeta> more, KeyOrder order) {
    SSTableMeta[] sorted = part.toArray(SSTableMeta[]::new);
    SSTableMeta[] added = more.toArray(SSTableMeta[]::new);
    Arrays.sort(added, Comparator.comparing(SSTableMeta::minKey, (a, b) -> compare(order, a, b)));
    Comparator<SSTableMeta> endBeforeStart = (a, b) -> compare(order, a.maxKey(), b.minKey());
    SSTableMeta[] metas = new SSTableMeta[sorted.length + added.length];
    int size = 0;
    int next = 0;
    for (SSTableMeta table : added) {
      if (compare(order, table.minKey(), table.maxKey()) > 0) {
        throw new IllegalArgumentException(table.fileName() + " ends before it starts");
      }
      int at = Arrays.binarySearch(sorted, next, sorted.length, table, endBeforeStart);
      int to = at < 0 ? -1 - at : at;
      System.arraycopy(sorted, next, metas, size, to - next);
      size += to - next;
      next = to;
      if (size > 0) {
        checkApart(order, metas[size - 1], table);
      }
      if (to < sorted.length) {
        boolean before = compare(order, table.minKey(), sorted[to].minKey()) < 0;
        checkApart(order, before ? table : sorted[to], before ? sorted[to] : table);
      }
      metas[size++] = table;
    }
    System.arraycopy(sorted, next, metas, size, sorted.length - next);
    long sizeBytes = 0;
    for (SSTableMeta table : metas) {
      sizeBytes += table.sizeBytes();
    }
    byte[] prefix = commonPrefix(metas, order);
    long[] heads = new long[order.isBytes() ? metas.length : 0];
    for (int i = 0; i < heads.length; i++) {
      byte[] key = metas[i].maxKey();
      heads[i] = head(key, prefix.length, key.length - prefix.length);
    }
    return new Level<>(
        order, Collections.unmodifiableList(Arrays.asList(metas)), metas, prefix, heads, sizeBytes);
  }

  private static void checkApart(KeyOrder order, SSTableMeta first, SSTableMeta second) {
    if (compare(order, first.maxKey(), second.minKey()) >= 0) {
      throw new IllegalArgumentException(
          first.fileName() + " and " + second.fileName() + " overlap in one run");
    }
  }

  /** How many SSTables there are. */
  public int size() {
    return metas.length;
  }

  public boolean isEmpty() {
    return metas.length == 0;
  }

  /** What is known of the {@code i}th SSTable. */
  public SSTableMeta meta(int i) {
    return metas[i];
  }

  /** All of them in the order of keys; immutable. */
  public List<E> elements() {
    return elements;
  }

  /** Bytes of all files. */
  public long sizeBytes() {
    return sizeBytes;
  }

  /** The order of keys in this run. */
  public KeyOrder order() {
    return order;
  }

  /** The index of the only SSTable that may hold the key, or -1. */
  public int find(byte[] key, int offset, int length) {
    int i = from(key, offset, length);
    if (i == metas.length) {
      return -1;
    }
    byte[] min = metas[i].minKey();
    return order.compare(min, 0, min.length, key, offset, length) <= 0 ? i : -1;
  }

  /**
   * The index of the first SSTable that ends at or after the key: where a cursor that seeks the key
   * starts. {@link #size} if all end before it.
   */
  public int from(byte[] key, int offset, int length) {
    if (!order.isBytes()) {
      return lowerBound(0, metas.length, key, offset, length);
    }
    int common = Math.min(length, prefix.length);
    int mismatch = Arrays.mismatch(prefix, 0, common, key, offset, offset + common);
    if (mismatch >= 0) {
      return (key[offset + mismatch] & 0xFF) < (prefix[mismatch] & 0xFF) ? 0 : metas.length;
    }
    if (length < prefix.length) {
      return 0;
    }
    long head = head(key, offset + prefix.length, length - prefix.length);
    int low = firstHeadNotBelow(head);
    if (low == metas.length || maxHeads[low] != head) {
      return low;
    }
    int high = head == Long.MAX_VALUE ? metas.length : firstHeadNotBelow(head + 1);
    return lowerBound(low, high, key, offset, length);
  }

  /** The first SSTable that starts behind a key; null if there is none. */
  public @Nullable E startingBehind(byte[] key, int length) {
    int i = from(key, 0, length);
    if (i < metas.length) {
      byte[] min = metas[i].minKey();
      if (order.compare(min, 0, min.length, key, 0, length) <= 0) {
        i++;
      }
    }
    return i < metas.length ? elements.get(i) : null;
  }

  /** The SSTables with keys in the closed range, which are neighbours; immutable. */
  public List<E> overlapping(byte[] minKey, byte[] maxKey) {
    int from = from(minKey, 0, minKey.length);
    return elements.subList(from, Math.max(from, to(maxKey)));
  }

  /** Whether any SSTable's key range overlaps the closed range. */
  public boolean overlaps(byte[] minKey, byte[] maxKey) {
    int from = from(minKey, 0, minKey.length);
    return from < metas.length && compare(order, metas[from].minKey(), maxKey) <= 0;
  }

  /** The index behind the last SSTable that starts at or before the key. */
  private int to(byte[] maxKey) {
    int i = from(maxKey, 0, maxKey.length);
    return i < metas.length && compare(order, metas[i].minKey(), maxKey) <= 0 ? i + 1 : i;
  }

  private int firstHeadNotBelow(long head) {
    int base = 0;
    int count = maxHeads.length;
    while (count > 0) {
      int half = count >>> 1;
      if (maxHeads[base + half] < head) {
        base += half + 1;
        count -= half + 1;
      } else {
        count = half;
      }
    }
    return base;
  }

  private int lowerBound(int low, int high, byte[] key, int offset, int length) {
    int from = low;
    int to = high;
    while (from < to) {
      int middle = (from + to) >>> 1;
      byte[] max = metas[middle].maxKey();
      if (order.compare(max, 0, max.length, key, offset, length) < 0) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  }

  private static byte[] commonPrefix(SSTableMeta[] metas, KeyOrder order) {
    if (metas.length == 0 || !order.isBytes()) {
      return new byte[0];
    }
    byte[] first = metas[0].minKey();
    byte[] last = metas[metas.length - 1].maxKey();
    int mismatch = Arrays.mismatch(first, last);
    return mismatch < 0 ? first : Arrays.copyOf(first, mismatch);
  }

  private static long head(byte[] key, int offset, int length) {
    return Words.head(key, offset, length) ^ Long.MIN_VALUE;
  }

  static int compare(KeyOrder order, byte[] a, byte[] b) {
    return order.compare(a, 0, a.length, b, 0, b.length);
  }

  @Override
  public String toString() {
    return elements.toString();
  }
}
