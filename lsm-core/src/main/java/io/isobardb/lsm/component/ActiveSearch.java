package io.isobardb.lsm.component;

import static io.isobardb.lsm.component.ActiveLayout.ENTRY_KEY;
import static io.isobardb.lsm.component.ActiveLayout.ENTRY_LINK;
import static io.isobardb.lsm.component.ActiveLayout.FIRST_CHILD;
import static io.isobardb.lsm.component.ActiveLayout.HEADS;
import static io.isobardb.lsm.component.ActiveLayout.SLOT_BYTES;
import static io.isobardb.lsm.component.ActiveLayout.VERSION;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.page.Words;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Search inside one node of {@link ActiveTree}.
 *
 * <p>Thread rule: any thread, no lock. A node may be edited while it is searched: every offset read
 * is forced into the page and every loop is bounded, so the answer is then arbitrary but harmless,
 * and the caller, which compares the node's version afterwards, throws it away.
 */
final class ActiveSearch {
  /** Bit of a position: the entry there has the key that was sought. */
  static final int SAME_KEY = 1 << 30;

  private final int pageSize;
  private final int maxCount;
  private final KeyOrder order;
  private final boolean bytes;

  ActiveSearch(int pageSize, KeyOrder order) {
    this.pageSize = pageSize;
    this.maxCount = (pageSize - HEADS) / SLOT_BYTES;
    this.order = order;
    this.bytes = order.isBytes();
  }

  /** The slot of a position. */
  static int slot(int position) {
    return position & ~SAME_KEY;
  }

  static boolean sameKey(int position) {
    return (position & SAME_KEY) != 0;
  }

  /** The number of slots, never more than a page can have. */
  int count(long shape) {
    return Math.min(ActiveLayout.count(shape), maxCount);
  }

  /** Where in the region the entry of a slot lies. */
  int entry(Memory memory, int base, long shape, int slot) {
    int capacity = Math.min(ActiveLayout.capacity(shape), maxCount);
    int at = Math.min(slot, maxCount - 1);
    return clamped(
        memory, base, memory.getUnsignedShort(ActiveLayout.offsetAt(base, capacity, at)));
  }

  /** Where in the region the fence lies whose offset is at {@code field}; -1 if there is none. */
  int fence(Memory memory, int base, int field) {
    int offset = memory.getUnsignedShort(base + field);
    return offset == 0 ? -1 : clamped(memory, base, offset);
  }

  private int clamped(Memory memory, int base, int offset) {
    return base + Math.min(offset, pageSize - ENTRY_KEY);
  }

  /** The length of an entry's key, never beyond the page. */
  int keyLength(Memory memory, int base, int entry) {
    return Math.min(ActiveLayout.keyLength(memory, entry), base + pageSize - ENTRY_KEY - entry);
  }

  /** The length of what an entry holds behind its key, never beyond the page. */
  int valueLength(Memory memory, int base, int entry, int keyLength) {
    return Math.min(
        ActiveLayout.valueLength(memory, entry), base + pageSize - ENTRY_KEY - entry - keyLength);
  }

  /** Whether an entry has this key. */
  boolean hasKey(Memory memory, int base, int entry, byte[] key, int offset, int length) {
    return keyLength(memory, base, entry) == length
        && memory.compare(entry + ENTRY_KEY, length, key, offset, length) == 0;
  }

  /** Whether there is a slot {@code slot} and its entry has this key. */
  boolean hasKeyAt(
      Memory memory, int base, long shape, int slot, byte[] key, int offset, int length) {
    return slot >= 0
        && slot < count(shape)
        && hasKey(memory, base, entry(memory, base, shape, slot), key, offset, length);
  }

  /**
   * Where a write belongs: see {@link #lowerBound(Memory, int, long, int, byte[], int, int, long)}.
   */
  int lowerBound(Memory memory, int base, int version, Write write) {
    long shape = memory.getLong(base + ActiveLayout.SHAPE);
    return lowerBound(
        memory, base, shape, version, write.key, write.keyOffset, write.keyLength, write.lsn);
  }

  /**
   * The first slot that is not before ({@code key}, {@code lsn}), with {@link #SAME_KEY} if its key
   * is {@code key}; the number of slots if all are before.
   *
   * @param version the version under which the node is read; what the caller's order is asked about
   *     was read under it
   */
  int lowerBound(
      Memory memory,
      int base,
      long shape,
      int version,
      byte[] key,
      int offset,
      int length,
      long lsn) {
    int count = count(shape);
    if (!bytes) {
      return orderedLowerBound(memory, base, shape, version, key, offset, length, lsn);
    }
    int prefix = Math.min(ActiveLayout.prefix(shape), length);
    int head = Words.head4(key, offset + prefix, length - prefix) ^ Integer.MIN_VALUE;
    int lo = firstHead(memory, base, 0, count, head);
    if (lo == count || memory.getInt(ActiveLayout.headAt(base, lo)) != head) {
      return lo;
    }
    int entry = entry(memory, base, shape, lo);
    int c = compare(memory, base, entry, prefix, key, offset, length);
    if (c > 0) {
      return lo;
    }
    if (c == 0 && ActiveLayout.lsn(memory, entry) <= lsn) {
      return lo | SAME_KEY;
    }
    return amongTies(memory, base, shape, lo + 1, head, key, offset, length, lsn);
  }

  /** The first of {@code n} slots from {@code lo} on whose head is not less than {@code head}. */
  private static int firstHead(Memory memory, int base, int lo, int n, int head) {
    if (n == 0) {
      return lo;
    }
    int heads = base + HEADS;
    while (n > 1) {
      int half = n >>> 1;
      lo = memory.getInt(heads + 4 * (lo + half - 1)) < head ? lo + half : lo;
      n -= half;
    }
    return memory.getInt(heads + 4 * lo) < head ? lo + 1 : lo;
  }

  private int amongTies(
      Memory memory,
      int base,
      long shape,
      int from,
      int head,
      byte[] key,
      int offset,
      int length,
      long lsn) {
    int prefix = Math.min(ActiveLayout.prefix(shape), length);
    int count = count(shape);
    int lo = from;
    int hi =
        head == Integer.MAX_VALUE ? count : firstHead(memory, base, from, count - from, head + 1);
    int end = hi;
    while (lo < hi) {
      int mid = (lo + hi) >>> 1;
      int entry = entry(memory, base, shape, mid);
      int c = compare(memory, base, entry, prefix, key, offset, length);
      if (c < 0 || c == 0 && ActiveLayout.lsn(memory, entry) > lsn) {
        lo = mid + 1;
      } else {
        hi = mid;
      }
    }
    return lo < end && hasKeyAt(memory, base, shape, lo, key, offset, length) ? lo | SAME_KEY : lo;
  }

  /**
   * Compares an entry's key with a key that has the same head. Both share the prefix, and the head
   * if both have one; the comparison starts before their end where that saves odd bytes.
   */
  private int compare(
      Memory memory, int base, int entry, int prefix, byte[] key, int offset, int length) {
    int stored = keyLength(memory, base, entry);
    int common = Math.min(stored, length);
    int start = Math.min(common, prefix + 4);
    int odd = (common - start) & 7;
    start = odd == 0 ? start : Math.max(0, start - 8 + odd);
    return memory.compare(
        entry + ENTRY_KEY + start, stored - start, key, offset + start, length - start);
  }

  /** As {@link #lowerBound} for an order that is not that of the bytes: no heads, copied keys. */
  private int orderedLowerBound(
      Memory memory,
      int base,
      long shape,
      int version,
      byte[] key,
      int offset,
      int length,
      long lsn) {
    byte[] scratch = new byte[64];
    int lo = 0;
    int hi = count(shape);
    while (lo < hi) {
      int mid = (lo + hi) >>> 1;
      int entry = entry(memory, base, shape, mid);
      int stored = keyLength(memory, base, entry);
      scratch = stored > scratch.length ? new byte[Math.max(stored, 256)] : scratch;
      memory.get(entry + ENTRY_KEY, scratch, 0, stored);
      long storedLsn = ActiveLayout.lsn(memory, entry);
      VarHandle.acquireFence();
      if (memory.getIntOpaque(base + VERSION) != version) {
        return 0;
      }
      if (stored == length && Arrays.equals(scratch, 0, stored, key, offset, offset + length)) {
        if (storedLsn > lsn) {
          lo = mid + 1;
        } else {
          hi = mid;
        }
      } else if (order.compare(scratch, 0, stored, key, offset, length) < 0) {
        lo = mid + 1;
      } else {
        hi = mid;
      }
    }
    return hasKeyAt(memory, base, shape, lo, key, offset, length) ? lo | SAME_KEY : lo;
  }

  /**
   * The child that holds ({@code key}, {@code lsn}); with {@code before} the one that holds the
   * last position before it.
   */
  int child(
      Memory memory,
      int base,
      long shape,
      int version,
      byte[] key,
      int offset,
      int length,
      long lsn,
      boolean before) {
    int position = lowerBound(memory, base, shape, version, key, offset, length, lsn);
    int slot = slot(position);
    if (!before
        && sameKey(position)
        && ActiveLayout.lsn(memory, entry(memory, base, shape, slot)) == lsn) {
      slot++;
    }
    return childAt(memory, base, shape, slot);
  }

  /** The child left of separator {@code slot}; the last one for the number of slots. */
  int childAt(Memory memory, int base, long shape, int slot) {
    return slot == 0
        ? memory.getInt(base + FIRST_CHILD)
        : memory.getInt(entry(memory, base, shape, slot - 1) + ENTRY_LINK);
  }
}
