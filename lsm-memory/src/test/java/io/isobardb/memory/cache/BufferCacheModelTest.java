package io.isobardb.memory.cache;

import static io.isobardb.memory.cache.BufferCache.ABSENT;
import static io.isobardb.memory.cache.BufferCache.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.CacheStats;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Random operations of one thread against a plain model of what must hold. */
class BufferCacheModelTest {
  private static final int PAGE = 4096;
  private static final int FILE_PAGES = 120;

  private PagePool pool;
  private BufferCache cache;
  private Random random;

  /** Pins the test holds, by key. */
  private final Map<Long, Integer> pins = new HashMap<>();

  /** Pages that must stay where they are, by key: those pinned. */
  private final Map<Long, Integer> places = new HashMap<>();

  private final List<Integer> writes = new ArrayList<>();

  /** Files that exist; a dropped one is never used again. */
  private int firstFile = 1;

  @Test
  void randomOperationsKeepWhatIsPromised() throws IOException {
    for (long seed = 1; seed <= 12; seed++) {
      System.out.println("BufferCacheModelTest seed " + seed);
      run(seed);
    }
  }

  private void run(long seed) throws IOException {
    random = new Random(seed);
    pool = new PagePool(3 << 20, PAGE, true);
    cache =
        new BufferCache(
            pool,
            PAGE * (long) random.nextInt(400),
            random.nextInt(2) * 300,
            CacheNeighbours.NONE,
            Guides.NONE);
    firstFile = 1;
    for (int i = 0; i < 6000; i++) {
      step(random.nextInt(1000));
      if (i % 8 == 0) {
        check();
      }
    }
    List.copyOf(pins.keySet()).forEach(key -> unpinAll(key));
    writes.forEach(page -> pool.release(page, Purpose.WRITE));
    writes.clear();
    cache.close();
    TestPages.checkLedger(pool);
    pool.close();
  }

  private void step(int choice) throws IOException {
    long key = key(firstFile + random.nextInt(4), random.nextInt(FILE_PAGES));
    if (choice < 400) {
      load(key);
    } else if (choice < 600) {
      find(key);
    } else if (choice < 750) {
      if (!pins.isEmpty()) {
        unpin(pins.keySet().stream().skip(random.nextInt(pins.size())).findFirst().get());
      }
    } else if (choice < 850) {
      adopt(key);
    } else if (choice < 960) {
      write();
    } else if (choice < 980) {
      cache.resize(PAGE * (long) random.nextInt(500));
    } else if (choice < 985) {
      drop();
    } else if (choice < 990) {
      pool.setLimit((2 + random.nextInt(6)) << 20);
    } else {
      assertThrows(IOException.class, () -> cache.load(key(9999, 1), failing(), Access.QUERY));
    }
  }

  private static PageLoader failing() {
    return (key, memory, base) -> {
      throw new IOException("planned");
    };
  }

  private void load(long key) throws IOException {
    if (pins.size() > 10) {
      return;
    }
    Access access = random.nextBoolean() ? Access.QUERY : Access.MERGE;
    int page = cache.load(key, TestPages.loader(pool), access);
    assertTrue(TestPages.isPageOf(key, pool, page));
    assertEquals(page, places.computeIfAbsent(key, k -> page));
    pins.merge(key, 1, Integer::sum);
    if (random.nextInt(4) > 0) {
      unpin(key);
    }
  }

  private void find(long key) {
    int slot = pool.epochs().enter();
    int page = cache.find(key);
    if (page != ABSENT) {
      assertTrue(TestPages.isPageOf(key, pool, page));
    }
    pool.epochs().exit(slot);
    if (pins.size() < 10 && cache.pin(key) != ABSENT) {
      assertTrue(TestPages.isPageOf(key, pool, page));
      places.put(key, page);
      pins.merge(key, 1, Integer::sum);
    }
  }

  private void unpin(long key) {
    cache.unpin(key);
    if (pins.merge(key, -1, Integer::sum) == 0) {
      pins.remove(key);
      places.remove(key);
    }
  }

  private void unpinAll(long key) {
    while (pins.containsKey(key)) {
      unpin(key);
    }
  }

  private void adopt(long key) {
    int page = pool.allocate(Purpose.MERGE);
    if (page != PagePool.NONE) {
      TestPages.write(key, pool.memory(page), pool.base(page), PAGE);
      boolean adopted = cache.adopt(key, page, Purpose.MERGE, Access.MERGE);
      assertTrue(!adopted || !pins.containsKey(key));
    }
  }

  private void write() {
    if (random.nextInt(100) < 60) {
      int page = pool.allocate(Purpose.WRITE);
      if (page != PagePool.NONE) {
        writes.add(page);
      }
    } else if (!writes.isEmpty()) {
      pool.retire(writes.remove(random.nextInt(writes.size())), Purpose.WRITE);
    }
  }

  private void drop() {
    int file = firstFile++;
    cache.drop(file, FILE_PAGES);
    for (int i = 0; i < FILE_PAGES; i++) {
      long key = key(file, i);
      int slot = pool.epochs().enter();
      assertEquals(pins.containsKey(key), cache.findWithoutTouching(key) != ABSENT);
      pool.epochs().exit(slot);
      unpinAll(key);
      assertEquals(ABSENT, cache.pin(key));
    }
  }

  private void check() {
    TestPages.checkLedger(pool);
    CacheStats stats = cache.stats();
    assertEquals(pool.pages(Purpose.CACHE), stats.heldPages());
    assertTrue(stats.heldPages() >= BufferCache.MINIMUM_PAGES);
    long most = stats.targetPages() - stats.entryPages();
    assertTrue(
        stats.heldPages() <= Math.max(most, BufferCache.MINIMUM_PAGES) + pins.size(),
        () -> stats.toString());
    assertEquals(0, pool.pages(Purpose.MERGE));
    assertEquals(writes.size(), pool.pages(Purpose.WRITE));
    places.forEach((key, page) -> assertTrue(TestPages.isPageOf(key, pool, page)));
  }
}
