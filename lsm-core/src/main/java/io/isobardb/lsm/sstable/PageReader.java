package io.isobardb.lsm.sstable;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.page.Words;

/**
 * Looks into data and index pages; see {@link PageLayout}.
 *
 * <p>A page is given by the region it lies in and its offset there ({@code base}); an entry by its
 * offset from the page's start. The methods allocate nothing, save that keys in a custom order are
 * copied out to be compared. The page must stay where it is during a call: the caller is in an
 * epoch, or holds the page.
 */
public final class PageReader {
  private PageReader() {}

  /** Slots of the page. */
  public static int count(Memory memory, int base) {
    return memory.getUnsignedShort(base + PageLayout.COUNT);
  }

  /** Where the entry of a slot starts. */
  public static int entry(Memory memory, int base, int slot) {
    int count = memory.getUnsignedShort(base + PageLayout.COUNT);
    return memory.getUnsignedShort(base + PageLayout.HEADER_BYTES + (count << 2) + (slot << 1));
  }

  /** The entry's kind. */
  public static int kind(Memory memory, int base, int entry) {
    return memory.getByte(base + entry);
  }

  /** The entry's LSN. */
  public static long lsn(Memory memory, int base, int entry) {
    int at = skipVarint(memory, skipVarint(memory, base + entry + 1));
    return lsnAt(memory, base, at);
  }

  /** Length of the key after the page's prefix. */
  public static int suffixLength(Memory memory, int base, int entry) {
    return varint(memory, base + entry + 1);
  }

  /** Length of the bytes stored as the value (of an overflow value: of the reference). */
  public static int valueLength(Memory memory, int base, int entry) {
    return varint(memory, skipVarint(memory, base + entry + 1));
  }

  /** Where the key's suffix starts, from the page's start. */
  public static int suffixOffset(Memory memory, int base, int entry) {
    int at = skipVarint(memory, skipVarint(memory, base + entry + 1));
    return at + memory.getByte(base + PageLayout.LSN_WIDTH) - base;
  }

  /** Where the value starts, from the page's start. */
  public static int valueOffset(Memory memory, int base, int entry) {
    return suffixOffset(memory, base, entry) + suffixLength(memory, base, entry);
  }

  /** Whether an entry expires. */
  public static boolean expires(Memory memory, int base, int entry) {
    return Kind.expires(kind(memory, base, entry));
  }

  /** When an entry expires, or {@link Expiry#NEVER}. */
  public static long expiry(Memory memory, int base, int entry) {
    return expiry(memory, base, entry, kind(memory, base, entry));
  }

  private static long expiry(Memory memory, int base, int entry, int kind) {
    if (!Kind.expires(kind)) {
      return Expiry.NEVER;
    }
    int end = valueOffset(memory, base, entry) + valueLength(memory, base, entry);
    return Kind.expiry(kind, memory, base + end);
  }

  /**
   * What an entry says to a probe; copies nothing.
   *
   * @return the value's length if it is in the page, else {@link Probe#DELETED}, {@link
   *     Probe#OPERAND} or, if it is in overflow pages, {@link Probe#ELSEWHERE}
   */
  public static int answer(Memory memory, int base, int entry, Probe probe) {
    int kind = kind(memory, base, entry);
    int said =
        probe.judge(
            kind,
            probe.floor() == 0 ? Lsn.MAX : lsn(memory, base, entry),
            expiry(memory, base, entry, kind));
    return said == Probe.HERE ? Kind.valueLength(kind, valueLength(memory, base, entry)) : said;
  }

  /** First page of a value in overflow pages. */
  public static int overflowPage(Memory memory, int base, int entry) {
    return memory.getInt(base + valueOffset(memory, base, entry));
  }

  /** How many bytes of other values stand before a value in its first overflow page. */
  public static int overflowStart(Memory memory, int base, int entry) {
    return memory.getInt(base + valueOffset(memory, base, entry) + 4);
  }

  /** Length in bytes of a value in overflow pages. */
  public static int overflowLength(Memory memory, int base, int entry) {
    return (int) memory.getLong(base + valueOffset(memory, base, entry) + 8);
  }

  /** The page number that an index page's slot leads to. */
  public static int child(Memory memory, int base, int slot) {
    int entry = entry(memory, base, slot);
    return memory.getInt(base + valueOffset(memory, base, entry));
  }

  /** Length of the key of a slot. */
  public static int keyLength(Memory memory, int base, int slot) {
    return memory.getUnsignedShort(base + PageLayout.PREFIX_LENGTH)
        + suffixLength(memory, base, entry(memory, base, slot));
  }

  /** Copies the key of a slot to the start of {@code target}, and gives its length. */
  public static int copyKey(Memory memory, int base, int slot, byte[] target) {
    int prefix = memory.getUnsignedShort(base + PageLayout.PREFIX_LENGTH);
    int entry = entry(memory, base, slot);
    int suffix = suffixLength(memory, base, entry);
    memory.get(base + memory.getUnsignedShort(base + PageLayout.PREFIX_OFFSET), target, 0, prefix);
    memory.get(base + suffixOffset(memory, base, entry), target, prefix, suffix);
    return prefix + suffix;
  }

  /**
   * The slot of an index page's child that holds the place of ({@code key}, {@code lsn}); {@code
   * lsn} is a multiple of 8.
   */
  static int childSlot(
      Memory memory, int base, byte[] key, int offset, int length, long lsn, KeyOrder order) {
    return Math.max(0, lowerBound(memory, base, key, offset, length, lsn - 1, order) - 1);
  }

  /**
   * The first slot that is not before ({@code key}, {@code lsn}), or {@link #count} if there is
   * none.
   */
  public static int lowerBound(
      Memory memory, int base, byte[] key, int offset, int length, long lsn, KeyOrder order) {
    if (!order.isBytes()) {
      return lowerBoundCustom(memory, base, key, offset, length, lsn, order);
    }
    int count = memory.getUnsignedShort(base + PageLayout.COUNT);
    int prefix = memory.getUnsignedShort(base + PageLayout.PREFIX_LENGTH);
    if (prefix != 0) {
      int at = base + memory.getUnsignedShort(base + PageLayout.PREFIX_OFFSET);
      int c = memory.compare(at, prefix, key, offset, Math.min(prefix, length));
      if (c != 0) {
        return c > 0 ? 0 : count;
      }
      offset += prefix;
      length -= prefix;
    }
    int head = Words.head4(key, offset, length) ^ Integer.MIN_VALUE;
    int heads = base + PageLayout.HEADER_BYTES;
    int low = firstNotBelow(memory, heads, count, head);
    if (low == count || memory.getInt(heads + (low << 2)) != head) {
      return low;
    }
    int high = low + 1;
    if (high < count && memory.getInt(heads + (high << 2)) == head) {
      high =
          head == Integer.MAX_VALUE
              ? count
              : high + firstNotBelow(memory, heads + (high << 2), count - high, head + 1);
    }
    return tied(memory, base, low, high, key, offset, length, lsn);
  }

  /** Whether the key of a slot is this one; the key is known to begin with the page's prefix. */
  private static boolean suffixEquals(
      Memory memory, int base, int entry, byte[] key, int offset, int length) {
    int suffix = suffixLength(memory, base, entry);
    return suffix == length
        && memory.compare(base + suffixOffset(memory, base, entry), suffix, key, offset, length)
            == 0;
  }

  /**
   * The entry that holds the newest version of {@code key} with an LSN of at most {@code lsn}, as
   * its offset from the page's start, or -1 if the page has none.
   */
  static int find(
      Memory memory, int base, byte[] key, int offset, int length, long lsn, KeyOrder order) {
    int slot = lowerBound(memory, base, key, offset, length, lsn, order);
    if (slot == count(memory, base)) {
      return -1;
    }
    int prefix = memory.getUnsignedShort(base + PageLayout.PREFIX_LENGTH);
    int entry = entry(memory, base, slot);
    if (prefix > length
        || !suffixEquals(memory, base, entry, key, offset + prefix, length - prefix)
        || (prefix != 0
            && slot == 0
            && memory.compare(
                    base + memory.getUnsignedShort(base + PageLayout.PREFIX_OFFSET),
                    prefix,
                    key,
                    offset,
                    prefix)
                != 0)) {
      return -1;
    }
    return entry;
  }

  /** Branch-free: the first of {@code count} ascending ints that is not below {@code value}. */
  private static int firstNotBelow(Memory memory, int at, int count, int value) {
    if (count == 0) {
      return 0;
    }
    int low = 0;
    int left = count;
    while (left > 1) {
      int half = left >>> 1;
      long below = ((long) memory.getInt(at + ((low + half - 1) << 2)) - value) >> 63;
      low += half & (int) below;
      left -= half;
    }
    return low - (int) (((long) memory.getInt(at + (low << 2)) - value) >> 63);
  }

  private static int tied(
      Memory memory, int base, int low, int high, byte[] key, int offset, int length, long lsn) {
    while (low < high) {
      int mid = (low + high) >>> 1;
      if (compareSuffix(memory, base, mid, key, offset, length, lsn) < 0) {
        low = mid + 1;
      } else {
        high = mid;
      }
    }
    return low;
  }

  /** Negative if the entry is before the place of the key's suffix and the LSN. */
  private static int compareSuffix(
      Memory memory, int base, int slot, byte[] key, int offset, int length, long lsn) {
    int at = base + entry(memory, base, slot) + 1;
    int suffix = memory.getByte(at++);
    if (suffix < 0) {
      suffix = varint(memory, at - 1);
      at = skipVarint(memory, at - 1);
    }
    at = skipVarint(memory, at);
    int width = memory.getByte(base + PageLayout.LSN_WIDTH);
    int c = memory.compare(at + width, suffix, key, offset, length);
    if (c != 0) {
      return c;
    }
    return Long.compare(lsn, lsnAt(memory, base, at));
  }

  private static int lowerBoundCustom(
      Memory memory, int base, byte[] key, int offset, int length, long lsn, KeyOrder order) {
    byte[] stored = new byte[0];
    int low = 0;
    int high = count(memory, base);
    while (low < high) {
      int mid = (low + high) >>> 1;
      int midLength = keyLength(memory, base, mid);
      if (stored.length < midLength) {
        stored = new byte[midLength * 2];
      }
      copyKey(memory, base, mid, stored);
      int c = order.compare(stored, 0, midLength, key, offset, length);
      if (c == 0) {
        c = Long.compare(lsn, lsn(memory, base, entry(memory, base, mid)));
      }
      if (c < 0) {
        low = mid + 1;
      } else {
        high = mid;
      }
    }
    return low;
  }

  /** The LSN whose field is at the absolute offset {@code at}. */
  static long lsnAt(Memory memory, int base, int at) {
    int width = memory.getByte(base + PageLayout.LSN_WIDTH);
    long first = memory.getLong(base + PageLayout.BASE_LSN);
    if (width == 0) {
      return first;
    }
    long ones = -1L >>> (64 - 8 * width);
    long delta = memory.getLong(at) & ones;
    return delta == ones ? Lsn.MAX : first + (delta << 3);
  }

  static int varint(Memory memory, int at) {
    int value = memory.getByte(at);
    if (value >= 0) {
      return value;
    }
    value &= 0x7F;
    for (int shift = 7; ; shift += 7) {
      int next = memory.getByte(++at);
      value |= (next & 0x7F) << shift;
      if (next >= 0 || shift > 28) {
        return value;
      }
    }
  }

  public static int skipVarint(Memory memory, int at) {
    int end = at + 5;
    while (memory.getByte(at) < 0 && at < end) {
      at++;
    }
    return at + 1;
  }

  static int varintLength(int value) {
    return (38 - Integer.numberOfLeadingZeros(value | 1)) / 7;
  }
}
