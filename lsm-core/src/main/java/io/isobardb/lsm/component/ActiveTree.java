package io.isobardb.lsm.component;

import static io.isobardb.lsm.component.ActiveNodes.ENTRY_KEY;
import static io.isobardb.lsm.component.ActiveNodes.ENTRY_LINK;
import static io.isobardb.lsm.component.ActiveNodes.LOWER;
import static io.isobardb.lsm.component.ActiveNodes.NEWEST;
import static io.isobardb.lsm.component.ActiveNodes.PRUNED;
import static io.isobardb.lsm.component.ActiveNodes.SHAPE;
import static io.isobardb.lsm.component.ActiveNodes.UPPER;
import static io.isobardb.lsm.component.ActiveNodes.VERSION;

import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.operand.Operands;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The active SSTable: the updatable memory SSTable that a tree's writes go into. A B+-tree of pool
 * pages with optimistic lock coupling, holding versions sorted by (key ascending, LSN descending).
 *
 * <p>Thread rule: any number of writers and readers at once. Readers run in an epoch of the pool,
 * take no lock and wait for nothing longer than a page's edit; writers lock one leaf, and one at a
 * time splits. Writers need no epoch, and had better not be in one: a writer that waits for pages
 * to become free would hold them up. Sealing is the caller's matter: once no writer is left, the
 * tree is immutable.
 *
 * <p>LSNs are at least 1, less than 2<sup>55</sup>, and multiples of {@link
 * io.isobardb.lsm.entry.Lsn#ALIGNMENT}. A put's LSN is not yet {@link Visibility#visible} (nobody
 * reads there), except while nobody reads at all.
 *
 * <p>Versions that nobody can ask for any more are dropped as newer ones come: with {@code p} the
 * newest version that is visible, each older one that is newer than the newest snapshot. A reader
 * whose LSN is no snapshot may thus come too late; it is told so ({@link Probe#RETRY}), never given
 * an older version than it should see. A reader at a snapshot's LSN, taken and announced before it
 * was read at, is never too late.
 *
 * <p>How readers do without locks: on the way down a reader compares a node's version again after
 * it has noted its child's. Nodes are never unlinked, so a page reached is a node of this tree,
 * whatever a torn read said, once the version has been compared. See {@link ActiveNodes}.
 */
public final class ActiveTree implements WrittenEntries {
  /** First entries take this part of a page at most. */
  private static final int FIRST_SHARE = 2;

  /** The node was edited meanwhile. */
  private static final int TORN = Integer.MIN_VALUE;

  private static final VarHandle MIN_LSN;

  static {
    try {
      MIN_LSN = MethodHandles.lookup().findVarHandle(ActiveTree.class, "minLsn", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final PagePool pool;
  final ActiveNodes nodes;
  private final KeyOrder order;
  private final long targetBytes;
  private final ActiveFilter.Chain filters;
  private final LeafWriter writer;
  private final FirstRoom room;
  private final Runnable onFirst;
  private final AtomicInteger pages = new AtomicInteger();
  private final ReentrantLock structure = new ReentrantLock();

  private volatile long minLsn = Long.MAX_VALUE;

  /** Above the LSNs of all puts; not known before the tree is sealed. */
  private volatile long sealedAt = Long.MAX_VALUE;

  private volatile boolean exact;

  private volatile int root = PagePool.NONE;

  /** All entries while there is no root; null if there are none. Cleared after a root is set. */
  private volatile @Nullable FirstEntries first;

  // Guarded by structure.
  private @Nullable ActiveSplit splitter;
  private boolean freed;
  private boolean handedOver;
  private @Nullable LeafRelease release;

  /**
   * An empty tree. It holds no pages until the first put.
   *
   * @param order the order of the keys
   * @param targetBytes the size at which it is {@link #full}; the filter is sized for it
   */
  public ActiveTree(PagePool pool, KeyOrder order, long targetBytes) {
    this(pool, order, targetBytes, targetBytes, new FirstRoom(pool, () -> 0, 0, 0), () -> {});
  }

  /**
   * An empty tree, as above, with a filter for another size.
   *
   * @param filterBytes the size that the first filter is for
   * @param room of first entries on the heap
   * @param onFirst called when the tree is no longer {@link #isEmpty} and before it takes its first
   *     entry; must return at once
   */
  public ActiveTree(
      PagePool pool,
      KeyOrder order,
      long targetBytes,
      long filterBytes,
      FirstRoom room,
      Runnable onFirst) {
    this.room = room;
    this.onFirst = onFirst;
    this.pool = pool;
    this.order = order;
    this.targetBytes = targetBytes;
    this.filters = new ActiveFilter.Chain(pool, filterBytes);
    this.nodes = new ActiveNodes(pool, order);
    this.writer = new LeafWriter(pool, nodes, pages);
  }

  /** The longest key, in bytes. */
  public int maxKeyBytes() {
    return ActiveNodes.maxKeyBytes(pool.pageSize());
  }

  /**
   * Whether an entry goes into a leaf: with its header it takes at most the page less two of the
   * longest keys, about half a page. Otherwise its value must be an overflow chain.
   */
  public boolean fitsInline(int keyLength, int valueLength) {
    int limit = ActiveNodes.maxEntryBytes(pool.pageSize());
    return valueLength <= limit && ActiveNodes.entryBytes(keyLength, valueLength) <= limit;
  }

  /** As {@link #fitsInline(int, int)}, of a write that is no range delete. */
  public boolean fitsInline(Write write) {
    return fitsInline(write.keyLength, write.valueBytes());
  }

  /**
   * Adds a version; replaces it if it is there. A value that does not fit inline must have been
   * written by {@link #writeOverflow}; its pages belong to the tree as soon as this returns. If it
   * throws, they are still the write's.
   *
   * @param write has its LSN, and its hash
   * @throws IllegalArgumentException if the key is too long or the entry does not fit inline
   * @throws OutOfBudgetException if there are no pages; the tree is as it was
   */
  public void put(Write write, Visibility visibility) {
    if (write.keyLength > maxKeyBytes()) {
      throw new IllegalArgumentException("a key of " + write.keyLength + " bytes is too long");
    }
    if (write.overflow == PagePool.NONE && !fitsInline(write)) {
      throw new IllegalArgumentException(
          "an entry of "
              + write.keyLength
              + " + "
              + write.valueLength
              + " bytes does not fit inline");
    }
    insert(write, visibility);
    if (write.takeOverflow() != PagePool.NONE) {
      pages.addAndGet(OverflowChain.pageCount(pool, write.valueLength));
    }
  }

  /**
   * Copies the value of a write into a chain of pages, which it gets.
   *
   * @throws OutOfBudgetException if there is no room; nothing is held then
   */
  public void writeOverflow(Write write) {
    write.overflow = OverflowChain.write(pool, write.value, write.valueOffset, write.valueLength);
  }

  /** Notes in an operand, and its chain if it has one, when it is written. */
  public void stamp(Write write, long millis) {
    int changed = Operands.stamp(write.value, write.valueOffset, millis);
    if (write.overflow != PagePool.NONE) {
      OverflowChain.change(pool, write.overflow, write.value, write.valueOffset, changed);
    }
  }

  /** Frees a chain that was not put into the tree; {@link PagePool#NONE} is none. */
  public void freeOverflow(int firstPage) {
    OverflowChain.release(pool, firstPage);
  }

  private void insert(Write write, Visibility visibility) {
    if (write.lsn < minLsn) {
      lowerMinLsn(write.lsn);
    }
    ActiveFilter added = filters.growing();
    if (added != null) {
      added.add(write.hash);
    }
    for (; ; ) {
      long at = descend(write.key, write.keyOffset, write.keyLength, write.lsn, false);
      int page = (int) at;
      if (page == PagePool.NONE) {
        if (begin(write)) {
          return;
        }
        continue;
      }
      int version = (int) (at >>> 32);
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      int position = nodes.lowerBound(memory, base, version, write);
      if (!ActiveNodes.tryLock(memory, base, version)) {
        continue;
      }
      boolean done;
      try {
        // Looked at again under the latch: the thread that fills the filter visits the leaf after
        // it is set.
        ActiveFilter growing = filters.growing();
        if (growing != added && growing != null) {
          growing.add(write.hash);
          added = growing;
        }
        done = writer.put(memory, base, version + 1, position, write, visibility);
      } finally {
        ActiveNodes.unlock(memory, base, version);
      }
      if (done) {
        return;
      }
      split(page, version + 2, write);
    }
  }

  private void lowerMinLsn(long lsn) {
    for (long seen = minLsn; lsn < seen; seen = minLsn) {
      if (MIN_LSN.compareAndSet(this, seen, lsn)) {
        return;
      }
    }
  }

  /**
   * While there is no root: adds a version to the first entries, or plants a root if they should
   * not take it.
   *
   * @return whether the version is in
   */
  private boolean begin(Write write) {
    structure.lock();
    try {
      if (root != PagePool.NONE) {
        return false;
      }
      FirstEntries before = first;
      if (before == null) {
        onFirst.run();
      }
      if (isFirst(before, write)) {
        FirstEntries now = (before == null ? FirstEntries.NONE : before).with(write, order);
        int more = now.bytes() - (before == null ? 0 : before.bytes());
        if (now.bytes() <= pool.pageSize() / FIRST_SHARE && room.tryTake(more)) {
          first = now;
          return true;
        }
      }
      plant(before);
      return false;
    } finally {
      structure.unlock();
    }
  }

  /** Whether a version may be among the first entries. Operands are folded in leaves. */
  private boolean isFirst(@Nullable FirstEntries before, Write write) {
    return write.overflow == PagePool.NONE
        && write.kind != Kind.MERGE
        && (before != null || room.isCrowded());
  }

  private void plant(@Nullable FirstEntries before) {
    int page = pool.allocateUrgent(Purpose.WRITE);
    if (page == PagePool.NONE) {
      throw pool.outOfBudget("no page left for the active SSTable");
    }
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    memory.putInt(base + VERSION, 0);
    splitter = new ActiveSplit(pool, nodes, order.isBytes());
    pages.incrementAndGet();
    if (before == null) {
      nodes.format(memory, base, 0, false, 0, 0);
      root = page;
    } else {
      before.copyTo(nodes, memory, base);
      root = page;
      first = null;
      room.give(before.bytes());
    }
  }

  private void split(int page, int version, Write write) {
    structure.lock();
    try {
      ActiveSplit splitter = this.splitter;
      if (splitter != null) {
        int added = splitter.split(this, page, version, write);
        if (added > 0) {
          pages.addAndGet(added);
          pages.addAndGet(filters.extend(pages.get(), this::addKeys));
        }
      }
    } finally {
      structure.unlock();
    }
  }

  private void addKeys(ActiveFilter filter) {
    new NodeWalk(this).addKeys(root, filter);
  }

  KeyOrder order() {
    return order;
  }

  /** The root page, or {@link PagePool#NONE}. */
  int root() {
    return root;
  }

  /** All entries while there is no {@link #root}; null if there are none, or a root by now. */
  @Nullable FirstEntries first() {
    return first;
  }

  /** Makes a node the root; the structure lock is held. */
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
      int version = ActiveNodes.stableVersion(memory, base);
      if (page != root) {
        continue;
      }
      for (; ; ) {
        long shape = memory.getLong(base + SHAPE);
        if (ActiveNodes.level(shape) == 0) {
          return (long) version << 32 | page;
        }
        int child =
            key == null
                ? nodes.childAt(memory, base, shape, before ? nodes.slots(shape) : 0)
                : nodes.child(memory, base, shape, version, key, offset, length, lsn, before);
        if (ActiveNodes.changed(memory, base, version)) {
          break;
        }
        Memory childMemory = pool.memory(child);
        int childBase = pool.base(child);
        int childVersion = ActiveNodes.stableVersion(childMemory, childBase);
        // Without this a split between the two looks would have moved the key out of the child.
        if (ActiveNodes.changed(memory, base, version)) {
          break;
        }
        page = child;
        memory = childMemory;
        base = childBase;
        version = childVersion;
      }
    }
  }

  /** As {@link #descend}, for a key of a tree that gets no writes; does not look at the leaf. */
  int findFrozen(byte[] key, int offset, int length, long lsn) {
    int page = root;
    int level;
    do {
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      int version = ActiveNodes.stableVersion(memory, base);
      long shape = memory.getLong(base + SHAPE);
      level = ActiveNodes.level(shape);
      if (level > 0) {
        page = nodes.child(memory, base, shape, version, key, offset, length, lsn, false);
      }
    } while (level > 1);
    return page;
  }

  /** A leaf that {@link #findFrozen} found, as {@link #descend} gives it. */
  long frozenLeaf(int page) {
    return (long) ActiveNodes.stableVersion(pool.memory(page), pool.base(page)) << 32 | page;
  }

  @Override
  public long newestLsn(byte[] key, long hash) {
    if (!filters.mayContain(hash)) {
      return Probe.ABSENT;
    }
    long sought = NEWEST;
    for (; ; ) {
      long at = descend(key, 0, key.length, sought, false);
      int page = (int) at;
      if (page == PagePool.NONE) {
        FirstEntries first = this.first;
        if (first == null && root != PagePool.NONE) {
          continue;
        }
        return first == null ? Probe.ABSENT : first.newestLsn(order, key);
      }
      int version = (int) (at >>> 32);
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      long shape = memory.getLong(base + SHAPE);
      int position = nodes.lowerBound(memory, base, shape, version, key, 0, key.length, sought);
      int slot = ActiveNodes.slot(position);
      boolean here = ActiveNodes.sameKey(position);
      boolean behind = !here && slot == nodes.slots(shape) && fenceHasKey(memory, base, UPPER, key);
      long found = Probe.ABSENT;
      if (here) {
        found = ActiveNodes.lsn(memory, nodes.entry(memory, base, shape, slot));
      } else if (behind) {
        found = fenceLsn(memory, base, UPPER);
      }
      if (!ActiveNodes.changed(memory, base, version)) {
        if (!behind) {
          return found;
        }
        sought = found;
      }
    }
  }

  @Override
  public int find(byte[] key, Probe probe) {
    if (!filters.mayContain(probe.hash())) {
      return Probe.ABSENT;
    }
    long lsn = probe.lsn();
    long sought = Math.min(lsn, NEWEST);
    boolean crossed = false;
    for (; ; ) {
      long at = descend(key, 0, key.length, sought, false);
      int page = (int) at;
      if (page == PagePool.NONE) {
        FirstEntries first = this.first;
        if (first == null && root != PagePool.NONE) {
          continue;
        }
        return first == null ? Probe.ABSENT : first.find(order, key, probe);
      }
      int version = (int) (at >>> 32);
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      long shape = memory.getLong(base + SHAPE);
      int position = nodes.lowerBound(memory, base, shape, version, key, 0, key.length, sought);
      int slot = ActiveNodes.slot(position);
      // Newer versions may be in the leaf before, which then ends with this key.
      boolean newerBefore = slot == 0 && !crossed && fenceHasKey(memory, base, LOWER, key);
      long lowerLsn = newerBefore ? fenceLsn(memory, base, LOWER) : 0;
      int result;
      if ((shape & PRUNED) != 0
          && nodes.hasKeyAt(memory, base, shape, slot - 1, key, 0, key.length)
          && missing(memory, nodes.entry(memory, base, shape, slot - 1), lsn)) {
        result = ActiveNodes.changed(memory, base, version) ? TORN : Probe.RETRY;
      } else if (ActiveNodes.sameKey(position)) {
        int entry = nodes.entry(memory, base, shape, slot);
        result = answer(memory, base, version, entry, probe);
      } else if (slot == nodes.slots(shape) && fenceHasKey(memory, base, UPPER, key)) {
        // Older versions may be in the leaf behind, which then starts with this key.
        long upperLsn = fenceLsn(memory, base, UPPER);
        if (!ActiveNodes.changed(memory, base, version)) {
          sought = upperLsn;
          crossed |= slot > 0;
        }
        continue;
      } else {
        result = ActiveNodes.changed(memory, base, version) ? TORN : Probe.ABSENT;
      }
      if (result != TORN) {
        return newerBefore && missingBefore(lowerLsn, key, lsn) ? Probe.RETRY : result;
      }
    }
  }

  private boolean fenceHasKey(Memory memory, int base, int field, byte[] key) {
    int fence = nodes.fence(memory, base, field);
    return fence >= 0 && nodes.hasKey(memory, base, fence, key, 0, key.length);
  }

  private long fenceLsn(Memory memory, int base, int field) {
    int fence = nodes.fence(memory, base, field);
    return fence < 0 ? 0 : ActiveNodes.lsn(memory, fence);
  }

  /** Whether versions up to {@code lsn} may have been pruned below this newer version. */
  private static boolean missing(Memory memory, int entry, long lsn) {
    return memory.getInt(entry + ENTRY_LINK) != 0 && ActiveNodes.prunedFrom(memory, entry) <= lsn;
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
      int last = nodes.slots(shape) - 1;
      boolean late =
          nodes.hasKeyAt(memory, base, shape, last, key, 0, key.length)
              && missing(memory, nodes.entry(memory, base, shape, last), lsn);
      boolean further = last < 0 && fenceHasKey(memory, base, LOWER, key);
      long next = further ? fenceLsn(memory, base, LOWER) : before;
      if (!ActiveNodes.changed(memory, base, version)) {
        if (!further) {
          return late;
        }
        before = next;
      }
    }
  }

  /** What an entry says; its value is copied if there is room. What is read of it may be torn. */
  private int answer(Memory memory, int base, int version, int entry, Probe probe) {
    int kind = ActiveNodes.kind(memory, entry);
    int keyLength = nodes.keyLength(memory, base, entry);
    int stored = nodes.valueLength(memory, base, entry, keyLength);
    int from = entry + ENTRY_KEY + keyLength;
    int length = Kind.valueLength(kind, stored);
    if (length < 0) {
      return TORN;
    }
    long expiry = Kind.expiry(kind, memory, from + stored);
    long lsn = ActiveNodes.lsn(memory, entry);
    int first = PagePool.NONE;
    if (Kind.isOverflow(kind)) {
      boolean whole = length == ActiveNodes.OVERFLOW_REF_BYTES;
      first = whole ? memory.getInt(from) : PagePool.NONE;
      length = whole ? memory.getInt(from + 4) : length;
    } else if (Kind.isPut(kind) && probe.hasRoom(length)) {
      ByteBuffer target = probe.target();
      memory.get(from, target, target.position(), length);
    }
    if (ActiveNodes.changed(memory, base, version)) {
      return TORN;
    }
    int said = probe.judge(kind, lsn, expiry);
    if (said == Probe.ELSEWHERE) {
      if (probe.hasRoom(length)) {
        ByteBuffer target = probe.target();
        OverflowChain.copy(pool, first, 0, target, target.position(), length);
      }
      return length;
    }
    return said == Probe.HERE ? length : said;
  }

  /** Whether the tree may hold the key with this hash; false is certain. */
  public boolean mayContain(long hash) {
    return filters.mayContain(hash);
  }

  /**
   * A cursor over all versions, for scans while the tree is written and for merges when it is
   * sealed. While there may be writers it copies one leaf at a time, enters an epoch while it does,
   * and sees each entry that was there at its creation exactly once, pruned ones excepted; newer
   * ones it may miss. The caller keeps the tree from being freed, filters by LSN, and asks for
   * overflow values only of versions that its snapshot holds.
   *
   * @param purpose what a copy is charged to: {@link Purpose#CURSOR} or {@link Purpose#MERGE}
   * @param low the cursor is not moved to keys up to this one, which may have been given up; null
   *     for no bound
   * @throws OutOfBudgetException if there is no page for a merge's copies; a reader's cursor takes
   *     one when it first needs it
   */
  @Override
  public EntryCursor cursor(
      Purpose purpose, byte @Nullable [] low, byte @Nullable [] high, long visible) {
    boolean frozen = sealedAt <= visible + 1 && root != PagePool.NONE;
    ActiveCursor cursor = new ActiveCursor(this, frozen, purpose, low, high);
    if (!frozen && purpose != Purpose.CURSOR) {
      cursor.reserve();
    }
    return cursor;
  }

  /** Bytes of the pages held, filter and overflow chains included. */
  @Override
  public long bytesUsed() {
    int held = pages.get();
    if (held > 0) {
      return (long) held * pool.pageSize();
    }
    FirstEntries entries = first;
    return entries == null ? 0 : entries.bytes();
  }

  /** The tree was sealed: no put will have an LSN of {@code end} or above. */
  public void sealedAt(long end) {
    sealedAt = end;
  }

  @Override
  public boolean isOlder(long lsn) {
    return exact ? sealedAt <= lsn : sealedAt < lsn;
  }

  /**
   * No put had the LSN of the boundary either. A record that is replayed may have filled it in
   * part, and its own LSN was the boundary then.
   */
  public void sealedExactly() {
    exact = true;
  }

  /** Whether the tree has reached its target size. */
  public boolean full() {
    return bytesUsed() >= targetBytes;
  }

  /** Whether nothing was put. */
  public boolean isEmpty() {
    return minLsn == Long.MAX_VALUE;
  }

  /** The number of entries, versions each; approximate while written. Visits all leaves. */
  @Override
  public long entries() {
    structure.lock();
    try {
      FirstEntries first = this.first;
      long entries = first == null ? 0 : first.count();
      if (!freed && !handedOver) {
        for (int leaf : new NodeWalk(this).leaves(root)) {
          entries += ActiveNodes.count(pool.memory(leaf).getLong(pool.base(leaf) + SHAPE));
        }
      }
      return entries;
    } finally {
      structure.unlock();
    }
  }

  /** No put had a lower LSN; {@code Long.MAX_VALUE} before the first put. */
  @Override
  public long minLsn() {
    return minLsn;
  }

  /**
   * Gives up what lies wholly above {@code low} and not above {@code high}; a null bound is none.
   * The tree is sealed, and no new reader looks for keys in that range; those in an epoch may. Does
   * nothing once the leaves have been handed over.
   *
   * @return the bytes of the pages given up
   */
  public long releaseRange(byte @Nullable [] low, byte @Nullable [] high) {
    structure.lock();
    try {
      if (freed || handedOver || root == PagePool.NONE) {
        return 0;
      }
      LeafRelease release = this.release;
      if (release == null) {
        release = new LeafRelease(pool, nodes, order);
        this.release = release;
      }
      int released = release.release(root, low, high);
      pages.addAndGet(-released);
      return (long) released * pool.pageSize();
    } finally {
      structure.unlock();
    }
  }

  /** Whether a leaf was given up by {@link #releaseRange}; the structure lock is held. */
  boolean isReleased(int page) {
    return release != null && release.isReleased(page);
  }

  @Override
  public int[] handOver() {
    structure.lock();
    try {
      if (freed || handedOver || first != null) {
        throw new IllegalStateException("the entries are not in leaves of this tree");
      }
      handedOver = true;
      return new NodeWalk(this).leaves(root);
    } finally {
      structure.unlock();
    }
  }

  /**
   * Gives all pages up, or those that have not been handed over, when no writer is left and no new
   * reader can find the tree. Readers in an epoch may still read. A second call does nothing.
   */
  @Override
  public void free() {
    structure.lock();
    try {
      if (freed) {
        return;
      }
      freed = true;
      if (first != null) {
        room.give(first.bytes());
      }
      filters.retire();
      if (handedOver) {
        new NodeWalk(this).retireInner(root);
      } else {
        new NodeWalk(this).retire(root);
      }
    } finally {
      structure.unlock();
    }
  }
}
