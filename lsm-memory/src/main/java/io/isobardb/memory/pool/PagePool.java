package io.isobardb.memory.pool;

import io.isobardb.memory.page.Memory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Where every page comes from: pages of one size, cut from slabs, under one limit.
 *
 * <p>A page is named by an {@code int}; {@link #memory} and {@link #base} say where it lies. A page
 * has one owner, who has charged it to a {@link Purpose} and gives it back once: with {@link
 * #release} if no reader can see it any more, else with {@link #retire}, which waits for the
 * readers.
 *
 * <p>Allocation never blocks. When the limit is reached the {@link Reclaimer} is asked, outside all
 * locks, to give clean pages up; if it can't, {@link #NONE} is the answer, and shedding load is the
 * caller's business. A few pages ({@link #reservePages}) are kept for {@link #allocateUrgent},
 * which writers use once they can't turn back any more.
 *
 * <p>Thread rule: all methods may be called by any thread. {@code memory} and {@code base} take no
 * lock; a page handed from one thread to another must be handed over with a happens-before edge.
 *
 * <p>Invariants: the ledger's sum is {@link #allocatedBytes}, which is never above the limit (save
 * while a lowered limit is being reached); a page is free, in limbo, or charged to one purpose.
 */
public final class PagePool implements AutoCloseable {
  /** No page. */
  public static final int NONE = -1;

  /** Slabs and blocks start at multiples of this many bytes, as direct I/O wants it. */
  public static final int ALIGNMENT = 4096;

  /** Gives clean pages up when the pool has run out. */
  @FunctionalInterface
  public interface Reclaimer {
    /**
     * Tries to give up {@code pages} pages, by {@link PagePool#retire} or {@link PagePool#release}.
     * Must not wait and must not allocate.
     *
     * @return how many were given up; 0 if there is nothing to give
     */
    int reclaim(int pages);
  }

  private final int pageSize;
  private final int pageShift;
  private final int slabShift;
  private final int slabMask;
  private final Epochs epochs = new Epochs();
  private final boolean poison;

  private final Object lock = new Object();
  private volatile Reclaimer reclaimer = pages -> 0;

  // All below is guarded by lock; slabs may be read without it for a page that is held.
  private Memory[] slabs = new Memory[0];
  private final List<ByteBuf> slabOwners = new ArrayList<>();
  private int[] free = new int[64];
  private int freeCount;
  private int[] limboPages = new int[64];
  private long[] limboTags = new long[64];
  private int limboHead;
  private int limboCount;
  private final long[] held = new long[Purpose.values().length];
  private final long[] blockBytes = new long[Purpose.values().length];
  private long limit;
  private long allocated;
  private long peak;
  private int reserve;
  private boolean closed;

  /**
   * Creates an empty pool; slabs are allocated as pages are asked for.
   *
   * @param limitBytes the budget
   * @param pageSize a power of two from 4096 to 65536
   */
  public PagePool(long limitBytes, int pageSize) {
    this(limitBytes, pageSize, false);
  }

  /**
   * As {@link #PagePool(long, int)}; with {@code poison} the contents of freed pages are
   * overwritten, so that a reader who came too late reads garbage and fails. For tests.
   */
  public PagePool(long limitBytes, int pageSize, boolean poison) {
    if (Integer.bitCount(pageSize) != 1 || pageSize < 4096 || pageSize > 65536) {
      throw new IllegalArgumentException(
          "page size must be a power of two from 4096 to 65536, not " + pageSize);
    }
    this.pageSize = pageSize;
    this.pageShift = Integer.numberOfTrailingZeros(pageSize);
    long slabBytes = Long.highestOneBit(Math.max(limitBytes / 32, 1));
    slabBytes = Math.min(Math.max(slabBytes, Math.max(128 << 10, 4L * pageSize)), 4 << 20);
    this.slabShift = Long.numberOfTrailingZeros(slabBytes) - pageShift;
    this.slabMask = (1 << slabShift) - 1;
    this.limit = limitBytes;
    this.poison = poison;
  }

  /** Who is asked for pages when there are no more. */
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
    return slabs[page >>> slabShift];
  }

  /** The offset of a page in its region. */
  public int base(int page) {
    return (page & slabMask) << pageShift;
  }

  /**
   * A page for {@code purpose}, its contents undefined, or {@link #NONE} if the budget has no room
   * and nothing could be reclaimed.
   */
  public int allocate(Purpose purpose) {
    return allocate(purpose, false);
  }

  /** As {@link #allocate}, and may take what {@link #reservePages} holds back. */
  public int allocateUrgent(Purpose purpose) {
    return allocate(purpose, true);
  }

  private int allocate(Purpose purpose, boolean urgent) {
    for (int attempt = 0; ; attempt++) {
      synchronized (lock) {
        int page = take(purpose, urgent ? 0 : reserve);
        if (page != NONE) {
          return page;
        }
      }
      if (attempt == 64 || reclaimer.reclaim(16) == 0) {
        synchronized (lock) {
          // What was given up may have become free since.
          return take(purpose, urgent ? 0 : reserve);
        }
      }
      if (attempt > 2) {
        // Given up but still in view of a reader: readers are short, let them run.
        Thread.yield();
      }
    }
  }

  /** Keeps this many pages back from {@link #allocate}, for {@link #allocateUrgent}. */
  public void reservePages(int pages) {
    synchronized (lock) {
      reserve = pages;
    }
  }

  private int take(Purpose purpose, int keep) {
    checkOpen();
    if (freeCount <= keep) {
      drainLimbo();
    }
    while (freeCount <= keep && allocated + slabCharge() <= limit) {
      addSlab();
    }
    if (freeCount <= keep) {
      return NONE;
    }
    int page = free[--freeCount];
    held[purpose.ordinal()]++;
    return page;
  }

  /** Gives a page back that no reader can see. */
  public void release(int page, Purpose purpose) {
    if (poison) {
      memory(page).fill(base(page), pageSize, (byte) 0xDB);
    }
    synchronized (lock) {
      held[purpose.ordinal()]--;
      pushFree(page);
    }
  }

  /** Gives a page back that was unlinked just now: it is free when its last reader has left. */
  public void retire(int page, Purpose purpose) {
    synchronized (lock) {
      held[purpose.ordinal()]--;
      held[Purpose.LIMBO.ordinal()]++;
      if (limboCount == limboPages.length) {
        growLimbo();
      }
      int at = (limboHead + limboCount) & (limboPages.length - 1);
      limboPages[at] = page;
      limboTags[at] = epochs.advance();
      limboCount++;
      if (limboCount >= 32 && freeCount == 0) {
        drainLimbo();
      }
    }
  }

  /** Charges {@code pages} pages to another purpose: they change owner, not place. */
  public void transfer(Purpose from, Purpose to, int pages) {
    synchronized (lock) {
      held[from.ordinal()] -= pages;
      held[to.ordinal()] += pages;
    }
  }

  /**
   * A contiguous piece of memory.
   *
   * @throws OutOfBudgetException if it does not fit, even after reclaiming
   */
  public Block allocateBlock(int bytes, Purpose purpose) {
    long charge = (long) bytes + ALIGNMENT;
    synchronized (lock) {
      checkOpen();
      if (allocated + charge > limit) {
        throw new OutOfBudgetException(
            "a block of "
                + bytes
                + " bytes for "
                + purpose
                + " does not fit: "
                + allocated
                + " of "
                + limit
                + " bytes are allocated");
      }
      ByteBuf owner = UnpooledByteBufAllocator.DEFAULT.directBuffer((int) charge, (int) charge);
      Memory memory = aligned(owner, bytes);
      memory.zero(0, bytes);
      grew(charge);
      blockBytes[purpose.ordinal()] += charge;
      return new Block(memory, purpose, charge, owner);
    }
  }

  /** Gives a block back that no reader can see. */
  public void release(Block block) {
    synchronized (lock) {
      blockBytes[block.purpose().ordinal()] -= block.chargedBytes();
      allocated -= block.chargedBytes();
      ((ByteBuf) block.owner()).release();
    }
  }

  /** Pages that {@link #allocate} could still hand out without reclaiming. */
  public int availablePages() {
    synchronized (lock) {
      long slabsLeft = Math.max(0, (limit - allocated) / slabCharge());
      return (int) Math.max(0, freeCount + limboCount + (slabsLeft << slabShift) - reserve);
    }
  }

  /** Pages held for a purpose. */
  public long pages(Purpose purpose) {
    synchronized (lock) {
      return purpose == Purpose.FREE ? freeCount : held[purpose.ordinal()];
    }
  }

  /** Bytes held from the system. */
  public long allocatedBytes() {
    synchronized (lock) {
      return allocated;
    }
  }

  /** The budget in bytes. */
  public long limitBytes() {
    synchronized (lock) {
      return limit;
    }
  }

  /** Who holds how much. */
  public Ledger ledger() {
    synchronized (lock) {
      Map<Purpose, Long> bytes = new EnumMap<>(Purpose.class);
      for (Purpose purpose : Purpose.values()) {
        bytes.put(purpose, held[purpose.ordinal()] * pageSize + blockBytes[purpose.ordinal()]);
      }
      bytes.put(Purpose.FREE, (long) freeCount * pageSize);
      bytes.put(Purpose.ALIGNMENT, (long) slabOwners.size() * ALIGNMENT);
      return new Ledger(limit, allocated, peak, bytes);
    }
  }

  /**
   * Frees all memory. The caller has seen to it that nobody reads any more.
   *
   * @throws IllegalStateException if pages or blocks are still held (after freeing them): a leak
   */
  @Override
  public void close() {
    synchronized (lock) {
      if (closed) {
        return;
      }
      closed = true;
      slabOwners.forEach(ByteBuf::release);
      slabs = new Memory[0];
      StringBuilder leaks = new StringBuilder();
      for (Purpose purpose : Purpose.values()) {
        if (purpose != Purpose.LIMBO && held[purpose.ordinal()] != 0) {
          leaks.append(' ').append(purpose).append('=').append(held[purpose.ordinal()]);
        }
        if (blockBytes[purpose.ordinal()] != 0) {
          leaks.append(' ').append(purpose).append("-block bytes=");
          leaks.append(blockBytes[purpose.ordinal()]);
        }
      }
      if (leaks.length() > 0) {
        throw new IllegalStateException("pages not given back:" + leaks);
      }
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the page pool is closed");
    }
  }

  private long slabCharge() {
    return ((long) pageSize << slabShift) + ALIGNMENT;
  }

  private void addSlab() {
    int bytes = pageSize << slabShift;
    ByteBuf owner =
        UnpooledByteBufAllocator.DEFAULT.directBuffer(bytes + ALIGNMENT, bytes + ALIGNMENT);
    Memory memory = aligned(owner, bytes);
    int index = slabs.length;
    Memory[] grown = Arrays.copyOf(slabs, index + 1);
    grown[index] = memory;
    slabs = grown;
    slabOwners.add(owner);
    grew(slabCharge());
    for (int i = (1 << slabShift) - 1; i >= 0; i--) {
      pushFree((index << slabShift) + i);
    }
  }

  private static Memory aligned(ByteBuf owner, int bytes) {
    ByteBuffer whole = owner.nioBuffer(0, owner.capacity());
    int past = whole.alignmentOffset(0, ALIGNMENT);
    return new Memory(whole.slice(past == 0 ? 0 : ALIGNMENT - past, bytes));
  }

  private void grew(long bytes) {
    allocated += bytes;
    peak = Math.max(peak, allocated);
  }

  private void pushFree(int page) {
    if (freeCount == free.length) {
      free = Arrays.copyOf(free, freeCount * 2);
    }
    free[freeCount++] = page;
  }

  private void drainLimbo() {
    if (limboCount == 0) {
      return;
    }
    long oldest = epochs.oldest();
    while (limboCount > 0 && limboTags[limboHead] < oldest) {
      int page = limboPages[limboHead];
      limboHead = (limboHead + 1) & (limboPages.length - 1);
      limboCount--;
      held[Purpose.LIMBO.ordinal()]--;
      if (poison) {
        memory(page).fill(base(page), pageSize, (byte) 0xDB);
      }
      pushFree(page);
    }
  }

  private void growLimbo() {
    int length = limboPages.length;
    int[] pages = new int[length * 2];
    long[] tags = new long[length * 2];
    for (int i = 0; i < limboCount; i++) {
      int at = (limboHead + i) & (length - 1);
      pages[i] = limboPages[at];
      tags[i] = limboTags[at];
    }
    limboPages = pages;
    limboTags = tags;
    limboHead = 0;
  }
}
