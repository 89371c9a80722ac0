package io.isobardb.lsm.component;

import static io.isobardb.lsm.component.ActiveNodes.ENTRY_KEY;
import static io.isobardb.lsm.component.ActiveNodes.LOWER;
import static io.isobardb.lsm.component.ActiveNodes.NEWEST;
import static io.isobardb.lsm.component.ActiveNodes.SHAPE;
import static io.isobardb.lsm.component.ActiveNodes.UPPER;
import static io.isobardb.lsm.component.ActiveNodes.VERSION;

import io.isobardb.lsm.entry.Stretch;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A cursor over an {@link ActiveTree}. While the tree may get writes it works on a copy of one leaf
 * and moves on by the position in that copy's fence: whatever was split since, the leaf that now
 * holds the fence's position starts (or, going back, ends) exactly where the copy ended (or
 * started). What gets no writes any more is read where it is.
 */
final class ActiveCursor extends LeafEntryCursor {
  private static final byte[] NO_KEY = {};

  /** A leaf's header, and the heads of some 70 entries. */
  private static final int FETCHED_LINES = 5;

  private final ActiveTree tree;

  /** Whether leaves are read where they are. */
  private final boolean frozen;

  /** Holds the copy; {@link PagePool#NONE} until one is made. */
  private int page = PagePool.NONE;

  private final Purpose purpose;
  private Memory memory = Memory.NONE;
  private int base;

  /** The version of the leaf at {@link #base}. The copy there does not change. */
  private int version;

  /** What the copy was made from. */
  private int leaf = PagePool.NONE;

  private long shape;
  private int slot = -1;

  /** The slot at which the next entries are to be fetched. */
  private int aheadTo;

  /** Keeps the compiler from leaving the fetches out. */
  private int fetched;

  /** The leaf that {@link #approach} found last; {@link PagePool#NONE} if none. */
  private int approached = PagePool.NONE;

  /** What it found it for. */
  private byte[] approachedKey = NO_KEY;

  private int approachedLength;
  private long approachedLsn;

  private byte[] fence = new byte[32];
  private final byte @Nullable [] low;
  private final byte @Nullable [] high;
  private boolean closed;

  /**
   * @param frozen whether the tree gets no writes any more
   * @param purpose what copies are charged to, if they are needed
   * @param low the cursor never looks at leaves all of whose keys are up to this one; null: no
   *     bound
   * @param high the cursor never looks at leaves all of whose keys are above this one
   */
  ActiveCursor(
      ActiveTree tree,
      boolean frozen,
      Purpose purpose,
      byte @Nullable [] low,
      byte @Nullable [] high) {
    super(tree.pool);
    this.low = low;
    this.high = high;
    this.tree = tree;
    this.frozen = frozen;
    this.purpose = purpose;
  }

  /** Gets the page for copies, if it has none. */
  void reserve() {
    if (page == PagePool.NONE) {
      page = pool.allocatePatiently(purpose);
    }
  }

  /** Shows the leaf that {@link ActiveTree#descend} finds; false if the tree is empty. */
  private boolean load(byte @Nullable [] at, int offset, int length, long lsn, boolean before) {
    if (closed) {
      throw new IllegalStateException("the cursor is closed");
    }
    if (tree.isEmpty()) {
      return false;
    }
    aheadTo = 0;
    if (frozen) {
      return show(
          at != null && !before && isApproached(at, offset, length, lsn)
              ? tree.frozenLeaf(approached)
              : tree.descend(at, offset, length, lsn, before));
    }
    reserve();
    memory = pool.memory(page);
    base = pool.base(page);
    int epoch = pool.epochs().enter();
    try {
      for (; ; ) {
        long found = tree.descend(at, offset, length, lsn, before);
        leaf = (int) found;
        if (leaf == PagePool.NONE) {
          FirstEntries first = tree.first();
          if (first == null) {
            if (tree.root() != PagePool.NONE) {
              continue;
            }
            return false;
          }
          first.copyTo(tree.nodes, memory, base);
          return showCopy();
        }
        Memory source = pool.memory(leaf);
        int sourceBase = pool.base(leaf);
        tree.nodes.replaceContents(source, sourceBase, memory, base);
        if (!ActiveNodes.changed(source, sourceBase, (int) (found >>> 32))) {
          return showCopy();
        }
      }
    } finally {
      pool.epochs().exit(epoch);
    }
  }

  private boolean showCopy() {
    memory.putInt(base + VERSION, 0);
    version = 0;
    shape = memory.getLong(base + SHAPE);
    return true;
  }

  /**
   * Whether a tree that may get writes has nothing from a key and LSN on that is wanted. It is told
   * without a copy of the leaf; false if that does not tell it.
   */
  private boolean isNothingFrom(byte[] key, int offset, int length, long lsn) {
    if (tree.isEmpty()) {
      return true;
    }
    int epoch = pool.epochs().enter();
    try {
      for (; ; ) {
        long found = tree.descend(key, offset, length, lsn, false);
        leaf = (int) found;
        if (leaf == PagePool.NONE) {
          return tree.first() == null && tree.root() == PagePool.NONE;
        }
        version = (int) (found >>> 32);
        memory = pool.memory(leaf);
        base = pool.base(leaf);
        shape = memory.getLong(base + SHAPE);
        boolean nothing = isPastEnd(lowerBound(key, offset, length, lsn), key, offset, length);
        if (!ActiveNodes.changed(memory, base, version)) {
          return nothing;
        }
      }
    } finally {
      pool.epochs().exit(epoch);
    }
  }

  private boolean show(long found) {
    leaf = (int) found;
    if (leaf == PagePool.NONE) {
      return false;
    }
    memory = pool.memory(leaf);
    base = pool.base(leaf);
    version = (int) (found >>> 32);
    shape = memory.getLong(base + SHAPE);
    return true;
  }

  /**
   * Whether all from a slot on is not wanted, as far as the slots and the fence tell. The leaf may
   * be edited meanwhile.
   *
   * @param at a key that lies between the leaf's fences
   */
  private boolean isPastEnd(int to, byte[] at, int offset, int length) {
    if (to < tree.nodes.slots(shape)) {
      int prefix = ActiveNodes.prefix(shape);
      return length >= prefix
          && isPastEnd(memory.getInt(ActiveNodes.headAt(base, to)), prefix, at, offset);
    }
    int upper = tree.nodes.fence(memory, base, UPPER);
    return upper >= 0 && end != null && compareFence(copyFence(upper), end) >= 0;
  }

  private int lowerBound(byte[] at, int offset, int length, long lsn) {
    return ActiveNodes.slot(
        tree.nodes.lowerBound(memory, base, shape, version, at, offset, length, lsn));
  }

  /** Stands on slot {@code to}, or on the next entry in a later leaf. */
  private boolean settleForward(int to) {
    int slot = to;
    while (slot >= ActiveNodes.count(shape)) {
      int upper = tree.nodes.fence(memory, base, UPPER);
      if (upper < 0) {
        return settle(-1);
      }
      int length = copyFence(upper);
      if (high != null && compareFence(length, high) > 0) {
        return settle(-1);
      }
      long lsn = ActiveNodes.lsn(memory, upper);
      load(fence, 0, length, lsn, false);
      slot = lowerBound(fence, 0, length, lsn);
    }
    return settle(slot);
  }

  /** Stands on slot {@code to}, or on the last entry of an earlier leaf. */
  private boolean settleBackward(int to) {
    int slot = to;
    while (slot < 0) {
      int lower = tree.nodes.fence(memory, base, LOWER);
      if (lower < 0) {
        return settle(-1);
      }
      int length = copyFence(lower);
      if (low != null && compareFence(length, low) <= 0) {
        return settle(-1);
      }
      long lsn = ActiveNodes.lsn(memory, lower);
      load(fence, 0, length, lsn, true);
      slot = lowerBound(fence, 0, length, lsn) - 1;
    }
    return settle(slot);
  }

  private int copyFence(int at) {
    int length = tree.nodes.keyLength(memory, base, at);
    fence = fence.length >= length ? fence : new byte[2 * length];
    memory.get(at + ENTRY_KEY, fence, 0, length);
    return length;
  }

  private int compareFence(int length, byte[] bound) {
    return tree.order().compare(fence, 0, length, bound, 0, bound.length);
  }

  /** Has entries fetched together, which would else be waited for one after another. */
  private void fetchAhead(int from, int count) {
    if (!frozen) {
      // The copy has just been made.
      aheadTo = count;
      return;
    }
    int end = Math.min(from + toFetch(), count);
    int sum = 0;
    for (int i = from; i < end; i++) {
      sum += fetch(memory, tree.nodes.entry(memory, base, shape, i));
    }
    fetched = sum;
    aheadTo = end;
  }

  private boolean settle(int to) {
    slot = to;
    if (to < 0) {
      return false;
    }
    if (to >= aheadTo) {
      fetchAhead(to, ActiveNodes.count(shape));
    }
    entry = tree.nodes.entry(memory, base, shape, to);
    load();
    return true;
  }

  @Override
  public boolean valid() {
    return slot >= 0;
  }

  @Override
  public boolean first() {
    if (low != null) {
      return seek(low, 0, low.length, -1);
    }
    return load(null, 0, 0, 0, false) ? settleForward(0) : settle(-1);
  }

  @Override
  public boolean last() {
    if (high != null) {
      // Behind the bound's last version, and back: the tree's last leaf may be given up.
      return load(high, 0, high.length, -1, true)
          ? settleBackward(lowerBound(high, 0, high.length, -1) - 1)
          : settle(-1);
    }
    return load(null, 0, 0, 0, true) ? settleBackward(ActiveNodes.count(shape) - 1) : settle(-1);
  }

  @Override
  public boolean seek(byte[] key, int offset, int length, long lsn) {
    long sought = Math.min(lsn, NEWEST);
    beginFetching();
    boolean live = !frozen && !closed;
    if (live && end != null && isNothingFrom(key, offset, length, sought)
        || !load(key, offset, length, sought, false)) {
      return settle(-1);
    }
    int to = lowerBound(key, offset, length, sought);
    return end != null && isPastEnd(to, key, offset, length) ? settle(-1) : settleForward(to);
  }

  @Override
  public void approach(byte[] key, int offset, int length, long lsn) {
    if (frozen && !closed && !tree.isEmpty()) {
      approachedLsn = Math.min(lsn, NEWEST);
      approachedLength = length;
      if (approachedKey.length < length) {
        approachedKey = new byte[Math.max(length, 32)];
      }
      System.arraycopy(key, offset, approachedKey, 0, length);
      approached = tree.findFrozen(key, offset, length, approachedLsn);
    }
  }

  private boolean isApproached(byte[] at, int offset, int length, long lsn) {
    return approached != PagePool.NONE
        && lsn == approachedLsn
        && Arrays.equals(at, offset, offset + length, approachedKey, 0, approachedLength);
  }

  @Override
  public int fetch() {
    if (approached == PagePool.NONE) {
      return 0;
    }
    Memory found = pool.memory(approached);
    int start = pool.base(approached);
    int sum = 0;
    for (int line = 0; line < FETCHED_LINES; line++) {
      sum += found.getByte(start + line * CACHE_LINE);
    }
    return sum;
  }

  @Override
  public boolean seekBefore(byte[] key, int offset, int length) {
    return load(key, offset, length, NEWEST, true)
        ? settleBackward(lowerBound(key, offset, length, NEWEST) - 1)
        : settle(-1);
  }

  @Override
  public boolean next() {
    return valid() && settleForward(slot + 1);
  }

  @Override
  public boolean nextKey() {
    int count = ActiveNodes.count(shape);
    int to = slot + 1;
    for (; to < count; to++) {
      if (to >= aheadTo) {
        fetchAhead(to, count);
      }
      if (!isVersion(memory, tree.nodes.entry(memory, base, shape, to))) {
        break;
      }
    }
    return settleForward(to);
  }

  @Override
  public boolean nextWithin(Stretch stretch) {
    Memory leafMemory = memory;
    int count = ActiveNodes.count(shape);
    for (int to = slot + 1; to < count; to++) {
      if (to >= aheadTo) {
        fetchAhead(to, count);
      }
      int next = tree.nodes.entry(leafMemory, base, shape, to);
      int taken = take(leafMemory, next, stretch);
      if (taken != PASSED) {
        slot = taken == TAKEN ? to : slot;
        return taken == TAKEN;
      }
    }
    return false;
  }

  @Override
  public boolean previous() {
    return valid() && settleBackward(slot - 1);
  }

  @Override
  Memory memory() {
    return memory;
  }

  @Override
  int page() {
    return leaf;
  }

  @Override
  int offset() {
    return entry - base;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      slot = -1;
      if (page != PagePool.NONE) {
        pool.release(page, purpose);
      }
    }
  }
}
