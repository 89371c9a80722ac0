package io.isobardb.memory.cache;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Backoff;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Single entries of disk files (others call it a row cache): where small entries are read, and some
 * much more often than their neighbours, a page of entries that are wanted saves more reads than
 * the page of the file that holds one of them.
 *
 * <p>An entry is found by the number of its file and its key. Files do not change and their numbers
 * are not used again, so what is here is never out of date; what no file in use holds any more is
 * replaced in time. So is what is known not to be in a file: a filter lets some keys pass that are
 * not there, and each time a page would be read in vain.
 *
 * <pre>
 *  page:  version (8) | slots in use (2) | end of entries (2) | next ghost (2) | ghosts (2)
 *         tags (4 a slot) | offsets (2 a slot) | whether hot (1 a slot) | ghosts (2 for two slots)
 *         entries: file (4) | key length (2) | value length (2) | LSN (8) | key | value
 * </pre>
 *
 * <p>The hash of file and key says which page an entry belongs into (linear hashing: each page more
 * takes entries over from one other). Within a page a clock replaces entries: new ones go behind
 * the others; when there is no room, the first ones go, and those of them that were read since come
 * behind the others instead. A part of the tag of each entry that goes is kept for a while as a
 * ghost: what a larger cache would have had.
 *
 * <p>Thread rule: all methods may be called by any thread; {@link #get} and {@link #put} within an
 * epoch of the pool. A page's version is odd while it is written to. {@code get} takes no lock: it
 * finds nothing in a page that changes meanwhile. {@code put} does nothing if it would have to
 * wait.
 */
public final class EntryCache {
  /** No such entry here. */
  public static final int ABSENT = -1;

  /** The file has no such key. */
  public static final int NO_SUCH_KEY = -2;

  /** Stands for an LSN where a file has no version of a key. */
  private static final long NO_VERSION = -1;

  private static final int USED = 8;
  private static final int END = 10;
  private static final int NEXT_GHOST = 12;
  private static final int GHOSTS = 14;
  private static final int TAGS = 16;
  private static final int BYTES_PER_SLOT = 96;
  private static final int ENTRY_HEADER = 16;

  /** An entry takes this part of a page at most, so that many share one. */
  private static final int LARGEST = 16;

  /** Marks an entry that has gone, in place of its heat, while a page is ordered anew. */
  private static final byte GONE = 2;

  /** When a page is full, this part of it is freed at least. */
  private static final int FREED = 8;

  /**
   * A value to take in.
   *
   * @param memory where it lies
   * @param offset of its first byte there
   * @param length in bytes
   * @param lsn of the version it belongs to
   */
  public record Value(Memory memory, int offset, int length, long lsn) {}

  private final PagePool pool;
  private final int pageSize;
  private final int slots;
  private final int ghosts;
  private final int offsets;
  private final int heat;
  private final int ghostTags;
  private final int firstEntry;

  /** Where a page's entries end at the latest: a short is to tell, even in a page of 64 KB. */
  private final int limit;

  private final LongAdder hits = new LongAdder();
  private final LongAdder held = new LongAdder();
  private final LongAdder heldBytes = new LongAdder();
  private final LongAdder ghostHits = new LongAdder();
  private final LongAdder ghostCount = new LongAdder();
  private volatile int[] pages = {};

  private long heldSeen;

  /** A page for ordering another one anew; held as long as there are others. */
  private volatile int scratch = PagePool.NONE;

  private final AtomicBoolean scratchBusy = new AtomicBoolean();

  EntryCache(PagePool pool) {
    this.pool = pool;
    this.pageSize = pool.pageSize();
    this.slots = pageSize / BYTES_PER_SLOT / 2 * 2;
    this.ghosts = slots / 2;
    this.offsets = TAGS + 4 * slots;
    this.heat = offsets + 2 * slots;
    this.ghostTags = heat + slots;
    this.firstEntry = ghostTags + 2 * ghosts;
    this.limit = Math.min(pageSize, 0xFFFF);
  }

  /** Whether it holds nothing, so that there is no use in asking. */
  public boolean isEmpty() {
    return pages.length == 0;
  }

  /** Pages it holds. */
  int pageCount() {
    return pages.length;
  }

  /** Entries found. */
  long hits() {
    return hits.sum();
  }

  /** Whether a good part of its pages is empty. */
  boolean hasRoom() {
    long count = pages.length;
    return held.sum() < count * slots / 4 * 3
        && heldBytes.sum() < count * (limit - firstEntry) / 4 * 3;
  }

  /** How many entries more it holds than when it was asked the last time; fewer if negative. */
  synchronized long gained() {
    long before = heldSeen;
    heldSeen = held.sum();
    return heldSeen - before;
  }

  /** Entries put in that a cache with {@link #ghostPages} more would have had. */
  long ghostHits() {
    return ghostHits.sum();
  }

  /** Pages that the entries which the ghosts are of would take. */
  double ghostPages() {
    return (double) ghostCount.sum() * pages.length / Math.max(1, held.sum());
  }

  /** What file and hash make: says the page and, nearly, the entry there. */
  private static int tag(int file, long hash) {
    long h = (hash ^ file * 0x9E3779B97F4A7C15L) * 0xD6E8FEB86659FD93L;
    return (int) (h >>> 32);
  }

  /** The index of the page that a hash belongs to, of {@code count}. */
  private static int index(int h, int count) {
    int mask = mask(count);
    int i = h & mask;
    return i < count ? i : i & mask >>> 1;
  }

  private static int mask(int count) {
    return -1 >>> Integer.numberOfLeadingZeros(count - 1 | 1);
  }

  /**
   * Copies a value into {@code target} at its position, which does not move.
   *
   * @param hash of the key
   * @param lsn an entry with a higher LSN does not count
   * @return the value's length, {@link #NO_SUCH_KEY}, or {@link #ABSENT}; nothing was copied if it
   *     is larger than what remains in {@code target}. If absent, what remains in {@code target} is
   *     undefined.
   */
  public int get(
      int file, byte[] key, int offset, int length, long hash, long lsn, ByteBuffer target) {
    int[] all = pages;
    if (all.length == 0) {
      return ABSENT;
    }
    int tag = tag(file, hash);
    int page = all[index(tag, all.length)];
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    long version = memory.getLongAcquire(base);
    if ((version & 1) != 0) {
      return ABSENT;
    }
    int slot = find(memory, base, tag, file, key, offset, length);
    if (slot < 0) {
      return ABSENT;
    }
    int at = entry(memory, base, slot);
    int valueLength = memory.getUnsignedShort(base + at + 6);
    int value = at + ENTRY_HEADER + length;
    long written = memory.getLong(base + at + 8);
    if (value + valueLength > limit || written > lsn) {
      return ABSENT;
    }
    if (valueLength <= target.remaining()) {
      memory.get(base + value, target, target.position(), valueLength);
    }
    VarHandle.acquireFence();
    if (memory.getLongOpaque(base) != version) {
      return ABSENT;
    }
    if (memory.getByte(base + heat + slot) == 0) {
      // If the page has changed since, another entry is thought to be hot for a while.
      memory.putByte(base + heat + slot, (byte) 1);
    }
    hits.increment();
    return written == NO_VERSION ? NO_SUCH_KEY : valueLength;
  }

  /** The slot of an entry or -1. All that is read may be changing, so nothing is relied upon. */
  private int find(Memory memory, int base, int tag, int file, byte[] key, int offset, int length) {
    int used = Math.min(memory.getUnsignedShort(base + USED), slots);
    for (int slot = 0; slot < used; slot++) {
      if (memory.getInt(base + TAGS + 4 * slot) == tag
          && isAt(memory, base, slot, file, key, offset, length)) {
        return slot;
      }
    }
    return -1;
  }

  private boolean isAt(
      Memory memory, int base, int slot, int file, byte[] key, int offset, int length) {
    int at = entry(memory, base, slot);
    return at >= firstEntry
        && at + ENTRY_HEADER + length <= limit
        && memory.getInt(base + at) == file
        && memory.getUnsignedShort(base + at + 4) == length
        && memory.compare(base + at + ENTRY_HEADER, length, key, offset, length) == 0;
  }

  private int entry(Memory memory, int base, int slot) {
    return memory.getUnsignedShort(base + offsets + 2 * slot);
  }

  /**
   * Takes an entry in, unless it is too large, here already, or another thread is at its page.
   *
   * @param hash of the key
   * @param value of the newest version in the file; null if that has none
   */
  public void put(int file, byte[] key, int offset, int length, long hash, @Nullable Value value) {
    int[] all = pages;
    int valueLength = value == null ? 0 : value.length();
    int bytes = ENTRY_HEADER + length + valueLength;
    if (all.length == 0 || bytes > pageSize / LARGEST) {
      return;
    }
    int tag = tag(file, hash);
    int page = all[index(tag, all.length)];
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    long version = memory.getLongAcquire(base);
    if ((version & 1) != 0 || !memory.compareAndSetLong(base, version, version + 1)) {
      return;
    }
    VarHandle.fullFence();
    try {
      if (find(memory, base, tag, file, key, offset, length) >= 0) {
        return;
      }
      if (isFull(memory, base, bytes) && !sweep(memory, base, bytes)) {
        return;
      }
      held.increment();
      heldBytes.add(bytes);
      if (isGhost(memory, base, tag)) {
        ghostHits.increment();
      }
      int at = append(memory, base, tag, bytes);
      memory.putInt(at, file);
      memory.putShort(at + 4, length);
      memory.putShort(at + 6, valueLength);
      memory.putLong(at + 8, value == null ? NO_VERSION : value.lsn());
      memory.put(at + ENTRY_HEADER, key, offset, length);
      if (value != null) {
        memory.copyFrom(at + ENTRY_HEADER + length, value.memory(), value.offset(), valueLength);
      }
    } finally {
      memory.putLongRelease(base, version + 2);
    }
  }

  private boolean isFull(Memory memory, int base, int bytes) {
    return memory.getUnsignedShort(base + USED) == slots
        || memory.getUnsignedShort(base + END) + bytes > limit;
  }

  /** Makes the next slot one of {@code bytes} bytes; where they lie. */
  private int append(Memory memory, int base, int tag, int bytes) {
    int slot = memory.getUnsignedShort(base + USED);
    int at = memory.getUnsignedShort(base + END);
    memory.putInt(base + TAGS + 4 * slot, tag);
    memory.putShort(base + offsets + 2 * slot, at);
    memory.putByte(base + heat + slot, (byte) 0);
    memory.putShort(base + USED, slot + 1);
    memory.putShort(base + END, at + bytes);
    return base + at;
  }

  private int bytes(Memory memory, int base, int slot) {
    int at = base + entry(memory, base, slot);
    return ENTRY_HEADER + memory.getUnsignedShort(at + 4) + memory.getUnsignedShort(at + 6);
  }

  /** Frees a part of a full page, at least {@code bytes}; false if that is not possible now. */
  private boolean sweep(Memory memory, int base, int bytes) {
    if (!scratchBusy.compareAndSet(false, true)) {
      return false;
    }
    try {
      int page = scratch;
      if (page == PagePool.NONE) {
        return false;
      }
      Memory old = pool.memory(page);
      int oldBase = pool.base(page);
      old.copyFrom(oldBase, memory, base, pageSize);
      order(memory, base, old, oldBase, bytes);
    } finally {
      scratchBusy.set(false);
    }
    return true;
  }

  private void order(Memory memory, int base, Memory old, int oldBase, int wantedBytes) {
    int used = old.getUnsignedShort(oldBase + USED);
    int bytes = 0;
    int gone = 0;
    int passed = 0;
    // If all was read since the last time, a second round takes the first ones all the same.
    for (int round = 0; round < 2; round++) {
      for (int slot = 0; slot < used && !isEnough(bytes, gone, wantedBytes); slot++) {
        byte hot = old.getByte(oldBase + heat + slot);
        if (hot == 0 || (round == 1 && hot != GONE)) {
          bytes += bytes(old, oldBase, slot);
          gone++;
          old.putByte(oldBase + heat + slot, GONE);
          addGhost(memory, base, old.getInt(oldBase + TAGS + 4 * slot));
        }
        passed = Math.max(passed, slot + 1);
      }
    }
    held.add(-gone);
    heldBytes.add(-bytes);
    memory.putShort(base + USED, 0);
    memory.putShort(base + END, firstEntry);
    for (int slot = passed; slot < used; slot++) {
      carry(memory, base, old, oldBase, slot, old.getByte(oldBase + heat + slot));
    }
    for (int slot = 0; slot < passed; slot++) {
      if (old.getByte(oldBase + heat + slot) != GONE) {
        carry(memory, base, old, oldBase, slot, (byte) 0);
      }
    }
  }

  private boolean isEnough(int bytes, int gone, int wantedBytes) {
    return bytes >= wantedBytes && (bytes >= pageSize / FREED || gone >= slots / FREED);
  }

  private void carry(Memory memory, int base, Memory from, int fromBase, int slot, byte hot) {
    int bytes = bytes(from, fromBase, slot);
    int at = append(memory, base, from.getInt(fromBase + TAGS + 4 * slot), bytes);
    memory.putByte(base + heat + memory.getUnsignedShort(base + USED) - 1, hot);
    memory.copyFrom(at, from, fromBase + entry(from, fromBase, slot), bytes);
  }

  private void addGhost(Memory memory, int base, int tag) {
    int next = memory.getUnsignedShort(base + NEXT_GHOST);
    int count = memory.getUnsignedShort(base + GHOSTS);
    memory.putShort(base + ghostTags + 2 * next, tag >>> 16);
    memory.putShort(base + NEXT_GHOST, (next + 1) % ghosts);
    if (count < ghosts) {
      memory.putShort(base + GHOSTS, count + 1);
      ghostCount.increment();
    }
  }

  private boolean isGhost(Memory memory, int base, int tag) {
    int count = memory.getUnsignedShort(base + GHOSTS);
    for (int i = 0; i < count; i++) {
      if (memory.getUnsignedShort(base + ghostTags + 2 * i) == tag >>> 16) {
        return true;
      }
    }
    return false;
  }

  /**
   * Changes how many pages it holds. It takes no more than the pool has free; what it gives up goes
   * with the entries there.
   */
  synchronized void resize(int count) {
    int[] now = pages;
    if (count > now.length) {
      grow(now, count);
    } else if (count < now.length) {
      pages = Arrays.copyOf(now, count);
      int[] gone = Arrays.copyOfRange(now, count, now.length);
      for (int page : gone) {
        Memory memory = pool.memory(page);
        int base = pool.base(page);
        lock(memory, base); // For good: a reader that still looks at it finds nothing.
        ghostCount.add(-memory.getUnsignedShort(base + GHOSTS));
        held.add(-memory.getUnsignedShort(base + USED));
        heldBytes.add(firstEntry - memory.getUnsignedShort(base + END));
      }
      pool.retire(gone, gone.length, Purpose.ENTRIES);
      if (count == 0) {
        dropScratch();
      }
    }
  }

  private void grow(int[] now, int count) {
    if (scratch == PagePool.NONE) {
      scratch = pool.tryAllocate(Purpose.ENTRIES);
    }
    int[] more = Arrays.copyOf(now, count);
    int have = now.length;
    while (scratch != PagePool.NONE && have < count) {
      int page = pool.tryAllocate(Purpose.ENTRIES);
      if (page == PagePool.NONE) {
        break;
      }
      format(page);
      more[have++] = page;
      if (have > 1) {
        split(more, have);
      }
    }
    pages = Arrays.copyOf(more, have);
    if (have == 0) {
      dropScratch();
    }
  }

  private void dropScratch() {
    for (int tries = 0; !scratchBusy.compareAndSet(false, true); tries++) {
      Backoff.pause(tries);
    }
    if (scratch != PagePool.NONE) {
      pool.release(scratch, Purpose.ENTRIES);
      scratch = PagePool.NONE;
    }
    scratchBusy.set(false);
  }

  private void format(int page) {
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    memory.zero(base, firstEntry);
    memory.putShort(base + END, firstEntry);
  }

  /** Moves to the last of {@code count} pages what belongs there from now on. */
  private void split(int[] all, int count) {
    int last = count - 1;
    int from = all[last & mask(count) >>> 1];
    Memory source = pool.memory(from);
    int sourceBase = pool.base(from);
    Memory target = pool.memory(all[last]);
    int targetBase = pool.base(all[last]);
    long version = lock(source, sourceBase);
    try {
      int used = source.getUnsignedShort(sourceBase + USED);
      int end = firstEntry;
      int kept = 0;
      for (int slot = 0; slot < used; slot++) {
        int tag = source.getInt(sourceBase + TAGS + 4 * slot);
        byte hot = source.getByte(sourceBase + heat + slot);
        if (index(tag, count) == last) {
          carry(target, targetBase, source, sourceBase, slot, hot);
          continue;
        }
        int bytes = bytes(source, sourceBase, slot);
        source.move(sourceBase + entry(source, sourceBase, slot), sourceBase + end, bytes);
        source.putInt(sourceBase + TAGS + 4 * kept, tag);
        source.putShort(sourceBase + offsets + 2 * kept, end);
        source.putByte(sourceBase + heat + kept, hot);
        end += bytes;
        kept++;
      }
      source.putShort(sourceBase + USED, kept);
      source.putShort(sourceBase + END, end);
    } finally {
      source.putLongRelease(sourceBase, version + 2);
    }
  }

  private static long lock(Memory memory, int base) {
    for (int tries = 0; ; tries++) {
      long version = memory.getLongAcquire(base);
      if ((version & 1) == 0 && memory.compareAndSetLong(base, version, version + 1)) {
        VarHandle.fullFence();
        return version;
      }
      Backoff.pause(tries);
    }
  }

  /** Whether one of its pages is to leave the pool. */
  boolean anyLeaving() {
    if (scratch != PagePool.NONE && pool.leaving(scratch)) {
      return true;
    }
    for (int page : pages) {
      if (pool.leaving(page)) {
        return true;
      }
    }
    return false;
  }
}
