package io.isobardb.memory.cache;

import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntPredicate;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How many pages the cache holds, and where the next one comes from: the supply, the pool, or the
 * page that the clock's hand finds first.
 *
 * <p>Thread rule: all methods may be called by any thread, outside of epochs and stripes' locks
 * except where said.
 *
 * <p>Invariants: {@code held} is the number of pages charged to the cache or about to be, at most
 * what the table has room for, and from opening to closing at least the minimum: giving pages up
 * lowers it first, taking pages raises it first.
 */
final class Frames {
  /** Slots the hand moves on at a time, within one epoch. */
  private static final int SWEEP_SLOTS = 64;

  private static final int BATCH_PAGES = 16;

  /** Readers leave silently, so a thread that waits for them looks again after this time. */
  private static final long LOOK_AGAIN_NANOS = 100_000;

  /** Guides have more turns than other pages while they are at most this part of what is held. */
  private static final int GUIDES_PART = 2;

  /** How often to look before giving up: some tens of milliseconds. */
  private static final int LOOKS = 256;

  final LongAdder evictions = new LongAdder();
  final LongAdder waits = new LongAdder();

  private final PagePool pool;
  private final Epochs epochs;
  private final Supplier<PageTable> table;
  private final @Nullable GhostCache ghost;
  private final int minimum = BufferCache.MINIMUM_PAGES;
  private final FrameSupply supply;
  private final IntPredicate leaving;
  private final AtomicInteger held = new AtomicInteger();
  private final AtomicLong hand = new AtomicLong();
  private final IntSupplier taken;
  private final Extras extras;
  private volatile int target;
  private final CacheNeighbours neighbours;

  /** The last attempt to get a page from the pool failed. */
  private volatile boolean poolIsDry;

  private final ReentrantLock waiting = new ReentrantLock();
  private final Condition freed = waiting.newCondition();
  private final AtomicInteger waiters = new AtomicInteger();

  /**
   * Takes the least number of pages from the pool.
   *
   * @param taken how many of the pages that the target allows are something else's now
   * @param extras have some of them, too, and go before any page does
   * @throws OutOfBudgetException if it hasn't got them; none are taken then
   */
  Frames(
      PagePool pool,
      Supplier<PageTable> table,
      @Nullable GhostCache ghost,
      IntSupplier taken,
      Extras extras,
      CacheNeighbours neighbours) {
    this.pool = pool;
    this.epochs = pool.epochs();
    this.table = table;
    this.ghost = ghost;
    this.taken = taken;
    this.extras = extras;
    this.neighbours = neighbours;
    this.target = minimum;
    this.supply = new FrameSupply(epochs);
    this.leaving = pool::leaving;
    for (int i = 0; i < minimum; i++) {
      int page = pool.allocate(Purpose.CACHE);
      if (page == PagePool.NONE) {
        releaseSupply();
        throw pool.outOfBudget("the pool has no " + minimum + " pages for the cache");
      }
      supply.add(page);
    }
    held.set(minimum);
  }

  int held() {
    return held.get();
  }

  int target() {
    return target;
  }

  void setTarget(int pages) {
    target = Math.max(pages, minimum);
    trim();
    wakeWaiters();
  }

  /**
   * A page for new contents, which no reader can see. Waits if there is none.
   *
   * @throws NoFrameException if after a while there is still none
   */
  int acquire() {
    int page = next();
    if (page == PagePool.NONE) {
      page = await();
    }
    boolean kept = false;
    try {
      keepToLimit();
      kept = true;
    } finally {
      if (!kept) {
        giveBackUnseen(page); // There may be no heap: the page would be lost.
      }
    }
    return page;
  }

  /** Gives up what is held above the limit; if all of it is held, sees to the next page. */
  private void keepToLimit() {
    int most = limit();
    if (held.get() > most) {
      trim();
    } else if ((poolIsDry || held.get() == most) && supply.size() == 0) {
      supplyAhead();
    }
  }

  /**
   * Sees to it that the next load finds a page. The pool may have pages again since it was dry; if
   * not, some are evicted now, so that their readers have left by then.
   */
  private void supplyAhead() {
    int page = growIntoExtras();
    if (page == PagePool.NONE) {
      evictToSupply();
    } else {
      supply.add(page);
    }
  }

  /** Takes back a page that {@link #acquire} gave and no reader has seen. */
  void giveBackUnseen(int page) {
    supply.add(page);
    wakeWaiters();
  }

  /** Takes pages that were unlinked just now, and empties {@code victims}. */
  void giveBack(Victims victims) {
    int surplus = lowerHeld(victims.count, minimum);
    int kept = victims.count - surplus;
    supply.addEvicted(victims.pages, kept);
    System.arraycopy(victims.pages, kept, victims.pages, 0, surplus);
    pool.retire(victims.pages, surplus, Purpose.CACHE);
    victims.count = 0;
    wakeWaiters();
  }

  /** Makes room for a page that comes from outside; false if the table can hold no more. */
  boolean raiseHeld(int limit) {
    int most = Math.min(limit, table.get().capacity());
    while (true) {
      int now = held.get();
      if (now >= most) {
        return false;
      }
      if (held.compareAndSet(now, now + 1)) {
        return true;
      }
    }
  }

  /** Gives up what is held above the limit, extras first, then pages that are not pinned. */
  void trim() {
    extras.giveUp(held.get() + extras.pageCount() - limitWithoutExtras());
    int most = limit();
    while (held.get() > most) {
      if (giveUp(Math.min(held.get() - most, SWEEP_SLOTS), most) == 0) {
        return;
      }
    }
  }

  /** What may be held now. */
  int limit() {
    return Math.max(minimum, limitWithoutExtras() - extras.pageCount());
  }

  /** What may be held now, if there were no extras. */
  private int limitWithoutExtras() {
    return Math.max(minimum, total() - taken.getAsInt());
  }

  /** The target, and what others lend. */
  int total() {
    return (int) Math.min((long) target + neighbours.sparePages(), Integer.MAX_VALUE);
  }

  /** Evicts so many pages and gives them to the pool; how many it were. */
  int reclaim(int pages) {
    return giveUp(pages, minimum);
  }

  /** Evicts the pages that are to leave. */
  void vacate(IntPredicate which) {
    Victims victims = new Victims(SWEEP_SLOTS);
    int slots = table.get().slots();
    for (int at = 0; at < slots; at += SWEEP_SLOTS) {
      sweep(at, Math.min(SWEEP_SLOTS, slots - at), victims, which, true);
      onEvicted(victims, 0);
      giveBack(victims);
    }
    Victims idle = new Victims(supply.size());
    while (!idle.isFull()) {
      int page = supply.take();
      if (page == PagePool.NONE) {
        break;
      }
      if (pool.leaving(page) && lowerHeld(1, minimum) == 1) {
        pool.release(page, Purpose.CACHE);
      } else {
        idle.add(0, exchange(page));
      }
    }
    for (int i = 0; i < idle.count; i++) {
      supply.add(idle.pages[i]);
    }
  }

  /** Wakes the threads that wait for a frame. */
  void wakeWaiters() {
    if (waiters.get() > 0) {
      waiting.lock();
      try {
        freed.signalAll();
      } finally {
        waiting.unlock();
      }
    }
  }

  /** Gives all pages to the pool, those of the table too; nobody reads any more. */
  int close() {
    int left = held.get() - releaseSupply();
    int pinned = 0;
    PageTable last = table.get();
    Victims victims = new Victims(1);
    // A table of a store that was hardly read is large, and nearly empty.
    for (int slot = 0; slot < last.slots() && left > 0; slot++) {
      last.drain(victims, slot);
      if (victims.count > 0) {
        left--;
        pool.retire(victims.pages[0], Purpose.CACHE);
        pinned += victims.pinned;
        victims.count = 0;
        victims.pinned = 0;
      }
    }
    held.set(0);
    return pinned;
  }

  /** Gives the pages that are no frames to the pool; how many. */
  private int releaseSupply() {
    int pages = 0;
    for (int page = supply.takeAny(); page != PagePool.NONE; page = supply.takeAny()) {
      pool.retire(page, Purpose.CACHE);
      pages++;
    }
    return pages;
  }

  private int next() {
    int page = supply.take();
    if (page == PagePool.NONE) {
      page = growIntoExtras();
    }
    if (page == PagePool.NONE && evictToSupply() > 0) {
      page = supply.take();
    }
    return page == PagePool.NONE ? page : exchange(page);
  }

  /** Gives another page for one whose slab is to go back to the system, if there is one. */
  private int exchange(int page) {
    if (!pool.leaving(page)) {
      return page;
    }
    int other = pool.tryAllocate(Purpose.CACHE);
    if (other == PagePool.NONE) {
      return page;
    }
    pool.release(page, Purpose.CACHE);
    return other;
  }

  /** Grows by a page, for which extras go if it takes that. */
  private int growIntoExtras() {
    int page = grow(limit());
    return page == PagePool.NONE && extras.giveUp(batchPages()) > 0 ? grow(limit()) : page;
  }

  private int grow(int limit) {
    if (!raiseHeld(limit)) {
      return PagePool.NONE;
    }
    int page = pool.tryAllocate(Purpose.CACHE);
    if (page == PagePool.NONE) {
      held.decrementAndGet();
    }
    poolIsDry = page == PagePool.NONE;
    return page;
  }

  private int await() {
    waits.increment();
    boolean interrupted = false;
    waiters.incrementAndGet();
    try {
      for (int looks = 1; ; looks++) {
        int page = next();
        if (page == PagePool.NONE && supply.size() == 0) {
          page = grow(Integer.MAX_VALUE); // All is pinned: beyond the target, until some is not.
        }
        if (page != PagePool.NONE) {
          return page;
        }
        if (looks == LOOKS) {
          throw new NoFrameException(held.get());
        }
        if (looks == LOOKS / 8) {
          neighbours.askForPages();
        }
        interrupted |= lookAgainLater();
      }
    } finally {
      waiters.decrementAndGet();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Waits until a frame may have come free; whether that was interrupted. */
  private boolean lookAgainLater() {
    waiting.lock();
    try {
      freed.awaitNanos(LOOK_AGAIN_NANOS);
      return false;
    } catch (InterruptedException e) {
      return true;
    } finally {
      waiting.unlock();
    }
  }

  /** Evicts a few pages to be used again by the cache itself; how many. */
  private int evictToSupply() {
    Victims victims = new Victims(batchPages());
    evict(victims);
    supply.addEvicted(victims.pages, victims.count);
    return victims.count;
  }

  private int batchPages() {
    return Math.max(1, Math.min(BATCH_PAGES, target / 32));
  }

  private int giveUp(int wanted, int floor) {
    int granted = lowerHeld(wanted, floor);
    if (granted == 0) {
      return 0;
    }
    Victims victims = new Victims(granted);
    takeIdle(victims, batchPages());
    evict(victims);
    takeIdle(victims, 0);
    pool.retire(victims.pages, victims.count, Purpose.CACHE);
    held.addAndGet(granted - victims.count);
    return victims.count;
  }

  /** Takes pages that are no frames, and leaves so many of them. */
  private void takeIdle(Victims victims, int left) {
    while (!victims.isFull() && supply.size() > left) {
      int page = supply.takeAny();
      if (page == PagePool.NONE) {
        return;
      }
      victims.add(0, page);
    }
  }

  private int lowerHeld(int wanted, int floor) {
    while (true) {
      int now = held.get();
      int granted = Math.min(wanted, now - floor);
      if (granted <= 0) {
        return 0;
      }
      if (held.compareAndSet(now, now - granted)) {
        return granted;
      }
    }
  }

  /** Moves the hand on until enough pages are evicted, or each could have been. */
  private void evict(Victims victims) {
    int before = victims.count;
    long slots = table.get().slots();
    long most = (2 + PageTable.GUIDE_TURNS) * slots + SWEEP_SLOTS;
    for (long seen = 0; seen < most && !victims.isFull(); seen += SWEEP_SLOTS) {
      int at = (int) Math.floorMod(hand.getAndAdd(SWEEP_SLOTS), slots);
      sweep(at, SWEEP_SLOTS, victims, leaving, false);
    }
    onEvicted(victims, before);
  }

  private void sweep(int at, int count, Victims victims, IntPredicate which, boolean onlyWhich) {
    int slot = epochs.enter();
    try {
      table.get().sweep(at, count, victims, which, onlyWhich, held.get() / GUIDES_PART);
    } finally {
      epochs.exit(slot);
    }
  }

  private void onEvicted(Victims victims, int from) {
    evictions.add(victims.count - from);
    for (int i = from; ghost != null && i < victims.count; i++) {
      ghost.record(victims.keys[i]);
    }
  }
}
