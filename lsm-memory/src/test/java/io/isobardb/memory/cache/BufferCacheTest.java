package io.isobardb.memory.cache;

import static io.isobardb.memory.cache.BufferCache.ABSENT;
import static io.isobardb.memory.cache.BufferCache.MINIMUM_PAGES;
import static io.isobardb.memory.cache.BufferCache.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.CacheStats;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BufferCacheTest {
  private static final int PAGE = 4096;
  private final PagePool pool = new PagePool(4 << 20, PAGE, true);
  private final PageLoader loader = TestPages.loader(pool);

  @AfterEach
  void nothingIsHeld() {
    TestPages.checkLedger(pool);
    pool.close();
  }

  /** What the cache's neighbours lend, and do. */
  private final AtomicInteger spare = new AtomicInteger();

  private boolean noHeap;

  private Runnable whenAsked = () -> {};

  private final CacheNeighbours neighbours =
      new CacheNeighbours() {
        @Override
        public int sparePages() {
          if (noHeap) {
            throw new OutOfMemoryError("planted");
          }
          return spare.get();
        }

        @Override
        public void askForPages() {
          whenAsked.run();
        }

        @Override
        public void onMissed() {}
      };

  /** A file whose pages lead to others. */
  private static final int GUIDES = 1000;

  private final Guides guides = (memory, base) -> memory.getLong(base) >>> 32 >= GUIDES;

  private BufferCache cache(int pages, int ghostPages) {
    return new BufferCache(pool, (long) pages * PAGE, ghostPages, neighbours, guides);
  }

  private int load(BufferCache cache, long key, Access access) throws IOException {
    int page = cache.load(key, loader, access);
    assertTrue(TestPages.isPageOf(key, pool, page));
    return page;
  }

  private void touch(BufferCache cache, long key, Access access) throws IOException {
    load(cache, key, access);
    cache.unpin(key);
  }

  private int find(BufferCache cache, long key) {
    int slot = pool.epochs().enter();
    try {
      return cache.findWithoutTouching(key);
    } finally {
      pool.epochs().exit(slot);
    }
  }

  private int countPresent(BufferCache cache, int file, int pages) {
    int present = 0;
    for (int i = 0; i < pages; i++) {
      present += find(cache, key(file, i)) == ABSENT ? 0 : 1;
    }
    return present;
  }

  @Test
  void aLoadThatFindsAllPagesPinnedAsksOthersAndThenGivesUp() throws IOException {
    try (BufferCache cache = cache(24, 0)) {
      AtomicInteger asked = new AtomicInteger();
      List<Integer> taken = new ArrayList<>();
      takeAll(taken);
      for (int i = 0; i < MINIMUM_PAGES; i++) {
        load(cache, key(1, i), Access.QUERY);
      }
      whenAsked = asked::incrementAndGet;
      assertThrows(NoFrameException.class, () -> load(cache, key(2, 0), Access.QUERY));
      assertEquals(1, asked.get());
      whenAsked = () -> cache.unpin(key(1, 5));
      touch(cache, key(2, 0), Access.QUERY);
      for (int i = 0; i < MINIMUM_PAGES; i++) {
        if (i != 5) {
          cache.unpin(key(1, i));
        }
      }
      taken.forEach(page -> pool.release(page, Purpose.WRITE));
    }
  }

  @Test
  void aLoadedPageIsFoundAndCounted() throws IOException {
    try (BufferCache cache = cache(64, 16)) {
      long key = key(7, 3);
      assertEquals(ABSENT, find(cache, key));
      assertEquals(ABSENT, cache.pin(key));
      int page = load(cache, key, Access.QUERY);
      assertEquals(page, find(cache, key));
      assertEquals(page, load(cache, key, Access.MERGE));
      assertEquals(page, cache.pin(key));
      cache.unpin(key);
      cache.unpin(key);
      cache.unpin(key);
      assertThrows(IllegalStateException.class, () -> cache.unpin(key));
      assertThrows(IllegalStateException.class, () -> cache.unpin(key(7, 4)));
      assertEquals(1, cache.stats().queryMisses());
      assertEquals(1, cache.stats().hits());
    }
  }

  @Test
  void fullCachesEvictWhatIsColdAndKeepToTheirTarget() throws IOException {
    try (BufferCache cache = cache(100, 1000)) {
      for (int i = 0; i < 1000; i++) {
        touch(cache, key(1, i), Access.QUERY);
        assertTrue(cache.stats().heldPages() <= 100);
        assertEquals(cache.stats().heldPages(), pool.pages(Purpose.CACHE));
      }
      int present = countPresent(cache, 1, 1000);
      assertTrue(present >= 90 && present <= 100, "present " + present);
      assertEquals(1000 - present, cache.stats().evictions());
      for (int i = 0; i < 1000; i++) {
        if (find(cache, key(1, i)) == ABSENT) {
          touch(cache, key(1, i), i % 2 == 0 ? Access.QUERY : Access.MERGE);
          break;
        }
      }
      assertEquals(1, cache.stats().queryGhostHits() + cache.stats().mergeGhostHits());
    }
  }

  @Test
  void aMergeDoesNotDisplaceHotPages() throws IOException {
    try (BufferCache cache = cache(200, 0)) {
      for (int i = 0; i < 100; i++) {
        touch(cache, key(1, i), Access.QUERY);
      }
      for (int i = 0; i < 2000; i++) {
        touch(cache, key(2, i), Access.MERGE);
        int slot = pool.epochs().enter();
        for (int j = 0; j < 5; j++) {
          cache.find(key(1, (5 * i + j) % 100));
        }
        pool.epochs().exit(slot);
      }
      assertTrue(countPresent(cache, 1, 100) >= 97, "hot " + countPresent(cache, 1, 100));
    }
  }

  /** Loads pages of others that are no guides, each once. */
  private void loadOthers(BufferCache cache, int file, int pages) throws IOException {
    for (int i = 0; i < pages; i++) {
      touch(cache, key(file, i), Access.QUERY);
    }
  }

  @Test
  void guidesThatNobodyAsksForStayLongerThanOtherPages() throws IOException {
    try (BufferCache cache = cache(200, 0)) {
      // Those that were dropped do not count, else there would be too many.
      for (int file = GUIDES + 1; file < GUIDES + 20; file++) {
        loadOthers(cache, file, 90);
        cache.drop(file, 90);
      }
      loadOthers(cache, GUIDES, 40);
      touch(cache, key(1, 0), Access.QUERY);
      loadOthers(cache, 2, 500);
      assertEquals(40, countPresent(cache, GUIDES, 40));
      assertEquals(0, countPresent(cache, 1, 1));
      loadOthers(cache, 3, 2000);
      assertEquals(0, countPresent(cache, GUIDES, 40));
    }
  }

  @Test
  void guidesThatAMergeBroughtGoFirst() throws IOException {
    try (BufferCache cache = cache(200, 0)) {
      for (int i = 0; i < 40; i++) {
        touch(cache, key(GUIDES, i), Access.MERGE);
      }
      loadOthers(cache, 2, 400);
      assertEquals(0, countPresent(cache, GUIDES, 40));
    }
  }

  @Test
  void guidesHaveNoMoreThanHalfOfTheCacheForLonger() throws IOException {
    try (BufferCache cache = cache(200, 0)) {
      loadOthers(cache, GUIDES, 180);
      loadOthers(cache, 2, 300);
      int kept = countPresent(cache, GUIDES, 180);
      assertTrue(kept <= 100 && kept > 60, "guides " + kept);
      assertTrue(countPresent(cache, 2, 300) >= 90);
    }
  }

  @Test
  void touchingMakesHotAndMergesDoNot() throws IOException {
    try (BufferCache cache = cache(64, 0)) {
      touch(cache, key(1, 0), Access.MERGE);
      touch(cache, key(1, 1), Access.QUERY);
      int slot = pool.epochs().enter();
      assertFalse(cache.isHot(key(1, 0)));
      assertTrue(cache.isHot(key(1, 1)));
      cache.findWithoutTouching(key(1, 0));
      assertFalse(cache.isHot(key(1, 0)));
      cache.find(key(1, 0));
      assertTrue(cache.isHot(key(1, 0)));
      pool.epochs().exit(slot);
    }
  }

  @Test
  void aPageFoundInAnEpochStaysWhatItIsUntilTheReaderLeaves() throws IOException {
    try (BufferCache cache = cache(MINIMUM_PAGES, 0)) {
      touch(cache, key(1, 0), Access.MERGE);
      int slot = pool.epochs().enter();
      int page = cache.findWithoutTouching(key(1, 0));
      assertNotEquals(ABSENT, page);
      cache.drop(1, 1);
      assertEquals(ABSENT, cache.findWithoutTouching(key(1, 0)));
      while (pool.tryAllocate(Purpose.WRITE) != PagePool.NONE) {
        assertTrue(TestPages.isPageOf(key(1, 0), pool, page));
      }
      pool.epochs().exit(slot);
      for (int i = 0; i < 100; i++) {
        touch(cache, key(2, i), Access.QUERY);
      }
      pool.transfer(Purpose.WRITE, Purpose.LIMBO, (int) pool.pages(Purpose.WRITE));
    }
  }

  @Test
  void pinnedPagesStayAndTheLoadGoesBeyondTheTargetThen() throws IOException {
    try (BufferCache cache = cache(MINIMUM_PAGES, 0)) {
      int[] pages = new int[40];
      for (int i = 0; i < 40; i++) {
        pages[i] = load(cache, key(1, i), Access.QUERY);
      }
      for (int i = 0; i < 40; i++) {
        assertEquals(pages[i], find(cache, key(1, i)));
        assertTrue(TestPages.isPageOf(key(1, i), pool, pages[i]));
        cache.unpin(key(1, i));
      }
      cache.resize((long) MINIMUM_PAGES * PAGE);
      assertEquals(MINIMUM_PAGES, cache.stats().heldPages());
    }
  }

  @Test
  void aLoadWaitsForAFrameAndGetsTheOneThatIsUnpinned()
      throws IOException, InterruptedException, ExecutionException {
    try (BufferCache cache = cache(MINIMUM_PAGES, 0)) {
      List<Integer> writes = new ArrayList<>();
      takeAll(writes);
      for (int i = 0; i < MINIMUM_PAGES; i++) {
        load(cache, key(1, i), Access.QUERY);
      }
      ExecutorService executor = Executors.newSingleThreadExecutor();
      Future<Boolean> waiting =
          executor.submit(
              () -> {
                Thread.currentThread().interrupt();
                load(cache, key(2, 0), Access.QUERY);
                return Thread.interrupted();
              });
      while (cache.stats().waits() == 0 && !waiting.isDone()) {
        Thread.onSpinWait();
      }
      assertFalse(waiting.isDone());
      cache.unpin(key(1, 5));
      assertTrue(waiting.get(), "an interrupt neither ends the wait nor gets lost");
      assertNotEquals(ABSENT, find(cache, key(2, 0)));
      assertEquals(ABSENT, find(cache, key(1, 5)));
      for (int i = 0; i < MINIMUM_PAGES; i++) {
        cache.unpin(i == 5 ? key(2, 0) : key(1, i));
      }
      executor.shutdown();
      writes.forEach(page -> pool.release(page, Purpose.WRITE));
    }
  }

  private void takeAll(List<Integer> writes) {
    for (int page = pool.allocate(Purpose.WRITE); page != PagePool.NONE; ) {
      writes.add(page);
      page = pool.allocate(Purpose.WRITE);
    }
  }

  @Test
  void writersTakeAllButTheLeastFrames() throws IOException {
    try (BufferCache cache = cache(1000, 0)) {
      for (int i = 0; i < 1000; i++) {
        touch(cache, key(1, i), Access.QUERY);
      }
      List<Integer> writes = new ArrayList<>();
      takeAll(writes);
      assertEquals(MINIMUM_PAGES, pool.pages(Purpose.CACHE));
      for (int i = 0; i < 100; i++) {
        touch(cache, key(2, i), Access.QUERY);
      }
      assertEquals(MINIMUM_PAGES, pool.pages(Purpose.CACHE));
      writes.forEach(page -> pool.release(page, Purpose.WRITE));
    }
  }

  @Test
  void oneThreadLoadsWhileTheOthersWait() throws Exception {
    try (BufferCache cache = cache(64, 0)) {
      ExecutorService executor = Executors.newFixedThreadPool(4);
      CountDownLatch inLoader = new CountDownLatch(1);
      CountDownLatch proceed = new CountDownLatch(1);
      AtomicInteger loads = new AtomicInteger();
      PageLoader slow =
          (key, memory, base) -> {
            loads.incrementAndGet();
            inLoader.countDown();
            awaitQuietly(proceed);
            loader.load(key, memory, base);
          };
      List<Future<Integer>> results = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        results.add(executor.submit(() -> cache.load(key(1, 1), slow, Access.QUERY)));
      }
      inLoader.await();
      assertEquals(ABSENT, find(cache, key(1, 1)));
      proceed.countDown();
      for (Future<Integer> result : results) {
        int page = result.get();
        assertEquals(page, find(cache, key(1, 1)));
        cache.unpin(key(1, 1));
      }
      assertEquals(1, loads.get());
      executor.shutdown();
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aFailedLoadLeavesNothing() throws IOException {
    try (BufferCache cache = cache(MINIMUM_PAGES, 0)) {
      for (int i = 0; i < 100; i++) {
        IOException failure = new IOException("planned");
        IOException seen =
            assertThrows(
                IOException.class,
                () ->
                    cache.load(
                        key(1, 1),
                        (key, memory, base) -> {
                          throw failure;
                        },
                        Access.QUERY));
        assertEquals(failure, seen);
        assertEquals(ABSENT, find(cache, key(1, 1)));
      }
      assertEquals(MINIMUM_PAGES, cache.stats().heldPages());
      assertEquals(100, cache.stats().failedLoads());
      touch(cache, key(1, 1), Access.QUERY);
    }
  }

  @Test
  void noFrameIsLostIfThereIsNoHeapToSeeToTheNextOne() throws IOException {
    try (BufferCache cache = cache(MINIMUM_PAGES, 0)) {
      noHeap = true;
      assertThrows(OutOfMemoryError.class, () -> load(cache, key(1, 0), Access.QUERY));
      noHeap = false;
      for (int i = 0; i < MINIMUM_PAGES; i++) {
        load(cache, key(1, i), Access.QUERY);
      }
      assertEquals(MINIMUM_PAGES, cache.stats().heldPages(), "each has one of the least frames");
      for (int i = 0; i < MINIMUM_PAGES; i++) {
        cache.unpin(key(1, i));
      }
    }
  }

  @Test
  void anAdoptedPageStaysInItsPlace() throws IOException {
    try (BufferCache cache = cache(MINIMUM_PAGES, 0)) {
      for (int i = 0; i < 64; i++) {
        int page = pool.allocate(Purpose.WRITE);
        TestPages.write(key(3, i), pool.memory(page), pool.base(page), PAGE);
        assertTrue(cache.adopt(key(3, i), page, Purpose.WRITE, Access.QUERY));
        assertTrue(cache.stats().heldPages() <= MINIMUM_PAGES);
      }
      int present = countPresent(cache, 3, 64);
      assertTrue(present > 0 && present <= MINIMUM_PAGES);
      int known = 0;
      while (find(cache, key(3, known)) == ABSENT) {
        known++;
      }
      int page = pool.allocate(Purpose.MERGE);
      assertFalse(cache.adopt(key(3, known), page, Purpose.MERGE, Access.QUERY));
      assertEquals(0, pool.pages(Purpose.MERGE));
      assertEquals(64, cache.stats().adoptions());
    }
  }

  @Test
  void aColdPageIsAdoptedOnlyWhereThereIsRoom() {
    try (BufferCache cache = cache(MINIMUM_PAGES + 2, 0)) {
      int adopted = 0;
      for (int i = 0; i < MINIMUM_PAGES + 10; i++) {
        int page = pool.allocate(Purpose.MERGE);
        adopted += cache.adopt(key(4, i), page, Purpose.MERGE, Access.MERGE) ? 1 : 0;
        assertEquals(0, pool.pages(Purpose.MERGE));
      }
      assertEquals(adopted, cache.stats().adoptions());
      assertTrue(adopted > 0 && adopted <= MINIMUM_PAGES + 2, "adopted " + adopted);
      assertEquals(adopted, countPresent(cache, 4, MINIMUM_PAGES + 10), "nothing was evicted");
    }
  }

  @Test
  void theDroppedPinnedPageGoesWithItsLastPin() throws IOException {
    try (BufferCache cache = cache(64, 100)) {
      int page = load(cache, key(1, 0), Access.QUERY);
      for (int i = 1; i < 200; i++) {
        touch(cache, key(1, i), Access.QUERY);
      }
      cache.drop(1, 200);
      assertEquals(1, countPresent(cache, 1, 200));
      assertTrue(TestPages.isPageOf(key(1, 0), pool, page));
      cache.unpin(key(1, 0));
      assertEquals(0, countPresent(cache, 1, 200));
      touch(cache, key(1, 150), Access.QUERY);
      assertEquals(0, cache.stats().queryGhostHits());
    }
  }

  @Test
  void theTargetMovesBothWays() throws IOException {
    try (BufferCache cache = cache(MINIMUM_PAGES, 0)) {
      for (int pages : new int[] {400, 50, 700, MINIMUM_PAGES, 300}) {
        cache.resize((long) pages * PAGE);
        assertTrue(pool.pages(Purpose.CACHE) <= pages);
        for (int i = 0; i < 800; i++) {
          touch(cache, key(1, i), Access.QUERY);
        }
        assertEquals(pages, pool.pages(Purpose.CACHE));
        assertEquals(pages, cache.stats().targetPages());
        TestPages.checkLedger(pool);
      }
    }
  }

  @Test
  void theTableGrowsWithTheLimit() throws IOException {
    try (BufferCache cache = cache(700, 0)) {
      for (int i = 0; i < 700; i++) {
        load(cache, key(1, i), Access.QUERY);
      }
      pool.setLimit(32 << 20);
      cache.resize(5000L * PAGE);
      for (int i = 0; i < 700; i++) {
        assertTrue(TestPages.isPageOf(key(1, i), pool, find(cache, key(1, i))));
        cache.unpin(key(1, i));
      }
      for (int i = 0; i < 5000; i++) {
        touch(cache, key(1, i), Access.QUERY);
      }
      assertEquals(5000, pool.pages(Purpose.CACHE));
      pool.setLimit(4 << 20);
      assertTrue(pool.allocatedBytes() <= 4 << 20, "allocated " + pool.allocatedBytes());
      cache.resize(200L * PAGE);
      for (int i = 0; i < 1000; i++) {
        touch(cache, key(1, i), Access.QUERY);
      }
      assertEquals(200, pool.pages(Purpose.CACHE));
    }
  }

  @Test
  void closingWithPinsNamesTheLeak() throws IOException {
    BufferCache cache = cache(64, 8);
    load(cache, key(1, 1), Access.QUERY);
    IllegalStateException leak = assertThrows(IllegalStateException.class, cache::close);
    assertTrue(leak.getMessage().contains("1 page"), leak.getMessage());
    assertThrows(IllegalStateException.class, () -> cache.find(key(1, 1)));
    assertThrows(IllegalStateException.class, () -> cache.load(key(1, 1), loader, Access.QUERY));
    cache.close();
  }

  @Test
  void aPoolTooSmallForTheLeastCacheIsRefusedWithoutLeak() {
    try (PagePool small = new PagePool(200 << 10, 65536, true)) {
      assertThrows(
          OutOfBudgetException.class, () -> new BufferCache(small, 1 << 20, 5, neighbours, guides));
    }
  }

  @Test
  void whatOthersDoNotUseIsBorrowedAndGivenBack() throws IOException {
    try (BufferCache cache = cache(100, 0)) {
      touchAll(cache, 300);
      assertEquals(100, cache.stats().heldPages());
      spare.set(150);
      touchAll(cache, 300);
      assertEquals(250, cache.stats().heldPages());
      List<Integer> taken = new ArrayList<>();
      while (pool.pages(Purpose.CACHE) > 120) {
        // Writers use it now: each page they want is theirs.
        int page = pool.allocate(Purpose.WRITE);
        assertNotEquals(PagePool.NONE, page);
        taken.add(page);
      }
      spare.set(10);
      touchAll(cache, 300);
      assertEquals(110, cache.stats().heldPages());
      taken.forEach(page -> pool.release(page, Purpose.WRITE));
    }
  }

  private void touchAll(BufferCache cache, int pages) throws IOException {
    for (int i = 0; i < pages; i++) {
      touch(cache, key(1, i), Access.QUERY);
    }
  }

  /** Reads one entry of a page, as a point lookup does; whether it was in the entry cache. */
  private boolean readEntry(BufferCache cache, int page, ByteBuffer target) throws IOException {
    byte[] key = ByteBuffer.allocate(8).putInt(page).array();
    long hash = page * 0x9E3779B97F4A7C15L;
    int slot = pool.epochs().enter();
    try {
      if (cache.entries().get(1, key, 0, 8, hash, 1, target.clear()) == 20) {
        return true;
      }
    } finally {
      pool.epochs().exit(slot);
    }
    if (find(cache, key(1, page)) == ABSENT) {
      int loaded = load(cache, key(1, page), Access.QUERY);
      slot = pool.epochs().enter();
      cache
          .entries()
          .put(
              1,
              key,
              0,
              8,
              hash,
              new EntryCache.Value(pool.memory(loaded), pool.base(loaded), 20, 1));
      pool.epochs().exit(slot);
      cache.unpin(key(1, page));
    }
    return false;
  }

  /** A tenth of the pages have one entry each that is wanted; the others are read through. */
  private BufferCache cacheWithEntries() throws IOException {
    BufferCache cache = cache(200, 100);
    ByteBuffer target = ByteBuffer.allocate(64);
    Random random = new Random(1);
    for (int i = 0; i < 60_000; i++) {
      readEntry(cache, random.nextInt(random.nextInt(10) < 8 ? 300 : 3000), target);
    }
    return cache;
  }

  @Test
  void entriesTakeTheMemoryThatTheySaveMoreWithThanPages() throws IOException {
    try (BufferCache cache = cacheWithEntries()) {
      CacheStats stats = cache.stats();
      assertTrue(stats.entryPages() >= 5 && stats.entryHits() > 30_000, stats::toString);
      assertTrue(stats.heldPages() + stats.entryPages() <= 200, stats::toString);
      long before = stats.entryPages();
      for (int round = 0; round < 40; round++) {
        // What pages are read for now is not in the entries, and a few pages more would help.
        touchAll(cache, 230);
      }
      assertTrue(cache.stats().entryPages() < before, () -> cache.stats().toString());
    }
  }

  @Test
  void whatIsLentCountsAsHeldIfEntriesHaveIt() throws IOException {
    try (BufferCache cache = cacheWithEntries()) {
      spare.set(50);
      touchAll(cache, 300);
      CacheStats before = cache.stats();
      long held = before.heldPages() + before.entryPages();
      assertTrue(before.entryPages() > 0 && held > before.targetPages(), before::toString);
      touch(cache, key(2, 0), Access.QUERY);
      assertEquals(held, cache.stats().heldAtMisses() - before.heldAtMisses());
    }
  }

  @Test
  void entriesGiveWayToABudgetThatShrinksAndToACacheThatDoes() throws IOException {
    try (BufferCache cache = cacheWithEntries()) {
      cache.resize(24 * PAGE);
      CacheStats small = cache.stats();
      assertTrue(small.entryPages() <= 24, small::toString);
      pool.setLimit(1 << 20);
      assertTrue(pool.allocatedBytes() <= 1 << 20, () -> pool.ledger().toString());
    }
  }

  @Test
  void entriesAreGivenUpWhenThePoolRunsDry() throws IOException {
    try (BufferCache cache = cacheWithEntries()) {
      List<Integer> taken = new ArrayList<>();
      takeAll(taken);
      CacheStats stats = cache.stats();
      assertEquals(MINIMUM_PAGES, stats.heldPages(), stats::toString);
      assertEquals(0, stats.entryPages(), stats::toString);
      taken.forEach(page -> pool.release(page, Purpose.WRITE));
    }
  }
}
