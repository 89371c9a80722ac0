package io.isobardb.lsm.component;

import static io.isobardb.lsm.component.ActiveNodes.ENTRY_KEY;
import static io.isobardb.lsm.component.ActiveNodes.ENTRY_LINK;
import static io.isobardb.lsm.component.ActiveNodes.PRUNED;
import static io.isobardb.lsm.component.ActiveNodes.SHAPE;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.StayingVersions;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.operand.FoldRules;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Puts versions into leaves of {@link ActiveTree}, and prunes those that they make superfluous.
 *
 * <p>Thread rule: the leaf is latched; nothing here waits.
 */
final class LeafWriter {
  /**
   * A leaf that has lost old versions is split if this part of it would not be left free: it would
   * have to be compacted again too soon.
   */
  private static final int LEFT_SHARE = 8;

  private final PagePool pool;
  private final ActiveNodes nodes;
  private final AtomicInteger pages;
  private final int leastLeft;

  LeafWriter(PagePool pool, ActiveNodes nodes, AtomicInteger pages) {
    this.pool = pool;
    this.nodes = nodes;
    this.pages = pages;
    this.leastLeft = pool.pageSize() / LEFT_SHARE;
  }

  /**
   * Adds a version, or replaces it. A leaf without contiguous room for it first loses all that
   * nobody can ask for any more.
   *
   * @param version the leaf's, while latched
   * @param position its place in the leaf, from {@link ActiveNodes#lowerBound}
   * @return false if the leaf has no room; no version that can be seen has changed then
   */
  boolean put(
      Memory memory, int base, int version, int position, Write write, Visibility visibility) {
    int pos = ActiveNodes.slot(position);
    int entry = place(memory, base, position, write, visibility, false);
    if (entry < 0) {
      boolean pruned = pruneAll(memory, base, visibility);
      if (pruned && nodes.room(memory, base) < write.entryBytes() + leastLeft) {
        return false;
      }
      int moved = nodes.lowerBound(memory, base, version, write);
      pos = ActiveNodes.slot(moved);
      entry = place(memory, base, moved, write, visibility, true);
    }
    if (entry < 0) {
      return false;
    }
    fill(memory, entry, write);
    if (write.kind == Kind.MERGE) {
      write.deep = isDeep(memory, base, pos, write);
    }
    return true;
  }

  /**
   * A slot and room for a version; gives where it goes, -1 if there is no room.
   *
   * @param compacting whether the leaf may be compacted for it
   */
  private int place(
      Memory memory,
      int base,
      int position,
      Write write,
      Visibility visibility,
      boolean compacting) {
    long shape = memory.getLong(base + SHAPE);
    int pos = ActiveNodes.slot(position);
    if (!ActiveNodes.sameKey(position)) {
      return add(memory, base, pos, write, compacting);
    }
    return lsn(memory, base, shape, pos) == write.lsn
        ? replace(memory, base, pos, write, compacting)
        : addVersion(memory, base, pos, write, visibility, compacting);
  }

  /**
   * Prunes what nobody can ask for any more, of all keys: the versions below the newest one that is
   * visible, down to what a snapshot holds.
   *
   * @return whether there was any
   */
  private boolean pruneAll(Memory memory, int base, Visibility visibility) {
    // In this order: a snapshot announced after its LSN was read as visible is seen.
    long visible = visibility.visible();
    long newestSnapshot = visibility.newestSnapshot();
    boolean pruned = false;
    int slot = 0;
    while (slot < ActiveNodes.count(memory.getLong(base + SHAPE))) {
      int next = slot + 1;
      // The only version of a key stays: its entry, which may be in no cache, is not read.
      if (goesOn(memory, base, next)) {
        long needless = needless(memory, base, slot, false, visible, newestSnapshot);
        int from = from(needless);
        int to = to(needless);
        if (from < to) {
          keeps(memory, base, from - 1, prunedFrom(memory, base, from, to));
          prune(memory, base, from, to);
          pruned = true;
        }
        next = from;
      }
      while (goesOn(memory, base, next)) {
        next++;
      }
      slot = next;
    }
    return pruned;
  }

  /**
   * The versions of a key that nobody can ask for any more: the slots from {@link #from} to before
   * {@link #to}. What is too new to be visible stays, and what answers all later readers, with the
   * operands on it; so do the slots from the first on that a snapshot may see.
   *
   * @param slot has the newest version to be asked about
   * @param answered whether a newer version answers all who read later
   */
  private long needless(
      Memory memory, int base, int slot, boolean answered, long visible, long newestSnapshot) {
    long shape = memory.getLong(base + SHAPE);
    int from = slot;
    boolean found = answered;
    boolean more = true;
    while (more && !found) {
      int entry = nodes.entry(memory, base, shape, from);
      int kind = ActiveNodes.kind(memory, entry);
      found = StayingVersions.answersLater(ActiveNodes.lsn(memory, entry), kind, visible);
      from++;
      more = goesOn(memory, base, from);
    }
    int to = from;
    while (more && !StayingVersions.maySee(newestSnapshot, lsn(memory, base, shape, to))) {
      to++;
      more = goesOn(memory, base, to);
    }
    return (long) to << 32 | from;
  }

  private static int from(long needless) {
    return (int) needless;
  }

  private static int to(long needless) {
    return (int) (needless >>> 32);
  }

  /** Whether a slot has another version of the key in the slot before it. */
  private boolean goesOn(Memory memory, int base, int slot) {
    return slot < ActiveNodes.count(memory.getLong(base + SHAPE))
        && nodes.sameKeys(memory, base, slot);
  }

  /** Notes in the entry of a slot that versions from an LSN up to its own may be missing. */
  private void keeps(Memory memory, int base, int slot, long prunedFrom) {
    int entry = nodes.entry(memory, base, memory.getLong(base + SHAPE), slot);
    long from = Math.min(prunedFrom, ActiveNodes.prunedFrom(memory, entry));
    memory.putInt(entry + ENTRY_LINK, ActiveNodes.prunedLink(ActiveNodes.lsn(memory, entry), from));
  }

  /** Whether an operand that has been put into a slot has those of its key folded. */
  private boolean isDeep(Memory memory, int base, int pos, Write write) {
    long shape = memory.getLong(base + SHAPE);
    int below = pos;
    int end = Math.min(ActiveNodes.count(shape), pos + FoldRules.countedUpTo());
    while (below < end
        && isOperand(memory, base, shape, below)
        && hasKey(memory, base, shape, below, write)) {
      below++;
    }
    return FoldRules.isDeep(below - pos, below == ActiveNodes.count(shape));
  }

  private boolean isOperand(Memory memory, int base, long shape, int slot) {
    return slot < ActiveNodes.count(shape)
        && Kind.isOperand(ActiveNodes.kind(memory, nodes.entry(memory, base, shape, slot)));
  }

  /** Writes an entry into the room it has been given; its link stays. */
  private static void fill(Memory memory, int entry, Write write) {
    int link = memory.getInt(entry + ENTRY_LINK);
    long tag = ActiveNodes.tag(write.lsn, write.storedKind());
    int at = ActiveNodes.writeEntry(memory, entry, write, link, tag);
    if (write.overflow == PagePool.NONE) {
      memory.put(at, write.value, write.valueOffset, write.valueLength);
    } else {
      memory.putInt(at, write.overflow);
      memory.putInt(at + 4, write.valueLength);
    }
    if (write.expiry != Expiry.NEVER) {
      memory.putLong(at + write.storedLength() - Expiry.BYTES, write.expiry);
    }
  }

  private boolean makeRoom(Memory memory, int base, int entryBytes, int slots, boolean compacting) {
    return (compacting || nodes.hasRoom(memory, base, entryBytes, slots))
        && nodes.makeRoom(memory, base, entryBytes, slots);
  }

  private boolean hasKey(Memory memory, int base, long shape, int slot, Write write) {
    // The heads were read by the search just now; the entry may be far from any cache.
    return slot >= 0
        && slot < ActiveNodes.count(shape)
        && memory.getInt(ActiveNodes.headAt(base, slot)) == head(shape, write)
        && nodes.hasKeyAt(memory, base, shape, slot, write.key, write.keyOffset, write.keyLength);
  }

  private int head(long shape, Write write) {
    return nodes.head(write.key, write.keyOffset, write.keyLength, ActiveNodes.prefix(shape));
  }

  /** Makes room and a slot for an entry; gives where it goes, -1 if there is no room. */
  private int add(Memory memory, int base, int pos, Write write, boolean compacting) {
    int bytes = write.entryBytes();
    if (!makeRoom(memory, base, bytes, 1, compacting)) {
      return -1;
    }
    int offset = nodes.take(memory, base, bytes);
    nodes.insertSlot(memory, base, pos, head(memory.getLong(base + SHAPE), write), offset);
    memory.putInt(base + offset + ENTRY_LINK, 0);
    return base + offset;
  }

  /** Room for what takes the place of the entry in slot {@code pos}, and keeps its link. */
  private int replace(Memory memory, int base, int pos, Write write, boolean compacting) {
    int bytes = write.entryBytes();
    long shape = memory.getLong(base + SHAPE);
    int old = nodes.entry(memory, base, shape, pos);
    int oldBytes = ActiveNodes.entryBytes(memory, old);
    int link = memory.getInt(old + ENTRY_LINK);
    int chain = chain(memory, old);
    int entry;
    if (oldBytes >= bytes) {
      nodes.discard(memory, base, oldBytes - bytes);
      entry = old;
    } else if (ActiveNodes.count(shape) == 1) {
      // No split can help here: the old entry must make room, and comes back if it can't.
      nodes.removeSlots(memory, base, 0, 1);
      entry = add(memory, base, 0, write, compacting);
      if (entry < 0) {
        memory.putLong(base + SHAPE, shape);
        nodes.discard(memory, base, -oldBytes);
        return -1;
      }
    } else {
      if (!makeRoom(memory, base, bytes, 0, compacting)) {
        return -1;
      }
      nodes.discard(memory, base, oldBytes);
      int offset = nodes.take(memory, base, bytes);
      int capacity = ActiveNodes.capacity(memory.getLong(base + SHAPE));
      memory.putShort(ActiveNodes.offsetAt(base, capacity, pos), offset);
      entry = base + offset;
    }
    retire(chain);
    memory.putInt(entry + ENTRY_LINK, link);
    return entry;
  }

  /** As {@link #add} for a key that has older versions, of which some may be pruned. */
  private int addVersion(
      Memory memory, int base, int pos, Write write, Visibility visibility, boolean compacting) {
    // In this order: a snapshot announced after its LSN was read as visible is seen.
    long visible = visibility.visible();
    long newestSnapshot = visibility.newestSnapshot();
    boolean answers = StayingVersions.answersLater(write.lsn, write.kind, visible);
    long needless = needless(memory, base, pos, answers, visible, newestSnapshot);
    int from = from(needless);
    int to = to(needless);
    if (from == to) {
      return add(memory, base, pos, write, compacting);
    }
    long prunedFrom = prunedFrom(memory, base, from, to);
    if (answers) {
      // Nothing may go before the new version is in.
      int entry = add(memory, base, pos, write, compacting);
      if (entry >= 0) {
        memory.putInt(entry + ENTRY_LINK, ActiveNodes.prunedLink(write.lsn, prunedFrom));
        prune(memory, base, from + 1, to + 1);
      }
      return entry;
    }
    keeps(memory, base, from - 1, prunedFrom);
    int bytes = write.entryBytes();
    long shape = memory.getLong(base + SHAPE);
    int vacated = nodes.entry(memory, base, shape, from);
    int vacatedBytes = ActiveNodes.entryBytes(memory, vacated);
    if (vacatedBytes < bytes) {
      prune(memory, base, from, to);
      return add(memory, base, pos, write, compacting);
    }
    if (to > from + 1) {
      prune(memory, base, from + 1, to);
    }
    retire(chain(memory, vacated));
    memory.putLong(base + SHAPE, memory.getLong(base + SHAPE) | PRUNED);
    nodes.discard(memory, base, vacatedBytes - bytes);
    nodes.rotate(memory, base, pos, from);
    memory.putInt(vacated + ENTRY_LINK, 0);
    return vacated;
  }

  private long lsn(Memory memory, int base, long shape, int slot) {
    return ActiveNodes.lsn(memory, nodes.entry(memory, base, shape, slot));
  }

  /** The lowest LSN that is missing once these slots are gone. */
  private long prunedFrom(Memory memory, int base, int from, int to) {
    long shape = memory.getLong(base + SHAPE);
    long lowest = Long.MAX_VALUE;
    for (int i = from; i < to; i++) {
      int entry = nodes.entry(memory, base, shape, i);
      lowest = Math.min(lowest, ActiveNodes.prunedFrom(memory, entry));
    }
    return lowest;
  }

  private void prune(Memory memory, int base, int from, int to) {
    long shape = memory.getLong(base + SHAPE);
    for (int i = from; i < to; i++) {
      retire(chain(memory, nodes.entry(memory, base, shape, i)));
    }
    nodes.removeSlots(memory, base, from, to);
    memory.putLong(base + SHAPE, memory.getLong(base + SHAPE) | PRUNED);
  }

  /** The first page of an entry's chain, {@link PagePool#NONE} if its value is inline. */
  private static int chain(Memory memory, int entry) {
    return Kind.isOverflow(ActiveNodes.kind(memory, entry))
        ? memory.getInt(entry + ENTRY_KEY + ActiveNodes.keyLength(memory, entry))
        : PagePool.NONE;
  }

  private void retire(int chain) {
    if (chain != PagePool.NONE) {
      pages.addAndGet(-OverflowChain.retire(pool, chain));
    }
  }
}
