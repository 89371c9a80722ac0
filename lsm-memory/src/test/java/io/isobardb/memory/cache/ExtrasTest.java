package io.isobardb.memory.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What lies beside the pages of a cache that has room. */
class ExtrasTest {
  private static final int PAGE = 4096;

  private final PagePool pool = new PagePool(4 << 20, PAGE, true);
  private final PageLoader loader = TestPages.loader(pool);

  /** One of some pages, which notes when it goes. */
  private final class Noting implements Extras.Extra {
    private final int[] pages;
    int unlinked;

    Noting(int count) {
      pages = new int[count];
      for (int i = 0; i < count; i++) {
        pages[i] = pool.tryAllocate(Purpose.INDEXES);
      }
    }

    @Override
    public int[] pages() {
      return pages;
    }

    @Override
    public void unlink() {
      unlinked++;
    }
  }

  @AfterEach
  void nothingIsHeld() {
    TestPages.checkLedger(pool);
    pool.close();
  }

  private BufferCache cache(int pages) {
    return new BufferCache(pool, (long) pages * PAGE, 0, CacheNeighbours.NONE, Guides.NONE);
  }

  private Noting add(BufferCache cache, int pages) {
    assertTrue(cache.expectExtra(pages));
    Noting extra = new Noting(pages);
    cache.addExtra(extra);
    return extra;
  }

  private void touch(BufferCache cache, int pageNo) throws IOException {
    long key = BufferCache.key(1, pageNo);
    cache.load(key, loader, Access.QUERY);
    cache.unpin(key);
  }

  private int present(BufferCache cache, int pages) {
    int present = 0;
    int slot = pool.epochs().enter();
    for (int i = 0; i < pages; i++) {
      present += cache.findWithoutTouching(BufferCache.key(1, i)) == BufferCache.ABSENT ? 0 : 1;
    }
    pool.epochs().exit(slot);
    return present;
  }

  @Test
  void thereMustBeRoomBesidesPagesThatMayCome() throws IOException {
    try (BufferCache cache = cache(160)) {
      assertFalse(cache.expectExtra(160 - BufferCache.MINIMUM_PAGES - 9));
      Noting first = add(cache, 100);
      assertEquals(100, pool.pages(Purpose.INDEXES));
      assertFalse(cache.expectExtra(30));
      assertTrue(cache.expectExtra(26));
      cache.extras().cancel(26);
      cache.extras().remove(first);
      cache.extras().remove(first);
      assertEquals(1, first.unlinked);
      assertEquals(0, pool.pages(Purpose.INDEXES));
      assertTrue(cache.expectExtra(120));
      cache.extras().cancel(120);
    }
  }

  @Test
  void extrasGoBeforeAPageDoesTheOldestFirst() throws IOException {
    try (BufferCache cache = cache(160)) {
      Noting first = add(cache, 40);
      Noting second = add(cache, 40);
      // A page more than what is there is always seen to.
      for (int i = 0; i < 79; i++) {
        touch(cache, i);
      }
      assertEquals(0, first.unlinked);
      for (int i = 79; i < 119; i++) {
        touch(cache, i);
      }
      assertEquals(1, first.unlinked);
      assertEquals(0, second.unlinked);
      for (int i = 119; i < 159; i++) {
        touch(cache, i);
      }
      assertEquals(159, present(cache, 159));
      touch(cache, 159);
      assertEquals(1, second.unlinked);
      assertEquals(0, pool.pages(Purpose.INDEXES));
      // A full cache has room for none.
      assertFalse(cache.expectExtra(1));
    }
  }

  @Test
  void whoeverNeedsPagesOfAnEmptyPoolGetsThoseOfExtrasFirst() throws IOException {
    try (BufferCache cache = cache(400)) {
      for (int i = 0; i < 100; i++) {
        touch(cache, i);
      }
      Noting extra = add(cache, 200);
      List<Integer> taken = new ArrayList<>();
      while (extra.unlinked == 0) {
        taken.add(pool.allocate(Purpose.WRITE));
      }
      for (int i = 0; i < 100; i++) {
        taken.add(pool.allocate(Purpose.WRITE));
      }
      assertFalse(taken.contains(PagePool.NONE));
      assertEquals(100, present(cache, 100));
      taken.forEach(page -> pool.release(page, Purpose.WRITE));
    }
  }

  @Test
  void aSmallerCacheGivesThemUpFirst() throws IOException {
    try (BufferCache cache = cache(400)) {
      for (int i = 0; i < 100; i++) {
        touch(cache, i);
      }
      Noting extra = add(cache, 100);
      cache.resize(250 * PAGE);
      assertEquals(0, extra.unlinked);
      cache.resize(150 * PAGE);
      assertEquals(1, extra.unlinked);
      assertEquals(100, present(cache, 100));
    }
  }

  @Test
  void whatIsAddedToACacheThatHasBecomeTooSmallGoesAtOnce() throws IOException {
    try (BufferCache cache = cache(400)) {
      for (int i = 0; i < 100; i++) {
        touch(cache, i);
      }
      assertTrue(cache.expectExtra(100));
      Noting extra = new Noting(100);
      cache.resize(BufferCache.MINIMUM_PAGES * PAGE);
      cache.addExtra(extra);
      assertEquals(1, extra.unlinked);
      assertEquals(0, pool.pages(Purpose.INDEXES));
    }
  }

  @Test
  void theyLeaveSlabsThatGoBackToTheSystem() throws IOException {
    try (BufferCache cache = cache(200)) {
      Noting extra = add(cache, 50);
      int leaving = extra.pages()[49];
      cache.vacate(page -> page < 0);
      assertEquals(0, extra.unlinked);
      cache.vacate(page -> page == leaving);
      assertEquals(1, extra.unlinked);
      assertEquals(0, pool.pages(Purpose.INDEXES));
    }
  }

  @Test
  void closingTheCacheGivesThemBack() {
    BufferCache cache = cache(200);
    Noting extra = add(cache, 50);
    cache.close();
    assertEquals(1, extra.unlinked);
    assertEquals(0, pool.pages(Purpose.INDEXES));
  }
}
