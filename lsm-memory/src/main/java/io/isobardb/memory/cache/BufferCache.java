package io.isobardb.memory.cache;

import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.pool.Reclaimer;
import io.isobardb.memory.stats.CacheStats;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The buffer cache: pages of disk files, in pages of the pool, replaced by a clock. {@link Guides}
 * lead to other pages, and stay for some more of its turns.
 *
 * <p>Two ways to a page. A reader <em>within an epoch</em> calls {@link #find}; the page stays what
 * it is until the reader leaves the epoch. If it is absent it leaves, calls {@link #load}, which
 * reads the page and pins it, and starts over. A reader that needs a page for longer pins it, and
 * it stays until {@link #unpin}.
 *
 * <p>Size. The cache holds pages up to its target ({@link #resize}) and what its neighbours lend,
 * takes them from the pool as it needs them and gives them up when the target falls or the pool
 * runs dry, but never its last {@link #MINIMUM_PAGES}: so a load always finds a frame, as long as
 * not all are pinned. A full cache uses evicted pages again itself, once their readers have left; a
 * few are evicted ahead of need. If all frames are pinned, a load takes a page beyond the target if
 * the pool has one, and otherwise waits. A caller that loads while it holds pins must hold few.
 *
 * <p>Thread rule: all methods may be called by any thread. {@code find} and its like take no lock
 * and write to shared memory only when a cold page becomes hot; they must be called within an epoch
 * of the pool. {@code load} may block, and must not.
 *
 * <p>Invariants: a key is in the table at most once; a load inserts a key under its stripe's lock
 * after having found it absent there; a page is unlinked before it is retired; pages charged to
 * {@link Purpose#CACHE} = held pages.
 */
public final class BufferCache implements Reclaimer, AutoCloseable {
  /** No such page in the cache. */
  public static final int ABSENT = -1;

  /** Pages the cache never gives up; they are taken from the pool when it is opened. */
  public static final int MINIMUM_PAGES = 24;

  private static final int STRIPES = 64;

  /** Pages and entries share anew after so many misses, and after this part of a full cache. */
  private static final int BALANCE_MISSES = 256;

  private static final int BALANCE_PART = 4;

  /** With fewer pages left the pool is empty for the cache; some are always on their way back. */
  private static final int FULL_POOL_PAGES = 16;

  /** Extras leave this part of the cache to pages that are still to come. */
  private static final int ROOM_PART = 16;

  /** The entries are still filling their memory if this part of all misses adds one. */
  private static final int FILLING = 4;

  /** Pages of a dropped file that are given back at a time. */
  private static final int DROP_PAGES = 64;

  private final PagePool pool;
  private final Epochs epochs;
  private final @Nullable GhostCache ghost;
  private final Stripe[] stripes = new Stripe[STRIPES];
  private final Frames frames;
  private final EntryCache entries;
  private final Extras extras;

  /** Held while pages and entries share anew. */
  private final ReentrantLock balance = new ReentrantLock();

  private final AtomicInteger missesToBalance = new AtomicInteger(BALANCE_MISSES);
  private long ghostHitsSeen;
  private long entryGhostHitsSeen;

  /** Held while the table is replaced by a larger one. */
  private final ReentrantLock growth = new ReentrantLock();

  private volatile @Nullable PageTable table;
  private final LongAdder hits = new LongAdder();
  private final LongAdder[] misses = adders();
  private final LongAdder[] ghostHits = adders();
  private final LongAdder failedLoads = new LongAdder();
  private final LongAdder adoptions = new LongAdder();
  private final LongAdder heldAtMisses = new LongAdder();
  private final CacheNeighbours neighbours;
  private final Guides guides;

  /**
   * An empty cache, which becomes the pool's reclaimer.
   *
   * @param targetBytes how much it may hold; at least {@link #MINIMUM_PAGES} are taken for that
   * @param ghostPages how many evicted pages to remember; 0 for none
   * @param neighbours those that it shares the pool with
   * @param guides which of its pages lead to others
   * @throws OutOfBudgetException if the pool has no room for its least size and its tables
   */
  public BufferCache(
      PagePool pool, long targetBytes, int ghostPages, CacheNeighbours neighbours, Guides guides) {
    this.pool = pool;
    this.guides = guides;
    this.neighbours = neighbours;
    this.epochs = pool.epochs();
    for (int i = 0; i < STRIPES; i++) {
      stripes[i] = new Stripe();
    }
    this.entries = new EntryCache(pool);
    this.extras = new Extras(pool);
    PageTable first = new PageTable(pool, pool.limitBytes() / pool.pageSize());
    GhostCache made = null;
    try {
      made = ghostPages == 0 ? null : new GhostCache(pool, ghostPages);
      this.table = first;
      this.ghost = made;
      this.frames = new Frames(pool, this::open, made, entries::pageCount, extras, neighbours);
    } catch (OutOfBudgetException e) {
      if (made != null) {
        made.close();
      }
      pool.release(first.block());
      throw e;
    }
    frames.setTarget(toPages(targetBytes));
    pool.setReclaimer(this);
  }

  /**
   * Single entries, which share the memory of the cache with its pages. It stays empty in a cache
   * without ghosts: they tell how much of the memory entries should have.
   */
  public EntryCache entries() {
    return entries;
  }

  /** What makes reads of its pages quicker, while there is room for that. */
  public Extras extras() {
    return extras;
  }

  /**
   * Whether there is room for an extra of so many pages, besides pages of files that may still
   * come. If so, they count as taken: {@link #addExtra} follows, or {@link Extras#cancel}.
   */
  public boolean expectExtra(int pages) {
    int room = frames.total() / ROOM_PART;
    if (frames.limit() - frames.held() - pages < room
        || pool.availablePages() - pages < Math.max(room, FULL_POOL_PAGES)) {
      return false;
    }
    extras.expect(pages);
    return true;
  }

  /** Takes an extra in, of pages that were expected. If there is no room any more, one goes. */
  public void addExtra(Extras.Extra extra) {
    extras.add(extra);
    frames.trim();
  }

  /** The key of a page: files count from 1, pages from 0. */
  public static long key(int file, int pageNo) {
    return (long) file << 32 | pageNo;
  }

  static String describe(long key) {
    return "page " + (int) key + " of file " + (int) (key >>> 32);
  }

  /**
   * The pool page of a key, or {@link #ABSENT}; it becomes hot. Within an epoch only, and the page
   * may be looked at until the reader leaves it. Hits are not counted: see {@link #countHits}.
   */
  public int find(long key) {
    return open().find(key, true);
  }

  /** As {@link #find}, for merges: the page becomes no hotter than it is. */
  public int findWithoutTouching(long key) {
    return open().find(key, false);
  }

  /** Whether the page is there and was used since the clock's hand last passed it. In an epoch. */
  public boolean isHot(long key) {
    return (open().value(key) & PageTable.HOT) != 0;
  }

  /** Counts hits of {@link #find}, which callers collect, so that finds share no counter. */
  public void countHits(long found) {
    hits.add(found);
  }

  /**
   * Counts a page that was read from disk past the cache, as a miss of {@code access}, and as a hit
   * of the ghost cache if a larger cache would have had the page. It stays known to the ghost
   * cache, since it has not come in.
   */
  public void countPast(long key, Access access) {
    misses[access.ordinal()].increment();
    if (ghost != null && ghost.contains(key)) {
      ghostHits[access.ordinal()].increment();
    }
  }

  /** Pins a page; gives it, or {@link #ABSENT}. */
  public int pin(long key) {
    long value = change(key, 1, 0);
    return value == 0 ? ABSENT : (int) value;
  }

  /** As {@link #load}, but gives {@link #ABSENT} if the page is absent. */
  public int pin(long key, Access access) {
    int page = pinAs(key, access);
    if (page != ABSENT) {
      hits.increment();
    }
    return page;
  }

  /**
   * Gives a pin back.
   *
   * @throws IllegalStateException if the page is not pinned
   */
  public void unpin(long key) {
    long value = change(key, -1, 0);
    if (value == 0) {
      throw new IllegalStateException("not in the cache: " + describe(key));
    }
    if ((value & PageTable.PINS) == 0) {
      if ((value & PageTable.DOOMED) != 0) {
        Victims victims = new Victims(1);
        doom(key, victims);
        frames.giveBack(victims);
      }
      frames.wakeWaiters();
    }
  }

  /**
   * The pool page of a key, pinned. If it is absent, one thread loads it while the others wait for
   * that. Called outside of epochs; may block.
   *
   * @throws IOException what the loader threw; a thread that waited for it tries to load the page
   *     itself
   * @throws NoFrameException if all pages are pinned, and stay so for a while
   */
  public int load(long key, PageLoader loader, Access access) throws IOException {
    int page = pin(key, access);
    if (page != ABSENT) {
      return page;
    }
    Stripe stripe = stripe(key);
    stripe.lock();
    try {
      stripe.awaitLoad(key);
      page = pinAs(key, access);
      if (page != ABSENT) {
        hits.increment();
        return page;
      }
      stripe.beginLoad(key);
    } finally {
      stripe.unlock();
    }
    return read(key, loader, access, stripe);
  }

  private int pinAs(long key, Access access) {
    long value = change(key, 1, access == Access.QUERY ? PageTable.HOT : 0);
    return value == 0 ? ABSENT : (int) value;
  }

  private int read(long key, PageLoader loader, Access access, Stripe stripe) throws IOException {
    int page = ABSENT;
    boolean loaded = false;
    try {
      misses[access.ordinal()].increment();
      if (access != Access.MERGE) {
        heldAtMisses.add(frames.held() + entries.pageCount());
      }
      if (ghost != null && ghost.remove(key)) {
        ghostHits[access.ordinal()].increment();
      }
      neighbours.onMissed();
      if (ghost != null && missesToBalance.decrementAndGet() <= 0) {
        balance(ghost);
      }
      page = frames.acquire();
      loader.load(key, pool.memory(page), pool.base(page));
      loaded = true;
    } finally {
      if (!loaded) {
        failedLoads.increment();
        if (page != ABSENT) {
          frames.giveBackUnseen(page);
        }
      }
      stripe.lockWhateverHappens();
      try {
        if (loaded) {
          open().insert(key, value(page, access) | PageTable.PIN);
        }
      } finally {
        stripe.endLoad(key);
        stripe.unlock();
      }
    }
    return page;
  }

  /** Gives the entries more of the memory or less of it, once the cache is full. */
  private void balance(GhostCache ghosts) {
    if (!balance.tryLock()) {
      return;
    }
    try {
      int now = entries.pageCount();
      int all = frames.total();
      int misses = Math.max(BALANCE_MISSES, all / BALANCE_PART);
      missesToBalance.set(misses);
      if (now == 0 && !full()) {
        return;
      }
      int wanted;
      if (entries.hasRoom()) {
        if (entries.gained() > misses / FILLING) {
          return; // What they save can't be seen yet.
        }
        wanted = CacheBalance.fewerEntryPages(now, all);
      } else {
        CacheBalance.Seen byEntries = seenOfEntries();
        long hitsNow = ofClients(ghostHits);
        CacheBalance.Seen byPages = new CacheBalance.Seen(hitsNow - ghostHitsSeen, ghosts.size());
        ghostHitsSeen = hitsNow;
        wanted = CacheBalance.entryPages(now, all, byEntries, byPages);
      }
      if (wanted > now) {
        frames.reclaim(wanted - now);
      }
      entries.resize(wanted);
    } finally {
      balance.unlock();
    }
  }

  /** Whether the cache holds what it may, or what the pool has for it. */
  private boolean full() {
    return extras.pageCount() == 0
        && (frames.held() >= frames.limit() || pool.availablePages() < FULL_POOL_PAGES);
  }

  private CacheBalance.Seen seenOfEntries() {
    long hitsNow = entries.ghostHits();
    double pages = entries.ghostPages();
    CacheBalance.Seen seen = new CacheBalance.Seen(hitsNow - entryGhostHitsSeen, pages);
    entryGhostHitsSeen = hitsNow;
    return seen;
  }

  /** What the table has of a page that comes in. */
  private long value(int page, Access access) {
    long heat = access == Access.QUERY ? PageTable.HOT : 0;
    boolean guide = guides.isGuide(pool.memory(page), pool.base(page));
    return page | PageTable.VALID | heat | (guide ? PageTable.GUIDE : 0);
  }

  /**
   * Takes over a page whose contents are those of the disk page {@code key}, as the output of a
   * flush or a merge, without copying it.
   *
   * @param access with {@link Access#QUERY} the page comes in hot, and others go for it; with
   *     {@link Access#MERGE} it comes in cold, and only if the cache holds less than it may
   * @return whether the cache took it; if not (the page is there, there is no room, or its slab is
   *     to go back to the system) it is retired. In either case it is no longer the caller's.
   */
  public boolean adopt(long key, int page, Purpose from, Access access) {
    Stripe stripe = stripe(key);
    boolean adopted = false;
    stripe.lock();
    try {
      int most = access == Access.QUERY ? Integer.MAX_VALUE : frames.limit();
      if (!pool.leaving(page)
          && !stripe.isLoading(key)
          && change(key, 0, 0) == 0
          && frames.raiseHeld(most)) {
        pool.transfer(from, Purpose.CACHE, 1);
        open().insert(key, value(page, access));
        adopted = true;
      }
    } finally {
      stripe.unlock();
    }
    if (!adopted) {
      pool.retire(page, from);
      return false;
    }
    adoptions.increment();
    if (ghost != null) {
      ghost.remove(key);
    }
    frames.trim();
    return true;
  }

  /**
   * Removes the pages of a file that is gone, numbers 0 to {@code pageCount - 1}. A pinned page
   * goes with its last pin. The caller sees to it that nobody loads pages of the file any more.
   */
  public void drop(int file, int pageCount) {
    Victims victims = new Victims(DROP_PAGES);
    for (int pageNo = 0; pageNo < pageCount; pageNo++) {
      long key = key(file, pageNo);
      doom(key, victims);
      if (ghost != null) {
        ghost.remove(key);
      }
      if (victims.isFull()) {
        frames.giveBack(victims);
      }
    }
    frames.giveBack(victims);
  }

  /** Removes a page, or sees to it that its last pin does. */
  private void doom(long key, Victims victims) {
    while (true) {
      int slot = epochs.enter();
      long removed;
      try {
        removed = open().remove(key);
      } finally {
        epochs.exit(slot);
      }
      if (removed != 0) {
        victims.add(key, (int) removed);
        return;
      }
      long value = change(key, 0, PageTable.DOOMED);
      if (value == 0 || (value & PageTable.PINS) != 0) {
        return;
      }
    }
  }

  /**
   * Changes how much the cache may hold. More is a permission; less is reached at once save for
   * pinned pages, which go when others are loaded.
   */
  public void resize(long targetBytes) {
    int pages = toPages(targetBytes);
    long most = pool.limitBytes() / pool.pageSize();
    if (Math.max(pages, most) > open().capacity()) {
      growTable(Math.max(pages, most));
    }
    frames.setTarget(pages);
    leaveEntries(CacheBalance.mostEntryPages(frames.total()));
  }

  private int leaveEntries(int pages) {
    int before = entries.pageCount();
    if (pages >= before) {
      return 0;
    }
    entries.resize(pages);
    return before - pages;
  }

  /** How much the cache may hold. */
  public long targetBytes() {
    return (long) frames.target() * pool.pageSize();
  }

  @Override
  public int reclaim(int pages) {
    if (table == null) {
      return 0;
    }
    int extra = extras.giveUp(pages);
    if (extra > 0) {
      return extra;
    }
    int held = entries.pageCount();
    boolean tooMany = held > CacheBalance.mostEntryPages(held + frames.held());
    int given = tooMany ? 0 : frames.reclaim(pages);
    return given > 0 ? given : leaveEntries(Math.max(0, held - pages));
  }

  @Override
  public void askOthers() {
    neighbours.askForPages();
  }

  @Override
  public void vacate(IntPredicate leaving) {
    if (table != null) {
      extras.vacate(leaving);
      frames.vacate(leaving);
      if (entries.anyLeaving()) {
        entries.resize(0);
      }
    }
  }

  /** What the cache has done so far. */
  public CacheStats stats() {
    return new CacheStats(
        hits.sum(),
        ofClients(misses),
        misses[Access.MERGE.ordinal()].sum(),
        ofClients(ghostHits),
        ghostHits[Access.MERGE.ordinal()].sum(),
        failedLoads.sum(),
        frames.evictions.sum(),
        adoptions.sum(),
        frames.waits.sum(),
        frames.held(),
        heldAtMisses.sum(),
        frames.target(),
        entries.hits(),
        entries.pageCount(),
        ghost == null ? 0 : ghost.size(),
        ghost == null ? 0 : ghost.capacity());
  }

  private static LongAdder[] adders() {
    LongAdder[] all = new LongAdder[Access.values().length];
    Arrays.setAll(all, i -> new LongAdder());
    return all;
  }

  private static long ofClients(LongAdder[] counts) {
    return counts[Access.QUERY.ordinal()].sum() + counts[Access.SCAN.ordinal()].sum();
  }

  /**
   * Gives all memory back. The caller has seen to it that nobody uses the cache any more; use after
   * it gives an {@link IllegalStateException}.
   *
   * @throws IllegalStateException if pages are still pinned (after giving them back): a leak
   */
  @Override
  public void close() {
    PageTable last = table;
    if (last == null) {
      return;
    }
    pool.setReclaimer(pages -> 0);
    extras.giveUp(Integer.MAX_VALUE);
    entries.resize(0);
    int pinned = frames.close();
    table = null;
    pool.retire(last.block());
    if (ghost != null) {
      ghost.close();
    }
    if (pinned > 0) {
      throw new IllegalStateException(pinned + " pages of the cache are still pinned");
    }
  }

  private PageTable open() {
    PageTable now = table;
    if (now == null) {
      throw new IllegalStateException("the buffer cache is closed");
    }
    return now;
  }

  private int toPages(long bytes) {
    return (int) Math.min(bytes / pool.pageSize(), Integer.MAX_VALUE);
  }

  private Stripe stripe(long key) {
    return stripes[(int) PageTable.hash(key) & STRIPES - 1];
  }

  /** As {@link PageTable#change}, in whichever table the entry is. */
  private long change(long key, int pins, long bits) {
    while (true) {
      int slot = epochs.enter();
      long value;
      try {
        value = open().change(key, pins, bits);
      } finally {
        epochs.exit(slot);
      }
      if ((value & PageTable.MOVED) == 0) {
        return value;
      }
      growth.lock(); // Until the larger table stands.
      growth.unlock();
    }
  }

  /** Replaces the table by one for so many frames; if the pool has no room it stays as it is. */
  private void growTable(long pages) {
    growth.lock();
    try {
      PageTable old = open();
      if (old.capacity() >= pages) {
        return;
      }
      PageTable larger;
      try {
        larger = new PageTable(pool, pages);
      } catch (OutOfBudgetException e) {
        return; // The cache holds what the table has room for.
      }
      for (Stripe stripe : stripes) {
        stripe.lock();
      }
      try {
        old.moveTo(larger);
        table = larger;
      } finally {
        for (Stripe stripe : stripes) {
          stripe.unlock();
        }
      }
      pool.retire(old.block());
    } finally {
      growth.unlock();
    }
  }
}
