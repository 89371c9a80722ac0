package io.isobardb.lsm.component;

import io.isobardb.memory.page.Memory;

/**
 * The nodes of {@link ActiveTree}: one page each, leaves and inner nodes alike.
 *
 * <pre>
 *   0        4        8                       16       20       24    26    28       32
 *   +--------+--------+-----------------------+--------+--------+-----+-----+--------+---------+
 *   |version | spare  | shape                 | heap   |garbage |lower|upper| first  | max LSN |
 *   |        |        |                       | start  |        |fence|fence| child  |         |
 *   +--------+--------+-----------------------+--------+--------+-----+-----+--------+---------+
 *   40                     40 + 4 * capacity       40 + 6 * capacity
 *   +----------------------+-----------------------+-----------+-------------------------------+
 *   | heads, 4 bytes each  | offsets, 2 bytes each |  free     | entries, growing down         |
 *   +----------------------+-----------------------+-----------+-------------------------------+
 *   shape: level u8 | flags u8 | count u16 | capacity u16 | prefix u16
 *
 *   entry: 0          2            4           8                16      16 + key length
 *          +----------+------------+-----------+----------------+-------+-------+
 *          | key      | value      | link      | tag            | key   | value |
 *          | length   | length     |           | LSN:56 kind:8  |       |       |
 *          +----------+------------+-----------+----------------+-------+-------+
 * </pre>
 *
 * Little-endian; entries start at multiples of 4 in the page. {@code version} is odd while a writer
 * edits the page and grows by 2 with each edit. Slots are sorted by (key ascending, LSN
 * descending). A head is the four key bytes after the first {@code prefix} bytes, sign-flipped, so
 * that signed comparison orders them; all keys between the fences share those first bytes. The
 * fences are entries themselves: the node holds what is {@code >= lower} and {@code < upper};
 * offset 0 means that there is none.
 *
 * <p>{@code link} is, in an inner node, the child that holds what is {@code >=} the entry; {@code
 * first child} holds what is less than all. In a leaf it tells what was pruned: versions of the key
 * with LSNs from {@code LSN - 8 * link} (unsigned) up to the entry's LSN may be missing.
 *
 * <p>The value of an entry of kind {@code PUT_OVERFLOW} is the first page of its chain and the
 * value's length, 4 bytes each. If the entry expires, eight bytes follow that say when; they count
 * as bytes of the value.
 */
final class ActiveLayout {
  static final int VERSION = 0;
  static final int SHAPE = 8;
  static final int HEAP_START = 16;
  static final int GARBAGE = 20;
  static final int LOWER = 24;
  static final int UPPER = 26;
  static final int FIRST_CHILD = 28;
  static final int HEADS = 32;

  /** A head and an offset. */
  static final int SLOT_BYTES = 6;

  /** Flag of the shape: some version was pruned from this leaf, or one it was split from. */
  static final long PRUNED = 1L << 8;

  static final int ENTRY_VALUE_LENGTH = 2;
  static final int ENTRY_LINK = 4;
  static final int ENTRY_TAG = 8;
  static final int ENTRY_KEY = 16;

  /** Length of the reference to an overflow chain. */
  static final int OVERFLOW_REF_BYTES = 8;

  /** The LSN of a fence that stands before all versions of its key. */
  static final long NEWEST = (1L << 55) - 1;

  private ActiveLayout() {}

  static long shape(int level, boolean pruned, int count, int capacity, int prefix) {
    return level
        | (pruned ? PRUNED : 0)
        | (long) count << 16
        | (long) capacity << 32
        | (long) prefix << 48;
  }

  static int level(long shape) {
    return (int) shape & 0xFF;
  }

  static int count(long shape) {
    return (int) (shape >>> 16) & 0xFFFF;
  }

  static int capacity(long shape) {
    return (int) (shape >>> 32) & 0xFFFF;
  }

  static int prefix(long shape) {
    return (int) (shape >>> 48);
  }

  /** Where in the region the head of a slot lies. */
  static int headAt(int base, int slot) {
    return base + HEADS + 4 * slot;
  }

  /** Where in the region the offset of a slot lies. */
  static int offsetAt(int base, int capacity, int slot) {
    return base + HEADS + 4 * capacity + 2 * slot;
  }

  static int keyLength(Memory memory, int entry) {
    return memory.getUnsignedShort(entry);
  }

  static int valueLength(Memory memory, int entry) {
    return memory.getUnsignedShort(entry + ENTRY_VALUE_LENGTH);
  }

  static long lsn(Memory memory, int entry) {
    return memory.getLong(entry + ENTRY_TAG) >>> 8;
  }

  static int kind(Memory memory, int entry) {
    return memory.getByte(entry + ENTRY_TAG);
  }

  static long tag(long lsn, int kind) {
    return lsn << 8 | kind;
  }

  /** The lowest LSN that may have been pruned between this version and the next older one. */
  static long prunedFrom(Memory memory, int entry) {
    return lsn(memory, entry) - 8 * (memory.getInt(entry + ENTRY_LINK) & 0xFFFFFFFFL);
  }

  /** The link that says that versions from {@code from} up to {@code lsn} may be missing. */
  static int prunedLink(long lsn, long from) {
    return (int) Math.min((lsn - from + 7) >>> 3, 0xFFFFFFFFL);
  }

  /** Bytes of heap an entry takes. */
  static int entryBytes(int keyLength, int valueLength) {
    return (ENTRY_KEY + keyLength + valueLength + 3) & ~3;
  }

  static int entryBytes(Memory memory, int entry) {
    return entryBytes(keyLength(memory, entry), valueLength(memory, entry));
  }

  /** The longest key: a node holds two fences and one entry with such keys. */
  static int maxKeyBytes(int pageSize) {
    return pageSize / 4;
  }

  /**
   * The largest entry: beside two fences with the longest keys it has room in a leaf of its own, so
   * that splitting always ends.
   */
  static int maxEntryBytes(int pageSize) {
    return pageSize - HEADS - SLOT_BYTES - 2 * entryBytes(maxKeyBytes(pageSize), 0);
  }
}
