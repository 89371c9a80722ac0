package io.isobardb.lsm.read;

import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.sstable.PageReader;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.cache.EntryCache;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.PagePool;
import java.nio.ByteBuffer;

/** Copies the value that the reader sees, if memory has it in one piece. */
final class ValueLookup extends Lookup {
  private final PagePool pool;
  private final Epochs epochs;
  private final EntryCache entries;
  private final boolean touch;

  /**
   * @param touch whether pages become hot, and cached entries are looked at; background work leaves
   *     the caches as they are
   */
  ValueLookup(TableSpace space, boolean touch) {
    super(space.pool().epochs());
    this.pool = space.pool();
    this.epochs = pool.epochs();
    this.entries = space.cache().entries();
    this.touch = touch;
  }

  @Override
  int ask(SSTable table, byte[] key, Probe probe, boolean last) {
    long floor = probe.floor();
    if (table.meta().maxLsn() < floor) {
      return Probe.ABSENT;
    }
    boolean indexed = table.isIndexed(probe.lsn());
    if (!indexed || probe.doubtsIndexes()) {
      int maybe = table.mayContain(probe.hash(), touch);
      boolean passes = SSTable.isMiss(maybe) && (indexed || last && probe.trustsLastRun());
      if (maybe != SSTable.MAYBE && !passes) {
        return maybe;
      }
    }
    if (touch && floor == 0 && !entries.isEmpty() && !table.isInMemory()) {
      int cached = cached(table, key, probe);
      if (cached > probe.target().remaining() && probe.hasRoom(cached)) {
        cached = cached(table, key, probe);
      }
      if (cached != EntryCache.ABSENT) {
        return cached == EntryCache.NO_SUCH_KEY ? Probe.ABSENT : cached;
      }
    }
    long location = table.search(key, probe.hash(), probe.lsn(), touch);
    if (indexed) {
      probe.onIndexAsked(location != SSTable.ABSENT);
    }
    return location < 0
        ? (int) location
        : copy(SSTable.pageOf(location), SSTable.entryOf(location), probe);
  }

  /** Asks the cache of entries. */
  private int cached(SSTable table, byte[] key, Probe probe) {
    int file = table.fileNumber();
    return entries.get(file, key, 0, key.length, probe.hash(), probe.lsn(), probe.target());
  }

  @Override
  int load(SSTable table, byte[] key, Probe probe, int asked) {
    boolean filtered = table.missesFilter(asked);
    long location = table.locatePinned(key, probe.hash(), probe.lsn(), filtered);
    boolean newest = probe.lsn() >= table.meta().maxLsn();
    if (location == SSTable.ABSENT) {
      if (newest) {
        int slot = epochs.enter();
        try {
          keepAbsence(table, key, probe.hash());
        } finally {
          epochs.exit(slot);
        }
      }
      return Probe.ABSENT;
    }
    int entry = SSTable.entryOf(location);
    int found;
    int firstPage;
    int start;
    int slot = epochs.enter();
    try {
      int page = table.page(SSTable.pageOf(location));
      found = copy(page, entry, probe);
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      if (found >= 0 && newest) {
        keep(table, key, probe.hash(), (long) page << 32 | entry, found);
      }
      if (found != Probe.ELSEWHERE) {
        return found;
      }
      firstPage = PageReader.overflowPage(memory, base, entry);
      start = PageReader.overflowStart(memory, base, entry);
      found = PageReader.overflowLength(memory, base, entry);
    } finally {
      epochs.exit(slot);
      table.unpin(SSTable.pageOf(location));
    }
    if (probe.hasRoom(found)) {
      ByteBuffer target = probe.target();
      table.copyOverflow(firstPage, start, target, target.position(), found, Access.QUERY);
    }
    return found;
  }

  /**
   * Keeps an entry in the cache of entries: it was worth a read from disk, and is the newest
   * version that the file has. What expires is not kept.
   *
   * @param location of the entry, in a page of the pool
   * @param length of its value
   */
  static void keep(SSTable table, byte[] key, long hash, long location, int length) {
    TableSpace space = table.space();
    Memory memory = space.pool().memory(SSTable.pageOf(location));
    int base = space.pool().base(SSTable.pageOf(location));
    int entry = SSTable.entryOf(location);
    if (!PageReader.expires(memory, base, entry)) {
      int from = base + PageReader.valueOffset(memory, base, entry);
      long version = PageReader.lsn(memory, base, entry);
      EntryCache.Value value = new EntryCache.Value(memory, from, length, version);
      space.cache().entries().put(table.fileNumber(), key, 0, key.length, hash, value);
    }
  }

  /**
   * Keeps in the cache of entries that a file has no version of a key, which was worth a read from
   * disk. Nothing needs to be kept where the filter tells.
   */
  static void keepAbsence(SSTable table, byte[] key, long hash) {
    if (table.mayContain(hash, false) == SSTable.MAYBE) {
      EntryCache entries = table.space().cache().entries();
      entries.put(table.fileNumber(), key, 0, key.length, hash, null);
    }
  }

  /** What an entry says; its value is copied if it lies in the page and there is room for it. */
  private int copy(int page, int entry, Probe probe) {
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    int length = PageReader.answer(memory, base, entry, probe);
    if (length >= 0 && probe.hasRoom(length)) {
      ByteBuffer target = probe.target();
      int from = base + PageReader.valueOffset(memory, base, entry);
      memory.get(from, target, target.position(), length);
    }
    return length;
  }
}
