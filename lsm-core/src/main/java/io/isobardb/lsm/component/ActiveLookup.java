package io.isobardb.lsm.component;

import static io.isobardb.lsm.component.ActiveLayout.ENTRY_KEY;
import static io.isobardb.lsm.component.ActiveLayout.ENTRY_LINK;
import static io.isobardb.lsm.component.ActiveLayout.LOWER;
import static io.isobardb.lsm.component.ActiveLayout.NEWEST;
import static io.isobardb.lsm.component.ActiveLayout.PRUNED;
import static io.isobardb.lsm.component.ActiveLayout.SHAPE;
import static io.isobardb.lsm.component.ActiveLayout.UPPER;
import static io.isobardb.lsm.component.ActiveLayout.VERSION;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Backoff;
import io.isobardb.memory.pool.PagePool;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Lookups in an {@link ActiveTree}: from the root to the leaf of a key, and what stands there.
 *
 * <p>How OLC works here: each node has a version, odd while it is edited. A reader notes the
 * version, reads, and compares it afterwards; on the way down it compares the parent's again after
 * it has noted the child's. Nodes are never unlinked, so a page reached is a node of this tree,
 * whatever a torn read said, once the version has been compared. See {@link ActiveLayout}.
 *
 * <p>Thread rule: all methods may be called by any thread, within an epoch of the pool if others
 * may give pages up; they take no lock. The root is set under the tree's structure lock.
 */
final class ActiveLookup {
  /** The node was edited meanwhile. */
  private static final int TORN = Integer.MIN_VALUE;

  private final PagePool pool;
  private final ActiveSearch search;

  private volatile int root = PagePool.NONE;

  ActiveLookup(PagePool pool, ActiveSearch search) {
    this.pool = pool;
    this.search = search;
  }

  /** The root page, or {@link PagePool#NONE}. */
  int root() {
    return root;
  }

  /** Makes a node the root; the tree's structure lock is held. */
  void setRoot(int page) {
    root = page;
  }

  /**
   * The leaf that holds ({@code key}, {@code lsn}); with {@code before}, the one that holds the
   * last position before it. Without a key: the first leaf; with {@code before}, the last one.
   *
   * @return page and, in the upper half, the version under which it holds it; the page is {@link
   *     PagePool#NONE} if the tree is empty
   */
  long descend(byte @Nullable [] key, int offset, int length, long lsn, boolean before) {
    for (; ; ) {
      int page = root;
      if (page == PagePool.NONE) {
        return -1L;
      }
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      int version = stableVersion(memory, base);
      if (page != root) {
        continue;
      }
      for (; ; ) {
        long shape = memory.getLong(base + SHAPE);
        if (ActiveLayout.level(shape) == 0) {
          return (long) version << 32 | page;
        }
        int child =
            key == null
                ? search.childAt(memory, base, shape, before ? search.count(shape) : 0)
                : search.child(memory, base, shape, version, key, offset, length, lsn, before);
        if (changed(memory, base, version)) {
          break;
        }
        Memory childMemory = pool.memory(child);
        int childBase = pool.base(child);
        int childVersion = stableVersion(childMemory, childBase);
        // Without this a split between the two looks would have moved the key out of the child.
        if (changed(memory, base, version)) {
          break;
        }
        page = child;
        memory = childMemory;
        base = childBase;
        version = childVersion;
      }
    }
  }

  /** Whether what was read of a node before this call may be torn or out of date. */
  static boolean changed(Memory memory, int base, int version) {
    VarHandle.acquireFence();
    return memory.getIntOpaque(base + VERSION) != version;
  }

  /** See {@link Sealed#newestLsn}. */
  long newestLsn(byte[] key) {
    long sought = NEWEST;
    for (; ; ) {
      long at = descend(key, 0, key.length, sought, false);
      int page = (int) at;
      if (page == PagePool.NONE) {
        return Probe.ABSENT;
      }
      int version = (int) (at >>> 32);
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      long shape = memory.getLong(base + SHAPE);
      int position = search.lowerBound(memory, base, shape, version, key, 0, key.length, sought);
      int slot = ActiveSearch.slot(position);
      boolean here = ActiveSearch.sameKey(position);
      boolean behind =
          !here && slot == search.count(shape) && fenceHasKey(memory, base, UPPER, key);
      long found = Probe.ABSENT;
      if (here) {
        found = ActiveLayout.lsn(memory, search.entry(memory, base, shape, slot));
      } else if (behind) {
        found = fenceLsn(memory, base, UPPER);
      }
      if (!changed(memory, base, version)) {
        if (!behind) {
          return found;
        }
        sought = found;
      }
    }
  }

  /** See {@link Sealed#find}. */
  int find(byte[] key, Probe probe) {
    long lsn = probe.lsn();
    long sought = Math.min(lsn, NEWEST);
    boolean crossed = false;
    for (; ; ) {
      long at = descend(key, 0, key.length, sought, false);
      int page = (int) at;
      if (page == PagePool.NONE) {
        return Probe.ABSENT;
      }
      int version = (int) (at >>> 32);
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      long shape = memory.getLong(base + SHAPE);
      int position = search.lowerBound(memory, base, shape, version, key, 0, key.length, sought);
      int slot = ActiveSearch.slot(position);
      // Newer versions may be in the leaf before, which then ends with this key.
      boolean newerBefore = slot == 0 && !crossed && fenceHasKey(memory, base, LOWER, key);
      long lowerLsn = newerBefore ? fenceLsn(memory, base, LOWER) : 0;
      int result;
      if ((shape & PRUNED) != 0
          && search.hasKeyAt(memory, base, shape, slot - 1, key, 0, key.length)
          && missing(memory, search.entry(memory, base, shape, slot - 1), lsn)) {
        result = changed(memory, base, version) ? TORN : Probe.RETRY;
      } else if (ActiveSearch.sameKey(position)) {
        int entry = search.entry(memory, base, shape, slot);
        result = answer(memory, base, version, entry, probe);
      } else if (slot == search.count(shape) && fenceHasKey(memory, base, UPPER, key)) {
        // Older versions may be in the leaf behind, which then starts with this key.
        long upperLsn = fenceLsn(memory, base, UPPER);
        if (!changed(memory, base, version)) {
          sought = upperLsn;
          crossed |= slot > 0;
        }
        continue;
      } else {
        result = changed(memory, base, version) ? TORN : Probe.ABSENT;
      }
      if (result != TORN) {
        return newerBefore && missingBefore(lowerLsn, key, lsn) ? Probe.RETRY : result;
      }
    }
  }

  private boolean fenceHasKey(Memory memory, int base, int field, byte[] key) {
    int fence = search.fence(memory, base, field);
    return fence >= 0 && search.hasKey(memory, base, fence, key, 0, key.length);
  }

  private long fenceLsn(Memory memory, int base, int field) {
    int fence = search.fence(memory, base, field);
    return fence < 0 ? 0 : ActiveLayout.lsn(memory, fence);
  }

  /** Whether versions up to {@code lsn} may have been pruned below this newer version. */
  private static boolean missing(Memory memory, int entry, long lsn) {
    return memory.getInt(entry + ENTRY_LINK) != 0 && ActiveLayout.prunedFrom(memory, entry) <= lsn;
  }

  /**
   * Whether the version of the key next before ({@code key}, {@code fenceLsn}), if there is one,
   * says that what the reader should see was pruned.
   */
  private boolean missingBefore(long fenceLsn, byte[] key, long lsn) {
    long before = fenceLsn;
    for (; ; ) {
      long at = descend(key, 0, key.length, before, true);
      int version = (int) (at >>> 32);
      Memory memory = pool.memory((int) at);
      int base = pool.base((int) at);
      long shape = memory.getLong(base + SHAPE);
      int last = search.count(shape) - 1;
      boolean late =
          search.hasKeyAt(memory, base, shape, last, key, 0, key.length)
              && missing(memory, search.entry(memory, base, shape, last), lsn);
      boolean further = last < 0 && fenceHasKey(memory, base, LOWER, key);
      long next = further ? fenceLsn(memory, base, LOWER) : before;
      if (!changed(memory, base, version)) {
        if (!further) {
          return late;
        }
        before = next;
      }
    }
  }

  /** What an entry says; its value is copied if there is room. What is read of it may be torn. */
  private int answer(Memory memory, int base, int version, int entry, Probe probe) {
    int kind = ActiveLayout.kind(memory, entry);
    int keyLength = search.keyLength(memory, base, entry);
    int stored = search.valueLength(memory, base, entry, keyLength);
    int from = entry + ENTRY_KEY + keyLength;
    int length = Kind.valueLength(kind, stored);
    if (length < 0) {
      return TORN;
    }
    long expiry = Kind.expiry(kind, memory, from + stored);
    long lsn = ActiveLayout.lsn(memory, entry);
    ByteBuffer target = probe.target();
    int first = PagePool.NONE;
    if (Kind.isOverflow(kind)) {
      boolean whole = length == ActiveLayout.OVERFLOW_REF_BYTES;
      first = whole ? memory.getInt(from) : PagePool.NONE;
      length = whole ? memory.getInt(from + 4) : length;
    } else if (Kind.plain(kind) == Kind.PUT && length <= target.remaining()) {
      memory.get(from, target, target.position(), length);
    }
    if (changed(memory, base, version)) {
      return TORN;
    }
    int said = probe.judge(kind, lsn, expiry);
    if (said == Probe.ELSEWHERE) {
      if (length <= target.remaining()) {
        OverflowChain.copy(pool, first, 0, target, target.position(), length);
      }
      return length;
    }
    return said == Probe.HERE ? length : said;
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
}
