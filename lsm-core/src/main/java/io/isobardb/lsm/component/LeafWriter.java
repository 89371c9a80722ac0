package io.isobardb.lsm.component;

import static io.isobardb.lsm.component.ActiveLayout.ENTRY_KEY;
import static io.isobardb.lsm.component.ActiveLayout.ENTRY_LINK;
import static io.isobardb.lsm.component.ActiveLayout.MAX_LSN;
import static io.isobardb.lsm.component.ActiveLayout.PRUNED;
import static io.isobardb.lsm.component.ActiveLayout.SHAPE;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Puts versions into leaves of {@link ActiveTree}, and prunes those that they make superfluous.
 *
 * <p>Thread rule: the leaf is latched; nothing here waits.
 */
final class LeafWriter {
  private final PagePool pool;
  private final ActiveSearch search;
  private final ActiveEdit edit;
  private final AtomicInteger pages;

  LeafWriter(PagePool pool, ActiveSearch search, ActiveEdit edit, AtomicInteger pages) {
    this.pool = pool;
    this.search = search;
    this.edit = edit;
    this.pages = pages;
  }

  /**
   * Adds a version, or replaces it.
   *
   * @param position its place in the leaf, from {@link ActiveSearch#lowerBound}
   * @param valueLength length of the value, wherever it is
   * @param firstPage the value's chain; {@link PagePool#NONE} for an inline value
   * @return false if the leaf has no room; no version that can be seen has changed then
   */
  boolean put(
      Memory memory,
      int base,
      int position,
      byte[] key,
      int keyOffset,
      int keyLength,
      int kind,
      long lsn,
      byte[] value,
      int valueOffset,
      int valueLength,
      int firstPage,
      Visibility visibility) {
    int stored = firstPage == PagePool.NONE ? valueLength : ActiveLayout.OVERFLOW_REF_BYTES;
    int bytes = ActiveLayout.entryBytes(keyLength, stored);
    long tag = ActiveLayout.tag(lsn, kind);
    long shape = memory.getLong(base + SHAPE);
    int pos = ActiveSearch.slot(position);
    int entry;
    if (ActiveSearch.sameKey(position)
        && ActiveLayout.lsn(memory, search.entry(memory, base, shape, pos)) == lsn) {
      entry = replace(memory, base, pos, bytes, key, keyOffset, keyLength);
    } else if (ActiveSearch.sameKey(position)
        || search.hasKeyAt(memory, base, shape, pos - 1, key, keyOffset, keyLength)) {
      entry = addVersion(memory, base, pos, bytes, lsn, key, keyOffset, keyLength, visibility);
    } else {
      entry = add(memory, base, pos, bytes, key, keyOffset, keyLength);
    }
    if (entry < 0) {
      return false;
    }
    int link = memory.getInt(entry + ENTRY_LINK);
    int at = ActiveEdit.writeEntry(memory, entry, key, keyOffset, keyLength, stored, link, tag);
    if (firstPage == PagePool.NONE) {
      memory.put(at, value, valueOffset, valueLength);
    } else {
      memory.putInt(at, firstPage);
      memory.putInt(at + 4, valueLength);
    }
    if (lsn > memory.getLong(base + MAX_LSN)) {
      memory.putLong(base + MAX_LSN, lsn);
    }
    return true;
  }

  /** Makes room and a slot for an entry; gives where it goes, -1 if there is no room. */
  private int add(
      Memory memory, int base, int pos, int bytes, byte[] key, int keyOffset, int keyLength) {
    if (!edit.makeRoom(memory, base, bytes, 1)) {
      return -1;
    }
    int offset = edit.take(memory, base, bytes);
    int prefix = ActiveLayout.prefix(memory.getLong(base + SHAPE));
    edit.insertSlot(memory, base, pos, edit.head(key, keyOffset, keyLength, prefix), offset);
    memory.putInt(base + offset + ENTRY_LINK, 0);
    return base + offset;
  }

  /** Room for what takes the place of the entry in slot {@code pos}, and keeps its link. */
  private int replace(
      Memory memory, int base, int pos, int bytes, byte[] key, int keyOffset, int keyLength) {
    long shape = memory.getLong(base + SHAPE);
    int old = search.entry(memory, base, shape, pos);
    int oldBytes = ActiveLayout.entryBytes(memory, old);
    int link = memory.getInt(old + ENTRY_LINK);
    int chain = chain(memory, old);
    int entry;
    if (oldBytes >= bytes) {
      edit.discard(memory, base, oldBytes - bytes);
      entry = old;
    } else if (ActiveLayout.count(shape) == 1) {
      // No split can help here: the old entry must make room, and comes back if it can't.
      edit.removeSlots(memory, base, 0, 1);
      entry = add(memory, base, 0, bytes, key, keyOffset, keyLength);
      if (entry < 0) {
        memory.putLong(base + SHAPE, shape);
        edit.discard(memory, base, -oldBytes);
        return -1;
      }
    } else {
      if (!edit.makeRoom(memory, base, bytes, 0)) {
        return -1;
      }
      edit.discard(memory, base, oldBytes);
      int offset = edit.take(memory, base, bytes);
      int capacity = ActiveLayout.capacity(memory.getLong(base + SHAPE));
      memory.putShort(ActiveLayout.offsetAt(base, capacity, pos), offset);
      entry = base + offset;
    }
    retire(chain);
    memory.putInt(entry + ENTRY_LINK, link);
    return entry;
  }

  /** As {@link #add} for a key that has other versions, of which some may be pruned. */
  private int addVersion(
      Memory memory,
      int base,
      int pos,
      int bytes,
      long lsn,
      byte[] key,
      int keyOffset,
      int keyLength,
      Visibility visibility) {
    // In this order: a snapshot announced after its LSN was read as visible is seen.
    long visible = visibility.visible();
    long newestSnapshot = visibility.newestSnapshot();
    long shape = memory.getLong(base + SHAPE);
    int first = pos;
    while (search.hasKeyAt(memory, base, shape, first - 1, key, keyOffset, keyLength)) {
      first--;
    }
    int keeper = first;
    while (keeper < pos && lsn(memory, base, shape, keeper) > visible) {
      keeper++;
    }
    boolean keeperIsNew = keeper == pos && lsn <= visible;
    if (keeper == pos && !keeperIsNew) {
      while (isVersion(memory, base, shape, keeper, key, keyOffset, keyLength)
          && lsn(memory, base, shape, keeper) > visible) {
        keeper++;
      }
    }
    int from = keeperIsNew ? pos : Math.max(keeper + 1, pos);
    int to = from;
    while (isVersion(memory, base, shape, to, key, keyOffset, keyLength)
        && lsn(memory, base, shape, to) > newestSnapshot) {
      to++;
    }
    if (from >= to || !isVersion(memory, base, shape, from, key, keyOffset, keyLength)) {
      return add(memory, base, pos, bytes, key, keyOffset, keyLength);
    }
    long prunedFrom = prunedFrom(memory, base, shape, from, to);
    if (keeperIsNew) {
      // Nothing may go before the new version is in.
      int entry = add(memory, base, pos, bytes, key, keyOffset, keyLength);
      if (entry >= 0) {
        memory.putInt(entry + ENTRY_LINK, ActiveLayout.prunedLink(lsn, prunedFrom));
        prune(memory, base, from + 1, to + 1);
      }
      return entry;
    }
    int kept = search.entry(memory, base, shape, keeper);
    long keptFrom = Math.min(prunedFrom, ActiveLayout.prunedFrom(memory, kept));
    memory.putInt(
        kept + ENTRY_LINK, ActiveLayout.prunedLink(ActiveLayout.lsn(memory, kept), keptFrom));
    int vacated = search.entry(memory, base, shape, from);
    int vacatedBytes = ActiveLayout.entryBytes(memory, vacated);
    if (vacatedBytes < bytes) {
      prune(memory, base, from, to);
      return add(memory, base, pos, bytes, key, keyOffset, keyLength);
    }
    if (to > from + 1) {
      prune(memory, base, from + 1, to);
    }
    retire(chain(memory, vacated));
    memory.putLong(base + SHAPE, memory.getLong(base + SHAPE) | PRUNED);
    edit.discard(memory, base, vacatedBytes - bytes);
    edit.rotate(memory, base, pos, from);
    memory.putInt(vacated + ENTRY_LINK, 0);
    return vacated;
  }

  private boolean isVersion(
      Memory memory, int base, long shape, int slot, byte[] key, int offset, int length) {
    return search.hasKeyAt(memory, base, shape, slot, key, offset, length);
  }

  private long lsn(Memory memory, int base, long shape, int slot) {
    return ActiveLayout.lsn(memory, search.entry(memory, base, shape, slot));
  }

  /** The lowest LSN that is missing once these slots are gone. */
  private long prunedFrom(Memory memory, int base, long shape, int from, int to) {
    long lowest = Long.MAX_VALUE;
    for (int i = from; i < to; i++) {
      int entry = search.entry(memory, base, shape, i);
      lowest = Math.min(lowest, ActiveLayout.prunedFrom(memory, entry));
    }
    return lowest;
  }

  private void prune(Memory memory, int base, int from, int to) {
    long shape = memory.getLong(base + SHAPE);
    for (int i = from; i < to; i++) {
      retire(chain(memory, search.entry(memory, base, shape, i)));
    }
    edit.removeSlots(memory, base, from, to);
    memory.putLong(base + SHAPE, memory.getLong(base + SHAPE) | PRUNED);
  }

  /** The first page of an entry's chain, {@link PagePool#NONE} if its value is inline. */
  private static int chain(Memory memory, int entry) {
    return ActiveLayout.kind(memory, entry) == Kind.PUT_OVERFLOW
        ? memory.getInt(entry + ENTRY_KEY + ActiveLayout.keyLength(memory, entry))
        : PagePool.NONE;
  }

  private void retire(int chain) {
    if (chain != PagePool.NONE) {
      pages.addAndGet(-OverflowChain.retire(pool, chain));
    }
  }
}
