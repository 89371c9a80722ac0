package io.isobardb.memory.pool;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.stats.Ledger;
import io.isobardb.memory.stats.Purpose;
import io.isobardb.memory.system.ProcessMemory;
import io.isobardb.memory.system.Region;
import io.isobardb.memory.system.SystemMemory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.EnumMap;
import java.util.Map;

/**
 * Where every page comes from: pages of one size, cut from slabs, under one limit.
 *
 * <p>A page is named by an {@code int}; {@link #memory} and {@link #base} say where it lies. A page
 * has one owner, which has charged it to a {@link Purpose} and gives it back once: with {@link
 * #release} if no reader can see it any more, else with {@link #retire}, which waits for the
 * readers.
 *
 * <p>Allocation never blocks. When the limit is reached, or the system refuses memory below it, the
 * {@link Reclaimer} is asked, outside all locks, to give clean pages up; if it can't, {@link #NONE}
 * is the answer, and shedding load is the caller's business. A few pages ({@link #reservePages})
 * are kept for {@link #allocateUrgent}, which writers use once they can't turn back any more, and a
 * part of those for flushes and merges alone, since without these nothing would come free.
 *
 * <p>The limit may change at any time. A lower one takes effect as pages come back: the emptiest
 * slabs hand out no more pages, the reclaimer is asked to leave them, and a slab goes back to the
 * system when all its pages are free and the readers of that moment have left.
 *
 * <p>Thread rule: all methods may be called by any thread. {@code memory} and {@code base} take no
 * lock; a page handed from one thread to another must be handed over with a happens-before edge.
 *
 * <p>Invariants: the ledger's sum is {@link #allocatedBytes}, which is not above the limit (save
 * while a lowered limit is being reached, and for slabs of {@link #lendSlab}); a page is free, in
 * limbo, or charged to one purpose.
 */
public final class PagePool implements AutoCloseable {
  /** No page. */
  public static final int NONE = -1;

  /** How long {@link #allocatePatiently} waits, at least, for readers to leave. */
  private static final long PATIENCE_NANOS = 5_000_000_000L;

  /** How long it waits for others to give pages back, if none are in view of readers. */
  private static final long BRIEF_PATIENCE_NANOS = 5_000_000L;

  private static final long PAUSE_NANOS = 100_000;

  /** Slabs and blocks start at multiples of this many bytes, as direct I/O wants it. */
  public static final int ALIGNMENT = Region.ALIGNMENT;

  /** How often an allocation asks for pages, or waits for readers to leave, before it gives up. */
  private static final int ATTEMPTS = 64;

  /** Pages asked for at a time; with four times as many in limbo, no more are asked for. */
  private static final int RECLAIM_PAGES = 16;

  private final int pageSize;
  private final int pageShift;
  private final int slabShift;
  private final int slabMask;
  private final Epochs epochs = new Epochs();
  private final boolean poison;
  private final AllocationFaults faults;
  private volatile Reclaimer reclaimer = pages -> 0;
  private volatile Runnable ahead = () -> {};

  /** Whether {@link #ahead} is to be told. */
  private volatile boolean wantsAhead;

  private final Object lock = new Object();

  // All below is guarded by lock.
  private final Slabs slabs;
  private final Blocks blocks;
  private final Limbo limbo = new Limbo(epochs);
  private final HeldPages held = new HeldPages();
  private int reserve;
  private int flushReserve;
  private boolean closed;

  /**
   * Creates an empty pool; slabs are allocated as pages are asked for.
   *
   * @param limitBytes the budget
   * @param pageSize a power of two from 4096 to 65536
   * @throws IllegalArgumentException if the budget is more than the JVM's direct memory
   */
  public PagePool(long limitBytes, int pageSize) {
    this(limitBytes, pageSize, false);
  }

  /**
   * As {@link #PagePool(long, int)}; with {@code poison} the contents of freed pages are
   * overwritten, so that a reader that came too late reads garbage and fails. For tests.
   */
  public PagePool(long limitBytes, int pageSize, boolean poison) {
    this(limitBytes, pageSize, poison, AllocationFaults.NONE);
  }

  /** As {@link #PagePool(long, int, boolean)}, where allocations fail. */
  public PagePool(long limitBytes, int pageSize, boolean poison, AllocationFaults faults) {
    this(
        limitBytes,
        pageSize,
        poison,
        faults,
        DirectMemory.limited(ProcessMemory.slabs()),
        DirectMemory.limited(ProcessMemory.blocks()));
  }

  PagePool(
      long limitBytes,
      int pageSize,
      boolean poison,
      AllocationFaults faults,
      SystemMemory forSlabs,
      SystemMemory forBlocks) {
    if (Integer.bitCount(pageSize) != 1 || pageSize < 4096 || pageSize > 65536) {
      throw new IllegalArgumentException(
          "page size must be a power of two from 4096 to 65536, not " + pageSize);
    }
    checkLimit(limitBytes);
    this.pageSize = pageSize;
    this.pageShift = Integer.numberOfTrailingZeros(pageSize);
    this.slabShift = Long.numberOfTrailingZeros(Slabs.slabBytes(limitBytes, pageSize)) - pageShift;
    this.slabMask = (1 << slabShift) - 1;
    this.poison = poison;
    this.faults = faults;
    this.slabs = new Slabs(epochs, forSlabs, pageSize, slabShift, limitBytes);
    this.blocks = new Blocks(this, lock, slabs, forBlocks, faults);
  }

  /**
   * What is told when few pages are free and there may be more: it has {@link #addAhead} called, by
   * another thread. Called by threads that allocate, perhaps within an epoch: it must not wait.
   */
  public void setAhead(Runnable wanted) {
    ahead = wanted;
  }

  /**
   * Adds a slab if few pages are free and the limit has room. Its memory is the system's zeros
   * until it is first written to, page by page, which makes a writer wait; so that is done here.
   */
  public void addAhead() {
    synchronized (lock) {
      if (closed || !slabs.beginAhead()) {
        return;
      }
    }
    Region made = null;
    try {
      made = slabs.makeAhead();
    } finally {
      synchronized (lock) {
        if (closed && made != null) {
          made.free();
        } else {
          slabs.endAhead(made);
        }
      }
    }
  }

  /** What is asked for pages when there are no more. */
  public void setReclaimer(Reclaimer reclaimer) {
    this.reclaimer = reclaimer;
  }

  /** The epochs that {@link #retire} waits for; readers of pool pages enter them. */
  public Epochs epochs() {
    return epochs;
  }

  /** Size of a page in bytes. */
  public int pageSize() {
    return pageSize;
  }

  /** The region a page lies in. */
  public Memory memory(int page) {
    return slabs.regions[page >>> slabShift];
  }

  /** The offset of a page in its region. */
  public int base(int page) {
    return (page & slabMask) << pageShift;
  }

  /** Whether a held page lies in a slab that is to go back to the system. Takes no lock. */
  public boolean leaving(int page) {
    return slabs.anyLeaving && slabs.leaving(page);
  }

  /**
   * A page for {@code purpose}, its contents undefined, or {@link #NONE} if the budget has no room
   * or the system refused the memory, and nothing could be reclaimed. A caller that gives up then
   * throws {@link #outOfBudget}.
   */
  public int allocate(Purpose purpose) {
    return allocate(purpose, Urgency.NONE);
  }

  /**
   * As {@link #allocate}, and may take what {@link #reservePages} holds back for callers that can't
   * turn back.
   */
  public int allocateUrgent(Purpose purpose) {
    return allocate(purpose, Urgency.BEGUN);
  }

  /** As {@link #allocate}, without asking the reclaimer; {@link #NONE} if there is no page. */
  public int tryAllocate(Purpose purpose) {
    if (faults.refuses(purpose)) {
      return NONE;
    }
    synchronized (lock) {
      return take(purpose, reserve);
    }
  }

  /** Which of the reserves an allocation may take. */
  private enum Urgency {
    /** None: the caller can do without, or wait. */
    NONE,
    /** All but what flushes and merges need. */
    BEGUN,
    /** All: it makes memory come free. */
    RELIEF
  }

  /** The lock is held. */
  private int kept(Urgency urgency) {
    return urgency == Urgency.NONE ? reserve : urgency == Urgency.BEGUN ? flushReserve : 0;
  }

  private int allocate(Purpose purpose, Urgency urgency) {
    int page = takeOrReclaim(purpose, urgency);
    if (wantsAhead) {
      wantsAhead = false;
      askAhead();
    }
    return page;
  }

  /** The page that was taken would be lost if this failed, and it can be done without. */
  private void askAhead() {
    try {
      ahead.run();
    } catch (OutOfMemoryError e) {
      // There is no heap to ask with: the slab is made when a page is needed.
    }
  }

  private int takeOrReclaim(Purpose purpose, Urgency urgency) {
    if (faults.refuses(purpose)) {
      return NONE;
    }
    for (int attempt = 0; ; attempt++) {
      int inView;
      synchronized (lock) {
        int page = take(purpose, kept(urgency));
        if (page != NONE) {
          return page;
        }
        inView = limbo.size();
        if (attempt == ATTEMPTS) {
          return takeLeaving(purpose, urgency);
        }
      }
      // Pages given up but still in view of a reader: asking for more would only empty the cache.
      if (inView < 4 * RECLAIM_PAGES && reclaimer.reclaim(RECLAIM_PAGES) == 0 && inView == 0) {
        synchronized (lock) {
          // What others gave up may have become free since.
          int page = take(purpose, kept(urgency));
          return page != NONE ? page : takeLeaving(purpose, urgency);
        }
      }
      if (attempt > 0) {
        Thread.yield();
      }
    }
  }

  /**
   * What a caller that does not wait throws for want of pages. If the system has refused memory
   * that the budget has room for, it says so, and names the JVM's option.
   */
  public OutOfBudgetException outOfBudget(String what) {
    OutOfBudgetException refused;
    synchronized (lock) {
      refused = slabs.refused();
    }
    return refused == null
        ? new OutOfBudgetException(what)
        : new OutOfBudgetException(what + ": " + refused.getMessage(), refused);
  }

  /**
   * A page for background work, or for a cursor's copy, which waits while pages that were given up
   * are still in view of a reader. Not within an epoch, which would wait for itself. All of what
   * {@link #reservePages} holds back is for {@link Purpose#MERGE}; for cursors some of it is, when
   * {@link Reclaimer#askOthers} has been of no use.
   *
   * @throws OutOfBudgetException if there is none in the end: all is held, even after {@link
   *     Reclaimer#askOthers}
   */
  public int allocatePatiently(Purpose purpose) {
    Urgency urgency =
        switch (purpose) {
          case MERGE -> Urgency.RELIEF;
          case CURSOR -> Urgency.NONE;
          default -> Urgency.BEGUN;
        };
    long waited = 0;
    boolean told = false;
    while (true) {
      int page = allocate(purpose, urgency);
      if (page != NONE) {
        return page;
      }
      boolean inView;
      synchronized (lock) {
        inView = limbo.size() > 0;
      }
      if (waited >= (inView ? PATIENCE_NANOS : BRIEF_PATIENCE_NANOS)) {
        throw outOfBudget("no page for " + purpose + ": " + ledger());
      }
      if (!told && waited >= BRIEF_PATIENCE_NANOS / 2) {
        told = true;
        reclaimer.askOthers();
        // Others have let go of what they can: now the one that has its turn has to come to an end.
        urgency = purpose == Purpose.CURSOR ? Urgency.BEGUN : urgency;
      }
      // Readers leave silently, so there is nothing to be woken by.
      Backoff.park(PAUSE_NANOS);
      waited += PAUSE_NANOS;
    }
  }

  /**
   * Keeps pages back from {@link #allocate}.
   *
   * @param pages how many, for {@link #allocateUrgent} and for flushes and merges
   * @param forRelief how many of them for flushes and merges alone
   */
  public void reservePages(int pages, int forRelief) {
    synchronized (lock) {
      reserve = pages;
      flushReserve = forRelief;
    }
  }

  /**
   * Adds a slab beyond the limit, which goes again as soon as it can: for a write that has begun,
   * that finds no page, and that all others wait for. Nothing else keeps them from waiting for
   * ever, and it should never come to this.
   */
  public void lendSlab() {
    synchronized (lock) {
      checkOpen();
      slabs.lend();
    }
  }

  /** How many pages fit into so many bytes, which hold whole slabs. */
  public int pagesWithin(long bytes) {
    return (int) Math.min(Integer.MAX_VALUE, slabs.pagesWithin(bytes));
  }

  /** Bytes of the slabs that so many pages take. */
  public long slabBytesFor(long pages) {
    return slabs.bytesFor(pages);
  }

  /** What is larger than a page; under the same limit. */
  public Blocks blocks() {
    return blocks;
  }

  /** Leaves this much of the limit to blocks, those that are allocated included. */
  public void keepForBlocks(long bytes) {
    synchronized (lock) {
      slabs.keepForBlocks(bytes);
    }
  }

  private int take(Purpose purpose, int keep) {
    checkOpen();
    if (slabs.available() <= keep) {
      drainLimbo();
    }
    while (slabs.available() <= keep) {
      if (!slabs.add()) {
        return NONE;
      }
    }
    held.charge(purpose, 1);
    int page = slabs.pop();
    // Once each time they become so few: what is told may not be able to change it.
    wantsAhead |= slabs.available() == slabs.fewPages() - 1 && slabs.wantsAhead();
    return page;
  }

  /**
   * A page of a slab that is to go, for what makes memory come free: it is not to wait for that.
   */
  private int takeLeaving(Purpose purpose, Urgency urgency) {
    int page = urgency == Urgency.RELIEF ? slabs.popLeaving() : NONE;
    if (page != NONE) {
      held.charge(purpose, 1);
    }
    return page;
  }

  /** Gives a page back that no reader can see. */
  public void release(int page, Purpose purpose) {
    synchronized (lock) {
      checkOpen();
      discharge(page, purpose);
      free(page);
      slabs.freeDoomed();
    }
  }

  /** Gives a page back that was unlinked just now: it is free when its last reader has left. */
  public void retire(int page, Purpose purpose) {
    synchronized (lock) {
      checkOpen();
      addToLimbo(page, purpose, epochs.advance());
      drainLargeLimbo();
    }
  }

  /** As {@link #retire(int, Purpose)}, for the first {@code count} pages of the array. */
  public void retire(int[] pages, int count, Purpose purpose) {
    if (count == 0) {
      return;
    }
    synchronized (lock) {
      checkOpen();
      long tag = epochs.advance();
      for (int i = 0; i < count; i++) {
        addToLimbo(pages[i], purpose, tag);
      }
      drainLargeLimbo();
    }
  }

  private void addToLimbo(int page, Purpose purpose, long tag) {
    discharge(page, purpose);
    held.charge(Purpose.LIMBO, 1);
    limbo.add(page, tag);
  }

  private void drainLargeLimbo() {
    if (limbo.size() >= 32 && slabs.available() == 0 || slabs.isShrinking()) {
      drainLimbo();
    }
  }

  /** Charges {@code pages} pages to another purpose: they change owner, not place. */
  public void transfer(Purpose from, Purpose to, int pages) {
    synchronized (lock) {
      held.discharge(from, pages);
      held.charge(to, pages);
    }
  }

  /** As {@link Blocks#release}. */
  public void release(Block block) {
    blocks.release(block);
  }

  /** As {@link Blocks#retire}. */
  public void retire(Block block) {
    blocks.retire(block);
  }

  /**
   * Changes the budget. More is a permission; less is reached as pages come back, and {@link
   * #allocatedBytes} tells how far that is.
   *
   * @throws IllegalArgumentException if the budget is more than the JVM's direct memory
   */
  public void setLimit(long limitBytes) {
    checkLimit(limitBytes);
    synchronized (lock) {
      checkOpen();
      drainLimbo();
      slabs.setLimit(limitBytes);
      slabs.freeDoomed();
    }
    if (slabs.anyLeaving) {
      vacateLeaving();
      allocatedBytes();
    }
  }

  /**
   * Asks holders that can do without them to give up pages of slabs that are to go back to the
   * system. Does not wait. Worth repeating while {@link #isAboveLimit}: what was in use may not be
   * any more.
   */
  public void vacate() {
    if (slabs.anyLeaving) {
      reclaimer.askOthers();
      vacateLeaving();
    }
  }

  void vacateLeaving() {
    reclaimer.vacate(this::leaving);
  }

  /** Whether a lowered limit has not been reached yet. */
  public boolean isAboveLimit() {
    synchronized (lock) {
      if (!closed && slabs.isShrinking()) {
        drainLimbo();
      }
      return slabs.allocated() > slabs.limit();
    }
  }

  /** Pages that {@link #allocate} could still hand out without reclaiming. */
  public int availablePages() {
    synchronized (lock) {
      long pages = (long) slabs.available() + slabs.roomPages() + limbo.size() - reserve;
      return (int) Math.max(0, Math.min(pages, Integer.MAX_VALUE));
    }
  }

  /** Pages held for a purpose. */
  public long pages(Purpose purpose) {
    synchronized (lock) {
      return purpose == Purpose.FREE ? slabs.freePages() : held.of(purpose);
    }
  }

  /**
   * Bytes of pages held for a purpose, without a lock and so perhaps a few pages behind: for
   * callers that ask with every operation.
   */
  public long approximateBytes(Purpose purpose) {
    return held.approximate(purpose) * pageSize;
  }

  /** Bytes held from the system. */
  public long allocatedBytes() {
    synchronized (lock) {
      if (!closed && slabs.isShrinking()) {
        drainLimbo();
      }
      return slabs.allocated();
    }
  }

  /** The budget in bytes. */
  public long limitBytes() {
    synchronized (lock) {
      return slabs.limit();
    }
  }

  /** Which purpose holds how much. */
  public Ledger ledger() {
    synchronized (lock) {
      if (!closed && slabs.isShrinking()) {
        drainLimbo();
      }
      Map<Purpose, Long> bytes = new EnumMap<>(Purpose.class);
      for (Purpose purpose : Purpose.values()) {
        bytes.put(purpose, held.of(purpose) * pageSize + blocks.bytes(purpose));
      }
      bytes.merge(Purpose.LIMBO, slabs.doomedBytes(), Long::sum);
      bytes.put(Purpose.FREE, slabs.freePages() * pageSize + slabs.aheadBytes());
      bytes.put(Purpose.ALIGNMENT, (long) slabs.count() * Region.OVERHEAD_BYTES);
      return new Ledger(slabs.limit(), slabs.allocated(), slabs.peak(), bytes);
    }
  }

  /**
   * Frees all memory. The caller has seen to it that nobody reads any more.
   *
   * @throws IllegalStateException if pages or blocks are still held (after freeing the pages): a
   *     leak
   */
  @Override
  public void close() {
    synchronized (lock) {
      if (closed) {
        return;
      }
      closed = true;
      slabs.close();
      StringBuilder leaks = new StringBuilder();
      for (Purpose purpose : Purpose.values()) {
        if (purpose != Purpose.LIMBO && held.of(purpose) != 0) {
          leaks.append(' ').append(purpose).append('=').append(held.of(purpose));
        }
        if (blocks.bytes(purpose) != 0) {
          leaks.append(' ').append(purpose).append("-block bytes=").append(blocks.bytes(purpose));
        }
      }
      if (leaks.length() > 0) {
        throw new IllegalStateException("pages not given back:" + leaks);
      }
    }
  }

  private static void checkLimit(long limitBytes) {
    if (limitBytes <= 0) {
      throw new IllegalArgumentException("a memory budget of " + limitBytes + " bytes");
    }
    DirectMemory.check(limitBytes);
  }

  /** The lock is held. */
  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the page pool is closed");
    }
  }

  private void discharge(int page, Purpose purpose) {
    held.check(purpose, 1);
    slabs.giveBack(page);
    held.discharge(purpose, 1);
  }

  private void free(int page) {
    if (poison) {
      memory(page).fill(base(page), pageSize, (byte) 0xDB);
    }
    slabs.push(page);
  }

  /** The lock is held. */
  void drainLimbo() {
    slabs.freeDoomed();
    for (int page = limbo.poll(); page != NONE; page = limbo.poll()) {
      held.discharge(Purpose.LIMBO, 1);
      free(page);
    }
    slabs.freeDoomed();
    blocks.settle();
  }

  /**
   * How many pages of a pool are charged to which purpose.
   *
   * <p>Thread rule: guarded by the pool's lock, except {@link #approximate}.
   */
  private static final class HeldPages {
    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] held = new long[Purpose.values().length];

    long of(Purpose purpose) {
      return held[purpose.ordinal()];
    }

    /** The same for any thread, and so perhaps a few pages behind. */
    long approximate(Purpose purpose) {
      return (long) ELEMENT.getOpaque(held, purpose.ordinal());
    }

    void charge(Purpose purpose, int pages) {
      held[purpose.ordinal()] += pages;
    }

    /**
     * Takes a charge back.
     *
     * @throws IllegalStateException if fewer pages are charged to it
     */
    void discharge(Purpose purpose, int pages) {
      check(purpose, pages);
      held[purpose.ordinal()] -= pages;
    }

    /**
     * Sees that a charge of so many pages may be taken back.
     *
     * @throws IllegalStateException if fewer pages are charged to it
     */
    void check(Purpose purpose, int pages) {
      if (of(purpose) < pages) {
        throw new IllegalStateException(
            pages + " pages given up for " + purpose + ", which holds " + of(purpose));
      }
    }
  }
}
