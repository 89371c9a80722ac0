package io.isobardb.memory.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.cache.CacheNeighbours;
import io.isobardb.memory.cache.Guides;
import io.isobardb.memory.stats.Ledger;
import io.isobardb.memory.stats.Purpose;
import io.isobardb.memory.system.ProcessMemory;
import io.isobardb.memory.system.Region;
import io.isobardb.memory.system.SystemMemory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Test;

class PagePoolTest {
  private static final int PAGE = 4096;
  private static final long SLAB = (128 << 10) + PagePool.ALIGNMENT;
  private static final int SLAB_PAGES = (128 << 10) / PAGE;

  @Test
  void pagesAreDistinctAndTheLimitHolds() {
    PagePool pool = new PagePool(4 * SLAB + 100, PAGE, true);
    Set<Integer> pages = new HashSet<>();
    for (int page = pool.allocate(Purpose.WRITE); page != PagePool.NONE; ) {
      assertTrue(pages.add(page));
      pool.memory(page).fill(pool.base(page), PAGE, (byte) page);
      checkLedger(pool);
      page = pool.allocate(Purpose.WRITE);
    }
    assertEquals(4 * SLAB_PAGES, pages.size());
    assertEquals(4 * SLAB, pool.allocatedBytes());
    for (int page : pages) {
      assertEquals((byte) page, pool.memory(page).getByte(pool.base(page)));
      assertEquals((byte) page, pool.memory(page).getByte(pool.base(page) + PAGE - 1));
      pool.release(page, Purpose.WRITE);
    }
    pool.close();
  }

  @Test
  void theReserveIsForUrgentNeedOnly() {
    PagePool pool = new PagePool(SLAB, PAGE, true);
    pool.reservePages(5, 2);
    List<Integer> pages = allocateAll(pool, Purpose.WRITE);
    assertEquals(SLAB_PAGES - 5, pages.size());
    AtomicInteger shortages = new AtomicInteger();
    pool.setReclaimer(
        new Reclaimer() {
          @Override
          public int reclaim(int wanted) {
            return 0;
          }

          @Override
          public void askOthers() {
            shortages.incrementAndGet();
          }
        });
    pool.release(pool.allocatePatiently(Purpose.CURSOR), Purpose.CURSOR);
    assertEquals(1, shortages.get(), "a cursor has it only then");
    for (int i = 0; i < 3; i++) {
      int page = pool.allocateUrgent(Purpose.WRITE);
      assertNotEquals(PagePool.NONE, page);
      pages.add(page);
    }
    assertThrows(OutOfBudgetException.class, () -> pool.allocatePatiently(Purpose.CURSOR));
    assertEquals(PagePool.NONE, pool.allocateUrgent(Purpose.WRITE));
    assertThrows(OutOfBudgetException.class, () -> pool.allocatePatiently(Purpose.WRITE));
    for (int i = 0; i < 2; i++) {
      pool.release(pool.allocatePatiently(Purpose.MERGE), Purpose.MERGE);
    }
    pages.forEach(page -> pool.release(page, Purpose.WRITE));
    pool.close();
  }

  @Test
  void blocksThatCanBeDoneWithoutLeaveRoomForSlabs() {
    PagePool pool = new PagePool(4 * SLAB, PAGE, true);
    pool.blocks().keepForSlabs(3 * SLAB);
    Block first = pool.blocks().tryAllocate((int) SLAB / 2, Purpose.MERGE);
    assertNotNull(first);
    assertNull(pool.blocks().tryAllocate((int) SLAB / 2, Purpose.MERGE));
    assertThrows(
        OutOfBudgetException.class, () -> pool.blocks().allocate((int) SLAB / 2, Purpose.MERGE));
    Block fixed = pool.blocks().allocate((int) SLAB / 2, Purpose.LOG);
    pool.release(first);
    pool.release(fixed);
    assertEquals(3 * SLAB_PAGES, pool.pagesWithin(3 * SLAB + SLAB / 2));
    assertEquals(3 * SLAB, pool.slabBytesFor(2 * SLAB_PAGES + 1));
    pool.close();
  }

  @Test
  void aSlabThatIsLentGoesAgain() {
    PagePool pool = new PagePool(4 * SLAB, PAGE, true);
    List<Integer> pages = allocateAll(pool, Purpose.WRITE);
    pool.lendSlab();
    int beyond = pool.allocate(Purpose.WRITE);
    assertNotEquals(PagePool.NONE, beyond);
    assertTrue(pool.isAboveLimit());
    pages.forEach(page -> pool.release(page, Purpose.WRITE));
    pool.release(beyond, Purpose.WRITE);
    assertFalse(pool.isAboveLimit());
    pool.close();
  }

  @Test
  void slabsThatAreToGoHaveAPageForAFlush() {
    PagePool pool = new PagePool(2 * SLAB, PAGE, true);
    List<Integer> pages = allocateAll(pool, Purpose.WRITE);
    for (int i = 0; i < 3; i++) {
      pool.lendSlab();
      pages.addAll(allocateAll(pool, Purpose.WRITE));
    }
    // Three slabs are to go, and all that is free is in those.
    Collections.sort(pages);
    for (int i = 0; i < 2 * SLAB_PAGES + 1; i++) {
      pool.release(pages.remove(i / (SLAB_PAGES - 1)), Purpose.WRITE);
    }
    assertEquals(PagePool.NONE, pool.allocateUrgent(Purpose.WRITE));
    int page = pool.allocatePatiently(Purpose.MERGE);
    checkLedger(pool);
    pages.forEach(one -> pool.release(one, Purpose.WRITE));
    pool.release(page, Purpose.MERGE);
    assertFalse(pool.isAboveLimit());
    pool.close();
  }

  @Test
  void aRetiredPageIsNotHandedOutWhileAReaderMaySeeIt() {
    PagePool pool = new PagePool(SLAB, PAGE, true);
    List<Integer> pages = allocateAll(pool, Purpose.WRITE);
    int page = pages.remove(0);
    pool.memory(page).putLong(pool.base(page), 42);
    int reader = pool.epochs().enter();
    pool.retire(page, Purpose.WRITE);
    assertEquals(PagePool.NONE, pool.allocate(Purpose.WRITE));
    assertEquals(42, pool.memory(page).getLong(pool.base(page)));
    assertEquals(1, pool.pages(Purpose.LIMBO));
    checkLedger(pool);
    pool.epochs().exit(reader);
    assertEquals(page, pool.allocate(Purpose.CACHE));
    assertEquals(0, pool.pages(Purpose.LIMBO));
    assertEquals(0xDBDBDBDBDBDBDBDBL, pool.memory(page).getLong(pool.base(page)));
    pool.release(page, Purpose.CACHE);
    pages.forEach(p -> pool.release(p, Purpose.WRITE));
    pool.close();
  }

  @Test
  void aPageGivenBackTwiceIsFound() {
    PagePool pool = new PagePool(SLAB, PAGE, true);
    int page = pool.allocate(Purpose.WRITE);
    int other = pool.allocate(Purpose.WRITE);
    pool.retire(page, Purpose.WRITE);
    assertThrows(IllegalStateException.class, () -> pool.release(page, Purpose.WRITE));
    assertThrows(IllegalStateException.class, () -> pool.release(other, Purpose.CACHE));
    assertThrows(IllegalStateException.class, () -> pool.release(1 << 20, Purpose.WRITE));
    pool.release(other, Purpose.WRITE);
    pool.close();
  }

  @Test
  void closingNamesWhoHoldsPagesAndBlocks() {
    PagePool pool = new PagePool(4 * SLAB, PAGE, true);
    pool.allocate(Purpose.CURSOR);
    Block block = pool.blocks().allocate(100, Purpose.GHOST);
    IllegalStateException leak = assertThrows(IllegalStateException.class, pool::close);
    assertTrue(leak.getMessage().contains("CURSOR=1"), leak.getMessage());
    assertTrue(leak.getMessage().contains("GHOST"), leak.getMessage());
    pool.release(block);
    assertThrows(IllegalStateException.class, () -> pool.allocate(Purpose.WRITE));
  }

  @Test
  void blocksAreZeroAlignedAndCharged() {
    PagePool pool = new PagePool(4 * SLAB, PAGE, true);
    Block block = pool.blocks().allocate(100_000, Purpose.METADATA);
    assertEquals(100_000, block.memory().size());
    for (int i = 0; i < 100_000; i += 8) {
      assertEquals(0, block.memory().getLong(i));
    }
    assertEquals(100_000 + PagePool.ALIGNMENT, pool.ledger().bytes(Purpose.METADATA));
    checkLedger(pool);
    int reader = pool.epochs().enter();
    pool.retire(block);
    assertEquals(0, pool.ledger().bytes(Purpose.METADATA));
    assertEquals(100_000 + PagePool.ALIGNMENT, pool.allocatedBytes());
    checkLedger(pool);
    assertEquals(0, block.memory().getLong(0));
    pool.epochs().exit(reader);
    assertEquals(0, pool.allocatedBytes());
    pool.close();
  }

  @Test
  void aBlockThatIsTriedForAsksNobodyToMakeRoom() {
    PagePool pool = new PagePool(8 * SLAB, PAGE, true);
    List<Integer> cache = allocateAll(pool, Purpose.CACHE);
    int all = cache.size();
    pool.setReclaimer(new Giver(pool, cache));
    assertTrue(pool.blocks().roomBytes() < 300_000);
    assertNull(pool.blocks().tryAllocate(300_000, Purpose.MERGE));
    assertEquals(all, cache.size());
    checkLedger(pool);
    cache.forEach(page -> pool.release(page, Purpose.CACHE));
    pool.setLimit(16 * SLAB);
    assertTrue(pool.blocks().roomBytes() >= 300_000);
    Block block = pool.blocks().tryAllocate(300_000, Purpose.MERGE);
    assertNotNull(block);
    assertEquals(300_000 + PagePool.ALIGNMENT, pool.ledger().bytes(Purpose.MERGE));
    checkLedger(pool);
    pool.release(block);
    pool.close();
  }

  @Test
  void whatIsOnTheHeapCountsAsSlabsLeave() {
    PagePool pool = new PagePool(8 * SLAB, PAGE, true);
    List<Integer> cache = allocateAll(pool, Purpose.CACHE);
    pool.blocks().countOnHeap(Purpose.RANGE_DELETES, SLAB / 2);
    assertTrue(pool.blocks().owes());
    assertTrue(pool.ledger().bytes(Purpose.RANGE_DELETES) < SLAB / 2);
    assertTrue(pool.allocatedBytes() <= 8 * SLAB);
    checkLedger(pool);
    pool.setReclaimer(new Giver(pool, cache));
    pool.vacate();
    assertEquals(SLAB / 2, pool.ledger().bytes(Purpose.RANGE_DELETES));
    assertFalse(pool.blocks().owes());
    assertEquals(0, pool.blocks().lastingBytes());
    checkLedger(pool);
    pool.blocks().countOnHeap(Purpose.RANGE_DELETES, 0);
    cache.forEach(page -> pool.release(page, Purpose.CACHE));
    cache.clear();
    assertEquals(8 * SLAB_PAGES, allocateAll(pool, Purpose.WRITE).size(), "room is back");
    checkLedger(pool);
  }

  @Test
  void aBlockThatFindsNoRoomEmptiesSlabs() {
    PagePool pool = new PagePool(8 * SLAB, PAGE, true);
    List<Integer> cache = allocateAll(pool, Purpose.CACHE);
    pool.setReclaimer(new Giver(pool, cache));
    Block block = pool.blocks().allocate(300_000, Purpose.METADATA);
    checkLedger(pool);
    assertTrue(pool.allocatedBytes() <= 8 * SLAB);
    assertTrue(cache.size() >= 5 * SLAB_PAGES, "no more slabs than needed: " + cache.size());
    OutOfBudgetException none =
        assertThrows(
            OutOfBudgetException.class, () -> pool.blocks().allocate(9 << 17, Purpose.METADATA));
    assertTrue(none.getMessage().contains("METADATA"), none.getMessage());
    pool.release(block);
    List<Integer> again = allocateAll(pool, Purpose.WRITE);
    assertTrue(again.size() >= SLAB_PAGES);
    again.forEach(page -> pool.release(page, Purpose.WRITE));
    cache.forEach(page -> pool.release(page, Purpose.CACHE));
    pool.close();
  }

  @Test
  void theReclaimerIsAskedAndWhatItGivesIsHandedOut() {
    PagePool pool = new PagePool(SLAB, PAGE, true);
    List<Integer> cache = allocateAll(pool, Purpose.CACHE);
    pool.setReclaimer(new Giver(pool, cache));
    List<Integer> write = allocateAll(pool, Purpose.WRITE);
    assertEquals(SLAB_PAGES, write.size());
    assertTrue(cache.isEmpty());
    write.forEach(page -> pool.release(page, Purpose.WRITE));
    pool.close();
  }

  @Test
  void whoIsInterruptedWaitsForAPageAsOthersDoAndStaysInterrupted() {
    PagePool pool = new PagePool(SLAB, PAGE, true);
    List<Integer> pages = allocateAll(pool, Purpose.WRITE);
    AtomicLong first = new AtomicLong();
    // Somebody gives a page back a few milliseconds after the pool has run dry.
    pool.setReclaimer(
        wanted -> {
          long now = System.nanoTime();
          first.compareAndSet(0, now);
          if (now - first.get() < 3_000_000) {
            return 0;
          }
          pool.release(pages.remove(0), Purpose.WRITE);
          return 1;
        });
    Thread.currentThread().interrupt();
    int page;
    try {
      page = pool.allocatePatiently(Purpose.CURSOR);
    } finally {
      assertTrue(Thread.interrupted());
    }
    pool.release(page, Purpose.CURSOR);
    pages.forEach(p -> pool.release(p, Purpose.WRITE));
    pool.close();
  }

  @Test
  void aLowerLimitIsReachedAsPagesComeBackAndHigherOneIsAPermission() {
    PagePool pool = new PagePool(8 * SLAB, PAGE, true);
    List<Integer> pages = allocateAll(pool, Purpose.WRITE);
    pool.setLimit(3 * SLAB);
    assertEquals(8 * SLAB, pool.allocatedBytes());
    assertEquals(PagePool.NONE, pool.allocate(Purpose.WRITE));
    // Whichever pages come back first: when enough whole slabs are free they go.
    Random random = new Random(7);
    long before = pool.allocatedBytes();
    while (pages.size() > 3 * SLAB_PAGES / 2) {
      pool.release(pages.remove(random.nextInt(pages.size())), Purpose.WRITE);
      checkLedger(pool);
      assertTrue(pool.allocatedBytes() <= before);
      before = pool.allocatedBytes();
    }
    pages.removeIf(
        page -> {
          boolean leaving = pool.leaving(page);
          if (leaving) {
            pool.retire(page, Purpose.WRITE);
          }
          return leaving;
        });
    assertEquals(3 * SLAB, pool.allocatedBytes());
    List<Integer> more = allocateAll(pool, Purpose.WRITE);
    assertEquals(3 * SLAB_PAGES, more.size() + pages.size());
    pool.setLimit(5 * SLAB);
    more.addAll(allocateAll(pool, Purpose.WRITE));
    assertEquals(5 * SLAB_PAGES, more.size() + pages.size());
    pages.forEach(page -> pool.release(page, Purpose.WRITE));
    more.forEach(page -> pool.release(page, Purpose.WRITE));
    pool.close();
  }

  @Test
  void raisingTheLimitAgainSparesTheSlabs() {
    PagePool pool = new PagePool(8 * SLAB, PAGE, true);
    List<Integer> pages = allocateAll(pool, Purpose.WRITE);
    pool.setLimit(SLAB);
    pool.setLimit(8 * SLAB);
    assertFalse(pages.stream().anyMatch(pool::leaving));
    pages.forEach(page -> pool.release(page, Purpose.WRITE));
    assertEquals(8 * SLAB_PAGES, pool.pages(Purpose.FREE));
    pool.close();
  }

  @Test
  void aSlabIsFreedOnlyWhenTheReadersHaveLeft() {
    PagePool pool = new PagePool(2 * SLAB, PAGE, true);
    List<Integer> pages = allocateAll(pool, Purpose.WRITE);
    int page = pages.get(2 * SLAB_PAGES - 1);
    int reader = pool.epochs().enter();
    var region = pool.memory(page);
    pages.forEach(p -> pool.release(p, Purpose.WRITE));
    pool.setLimit(SLAB);
    assertEquals(2 * SLAB, pool.allocatedBytes());
    checkLedger(pool);
    region.getLong(0);
    pool.epochs().exit(reader);
    assertEquals(SLAB, pool.allocatedBytes());
    pool.close();
  }

  @Test
  void aRefusalOfTheSystemNamesTheOptionAndLeavesThePoolConsistent() {
    AtomicInteger allowed = new AtomicInteger(2);
    PagePool pool = poolOf(allowed);
    List<Integer> pages = new ArrayList<>();
    for (int i = 0; i < 2 * SLAB_PAGES; i++) {
      pages.add(pool.allocate(Purpose.WRITE));
    }
    assertEquals(PagePool.NONE, pool.allocate(Purpose.WRITE));
    assertEquals(PagePool.NONE, pool.allocateUrgent(Purpose.WRITE));
    assertEquals(PagePool.NONE, pool.tryAllocate(Purpose.WRITE));
    namesTheOption(pool.outOfBudget("no page"));
    namesTheOption(
        assertThrows(OutOfBudgetException.class, () -> pool.allocatePatiently(Purpose.MERGE)));
    assertThrows(OutOfBudgetException.class, () -> pool.blocks().allocate(5000, Purpose.LOG));
    checkLedger(pool);
    assertEquals(2 * SLAB, pool.allocatedBytes());
    pool.release(pages.remove(0), Purpose.WRITE);
    pages.add(pool.allocate(Purpose.WRITE));
    allowed.set(100);
    pool.setLimit(8 * SLAB);
    pages.add(pool.allocate(Purpose.WRITE));
    assertEquals(3 * SLAB, pool.allocatedBytes());
    assertFalse(pool.outOfBudget("no page").getMessage().contains("-XX"));
    pages.forEach(page -> pool.release(page, Purpose.WRITE));
    pool.close();
  }

  @Test
  void aCacheThatTheSystemHasTooLittleForTakesNothing() {
    // For the cache's table, and some of its first pages.
    AtomicInteger allowed = new AtomicInteger(2);
    PagePool pool = poolOf(allowed);
    int few = BufferCache.MINIMUM_PAGES / 2;
    List<Integer> pages = new ArrayList<>();
    for (int i = few; i < SLAB_PAGES; i++) {
      pages.add(pool.allocate(Purpose.WRITE));
    }
    Map<Purpose, Long> before = pool.ledger().bytes();
    namesTheOption(
        assertThrows(
            OutOfBudgetException.class,
            () -> new BufferCache(pool, 2 * SLAB, 0, CacheNeighbours.NONE, Guides.NONE)));
    pool.setLimit(8 * SLAB);
    assertEquals(before, pool.ledger().bytes());
    pages.forEach(page -> pool.release(page, Purpose.WRITE));
    pool.close();
  }

  /** A pool of a system that gives memory so many times, and then no more. */
  private static PagePool poolOf(AtomicInteger allowed) {
    SystemMemory system =
        bytes -> {
          if (allowed.getAndDecrement() <= 0) {
            throw new OutOfMemoryError("planned");
          }
          return ProcessMemory.slabs().take(bytes);
        };
    return new PagePool(8 * SLAB, PAGE, true, AllocationFaults.NONE, system, system);
  }

  private static void namesTheOption(OutOfBudgetException refused) {
    assertTrue(refused.getMessage().contains("-XX:MaxDirectMemorySize"), refused.getMessage());
  }

  /** What a pool takes from the system; something happens before each slab. */
  private static PagePool poolThatIsMade(long limitBytes, Runnable meanwhile) {
    SystemMemory slabs =
        bytes -> {
          meanwhile.run();
          return ProcessMemory.slabs().take(bytes);
        };
    return new PagePool(
        limitBytes, PAGE, true, AllocationFaults.NONE, slabs, ProcessMemory.blocks());
  }

  private static void allocate(PagePool pool, int count, List<Integer> to) {
    for (int i = 0; i < count; i++) {
      to.add(pool.allocate(Purpose.WRITE));
    }
  }

  @Test
  void aSlabIsAskedForAheadOncePagesGetFew() {
    PagePool pool = new PagePool(4 * SLAB, PAGE, true);
    AtomicInteger asked = new AtomicInteger();
    pool.setAhead(asked::incrementAndGet);
    List<Integer> pages = new ArrayList<>();
    allocate(pool, SLAB_PAGES / 2, pages);
    pool.addAhead();
    assertEquals(SLAB, pool.allocatedBytes(), "half of the first slab is enough");
    assertEquals(0, asked.get());
    allocate(pool, 1, pages);
    assertEquals(1, asked.get());
    pool.addAhead();
    assertEquals(2 * SLAB, pool.allocatedBytes());
    pool.addAhead();
    assertEquals(2 * SLAB, pool.allocatedBytes(), "more than a slab is free");
    allocate(pool, SLAB_PAGES / 2, pages);
    assertEquals(2, asked.get(), "less than a slab is free");
    pool.addAhead();
    allocate(pool, SLAB_PAGES, pages);
    pool.addAhead();
    assertEquals(4 * SLAB, pool.allocatedBytes());
    allocate(pool, SLAB_PAGES + 1, pages);
    pool.addAhead();
    assertEquals(4 * SLAB, pool.allocatedBytes(), "the limit");
    checkLedger(pool);
    assertEquals(3, asked.get(), "nobody is asked for what the limit forbids");
    pages.forEach(page -> pool.release(page, Purpose.WRITE));
    pool.close();
  }

  @Test
  void noPageIsLostIfThereIsNoHeapToAskForASlabAhead() {
    PagePool pool = new PagePool(4 * SLAB, PAGE, true);
    pool.setAhead(
        () -> {
          throw new OutOfMemoryError("planted");
        });
    List<Integer> pages = new ArrayList<>();
    try {
      allocate(pool, SLAB_PAGES, pages);
    } catch (OutOfMemoryError e) {
      throw new AssertionError("a page was taken, and lost", e); // JUnit lets the error pass.
    }
    pages.forEach(page -> pool.release(page, Purpose.WRITE));
    pool.close();
  }

  @Test
  void noRoomStaysSetAsideForABlockIfThereIsNoHeapToAskForIt() {
    PagePool pool = new PagePool(4 * SLAB, PAGE, true);
    List<Integer> pages = new ArrayList<>();
    allocate(pool, 4 * SLAB_PAGES, pages);
    while (pages.size() > 1) {
      pool.release(pages.remove(pages.size() - 1), Purpose.WRITE);
    }
    int available = pool.availablePages();
    pool.setReclaimer(
        new Reclaimer() {
          @Override
          public int reclaim(int wanted) {
            return 0;
          }

          @Override
          public void vacate(IntPredicate leaving) {
            throw new OutOfMemoryError("planted");
          }
        });
    assertThrows(
        OutOfMemoryError.class, () -> pool.blocks().allocate((int) (4 * SLAB - PAGE), Purpose.LOG));
    assertEquals(SLAB, pool.allocatedBytes(), "what was whole has gone");
    assertEquals(available, pool.availablePages());
    pages.forEach(page -> pool.release(page, Purpose.WRITE));
    pool.close();
  }

  @Test
  void aSlabThatIsMadeAheadCountsMeanwhile() {
    List<PagePool> pools = new ArrayList<>();
    AtomicInteger slabs = new AtomicInteger();
    PagePool pool =
        poolThatIsMade(
            2 * SLAB,
            () -> {
              if (slabs.incrementAndGet() == 2) {
                PagePool made = pools.get(0);
                assertEquals(2 * SLAB, made.allocatedBytes());
                checkLedger(made);
                assertEquals(SLAB_PAGES / 2 - 1, made.availablePages());
                made.addAhead();
              }
            });
    pools.add(pool);
    List<Integer> pages = new ArrayList<>();
    allocate(pool, SLAB_PAGES / 2 + 1, pages);
    pool.addAhead();
    assertEquals(2, slabs.get(), "one at a time");
    assertEquals(2 * SLAB, pool.allocatedBytes());
    assertEquals(SLAB_PAGES * 3 / 2 - 1, pool.availablePages());
    pages.forEach(page -> pool.release(page, Purpose.WRITE));
    pool.close();
  }

  @Test
  void aSlabThatIsMadeAheadGoesIfTheLimitFellMeanwhile() {
    List<PagePool> pools = new ArrayList<>();
    PagePool pool = poolThatIsMade(4 * SLAB, () -> pools.forEach(made -> made.setLimit(SLAB)));
    List<Integer> pages = new ArrayList<>();
    allocate(pool, SLAB_PAGES / 2 + 1, pages);
    pools.add(pool);
    long held = Region.heldBytes();
    pool.addAhead();
    assertEquals(SLAB, pool.allocatedBytes());
    assertEquals(held, Region.heldBytes());
    assertFalse(pages.stream().anyMatch(pool::leaving), "the first slab stays");
    checkLedger(pool);
    pages.forEach(page -> pool.release(page, Purpose.WRITE));
    pool.close();
  }

  @Test
  void aSlabThatIsMadeAheadGoesIfThePoolWasClosedMeanwhile() {
    long held = Region.heldBytes();
    List<PagePool> pools = new ArrayList<>();
    List<Integer> pages = new ArrayList<>();
    PagePool pool =
        poolThatIsMade(
            4 * SLAB,
            () ->
                pools.forEach(
                    made -> {
                      pages.forEach(page -> made.release(page, Purpose.WRITE));
                      made.close();
                    }));
    allocate(pool, SLAB_PAGES / 2 + 1, pages);
    pools.add(pool);
    pool.addAhead();
    assertEquals(held, Region.heldBytes());
  }

  @Test
  void aRefusalOfASlabAheadChangesNothing() {
    AtomicInteger allowed = new AtomicInteger(1);
    PagePool pool = poolOf(allowed);
    List<Integer> pages = new ArrayList<>();
    allocate(pool, SLAB_PAGES / 2 + 1, pages);
    pool.addAhead();
    assertEquals(SLAB, pool.allocatedBytes());
    checkLedger(pool);
    allowed.set(100);
    pool.addAhead();
    assertEquals(2 * SLAB, pool.allocatedBytes());
    pages.forEach(page -> pool.release(page, Purpose.WRITE));
    pool.close();
  }

  @Test
  void aBudgetAboveTheDirectMemoryIsRefused() {
    long limitBytes = DirectMemory.limitBytes();
    assertTrue(limitBytes > 0);
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> new PagePool(limitBytes + 1, PAGE));
    assertTrue(refused.getMessage().contains("-XX:MaxDirectMemorySize"), refused.getMessage());
    PagePool pool = new PagePool(limitBytes, PAGE);
    assertThrows(IllegalArgumentException.class, () -> pool.setLimit(limitBytes + 1));
    pool.close();
  }

  @Test
  void thereAreAtLeastThirtyTwoSlabsAndNotTooManyForTheSystem() {
    assertEquals(128 << 10, Slabs.slabBytes(1, PAGE));
    assertEquals(256 << 10, Slabs.slabBytes(1, 65536));
    assertEquals(128 << 10, Slabs.slabBytes(4 << 20, PAGE));
    assertEquals(512 << 10, Slabs.slabBytes(24 << 20, PAGE));
    assertEquals(4 << 20, Slabs.slabBytes(160 << 20, PAGE));
    assertEquals(4 << 20, Slabs.slabBytes(32L << 30, PAGE));
    assertEquals(8 << 20, Slabs.slabBytes(64L << 30, PAGE));
    assertEquals(128 << 20, Slabs.slabBytes(1L << 40, PAGE));
  }

  @Test
  void randomOperationsKeepTheLedgerAndTheContents() {
    for (long seed = 1; seed <= 20; seed++) {
      System.out.println("PagePoolTest seed " + seed);
      randomOperations(new Random(seed));
    }
  }

  private static void randomOperations(Random random) {
    PagePool pool = new PagePool(6 * SLAB, PAGE, true);
    Map<Purpose, List<Integer>> model = new EnumMap<>(Purpose.class);
    Purpose[] purposes = {Purpose.WRITE, Purpose.CACHE, Purpose.MERGE};
    for (Purpose purpose : purposes) {
      model.put(purpose, new ArrayList<>());
    }
    List<Block> blocks = new ArrayList<>();
    int reader = -1;
    for (int i = 0; i < 3000; i++) {
      Purpose purpose = purposes[random.nextInt(3)];
      List<Integer> pages = model.get(purpose);
      int choice = random.nextInt(100);
      if (choice < 50) {
        int page = pool.allocate(purpose);
        if (page != PagePool.NONE) {
          pool.memory(page).fill(pool.base(page), PAGE, (byte) (page * 31));
          pages.add(page);
        }
      } else if (choice < 90) {
        if (!pages.isEmpty()) {
          int page = pages.remove(random.nextInt(pages.size()));
          assertEquals((byte) (page * 31), pool.memory(page).getByte(pool.base(page) + 77));
          if (random.nextBoolean()) {
            pool.retire(page, purpose);
          } else {
            pool.release(page, purpose);
          }
        }
      } else if (choice < 93) {
        if (reader >= 0) {
          pool.epochs().exit(reader);
          reader = -1;
        } else {
          reader = pool.epochs().enter();
        }
      } else if (choice < 96) {
        pool.setLimit((1 + random.nextInt(8)) * SLAB);
      } else if (choice < 98) {
        try {
          blocks.add(pool.blocks().allocate(1 + random.nextInt(200_000), Purpose.LOG));
        } catch (OutOfBudgetException expected) {
          checkLedger(pool);
        }
      } else if (!blocks.isEmpty()) {
        Block block = blocks.remove(0);
        if (random.nextBoolean()) {
          pool.release(block);
        } else {
          pool.retire(block);
        }
      }
      if (random.nextInt(20) == 0) {
        pool.addAhead();
      }
      checkLedger(pool);
      for (Purpose p : purposes) {
        assertEquals(model.get(p).size(), pool.pages(p));
      }
    }
    if (reader >= 0) {
      pool.epochs().exit(reader);
    }
    model.forEach((purpose, pages) -> pages.forEach(page -> pool.release(page, purpose)));
    blocks.forEach(pool::release);
    pool.setLimit(1);
    assertEquals(0, pool.allocatedBytes());
    pool.close();
  }

  static void checkLedger(PagePool pool) {
    Ledger ledger = pool.ledger();
    long sum = ledger.bytes().values().stream().mapToLong(Long::longValue).sum();
    assertEquals(ledger.allocatedBytes(), sum, ledger::toString);
  }

  private static List<Integer> allocateAll(PagePool pool, Purpose purpose) {
    List<Integer> pages = new ArrayList<>();
    for (int page = pool.allocate(purpose); page != PagePool.NONE; page = pool.allocate(purpose)) {
      pages.add(page);
    }
    return pages;
  }

  /** Gives up pages charged to the cache. */
  private record Giver(PagePool pool, List<Integer> pages) implements Reclaimer {
    @Override
    public int reclaim(int wanted) {
      int given = 0;
      while (given < wanted && !pages.isEmpty()) {
        pool.retire(pages.remove(pages.size() - 1), Purpose.CACHE);
        given++;
      }
      return given;
    }

    @Override
    public void vacate(IntPredicate leaving) {
      pages.removeIf(
          page -> {
            boolean leaves = leaving.test(page);
            if (leaves) {
              pool.retire(page, Purpose.CACHE);
            }
            return leaves;
          });
    }
  }
}
