package io.isobardb.lsm.component;

import static io.isobardb.lsm.component.ActiveLayout.SHAPE;
import static io.isobardb.lsm.component.ActiveLayout.VERSION;

import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.operand.Operands;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
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
 * <p>How a page is found, and how readers do without locks: {@link ActiveLookup}. How nodes are
 * laid out: {@link ActiveLayout}.
 */
public final class ActiveTree implements Sealed {
  /** In a large tree a filter that follows is for so many times what those before are for. */
  private static final int LARGE_STEP = 8;

  /** A smaller tree has no filter: it would take a good part of what it is for. */
  private static final int LEAST_FILTERED_PAGES = 16;

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
  final ActiveLookup lookup;
  private final KeyOrder order;
  private final long targetBytes;
  private final long filterBytes;
  private final LeafWriter writer;
  private final ActiveEdit edit;
  private final AtomicInteger pages = new AtomicInteger();
  private final ReentrantLock structure = new ReentrantLock();

  private volatile long minLsn = Long.MAX_VALUE;

  /** Above the LSNs of all puts; not known before the tree is sealed. */
  private volatile long sealedAt = Long.MAX_VALUE;

  private volatile boolean exact;

  /** What writers add to; the first is set before the keys already there are added. */
  private volatile @Nullable ActiveFilter growingFilter;

  /**
   * What readers ask, each with its own keys; set once all keys are in. Each that follows has twice
   * the size, or much more in a large tree, for what the tree grows by, so that no key has to be
   * added again, and few are asked.
   */
  private volatile ActiveFilter[] filters = {};

  // Guarded by structure.
  private @Nullable ActiveSplit splitter;
  private int filterAttemptPages;

  /** What the filters are made for together. */
  private long filteredBytes;

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
   * @param filterBytes the size that the first filter is for
   */
  public ActiveTree(PagePool pool, KeyOrder order, long targetBytes, long filterBytes) {
    this.pool = pool;
    this.order = order;
    this.targetBytes = targetBytes;
    this.filterBytes = filterBytes;
    this.search = new ActiveSearch(pool.pageSize(), order);
    this.lookup = new ActiveLookup(pool, search);
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
    ActiveFilter added = growingFilter;
    if (added != null) {
      added.add(write.hash);
    }
    for (; ; ) {
      long at = lookup.descend(write.key, write.keyOffset, write.keyLength, write.lsn, false);
      int page = (int) at;
      if (page == PagePool.NONE) {
        plant();
        continue;
      }
      int version = (int) (at >>> 32);
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      int position = search.lowerBound(memory, base, version, write);
      if (!ActiveEdit.tryLock(memory, base, version)) {
        continue;
      }
      boolean done;
      try {
        // Looked at again under the latch: the thread that fills the filter visits the leaf after
        // it is set.
        ActiveFilter growing = growingFilter;
        if (growing != added && growing != null) {
          growing.add(write.hash);
          added = growing;
        }
        done = writer.put(memory, base, version + 1, position, write, visibility);
      } finally {
        ActiveEdit.unlock(memory, base, version);
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

  private void plant() {
    structure.lock();
    try {
      if (lookup.root() != PagePool.NONE) {
        return;
      }
      int page = pool.allocateUrgent(Purpose.WRITE);
      if (page == PagePool.NONE) {
        throw pool.outOfBudget("no page left for the active SSTable");
      }
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      memory.putInt(base + VERSION, 0);
      edit.format(memory, base, 0, false, 0, 0);
      splitter = new ActiveSplit(pool, search, edit, order.isBytes());
      pages.incrementAndGet();
      lookup.setRoot(page);
    } finally {
      structure.unlock();
    }
  }

  private void split(int page, int version, Write write) {
    structure.lock();
    try {
      ActiveSplit splitter = this.splitter;
      if (splitter != null) {
        int added = splitter.split(lookup, page, version, write);
        if (added > 0) {
          pages.addAndGet(added);
          createFilter();
        }
      }
    } finally {
      structure.unlock();
    }
  }

  /**
   * Once the filter is no more than the tree it is for: makes one, and adds what is there. Once the
   * tree has outgrown it: makes another, for keys to come.
   */
  private void createFilter() {
    ActiveFilter[] before = filters;
    boolean large = bytesUsed() > MemoryRules.MOST_ACTIVE_BYTES;
    long wanted = large ? LARGE_STEP * filteredBytes : filterBytes << before.length;
    long bits = Math.max(filterBytes, wanted) / 64 * 10;
    int held = pages.get();
    boolean due =
        before.length == 0
            ? held >= Math.max(LEAST_FILTERED_PAGES, ActiveFilter.pagesFor(pool, bits))
            : bytesUsed() > filteredBytes;
    if (!due || held < filterAttemptPages) {
      return;
    }
    ActiveFilter created = ActiveFilter.create(pool, bits);
    if (created == null) {
      // No room now: try again when the tree has doubled.
      filterAttemptPages = 2 * held;
      return;
    }
    pages.addAndGet(created.pageCount());
    filteredBytes += Math.max(filterBytes, wanted);
    ActiveFilter[] all = Arrays.copyOf(before, before.length + 1);
    all[before.length] = created;
    if (before.length > 0) {
      // Readers first: a writer may add a key to it as soon as it is visible.
      filters = all;
      growingFilter = created;
    } else {
      growingFilter = created;
      new NodeWalk(this).addKeys(lookup.root(), created);
      filters = all;
    }
  }

  KeyOrder order() {
    return order;
  }

  @Override
  public int find(byte[] key, Probe probe) {
    return mayContain(probe.hash()) ? lookup.find(key, probe) : Probe.ABSENT;
  }

  @Override
  public long newestLsn(byte[] key, long hash) {
    return mayContain(hash) ? lookup.newestLsn(key) : Probe.ABSENT;
  }

  /** Whether the tree may hold the key with this hash; false is certain. */
  public boolean mayContain(long hash) {
    ActiveFilter[] asked = filters;
    // The youngest is the largest, and has most of the keys.
    for (int i = asked.length - 1; i >= 0; i--) {
      if (asked[i].mayContain(hash)) {
        return true;
      }
    }
    return asked.length == 0;
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
   * @throws OutOfBudgetException if there is no page for a copy
   */
  @Override
  public EntryCursor cursor(
      Purpose purpose, byte @Nullable [] low, byte @Nullable [] high, long visible) {
    if (sealedAt <= visible + 1 && lookup.root() != PagePool.NONE) {
      return new ActiveCursor(this, low, high);
    }
    int page = pool.allocatePatiently(purpose);
    return new ActiveCursor(this, page, purpose, low, high);
  }

  /** Bytes of the pages held, filter and overflow chains included. */
  @Override
  public long bytesUsed() {
    return (long) pages.get() * pool.pageSize();
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
      long entries = 0;
      if (!freed && !handedOver) {
        for (int leaf : new NodeWalk(this).leaves(lookup.root())) {
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
   * Gives up what lies wholly above {@code low} and not above {@code high}; a null bound is none.
   * The tree is sealed, and no new reader looks for keys in that range; those in an epoch may. Does
   * nothing once the leaves have been handed over.
   *
   * @return the bytes of the pages given up
   */
  public long releaseRange(byte @Nullable [] low, byte @Nullable [] high) {
    structure.lock();
    try {
      if (freed || handedOver || lookup.root() == PagePool.NONE) {
        return 0;
      }
      LeafRelease release = this.release;
      if (release == null) {
        release = new LeafRelease(pool, search, order);
        this.release = release;
      }
      int released = release.release(lookup.root(), low, high);
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
      if (freed || handedOver) {
        throw new IllegalStateException("the leaves are not this tree's any more");
      }
      handedOver = true;
      return new NodeWalk(this).leaves(lookup.root());
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
      for (ActiveFilter filter : filters) {
        filter.retire();
      }
      if (handedOver) {
        new NodeWalk(this).retireInner(lookup.root());
      } else {
        new NodeWalk(this).retire(lookup.root());
      }
    } finally {
      structure.unlock();
    }
  }
}
