package io.isobardb.lsm.component;

import static io.isobardb.lsm.component.ActiveLayout.ENTRY_KEY;
import static io.isobardb.lsm.component.ActiveLayout.FIRST_CHILD;
import static io.isobardb.lsm.component.ActiveLayout.GARBAGE;
import static io.isobardb.lsm.component.ActiveLayout.HEADS;
import static io.isobardb.lsm.component.ActiveLayout.HEAP_START;
import static io.isobardb.lsm.component.ActiveLayout.LOWER;
import static io.isobardb.lsm.component.ActiveLayout.SHAPE;
import static io.isobardb.lsm.component.ActiveLayout.SLOT_BYTES;
import static io.isobardb.lsm.component.ActiveLayout.UPPER;
import static io.isobardb.lsm.component.ActiveLayout.VERSION;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.page.Words;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.lang.invoke.VarHandle;

/**
 * Changes to one node of {@link ActiveTree}, and the node's latch.
 *
 * <p>Thread rule: all but {@link #tryLock} need the node locked, or not yet reachable. Offsets
 * handed in and out count from the page's start; {@code base} is where the page starts in its
 * region.
 */
final class ActiveEdit {
  private static final int SPARE_SLOTS = 16;

  private final PagePool pool;
  private final int pageSize;
  private final boolean bytes;

  ActiveEdit(PagePool pool, boolean bytes) {
    this.pool = pool;
    this.pageSize = pool.pageSize();
    this.bytes = bytes;
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
      int version = ActiveLookup.stableVersion(memory, base);
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
    memory.putLong(base + SHAPE, ActiveLayout.shape(level, pruned, 0, capacity, prefix));
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
    return gap(memory, base, ActiveLayout.count(shape)) + memory.getInt(base + GARBAGE);
  }

  /** Whether there is contiguous room for an entry and for {@code slots} more slots. */
  boolean hasRoom(Memory memory, int base, int entryBytes, int slots) {
    int count = ActiveLayout.count(memory.getLong(base + SHAPE));
    return gap(memory, base, count + slots) >= entryBytes;
  }

  /** Whether the entry in this slot and the one before it have the same key. */
  boolean sameKeys(Memory memory, int base, int slot) {
    if (memory.getInt(ActiveLayout.headAt(base, slot - 1))
        != memory.getInt(ActiveLayout.headAt(base, slot))) {
      return false;
    }
    int capacity = ActiveLayout.capacity(memory.getLong(base + SHAPE));
    int left = entry(memory, base, capacity, slot - 1);
    int right = entry(memory, base, capacity, slot);
    int length = ActiveLayout.keyLength(memory, left);
    return length == ActiveLayout.keyLength(memory, right)
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
    int count = ActiveLayout.count(shape);
    int capacity = ActiveLayout.capacity(shape);
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
      memory.move(
          ActiveLayout.offsetAt(base, capacity, 0),
          ActiveLayout.offsetAt(base, wanted, 0),
          2 * count);
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
    int count = ActiveLayout.count(shape);
    int free = room(memory, base) - entryBytes - slots * SLOT_BYTES;
    int capacity = count + slots + Math.min(SPARE_SLOTS, free / SLOT_BYTES);
    int prefix = ActiveLayout.prefix(shape);
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

  /** Copies all of a node but its version, and what is free in it. */
  void replaceContents(Memory source, int sourceBase, Memory memory, int base) {
    int slotsEnd = HEADS + SLOT_BYTES * ActiveLayout.capacity(source.getLong(sourceBase + SHAPE));
    int heapStart = source.getInt(sourceBase + HEAP_START);
    memory.copyFrom(base + SHAPE, source, sourceBase + SHAPE, slotsEnd - SHAPE);
    memory.copyFrom(base + heapStart, source, sourceBase + heapStart, pageSize - heapStart);
  }

  /** Takes {@code entryBytes} of heap, which must be there; gives their offset in the page. */
  int take(Memory memory, int base, int entryBytes) {
    int offset = memory.getInt(base + HEAP_START) - entryBytes;
    if (offset < HEADS + SLOT_BYTES * ActiveLayout.capacity(memory.getLong(base + SHAPE))) {
      throw new IllegalStateException("a node of the active SSTable overflows");
    }
    memory.putInt(base + HEAP_START, offset);
    return offset;
  }

  /** Puts a slot at {@code pos}, for which there must be room. */
  void insertSlot(Memory memory, int base, int pos, int head, int offset) {
    long shape = memory.getLong(base + SHAPE);
    int count = ActiveLayout.count(shape);
    int capacity = ActiveLayout.capacity(shape);
    if (pos < count) {
      int at = ActiveLayout.headAt(base, pos);
      memory.move(at, at + 4, 4 * (count - pos));
      at = ActiveLayout.offsetAt(base, capacity, pos);
      memory.move(at, at + 2, 2 * (count - pos));
    }
    memory.putInt(ActiveLayout.headAt(base, pos), head);
    memory.putShort(ActiveLayout.offsetAt(base, capacity, pos), offset);
    setShape(memory, base, shape, count + 1, capacity);
  }

  /** Removes the slots from {@code from} to before {@code to}; their entries become garbage. */
  void removeSlots(Memory memory, int base, int from, int to) {
    long shape = memory.getLong(base + SHAPE);
    int count = ActiveLayout.count(shape);
    int capacity = ActiveLayout.capacity(shape);
    for (int i = from; i < to; i++) {
      discard(memory, base, ActiveLayout.entryBytes(memory, entry(memory, base, capacity, i)));
    }
    if (to < count) {
      memory.move(ActiveLayout.headAt(base, to), ActiveLayout.headAt(base, from), 4 * (count - to));
      memory.move(
          ActiveLayout.offsetAt(base, capacity, to),
          ActiveLayout.offsetAt(base, capacity, from),
          2 * (count - to));
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
    int capacity = ActiveLayout.capacity(memory.getLong(base + SHAPE));
    int offset = memory.getUnsignedShort(ActiveLayout.offsetAt(base, capacity, vacated));
    int at = ActiveLayout.offsetAt(base, capacity, pos);
    memory.move(at, at + 2, 2 * (vacated - pos));
    memory.putShort(at, offset);
  }

  static int entry(Memory memory, int base, int capacity, int slot) {
    return base + memory.getUnsignedShort(ActiveLayout.offsetAt(base, capacity, slot));
  }

  /**
   * Appends the slots from {@code from} to before {@code to} of one node to another, which has room
   * for them and may strip another prefix.
   */
  void append(Memory source, int sourceBase, int from, int to, Memory target, int base) {
    long sourceShape = source.getLong(sourceBase + SHAPE);
    int sourceCapacity = ActiveLayout.capacity(sourceShape);
    long shape = target.getLong(base + SHAPE);
    int capacity = ActiveLayout.capacity(shape);
    int prefix = ActiveLayout.prefix(shape);
    boolean sameHeads = prefix == ActiveLayout.prefix(sourceShape);
    int slot = ActiveLayout.count(shape);
    for (int i = from; i < to; i++, slot++) {
      int entry = entry(source, sourceBase, sourceCapacity, i);
      int size = ActiveLayout.entryBytes(source, entry);
      int offset = take(target, base, size);
      target.copyFrom(base + offset, source, entry, size);
      int head =
          sameHeads
              ? source.getInt(ActiveLayout.headAt(sourceBase, i))
              : head(source, entry, prefix);
      target.putInt(ActiveLayout.headAt(base, slot), head);
      target.putShort(ActiveLayout.offsetAt(base, capacity, slot), offset);
    }
    setShape(target, base, shape, slot, capacity);
  }

  private int head(Memory memory, int entry, int prefix) {
    if (!bytes) {
      return 0;
    }
    int length = ActiveLayout.keyLength(memory, entry);
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
      int size = ActiveLayout.entryBytes(source, sourceBase + from);
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
    memory.putShort(entry + ActiveLayout.ENTRY_VALUE_LENGTH, valueLength);
    memory.putInt(entry + ActiveLayout.ENTRY_LINK, link);
    memory.putLong(entry + ActiveLayout.ENTRY_TAG, tag);
    memory.put(entry + ENTRY_KEY, key, offset, length);
    return entry + ENTRY_KEY + length;
  }
}
