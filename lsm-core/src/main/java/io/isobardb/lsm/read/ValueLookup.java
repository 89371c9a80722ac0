package io.isobardb.lsm.read;

import io.isobardb.lsm.component.Sealed;
import io.isobardb.lsm.entry.Expiry;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.RangeDeletes;
import io.isobardb.lsm.sstable.PageReader;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.cache.EntryCache;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.PagePool;
import java.nio.ByteBuffer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Copies the value that the reader sees, if memory has it in one piece. */
final class ValueLookup extends Lookup {
  private final PagePool pool;
  private final Epochs epochs;
  private final EntryCache entries;
  private final boolean touch;

  /** Versions older than this are deleted, by a range delete; 0 for none. */
  private final long floor;

  /**
   * @param touch whether pages become hot, and cached entries are looked at; background work leaves
   *     the caches as they are
   * @param now the time to judge by
   */
  ValueLookup(TableSpace space, boolean touch, LongSupplier now) {
    this(space, touch, now, 0);
  }

  private ValueLookup(TableSpace space, boolean touch, LongSupplier now, long floor) {
    super(space.pool().epochs(), now);
    this.floor = floor;
    this.pool = space.pool();
    this.epochs = pool.epochs();
    this.entries = space.cache().entries();
    this.touch = touch;
  }

  /**
   * What to look a key up with at an LSN: this, unless a range delete covers the key. Then only
   * what is newer than that counts.
   *
   * @param deletes the tree's, or null
   */
  ValueLookup above(TableSpace space, @Nullable RangeDeletes deletes, byte[] key, long lsn) {
    long covering = deletes == null ? 0 : deletes.covering(key, key.length, lsn);
    return covering == 0 ? this : new ValueLookup(space, touch, now, covering);
  }

  /** The same at another time. */
  ValueLookup at(TableSpace space, LongSupplier time) {
    return time == now ? this : new ValueLookup(space, touch, time, floor);
  }

  @Override
  int ask(Sealed entries, byte[] key, long hash, long lsn, ByteBuffer target) {
    if (floor == 0) {
      return entries.getInto(key, hash, lsn, now, target);
    }
    long seen = entries.seenLsn(key, hash, lsn);
    int found = entries.getInto(key, hash, lsn, now, target);
    // Asked in this order: what is pruned in between is told by RETRY.
    return seen < floor && (found >= 0 || found == OPERAND) ? DELETED : found;
  }

  @Override
  int ask(SSTable table, byte[] key, long hash, long lsn, ByteBuffer target) {
    if (table.meta().maxLsn() < floor) {
      return ABSENT;
    }
    int maybe = table.mayContain(hash, touch);
    if (maybe != SSTable.MAYBE) {
      return maybe;
    }
    if (touch && floor == 0 && !entries.isEmpty() && !table.isInMemory()) {
      int cached = entries.get(table.fileNumber(), key, 0, key.length, hash, lsn, target);
      if (cached != EntryCache.ABSENT) {
        return cached;
      }
    }
    long location = table.search(key, lsn, touch);
    return location < 0
        ? (int) location
        : copy(SSTable.pageOf(location), SSTable.entryOf(location), target);
  }

  @Override
  int load(SSTable table, byte[] key, long hash, long lsn, ByteBuffer target) {
    long location = table.locatePinned(key, hash, lsn);
    if (location == SSTable.ABSENT) {
      return ABSENT;
    }
    int entry = SSTable.entryOf(location);
    int found;
    int firstPage;
    int slot = epochs.enter();
    try {
      int page = table.page(SSTable.pageOf(location));
      found = copy(page, entry, target);
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      boolean lasts = !Kind.expires(PageReader.kind(memory, base, entry));
      if (found >= 0 && lasts && lsn >= table.meta().maxLsn()) {
        // What was worth a read from disk, and is the newest the file has.
        int from = base + PageReader.valueOffset(memory, base, entry);
        long version = PageReader.lsn(memory, base, entry);
        EntryCache.Value value = new EntryCache.Value(memory, from, found, version);
        entries.put(table.fileNumber(), key, 0, key.length, hash, value);
      }
      if (found != LOAD) {
        return found;
      }
      firstPage = PageReader.overflowPage(memory, base, entry);
      found = PageReader.overflowLength(memory, base, entry);
    } finally {
      epochs.exit(slot);
      table.unpin(SSTable.pageOf(location));
    }
    if (found <= target.remaining()) {
      table.copyOverflow(firstPage, 0, target, target.position(), found, Access.QUERY);
    }
    return found;
  }

  /** What an entry says; its value is copied if it lies in the page and there is room for it. */
  private int copy(int page, int entry, ByteBuffer target) {
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    int kind = PageReader.kind(memory, base, entry);
    if (floor > 0 && PageReader.lsn(memory, base, entry) < floor) {
      return DELETED;
    }
    int length;
    if (kind == Kind.PUT) {
      length = PageReader.valueLength(memory, base, entry);
    } else {
      int plain = Kind.plain(kind);
      if (plain == Kind.DELETE || Kind.isOperand(plain)) {
        return plain == Kind.DELETE ? DELETED : OPERAND;
      }
      if (kind != plain && PageReader.expiry(memory, base, entry) <= now.getAsLong()) {
        return DELETED;
      }
      if (plain == Kind.PUT_OVERFLOW) {
        return LOAD;
      }
      length = PageReader.valueLength(memory, base, entry) - Expiry.BYTES;
    }
    if (length <= target.remaining()) {
      int from = base + PageReader.valueOffset(memory, base, entry);
      memory.get(from, target, target.position(), length);
    }
    return length;
  }
}
