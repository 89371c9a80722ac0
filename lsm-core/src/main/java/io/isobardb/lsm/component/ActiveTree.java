package io.isobardb.lsm.component;

import static io.isobardb.lsm.component.ActiveLayout.ENTRY_KEY;
import static io.isobardb.lsm.component.ActiveLayout.ENTRY_LINK;
import static io.isobardb.lsm.component.ActiveLayout.LOWER;
import static io.isobardb.lsm.component.ActiveLayout.NEWEST;
import static io.isobardb.lsm.component.ActiveLayout.PRUNED;
import static io.isobardb.lsm.component.ActiveLayout.SHAPE;
import static io.isobardb.lsm.component.ActiveLayout.UPPER;
import static io.isobardb.lsm.component.ActiveLayout.VERSION;

import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.KeyOrder;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.pool.Purpose;
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
 * whose LSN is no snapshot may thus come too late; it is told so ({@link #RETRY}), never given an
 * older version than it should see. A reader at a snapshot's LSN, taken and announced before it was
 * read at, is never too late.
 *
 * <p>How OLC works here: each node has a version, odd while it is edited. A reader notes the
 * version, reads, and compares it afterwards; on the way down it compares the parent's again after
 * it has noted the child's. Nodes are never unlinked, so a page reached is a node of this tree,
 * whatever a torn read said, once the version has been compared. See {@link ActiveLayout}.
 */
public final class ActiveTree implements Sealed {
  /** The tree has no version of the key that the reader may see. */
  public static final int ABSENT = -1;

  /** The version that the reader sees is a delete marker. */
  public static final int DELETED = -2;

  /** The reader's LSN is out of date: read {@code visible} again, and then the tree. */
  public static final int RETRY = -3;

  /** What {@link #get} gives for {@link #DELETED}. Compared by identity. */
  public static final byte[] DELETED_VALUE = {};

  /** What {@link #get} gives for {@link #RETRY}. Compared by identity. */
  public static final byte[] RETRY_VALUE = {};

  private static final VarHandle MIN_LSN;

  static {
    try {
      MIN_LSN = MethodHandles.lookup().findVarHandle(ActiveTree.class, "minLsn", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final PagePool pool;
  final ActiveSearch search;
  private final KeyOrder order;
  private final long targetBytes;
  private final long filterBytes;
  private final LeafWriter writer;
  private final ActiveEdit edit;
  private final AtomicInteger pages = new AtomicInteger();
  private final ReentrantLock structure = new ReentrantLock();

  private volatile int root = PagePool.NONE;

  private volatile long minLsn = Long.MAX_VALUE;

  /** What writers add to; set before the keys already there are added. */
  private volatile @Nullable ActiveFilter growingFilter;

  /** What readers ask; set once all keys are in. */
  private volatile @Nullable ActiveFilter filter;

  // Guarded by structure.
  private @Nullable ActiveSplit splitter;
  private int filterAttemptPages;
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
    this(pool, order, targetBytes, targetBytes);
  }

  /**
   * An empty tree, as above, with a filter for another size.
   *
   * @param filterBytes a tree that grows beyond this has a filter that lets more and more pass
   */
  public ActiveTree(PagePool pool, KeyOrder order, long targetBytes, long filterBytes) {
    this.pool = pool;
    this.order = order;
    this.targetBytes = targetBytes;
    this.filterBytes = filterBytes;
    this.search = new ActiveSearch(pool.pageSize(), order);
    this.edit = new ActiveEdit(pool, order.isBytes());
    this.writer = new LeafWriter(pool, search, edit, pages);
  }

  /** The longest key, in bytes. */
  public int maxKeyBytes() {
    return ActiveLayout.maxKeyBytes(pool.pageSize());
  }

  /**
   * Whether an entry goes into a leaf: with its header it takes at most the page less two of the
   * longest keys, about half a page. Otherwise its value must be an overflow chain.
   */
  public boolean fitsInline(int keyLength, int valueLength) {
    int limit = ActiveLayout.maxEntryBytes(pool.pageSize());
    return valueLength <= limit && ActiveLayout.entryBytes(keyLength, valueLength) <= limit;
  }

  /**
   * Adds the version ({@code key}, {@code lsn}); replaces it if it is there.
   *
   * @param hash {@code KeyHash} of the key
   * @param kind {@link Kind#PUT} or {@link Kind#DELETE}
   * @throws IllegalArgumentException if the key is too long or the entry does not fit inline
   * @throws OutOfBudgetException if there are no pages; the tree is as it was
   */
  public void put(
      byte[] key,
      int keyOffset,
      int keyLength,
      long hash,
      int kind,
      long lsn,
      byte[] value,
      int valueOffset,
      int valueLength,
      Visibility visibility) {
    if (!fitsInline(keyLength, valueLength)) {
      throw new IllegalArgumentException(
          "an entry of " + keyLength + " + " + valueLength + " bytes does not fit inline");
    }
    insert(
        key,
        keyOffset,
        keyLength,
        hash,
        kind,
        lsn,
        value,
        valueOffset,
        valueLength,
        PagePool.NONE,
        visibility);
  }

  /**
   * Adds a version whose value is a chain made by {@link #writeOverflow}. The chain belongs to the
   * tree as soon as this returns; if it throws, it is still the caller's.
   *
   * @param valueLength length of the value in bytes
   * @throws OutOfBudgetException if there are no pages; the tree is as it was
   */
  public void putOverflow(
      byte[] key,
      int keyOffset,
      int keyLength,
      long hash,
      long lsn,
      int firstPage,
      int valueLength,
      Visibility visibility) {
    insert(
        key,
        keyOffset,
        keyLength,
        hash,
        Kind.PUT_OVERFLOW,
        lsn,
        key,
        0,
        valueLength,
        firstPage,
        visibility);
    pages.addAndGet(OverflowChain.pageCount(pool, valueLength));
  }

  /**
   * Copies a value into a chain of pages.
   *
   * @return the first page, for {@link #putOverflow} or {@link #freeOverflow}
   * @throws OutOfBudgetException if there is no room; nothing is held then
   */
  public int writeOverflow(byte[] value, int offset, int length) {
    return OverflowChain.write(pool, value, offset, length);
  }

  /** Frees a chain that was not put into the tree. */
  public void freeOverflow(int firstPage) {
    OverflowChain.release(pool, firstPage);
  }

  private void insert(
      byte[] key,
      int keyOffset,
      int keyLength,
      long hash,
      int kind,
      long lsn,
      byte[] value,
      int valueOffset,
      int valueLength,
      int firstPage,
      Visibility visibility) {
    if (keyLength > maxKeyBytes()) {
      throw new IllegalArgumentException("a key of " + keyLength + " bytes is too long");
    }
    if (lsn < minLsn) {
      lowerMinLsn(lsn);
    }
    ActiveFilter added = growingFilter;
    if (added != null) {
      added.add(hash);
    }
    for (; ; ) {
      long at = descend(key, keyOffset, keyLength, lsn, false);
      int page = (int) at;
      if (page == PagePool.NONE) {
        plant();
        continue;
      }
      int version = (int) (at >>> 32);
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      long shape = memory.getLong(base + SHAPE);
      int position =
          search.lowerBound(memory, base, shape, version, key, keyOffset, keyLength, lsn);
      if (!ActiveEdit.tryLock(memory, base, version)) {
        continue;
      }
      boolean done;
      try {
        // Looked at again under the latch: whoever fills the filter visits the leaf after it is
        // set.
        ActiveFilter growing = growingFilter;
        if (growing != added && growing != null) {
          growing.add(hash);
          added = growing;
        }
        done =
            writer.put(
                memory,
                base,
                position,
                key,
                keyOffset,
                keyLength,
                kind,
                lsn,
                value,
                valueOffset,
                valueLength,
                firstPage,
                visibility);
      } finally {
        ActiveEdit.unlock(memory, base, version);
      }
      if (done) {
        return;
      }
      int stored = firstPage == PagePool.NONE ? valueLength : ActiveLayout.OVERFLOW_REF_BYTES;
      split(page, version + 2, key, keyOffset, keyLength, lsn, stored);
    }
  }

  private void lowerMinLsn(long lsn) {
    for (long seen = minLsn; lsn < seen; seen = minLsn) {
      if (MIN_LSN.compareAndSet(this, seen, lsn)) {
        return;
      }
    }
  }

  private void plant() {
    structure.lock();
    try {
      if (root != PagePool.NONE) {
        return;
      }
      int page = pool.allocateUrgent(Purpose.WRITE);
      if (page == PagePool.NONE) {
        throw new OutOfBudgetException("no page left for the active SSTable");
      }
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      memory.putInt(base + VERSION, 0);
      edit.format(memory, base, 0, false, 0, 0);
      splitter = new ActiveSplit(pool, search, edit, order.isBytes());
      pages.incrementAndGet();
      root = page;
    } finally {
      structure.unlock();
    }
  }

  private void split(
      int page, int version, byte[] key, int offset, int length, long lsn, int valueLength) {
    structure.lock();
    try {
      int bytes = ActiveLayout.entryBytes(length, valueLength);
      ActiveSplit splitter = this.splitter;
      if (splitter != null) {
        int added = splitter.split(this, page, version, key, offset, length, lsn, bytes);
        if (added > 0) {
          pages.addAndGet(added);
          createFilter();
        }
      }
    } finally {
      structure.unlock();
    }
  }

  /** Once the filter is no more than the tree it is for: makes one, and adds what is there. */
  private void createFilter() {
    long bits = filterBytes / 64 * 10;
    int held = pages.get();
    if (growingFilter != null
        || held < Math.max(8, ActiveFilter.pagesFor(pool, bits))
        || held < filterAttemptPages) {
      return;
    }
    ActiveFilter created = ActiveFilter.create(pool, bits);
    if (created == null) {
      // No room now: try again when the tree has doubled.
      filterAttemptPages = 2 * held;
      return;
    }
    pages.addAndGet(created.pageCount());
    growingFilter = created;
    new NodeWalk(this).addKeys(root, created);
    filter = created;
  }

  /** A cursor without bounds; see {@link #cursor(Purpose, byte[], byte[])}. */
  public EntryCursor cursor(Purpose purpose) {
    return cursor(purpose, null, null);
  }

  KeyOrder order() {
    return order;
  }

  /** The root page, or {@link PagePool#NONE}. */
  int root() {
    return root;
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
      int version = ActiveEdit.stableVersion(memory, base);
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
        int childVersion = ActiveEdit.stableVersion(childMemory, childBase);
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

  /**
   * Reads the newest version of a key with an LSN of at most {@code lsn}, inside an epoch.
   *
   * @param hash {@code KeyHash} of the key
   * @param target gets the value at its position, if it has room for it; else nothing is changed
   *     that the caller may rely on. Its position does not move.
   * @return the value's length in bytes, or {@link #ABSENT}, {@link #DELETED} or {@link #RETRY}
   */
  @Override
  public int getInto(byte[] key, int offset, int length, long hash, long lsn, ByteBuffer target) {
    return mayContain(hash) ? find(key, offset, length, lsn, target, null) : ABSENT;
  }

  /**
   * As {@link #getInto}, with the value in a new array: null if absent, {@link #DELETED_VALUE} or
   * {@link #RETRY_VALUE}.
   */
  public byte @Nullable [] get(byte[] key, int offset, int length, long hash, long lsn) {
    if (!mayContain(hash)) {
      return null;
    }
    Found found = new Found();
    int result = find(key, offset, length, lsn, null, found);
    return switch (result) {
      case ABSENT -> null;
      case DELETED -> DELETED_VALUE;
      case RETRY -> RETRY_VALUE;
      default -> found.value;
    };
  }

  /**
   * The LSN of the newest version of a key, or {@link #ABSENT}, inside an epoch. Writes of the key
   * that are under way may be missed.
   */
  @Override
  public long newestLsn(byte[] key, int offset, int length, long hash) {
    if (!mayContain(hash)) {
      return ABSENT;
    }
    long sought = NEWEST;
    for (; ; ) {
      long at = descend(key, offset, length, sought, false);
      int page = (int) at;
      if (page == PagePool.NONE) {
        return ABSENT;
      }
      int version = (int) (at >>> 32);
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      long shape = memory.getLong(base + SHAPE);
      int position = search.lowerBound(memory, base, shape, version, key, offset, length, sought);
      int slot = ActiveSearch.slot(position);
      boolean here = ActiveSearch.sameKey(position);
      boolean behind =
          !here
              && slot == search.count(shape)
              && fenceHasKey(memory, base, UPPER, key, offset, length);
      long lsn = ABSENT;
      if (here) {
        lsn = ActiveLayout.lsn(memory, search.entry(memory, base, shape, slot));
      } else if (behind) {
        lsn = fenceLsn(memory, base, UPPER);
      }
      if (!changed(memory, base, version)) {
        if (!behind) {
          return lsn;
        }
        sought = lsn;
      }
    }
  }

  /** Whether the tree may hold the key with this hash; false is certain. */
  public boolean mayContain(long hash) {
    ActiveFilter asked = filter;
    return asked == null || asked.mayContain(hash);
  }

  private static final class Found {
    byte[] value = DELETED_VALUE;
  }

  private int find(
      byte[] key,
      int offset,
      int length,
      long lsn,
      @Nullable ByteBuffer target,
      @Nullable Found found) {
    long sought = Math.min(lsn, NEWEST);
    boolean crossed = false;
    for (; ; ) {
      long at = descend(key, offset, length, sought, false);
      int page = (int) at;
      if (page == PagePool.NONE) {
        return ABSENT;
      }
      int version = (int) (at >>> 32);
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      long shape = memory.getLong(base + SHAPE);
      int position = search.lowerBound(memory, base, shape, version, key, offset, length, sought);
      int slot = ActiveSearch.slot(position);
      // Newer versions may be in the leaf before, which then ends with this key.
      boolean newerBefore =
          slot == 0 && !crossed && fenceHasKey(memory, base, LOWER, key, offset, length);
      long lowerLsn = newerBefore ? fenceLsn(memory, base, LOWER) : 0;
      int result;
      if ((shape & PRUNED) != 0
          && search.hasKeyAt(memory, base, shape, slot - 1, key, offset, length)
          && missing(memory, search.entry(memory, base, shape, slot - 1), lsn)) {
        result = changed(memory, base, version) ? TORN : RETRY;
      } else if (ActiveSearch.sameKey(position)) {
        result =
            copy(memory, base, version, search.entry(memory, base, shape, slot), target, found);
      } else if (slot == search.count(shape)
          && fenceHasKey(memory, base, UPPER, key, offset, length)) {
        // Older versions may be in the leaf behind, which then starts with this key.
        long upperLsn = fenceLsn(memory, base, UPPER);
        if (!changed(memory, base, version)) {
          sought = upperLsn;
          crossed |= slot > 0;
        }
        continue;
      } else {
        result = changed(memory, base, version) ? TORN : ABSENT;
      }
      if (result != TORN) {
        return newerBefore && missingBefore(lowerLsn, key, offset, length, lsn) ? RETRY : result;
      }
    }
  }

  private boolean fenceHasKey(
      Memory memory, int base, int field, byte[] key, int offset, int length) {
    int fence = search.fence(memory, base, field);
    return fence >= 0 && search.hasKey(memory, base, fence, key, offset, length);
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
  private boolean missingBefore(long fenceLsn, byte[] key, int offset, int length, long lsn) {
    long before = fenceLsn;
    for (; ; ) {
      long at = descend(key, offset, length, before, true);
      int version = (int) (at >>> 32);
      Memory memory = pool.memory((int) at);
      int base = pool.base((int) at);
      long shape = memory.getLong(base + SHAPE);
      int last = search.count(shape) - 1;
      boolean late =
          search.hasKeyAt(memory, base, shape, last, key, offset, length)
              && missing(memory, search.entry(memory, base, shape, last), lsn);
      boolean further = last < 0 && fenceHasKey(memory, base, LOWER, key, offset, length);
      long next = further ? fenceLsn(memory, base, LOWER) : before;
      if (!changed(memory, base, version)) {
        if (!further) {
          return late;
        }
        before = next;
      }
    }
  }

  /** The node was edited meanwhile. */
  private static final int TORN = -4;

  private int copy(
      Memory memory,
      int base,
      int version,
      int entry,
      @Nullable ByteBuffer target,
      @Nullable Found found) {
    int kind = ActiveLayout.kind(memory, entry);
    int keyLength = search.keyLength(memory, base, entry);
    int stored = search.valueLength(memory, base, entry, keyLength);
    int from = entry + ENTRY_KEY + keyLength;
    if (kind == Kind.PUT && target != null) {
      if (stored <= target.remaining()) {
        memory.get(from, target, target.position(), stored);
      }
      return changed(memory, base, version) ? TORN : stored;
    }
    boolean overflow = kind == Kind.PUT_OVERFLOW && stored == ActiveLayout.OVERFLOW_REF_BYTES;
    int first = overflow ? memory.getInt(from) : PagePool.NONE;
    int length = overflow ? memory.getInt(from + 4) : stored;
    if (changed(memory, base, version)) {
      return TORN;
    }
    if (kind == Kind.DELETE) {
      return DELETED;
    }
    if (found != null) {
      found.value = new byte[length];
      if (first == PagePool.NONE) {
        memory.get(from, found.value, 0, length);
        return changed(memory, base, version) ? TORN : length;
      }
      OverflowChain.copy(pool, first, 0, ByteBuffer.wrap(found.value), 0, length);
    } else if (target != null && length <= target.remaining()) {
      OverflowChain.copy(pool, first, 0, target, target.position(), length);
    }
    return length;
  }

  /**
   * A cursor over all versions, for scans while the tree is written and for merges when it is
   * sealed. It copies one leaf at a time, enters an epoch while it does, and sees each entry that
   * was there at its creation exactly once, pruned ones excepted; newer ones it may miss. The
   * caller keeps the tree from being freed, filters by LSN, and asks for overflow values only of
   * versions that its snapshot holds.
   *
   * @param purpose what the copy is charged to: {@link Purpose#CURSOR} or {@link Purpose#MERGE}
   * @param low the cursor is not moved to keys up to this one, which may have been given up; null
   *     for no bound
   * @param high the cursor is not moved to keys above this one
   * @throws OutOfBudgetException if there is no page for the copy
   */
  @Override
  public EntryCursor cursor(Purpose purpose, byte @Nullable [] low, byte @Nullable [] high) {
    int page = pool.allocatePatiently(purpose);
    return new ActiveCursor(this, page, purpose, low, high);
  }

  /** Bytes of the pages held, filter and overflow chains included. */
  @Override
  public long bytesUsed() {
    return (long) pages.get() * pool.pageSize();
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
      long entries = 0;
      if (!freed && !handedOver) {
        for (int leaf : new NodeWalk(this).leaves(root)) {
          entries += ActiveLayout.count(pool.memory(leaf).getLong(pool.base(leaf) + SHAPE));
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
   * No put that has returned had a higher LSN; 0 before the first. Visits all leaves, so that
   * writers need not share a counter.
   */
  public long maxLsn() {
    return new NodeWalk(this).measure().maxLsn;
  }

  /**
   * Gives up what lies wholly above {@code low} and not above {@code high}; a null bound is none.
   * The tree is sealed, and no new reader looks for keys in that range; those in an epoch may. Does
   * nothing once the leaves have been handed over.
   */
  public void releaseRange(byte @Nullable [] low, byte @Nullable [] high) {
    structure.lock();
    try {
      if (freed || handedOver || root == PagePool.NONE) {
        return;
      }
      LeafRelease release = this.release;
      if (release == null) {
        release = new LeafRelease(pool, search, order);
        this.release = release;
      }
      pages.addAndGet(-release.release(root, low, high));
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
      if (freed || handedOver) {
        throw new IllegalStateException("the leaves are not this tree's any more");
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
      if (growingFilter != null) {
        growingFilter.retire();
      }
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
