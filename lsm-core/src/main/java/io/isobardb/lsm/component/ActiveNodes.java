package io.isobardb.lsm.component;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.page.Words;
import io.isobardb.memory.pool.Backoff;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * The nodes of {@link ActiveTree}, one page each, leaves and inner nodes alike: what they look
 * like, how they are searched, and how they are edited.
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
 *
 * <p>How they are read: a node has a version, odd while it is edited. A reader notes the version
 * ({@link #stableVersion}), reads, and compares it afterwards ({@link #changed}). So a node may be
 * edited while it is searched. Every offset read is forced into the page and every loop is bounded:
 * the answer is then arbitrary but harmless, and the caller throws it away.
 *
 * <p>How they are edited: what changes a node needs it locked ({@link #tryLock}), or not yet
 * reachable. Offsets handed in and out count from the page's start; {@code base} is where the page
 * starts in its region.
 *
 * <p>Thread rule: any thread may read, without a lock.
 */
final class ActiveNodes {
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

  /** Bit of a position: the entry there has the key that was sought. */
  static final int SAME_KEY = 1 << 30;

  private static final int SPARE_SLOTS = 16;

  private final PagePool pool;
  private final int pageSize;
  private final int maxCount;
  private final KeyOrder order;
  private final boolean bytes;

  ActiveNodes(PagePool pool, KeyOrder order) {
    this.pool = pool;
    this.pageSize = pool.pageSize();
    this.maxCount = (pageSize - HEADS) / SLOT_BYTES;
    this.order = order;
    this.bytes = order.isBytes();
  }

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

  /** The version of a node, once no writer edits it. Edits are short. */
  static int stableVersion(Memory memory, int base) {
    for (int tries = 0; ; tries++) {
      int version = memory.getIntAcquire(base + VERSION);
      if ((version & 1) == 0) {
        return version;
      }
      Backoff.pause(tries);
    }
  }

  /** Whether what was read of a node before this call may be torn or out of date. */
  static boolean changed(Memory memory, int base, int version) {
    VarHandle.acquireFence();
    return memory.getIntOpaque(base + VERSION) != version;
  }

  /** The slot of a position. */
  static int slot(int position) {
    return position & ~SAME_KEY;
  }

  static boolean sameKey(int position) {
    return (position & SAME_KEY) != 0;
  }

  /** The number of slots, never more than a page can have. */
  int slots(long shape) {
    return Math.min(count(shape), maxCount);
  }

  /** Where in the region the entry of a slot lies. */
  int entry(Memory memory, int base, long shape, int slot) {
    int capacity = Math.min(capacity(shape), maxCount);
    int at = Math.min(slot, maxCount - 1);
    return clamped(memory, base, memory.getUnsignedShort(offsetAt(base, capacity, at)));
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
    return Math.min(keyLength(memory, entry), base + pageSize - ENTRY_KEY - entry);
  }

  /** The length of what an entry holds behind its key, never beyond the page. */
  int valueLength(Memory memory, int base, int entry, int keyLength) {
    return Math.min(valueLength(memory, entry), base + pageSize - ENTRY_KEY - entry - keyLength);
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
        && slot < slots(shape)
        && hasKey(memory, base, entry(memory, base, shape, slot), key, offset, length);
  }

  /**
   * Where a write belongs: see {@link #lowerBound(Memory, int, long, int, byte[], int, int, long)}.
   */
  int lowerBound(Memory memory, int base, int version, Write write) {
    long shape = memory.getLong(base + SHAPE);
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
    int count = slots(shape);
    if (!bytes) {
      return orderedLowerBound(memory, base, shape, version, key, offset, length, lsn);
    }
    int prefix = Math.min(prefix(shape), length);
    int head = Words.head4(key, offset + prefix, length - prefix) ^ Integer.MIN_VALUE;
    int lo = firstHead(memory, base, 0, count, head);
    if (lo == count || memory.getInt(headAt(base, lo)) != head) {
      return lo;
    }
    int entry = entry(memory, base, shape, lo);
    int c = compare(memory, base, entry, prefix, key, offset, length);
    if (c > 0) {
      return lo;
    }
    if (c == 0 && lsn(memory, entry) <= lsn) {
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
    int prefix = Math.min(prefix(shape), length);
    int count = slots(shape);
    int lo = from;
    int hi =
        head == Integer.MAX_VALUE ? count : firstHead(memory, base, from, count - from, head + 1);
    int end = hi;
    while (lo < hi) {
      int mid = (lo + hi) >>> 1;
      int entry = entry(memory, base, shape, mid);
      int c = compare(memory, base, entry, prefix, key, offset, length);
      if (c < 0 || c == 0 && lsn(memory, entry) > lsn) {
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
    int hi = slots(shape);
    while (lo < hi) {
      int mid = (lo + hi) >>> 1;
      int entry = entry(memory, base, shape, mid);
      int stored = keyLength(memory, base, entry);
      scratch = stored > scratch.length ? new byte[Math.max(stored, 256)] : scratch;
      memory.get(entry + ENTRY_KEY, scratch, 0, stored);
      long storedLsn = lsn(memory, entry);
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
    if (!before && sameKey(position) && lsn(memory, entry(memory, base, shape, slot)) == lsn) {
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

  /** Locks a node if it still has {@code version}. */
  static boolean tryLock(Memory memory, int base, int version) {
    if (!memory.compareAndSetInt(base + VERSION, version, version + 1)) {
      return false;
    }
    // No edit may become visible before the odd version.
    VarHandle.releaseFence();
    return true;
  }

  /** Locks a node; gives the version it had. */
  static int lock(Memory memory, int base) {
    for (; ; ) {
      int version = stableVersion(memory, base);
      if (tryLock(memory, base, version)) {
        return version;
      }
    }
  }

  /** Unlocks a node that had {@code version} when it was locked. */
  static void unlock(Memory memory, int base, int version) {
    memory.putIntRelease(base + VERSION, version + 2);
  }

  /** Makes an empty node without fences, its version left as it is. */
  void format(Memory memory, int base, int level, boolean pruned, int capacity, int prefix) {
    memory.putLong(base + SHAPE, shape(level, pruned, 0, capacity, prefix));
    memory.putInt(base + HEAP_START, pageSize);
    memory.putInt(base + GARBAGE, 0);
    memory.putShort(base + LOWER, 0);
    memory.putShort(base + UPPER, 0);
    memory.putInt(base + FIRST_CHILD, PagePool.NONE);
  }

  /** Bytes between the slots and the heap. */
  private int gap(Memory memory, int base, int capacity) {
    return memory.getInt(base + HEAP_START) - HEADS - SLOT_BYTES * capacity;
  }

  /** Bytes that entries, slots and fences could still take, if the node were compacted. */
  int room(Memory memory, int base) {
    long shape = memory.getLong(base + SHAPE);
    return gap(memory, base, count(shape)) + memory.getInt(base + GARBAGE);
  }

  /** Whether there is contiguous room for an entry and for {@code slots} more slots. */
  boolean hasRoom(Memory memory, int base, int entryBytes, int slots) {
    int count = count(memory.getLong(base + SHAPE));
    return gap(memory, base, count + slots) >= entryBytes;
  }

  /** Whether the entry in this slot and the one before it have the same key. */
  boolean sameKeys(Memory memory, int base, int slot) {
    if (memory.getInt(headAt(base, slot - 1)) != memory.getInt(headAt(base, slot))) {
      return false;
    }
    int capacity = capacity(memory.getLong(base + SHAPE));
    int left = entryAt(memory, base, capacity, slot - 1);
    int right = entryAt(memory, base, capacity, slot);
    int length = keyLength(memory, left);
    return length == keyLength(memory, right)
        && memory.compare(left + ENTRY_KEY, length, memory, right + ENTRY_KEY, length) == 0;
  }

  /**
   * Makes contiguous room for an entry of {@code entryBytes} and for {@code slots} (0 or 1) more
   * slots, by compacting if need be.
   *
   * <p>Where there is no garbage, as in inner nodes, room that {@link #room} promises is found
   * without a page to compact with.
   *
   * @return false if there is no such room, or no page to compact with; nothing has changed then
   */
  boolean makeRoom(Memory memory, int base, int entryBytes, int slots) {
    long shape = memory.getLong(base + SHAPE);
    int count = count(shape);
    int capacity = capacity(shape);
    int wanted = Math.max(capacity, count + slots);
    if (gap(memory, base, wanted) < entryBytes) {
      // Spare slots may hold the room that is missing.
      wanted = count + slots;
      if (gap(memory, base, wanted) < entryBytes) {
        return room(memory, base) >= entryBytes + slots * SLOT_BYTES
            && compact(memory, base, entryBytes, slots);
      }
    } else if (wanted > capacity) {
      int free = gap(memory, base, wanted) - entryBytes;
      wanted += Math.min(SPARE_SLOTS, free / SLOT_BYTES);
    }
    if (wanted != capacity) {
      memory.move(offsetAt(base, capacity, 0), offsetAt(base, wanted, 0), 2 * count);
      setShape(memory, base, shape, count, wanted);
    }
    return true;
  }

  private static void setShape(Memory memory, int base, long shape, int count, int capacity) {
    long rest = shape & 0xFFFF_0000_0000_FFFFL;
    memory.putLong(base + SHAPE, rest | (long) count << 16 | (long) capacity << 32);
  }

  private boolean compact(Memory memory, int base, int entryBytes, int slots) {
    int page = pool.allocateUrgent(Purpose.WRITE);
    if (page == PagePool.NONE) {
      return false;
    }
    Memory scratch = pool.memory(page);
    int scratchBase = pool.base(page);
    long shape = memory.getLong(base + SHAPE);
    int count = count(shape);
    int free = room(memory, base) - entryBytes - slots * SLOT_BYTES;
    int capacity = count + slots + Math.min(SPARE_SLOTS, free / SLOT_BYTES);
    int prefix = prefix(shape);
    format(scratch, scratchBase, 0, false, capacity, prefix);
    copyFence(memory, base, scratch, scratchBase, LOWER);
    copyFence(memory, base, scratch, scratchBase, UPPER);
    append(memory, base, 0, count, scratch, scratchBase);
    long copied = scratch.getLong(scratchBase + SHAPE);
    scratch.putLong(scratchBase + SHAPE, copied | (shape & 0xFFFF));
    scratch.putInt(scratchBase + FIRST_CHILD, memory.getInt(base + FIRST_CHILD));
    replaceContents(scratch, scratchBase, memory, base);
    pool.release(page, Purpose.WRITE);
    return true;
  }

  /**
   * Copies all of a node but its version, and what is free in it. If it is edited meanwhile, what
   * is copied may be torn.
   */
  void replaceContents(Memory source, int sourceBase, Memory memory, int base) {
    int capacity = Math.min(capacity(source.getLong(sourceBase + SHAPE)), maxCount);
    int slotsEnd = HEADS + SLOT_BYTES * capacity;
    int heap = Math.min(source.getInt(sourceBase + HEAP_START), pageSize);
    int heapStart = Math.max(heap, slotsEnd);
    memory.copyFrom(base + SHAPE, source, sourceBase + SHAPE, slotsEnd - SHAPE);
    memory.copyFrom(base + heapStart, source, sourceBase + heapStart, pageSize - heapStart);
  }

  /** Takes {@code entryBytes} of heap, which must be there; gives their offset in the page. */
  int take(Memory memory, int base, int entryBytes) {
    int offset = memory.getInt(base + HEAP_START) - entryBytes;
    if (offset < HEADS + SLOT_BYTES * capacity(memory.getLong(base + SHAPE))) {
      throw new IllegalStateException("a node of the active SSTable overflows");
    }
    memory.putInt(base + HEAP_START, offset);
    return offset;
  }

  /** Puts a slot at {@code pos}, for which there must be room. */
  void insertSlot(Memory memory, int base, int pos, int head, int offset) {
    long shape = memory.getLong(base + SHAPE);
    int count = count(shape);
    int capacity = capacity(shape);
    if (pos < count) {
      int at = headAt(base, pos);
      memory.move(at, at + 4, 4 * (count - pos));
      at = offsetAt(base, capacity, pos);
      memory.move(at, at + 2, 2 * (count - pos));
    }
    memory.putInt(headAt(base, pos), head);
    memory.putShort(offsetAt(base, capacity, pos), offset);
    setShape(memory, base, shape, count + 1, capacity);
  }

  /** Removes the slots from {@code from} to before {@code to}; their entries become garbage. */
  void removeSlots(Memory memory, int base, int from, int to) {
    long shape = memory.getLong(base + SHAPE);
    int count = count(shape);
    int capacity = capacity(shape);
    for (int i = from; i < to; i++) {
      discard(memory, base, entryBytes(memory, entryAt(memory, base, capacity, i)));
    }
    if (to < count) {
      memory.move(headAt(base, to), headAt(base, from), 4 * (count - to));
      memory.move(offsetAt(base, capacity, to), offsetAt(base, capacity, from), 2 * (count - to));
    }
    setShape(memory, base, shape, count - (to - from), capacity);
  }

  /** Counts bytes of the heap as garbage. */
  void discard(Memory memory, int base, int bytes) {
    memory.putInt(base + GARBAGE, memory.getInt(base + GARBAGE) + bytes);
  }

  /**
   * Makes the slots from {@code pos} to {@code vacated} hold what they held one slot before, and
   * {@code pos} the entry that was {@code vacated}'s. All of them have one key.
   */
  void rotate(Memory memory, int base, int pos, int vacated) {
    int capacity = capacity(memory.getLong(base + SHAPE));
    int offset = memory.getUnsignedShort(offsetAt(base, capacity, vacated));
    int at = offsetAt(base, capacity, pos);
    memory.move(at, at + 2, 2 * (vacated - pos));
    memory.putShort(at, offset);
  }

  /** Where in the region the entry of a slot lies, in a node that nobody edits meanwhile. */
  static int entryAt(Memory memory, int base, int capacity, int slot) {
    return base + memory.getUnsignedShort(offsetAt(base, capacity, slot));
  }

  /**
   * Appends the slots from {@code from} to before {@code to} of one node to another, which has room
   * for them and may strip another prefix.
   */
  void append(Memory source, int sourceBase, int from, int to, Memory target, int base) {
    long sourceShape = source.getLong(sourceBase + SHAPE);
    int sourceCapacity = capacity(sourceShape);
    long shape = target.getLong(base + SHAPE);
    int capacity = capacity(shape);
    int prefix = prefix(shape);
    boolean sameHeads = prefix == prefix(sourceShape);
    int slot = count(shape);
    for (int i = from; i < to; i++, slot++) {
      int entry = entryAt(source, sourceBase, sourceCapacity, i);
      int size = entryBytes(source, entry);
      int offset = take(target, base, size);
      target.copyFrom(base + offset, source, entry, size);
      int head = sameHeads ? source.getInt(headAt(sourceBase, i)) : head(source, entry, prefix);
      target.putInt(headAt(base, slot), head);
      target.putShort(offsetAt(base, capacity, slot), offset);
    }
    setShape(target, base, shape, slot, capacity);
  }

  private int head(Memory memory, int entry, int prefix) {
    if (!bytes) {
      return 0;
    }
    int length = keyLength(memory, entry);
    int head = 0;
    for (int i = prefix; i < prefix + 4; i++) {
      head = head << 8 | (i < length ? memory.getByte(entry + ENTRY_KEY + i) & 0xFF : 0);
    }
    return head ^ Integer.MIN_VALUE;
  }

  /** The head of a key in a node. */
  int head(byte[] key, int offset, int length, int prefix) {
    if (!bytes) {
      return 0;
    }
    int skip = Math.min(prefix, length);
    return Words.head4(key, offset + skip, length - skip) ^ Integer.MIN_VALUE;
  }

  /** Copies a fence, if there is one. */
  void copyFence(Memory source, int sourceBase, Memory target, int base, int field) {
    int from = source.getUnsignedShort(sourceBase + field);
    if (from != 0) {
      int size = entryBytes(source, sourceBase + from);
      int offset = take(target, base, size);
      target.copyFrom(base + offset, source, sourceBase + from, size);
      target.putShort(base + field, offset);
    }
  }

  /** Writes an entry but its value, and gives where in the region the value goes. */
  static int writeEntry(Memory memory, int entry, Write write, int link, long tag) {
    return writeEntry(
        memory,
        entry,
        write.key,
        write.keyOffset,
        write.keyLength,
        write.storedLength(),
        link,
        tag);
  }

  /** As {@link #writeEntry(Memory, int, Write, int, long)}, for the entry of an inner page. */
  static int writeEntry(
      Memory memory,
      int entry,
      byte[] key,
      int offset,
      int length,
      int valueLength,
      int link,
      long tag) {
    memory.putShort(entry, length);
    memory.putShort(entry + ENTRY_VALUE_LENGTH, valueLength);
    memory.putInt(entry + ENTRY_LINK, link);
    memory.putLong(entry + ENTRY_TAG, tag);
    memory.put(entry + ENTRY_KEY, key, offset, length);
    return entry + ENTRY_KEY + length;
  }
}
