package io.isobardb.lsm.sstable;

import io.isobardb.memory.page.Memory;
import java.util.zip.CRC32C;

/**
 * The layout of the pages of an SSTable, in memory and on disk alike. Little-endian.
 *
 * <pre>
 *  offset
 *    0  int    checksum    masked CRC32C of bytes 4 to the end, mixed with the store's ID, the file
 *                          number and the page number; set when the page is written to disk
 *    4  byte   type        DATA, INDEX, OVERFLOW, FILTER, PAGE_MAP, HEADER or FOOTER; never 0
 *    5  byte   lsnWidth    bytes an entry's LSN takes, 0 to 8
 *    6  u16    count       slots
 *    8  u16    prefixLength  bytes that all keys of the page begin with
 *   10  u16    prefixOffset  where they are stored
 *   12  u16    heapUsed    bytes of the heap, at the page's end
 *   14  u16    flags       1: keys in another order than that of bytes: no prefix, heads all 0
 *   16  long   baseLsn     what the entries' LSNs are counted from
 *   24  8 bytes spare, 0; in the root of a small file see FileLayout
 *   32  int    heads[count]    the 4 bytes of the key after the prefix, padded with 0, big-endian
 *                              value with the sign bit flipped: signed order is order of bytes
 *       u16    offsets[count]  of entries, from the page's start
 *       free space, 0
 *       heap: prefix and entries, growing down; ends TAIL bytes before the page does
 *
 *  entry:  byte kind | varint suffixLength | varint valueLength | lsnWidth bytes LSN | suffix | value
 * </pre>
 *
 * <p>The LSN field holds {@code (lsn - baseLsn) / 8}; all ones stand for {@code Lsn.MAX}; with
 * {@code lsnWidth} 0 all LSNs are {@code baseLsn}.
 *
 * <p>The value of an entry that expires is followed by eight bytes that say when, which count as
 * bytes of the value; so is the reference to a value in overflow pages.
 *
 * <p>Entries are sorted by key, and those of one key by LSN, the newest first. An index page holds
 * entries of {@code Kind.CHILD}: the value is the child's page number (4 bytes), key and LSN are a
 * separator: not after anything in the child, and after everything in the child before it. Between
 * different keys it is a shortest key with {@code Lsn.MAX}. Where versions of one key fill two
 * pages it is that key with the LSN of the left page's last entry less 8, so that the version a
 * reader looks for is always in the one page that the separators lead to. The first separator of an
 * index page is never compared.
 *
 * <p>The TAIL lets a reader take eight bytes anywhere in the heap without leaving the page.
 */
public final class PageLayout {
  public static final int CHECKSUM = 0;
  public static final int TYPE = 4;
  public static final int LSN_WIDTH = 5;
  public static final int COUNT = 6;
  public static final int PREFIX_LENGTH = 8;
  public static final int PREFIX_OFFSET = 10;
  public static final int HEAP_USED = 12;
  public static final int FLAGS = 14;
  public static final int BASE_LSN = 16;
  public static final int SPARE = 24;

  /**
   * Length of what is stored of a value in overflow pages: {@code int} its first page, {@code int}
   * how many bytes of other values stand before it there, {@code long} its length.
   */
  public static final int OVERFLOW_REF_BYTES = 16;

  /** Size of the page header; where the heads of slots start, and the bytes of overflow pages. */
  public static final int HEADER_BYTES = 32;

  /** Bytes of a slot: head and offset. */
  public static final int SLOT_BYTES = 6;

  /** Readable bytes after the last entry. */
  public static final int TAIL = 8;

  /** Flag: the tree's key order is not that of bytes. */
  public static final int FLAG_CUSTOM_ORDER = 1;

  public static final int DATA = 1;
  public static final int INDEX = 2;
  public static final int OVERFLOW = 3;
  public static final int FILTER = 4;
  public static final int PAGE_MAP = 5;
  public static final int HEADER = 6;
  public static final int FOOTER = 7;

  /** The most an entry takes besides key and value: kind, two varints, LSN. */
  static final int ENTRY_OVERHEAD = 1 + 5 + 5 + 8;

  /** A gap before a value in overflow pages is at most this part of it. */
  private static final int MOST_GAP = 8;

  private static final int MASK_DELTA = 0xa282ead8;

  private PageLayout() {}

  /** The longest key, in bytes. */
  public static int maxKeyBytes(int pageSize) {
    return pageSize / 4;
  }

  /** Whether a key and a value of these lengths fit into one page; if not, the value overflows. */
  public static boolean fitsInline(int pageSize, int keyLength, int valueLength) {
    return (long) keyLength + valueLength + ENTRY_OVERHEAD + SLOT_BYTES + HEADER_BYTES + TAIL
        <= pageSize;
  }

  /** Bytes of a value that an overflow page holds. */
  public static int overflowBytes(int pageSize) {
    return pageSize - HEADER_BYTES;
  }

  /**
   * Overflow pages that a value lies in.
   *
   * @param before bytes of other values before it in the first one
   */
  public static int overflowPages(int pageSize, int before, int valueLength) {
    int perPage = overflowBytes(pageSize);
    return (int) (((long) before + valueLength + perPage - 1) / perPage);
  }

  /**
   * Whether a value begins on a page of its own, though there is room behind the one before it: it
   * is read from a page less then, and what is left free is little beside it.
   *
   * @param before bytes of other values in the page that has room
   */
  static boolean needsNewPage(int pageSize, int before, int valueLength) {
    return overflowBytes(pageSize) - before <= valueLength / MOST_GAP
        && overflowPages(pageSize, 0, valueLength) < overflowPages(pageSize, before, valueLength);
  }

  /**
   * Whether a page of a file leads to others: an index, a filter or a page map. Header pages that
   * readers ask for hold a filter.
   */
  public static boolean isGuide(Memory memory, int base) {
    int type = memory.getByte(base + TYPE);
    return type == INDEX || type == FILTER || type == PAGE_MAP || type == HEADER;
  }

  /** Writes an empty page's header, zeros but for the type. */
  static void initialize(Memory memory, int base, int type) {
    memory.zero(base, HEADER_BYTES);
    memory.putByte(base + TYPE, (byte) type);
  }

  /** What binds a page to its store and file; mixed into its checksum. */
  public static long fileSeed(long storeIdHigh, long storeIdLow, long fileNumber) {
    return mix(mix(mix(storeIdHigh) + storeIdLow) + fileNumber);
  }

  /** The checksum of the bytes after the first four of a page of {@code length} bytes. */
  public static int checksum(Memory memory, int base, int length, long fileSeed, int pageNo) {
    CRC32C crc = new CRC32C();
    memory.update(crc, base + 4, length - 4);
    int value = (int) crc.getValue();
    value = ((value >>> 15) | (value << 17)) + MASK_DELTA;
    return value ^ (int) (mix(fileSeed + pageNo) >>> 32);
  }

  /**
   * Which page of the file this is: the lowest number in a range for which the checksum is right,
   * or -1.
   */
  public static int pageNo(Memory memory, int base, int length, long fileSeed, int from, int to) {
    int wanted = memory.getInt(base + CHECKSUM) ^ checksum(memory, base, length, fileSeed, 0);
    int zero = (int) (mix(fileSeed) >>> 32);
    for (int pageNo = from; pageNo < to; pageNo++) {
      if ((zero ^ (int) (mix(fileSeed + pageNo) >>> 32)) == wanted) {
        return pageNo;
      }
    }
    return -1;
  }

  /** Sets a page's checksum. */
  public static void seal(Memory memory, int base, int length, long fileSeed, int pageNo) {
    memory.putInt(base + CHECKSUM, checksum(memory, base, length, fileSeed, pageNo));
  }

  /** Whether a page is what was sealed as this page of this file. */
  public static boolean isIntact(Memory memory, int base, int length, long fileSeed, int pageNo) {
    int type = memory.getByte(base + TYPE);
    return type >= DATA
        && type <= FOOTER
        && memory.getInt(base + CHECKSUM) == checksum(memory, base, length, fileSeed, pageNo);
  }

  private static long mix(long x) {
    long z = x + 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
