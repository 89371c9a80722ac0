package io.isobardb.memory.pool;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.system.Region;
import io.isobardb.memory.system.SystemMemory;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The slabs of a pool: what is held from the system, under the limit, and which pages are free.
 *
 * <p>Free pages come from the slab with the lowest number that has one, so that high slabs empty
 * when demand falls. A slab is <em>leaving</em> when the limit was lowered below what is allocated,
 * or when a block needs the room: its free pages are not handed out, and when the last one has come
 * back the slab is <em>doomed</em>: gone from the regions, and freed when the readers have left.
 * Other slabs that happen to be whole go as well, and spare a leaving one.
 *
 * <p>Thread rule: guarded by the pool's lock, except the volatile fields and {@link #leaving(int)}.
 */
final class Slabs {
  /** Stands for a slab that has gone: every access is out of bounds. */
  private static final Memory GONE = new Memory(ByteBuffer.allocateDirect(0));

  /** Memory that is freed once the tag has passed. */
  private record Doomed(Region region, long charge, long tag) {}

  /** Regions by slab number; those without a slab are {@link #GONE}. Grows by copying. */
  volatile Memory[] regions = new Memory[0];

  /** Whether there is a leaving slab. */
  volatile boolean anyLeaving;

  private final SystemMemory system;

  private final Epochs epochs;
  private final int pageSize;
  private final int slabShift;
  private volatile @Nullable Slab[] slabs = new @Nullable Slab[0];

  /** Slabs with pages to hand out; none below {@link #firstOpen}. */
  private final BitSet open = new BitSet();

  private int firstOpen;
  private int count;
  private int leavingCount;
  private int available;
  private long freePages;
  private final Deque<Doomed> doomed = new ArrayDeque<>();
  private long doomedBytes;
  private long limit;

  /** Room that waiting blocks want within the limit. */
  private long setAside;

  /** What blocks are to find, those that are allocated included. */
  private long kept;

  /** Where the system refused to give more; nobody asks above that until the limit changes. */
  private long ceiling = Long.MAX_VALUE;

  private @Nullable OutOfMemoryError refusal;

  /** Whether there is more than the limit allows, since somebody could not go on else. */
  private boolean lent;

  /** How many pages were free then. */
  private int lentAt;

  /** What is charged for a slab that is being made ahead; 0 if none is. */
  private long aheadCharge;

  private long allocated;
  private long peak;

  private static final int MOST_SLABS = 8192;

  /**
   * A 32nd of the limit, from 128 KB to 4 MB; more for the largest limits, since each slab is a
   * mapping and the system allows a process 65,530 of them by default.
   */
  static long slabBytes(long limitBytes, int pageSize) {
    long most = Math.max(4 << 20, Long.highestOneBit(limitBytes / MOST_SLABS));
    long least = Math.max(128 << 10, 4L * pageSize);
    return Math.max(least, Math.min(most, Long.highestOneBit(limitBytes / 32)));
  }

  Slabs(Epochs epochs, SystemMemory system, int pageSize, int slabShift, long limit) {
    this.epochs = epochs;
    this.system = system;
    this.pageSize = pageSize;
    this.slabShift = slabShift;
    this.limit = limit;
  }

  long limit() {
    return limit;
  }

  long allocated() {
    return allocated;
  }

  long peak() {
    return peak;
  }

  int count() {
    return count;
  }

  /** Free pages that may be handed out. */
  int available() {
    return available;
  }

  /** Free pages, those of leaving slabs included. */
  long freePages() {
    return freePages;
  }

  long doomedBytes() {
    return doomedBytes;
  }

  /** Pages of the slabs that may still be added. */
  long roomPages() {
    long room = Math.min(limit - setAside - unusedByBlocks(), ceiling) - allocated;
    return Math.max(0, room / charge()) << slabShift;
  }

  /** Pages of the slabs that fit into so many bytes. */
  long pagesWithin(long bytes) {
    return Math.max(0, bytes / charge()) << slabShift;
  }

  /** Bytes of the slabs that so many pages take. */
  long bytesFor(long pages) {
    return (pages + (1L << slabShift) - 1 >> slabShift) * charge();
  }

  /** Slabs leave so much of the limit to blocks. */
  void keepForBlocks(long bytes) {
    kept = bytes;
  }

  private long unusedByBlocks() {
    return Math.max(0, kept - (allocated - aheadCharge - count * charge()));
  }

  boolean isShrinking() {
    return leavingCount > 0 || doomedBytes > 0;
  }

  boolean fits(long bytes) {
    return allocated + bytes <= limit;
  }

  void grew(long bytes) {
    allocated += bytes;
    peak = Math.max(peak, allocated);
  }

  void shrank(long bytes) {
    allocated -= bytes;
  }

  boolean leaving(int page) {
    Slab slab = slabs[page >>> slabShift];
    return slab != null && slab.leaving;
  }

  /** Adds a slab; false if the limit or the system doesn't allow it. */
  boolean add() {
    return allocated + charge() <= Math.min(limit - setAside - unusedByBlocks(), ceiling) && grow();
  }

  /** Adds a slab beyond the limit, if the system allows it; it goes when it is free. */
  void lend() {
    lent |= grow();
    lentAt = available;
  }

  /**
   * Fewer free pages are few: a slab of them, or half of the first one, so that a store that hardly
   * uses it gets no other.
   */
  int fewPages() {
    return 1 << (count > 1 ? slabShift : slabShift - 1);
  }

  /** Whether few pages are free, and there is room for more. */
  boolean wantsAhead() {
    return available < fewPages() && aheadCharge == 0 && roomPages() > 0;
  }

  /** Charges for a slab that {@link #makeAhead} makes, if {@link #wantsAhead}; whether it did. */
  boolean beginAhead() {
    if (!wantsAhead()) {
      return false;
    }
    aheadCharge = charge();
    grew(aheadCharge);
    return true;
  }

  /**
   * Makes a slab's memory and has the system give all of it. The lock is not held: this takes about
   * a millisecond.
   *
   * @return null if the system refuses
   */
  @Nullable Region makeAhead() {
    try {
      Region region = system.take(pageSize << slabShift);
      region.memory().touch();
      return region;
    } catch (OutOfMemoryError e) {
      // Whoever needs a page is told.
      return null;
    }
  }

  /** Adds what was made ahead, unless the limit has become too low for it meanwhile. */
  void endAhead(@Nullable Region made) {
    shrank(aheadCharge);
    aheadCharge = 0;
    if (made != null && roomPages() > 0) {
      add(made);
      return;
    }
    if (made != null) {
      made.free();
    }
    spareLeaving();
  }

  /** Of what is allocated, bytes that are no slab yet. */
  long aheadBytes() {
    return aheadCharge;
  }

  private boolean grow() {
    Region region;
    try {
      region = system.take(pageSize << slabShift);
    } catch (OutOfMemoryError e) {
      ceiling = allocated;
      refusal = e;
      return false;
    }
    add(region);
    return true;
  }

  private void add(Region region) {
    int number = unusedNumber();
    Slab slab = new Slab(region, 1 << slabShift);
    slabs[number] = slab;
    regions[number] = region.memory();
    grew(charge());
    count++;
    freePages += slab.freeCount();
    reopen(number, slab);
  }

  private int unusedNumber() {
    int length = slabs.length;
    if (count == length) {
      Memory[] grownRegions = Arrays.copyOf(regions, length + length / 2 + 4);
      Arrays.fill(grownRegions, length, grownRegions.length, GONE);
      slabs = Arrays.copyOf(slabs, grownRegions.length);
      regions = grownRegions;
      return length;
    }
    int number = Math.min(count, length - 1);
    while (slabs[number] != null) {
      number = number == 0 ? length - 1 : number - 1;
    }
    return number;
  }

  /** Takes a free page; there is one {@link #available}. */
  int pop() {
    firstOpen = open.nextSetBit(firstOpen);
    Slab slab = at(firstOpen);
    int page = (firstOpen << slabShift) + slab.pop();
    if (slab.freeCount() == 0) {
      open.clear(firstOpen);
    }
    available--;
    freePages--;
    return page;
  }

  /**
   * Takes a free page of a slab that is leaving, the fullest one; {@link PagePool#NONE} if none.
   */
  int popLeaving() {
    int fullest = -1;
    for (int number = 0; anyLeaving && number < slabs.length; number++) {
      Slab slab = slabs[number];
      if (slab != null
          && slab.leaving
          && slab.freeCount() > 0
          && (fullest < 0 || slab.freeCount() < at(fullest).freeCount())) {
        fullest = number;
      }
    }
    if (fullest < 0) {
      return PagePool.NONE;
    }
    freePages--;
    return (fullest << slabShift) + at(fullest).pop();
  }

  /** Notes that the owner of a page gives it up. */
  void giveBack(int page) {
    int number = page >>> slabShift;
    Slab slab = number < slabs.length ? slabs[number] : null;
    if (slab == null || slab.giveBack(page & ((1 << slabShift) - 1))) {
      throw new IllegalStateException("page " + page + " is given back a second time");
    }
  }

  /** Makes a page free that was given back. */
  void push(int page) {
    int number = page >>> slabShift;
    Slab slab = at(number);
    slab.push(page & ((1 << slabShift) - 1));
    freePages++;
    if (!slab.leaving) {
      available++;
      open.set(number);
      firstOpen = Math.min(firstOpen, number);
    }
    if (slab.isWhole() && (slab.leaving || (excess() > 0 && !lent))) {
      remove(number);
      spareLeaving();
    }
    if (lent && available > lentAt + (1 << slabShift)) {
      lent = false;
      chooseLeaving();
    }
  }

  void setLimit(long limitBytes) {
    limit = limitBytes;
    ceiling = Long.MAX_VALUE;
    refusal = null;
    chooseLeaving();
  }

  /** Sets room aside for a block that waits, or with a negative number no more. */
  void setAside(long bytes) {
    setAside += bytes;
    chooseLeaving();
  }

  /** Leaves memory to be freed when the readers of now have left. */
  void doom(Region region, long charge) {
    doomed.add(new Doomed(region, charge, epochs.advance()));
    doomedBytes += charge;
  }

  void freeDoomed() {
    while (!doomed.isEmpty() && epochs.passed(doomed.getFirst().tag())) {
      freeFirstDoomed();
    }
  }

  /** Tells that the system refused memory; null if it has not since the limit was set. */
  @Nullable OutOfBudgetException refused() {
    return refusal == null ? null : DirectMemory.refused(charge(), allocated, refusal);
  }

  /** Frees everything; nobody reads any more. */
  void close() {
    regions = new Memory[0];
    for (Slab slab : slabs) {
      if (slab != null) {
        slab.region.free();
      }
    }
    slabs = new @Nullable Slab[0];
    allocated -= count * charge();
    count = 0;
    available = 0;
    freePages = 0;
    leavingCount = 0;
    anyLeaving = false;
    while (!doomed.isEmpty()) {
      freeFirstDoomed();
    }
  }

  @Override
  public String toString() {
    return allocated + " of " + limit + " bytes are allocated";
  }

  private void freeFirstDoomed() {
    Doomed first = doomed.removeFirst();
    first.region().free();
    doomedBytes -= first.charge();
    allocated -= first.charge();
  }

  private long charge() {
    return ((long) pageSize << slabShift) + Region.OVERHEAD_BYTES;
  }

  private Slab at(int number) {
    Slab slab = slabs[number];
    if (slab == null) {
      throw new IllegalStateException("slab " + number + " has gone");
    }
    return slab;
  }

  /** Bytes of slabs that have to go. */
  private long excess() {
    return allocated - doomedBytes - (limit - setAside);
  }

  private void chooseLeaving() {
    List<Integer> staying = new ArrayList<>();
    for (int number = 0; number < slabs.length; number++) {
      Slab slab = slabs[number];
      if (slab != null && !slab.leaving) {
        staying.add(number);
      }
    }
    staying.sort(Comparator.comparingInt(number -> -at(number).freeCount()));
    for (int number : staying) {
      if (leavingCount * charge() >= excess()) {
        break;
      }
      if (at(number).isWhole()) {
        remove(number);
      } else {
        leave(number);
      }
    }
    spareLeaving();
  }

  private void leave(int number) {
    Slab slab = at(number);
    slab.leaving = true;
    leavingCount++;
    anyLeaving = true;
    available -= slab.freeCount();
    open.clear(number);
  }

  /** Lets the fullest leaving slabs stay if enough others have gone. */
  private void spareLeaving() {
    boolean all = excess() <= 0;
    for (int number = 0; all && leavingCount > 0 && number < slabs.length; number++) {
      Slab slab = slabs[number];
      if (slab != null && slab.leaving) {
        stay(number, slab);
      }
    }
    while (leavingCount > 0 && (leavingCount - 1) * charge() >= excess()) {
      int fullest = -1;
      for (int number = 0; number < slabs.length; number++) {
        Slab slab = slabs[number];
        if (slab != null
            && slab.leaving
            && (fullest < 0 || slab.freeCount() < at(fullest).freeCount())) {
          fullest = number;
        }
      }
      stay(fullest, at(fullest));
    }
  }

  private void stay(int number, Slab slab) {
    slab.leaving = false;
    leavingCount--;
    anyLeaving = leavingCount > 0;
    reopen(number, slab);
  }

  private void reopen(int number, Slab slab) {
    if (slab.freeCount() > 0) {
      open.set(number); // First: it may take heap.
      firstOpen = Math.min(firstOpen, number);
    }
    available += slab.freeCount();
  }

  /** Takes a slab out, all of whose pages are free. */
  private void remove(int number) {
    Slab slab = at(number);
    if (slab.leaving) {
      leavingCount--;
      anyLeaving = leavingCount > 0;
    } else {
      available -= slab.freeCount();
      open.clear(number);
    }
    freePages -= slab.freeCount();
    count--;
    slabs[number] = null;
    regions[number] = GONE;
    doom(slab.region, charge());
  }
}
