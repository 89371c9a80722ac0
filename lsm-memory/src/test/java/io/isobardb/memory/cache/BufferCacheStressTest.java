package io.isobardb.memory.cache;

import static io.isobardb.memory.cache.BufferCache.ABSENT;
import static io.isobardb.memory.cache.BufferCache.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Ledger;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/**
 * Readers in epochs, loaders with pins, adopters, a writer that takes the pool's pages away, a
 * resizer and a dropper, all at once. Pages carry their key; freed ones are overwritten.
 */
class BufferCacheStressTest {
  private static final int PAGE = 4096;
  private static final int FILE_PAGES = 200;

  private PagePool pool;
  private BufferCache cache;
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicInteger firstFile = new AtomicInteger(1);
  private final AtomicLong found = new AtomicLong();

  private interface Step {
    void run(Random random) throws IOException;
  }

  @Test
  void pagesAreWhatTheirKeysSayWhileEverythingMoves() throws InterruptedException {
    long seed = 42;
    System.out.println("BufferCacheStressTest seed " + seed);
    pool = new PagePool(2 << 20, PAGE, true);
    cache = new BufferCache(pool, 200 * PAGE, 300, CacheNeighbours.NONE, Guides.NONE);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      threads.add(thread(seed + i, 60_000, this::read));
    }
    for (int i = 0; i < 3; i++) {
      threads.add(thread(seed + 10 + i, 20_000, this::loadAndHold));
    }
    threads.add(thread(seed + 20, 10_000, this::adopt));
    Deque<Integer> writes = new ArrayDeque<>();
    threads.add(thread(seed + 30, 20_000, random -> write(random, writes)));
    threads.add(thread(seed + 40, 500, this::resize));
    threads.add(thread(seed + 50, 60, this::drop));
    running.set(threads.size());
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw new AssertionError("seed " + seed, failure.get());
    }
    assertTrue(found.get() > 0);
    writes.forEach(page -> pool.release(page, Purpose.WRITE));
    assertEquals(pool.pages(Purpose.CACHE), cache.stats().heldPages());
    cache.close();
    TestPages.checkLedger(pool);
    pool.close();
  }

  private Thread thread(long seed, int steps, Step step) {
    return new Thread(
        () -> {
          Random random = new Random(seed);
          try {
            for (int i = 0; i < steps && failure.get() == null; i++) {
              // As readers do: on a busy machine a thread may stand still within an epoch
              // for
              // so long that no frame comes free meanwhile.
              try {
                step.run(random);
              } catch (NoFrameException e) {
                Thread.yield();
              }
            }
          } catch (Throwable e) {
            failure.compareAndSet(null, e);
          } finally {
            running.decrementAndGet();
          }
        });
  }

  private long randomKey(Random random) {
    int pageNo = (int) (FILE_PAGES * Math.pow(random.nextDouble(), 2));
    return key(firstFile.get() + random.nextInt(3), pageNo);
  }

  private void read(Random random) throws IOException {
    long key = randomKey(random);
    int slot = pool.epochs().enter();
    try {
      int page = cache.find(key);
      if (page != ABSENT) {
        found.incrementAndGet();
        if (random.nextInt(64) == 0) {
          Thread.yield();
        }
        assertTrue(TestPages.isPageOf(key, pool, page), "a page found");
        return;
      }
    } finally {
      pool.epochs().exit(slot);
    }
    if (random.nextInt(4) == 0) {
      cache.load(key, TestPages.loader(pool), Access.QUERY);
      cache.unpin(key);
    }
  }

  private void loadAndHold(Random random) throws IOException {
    long key = randomKey(random);
    if (random.nextInt(50) == 0) {
      try {
        cache.load(
            key,
            (k, memory, base) -> {
              throw new IOException("planned");
            },
            Access.MERGE);
        cache.unpin(key);
      } catch (IOException planned) {
        return;
      }
    }
    int page = cache.load(key, TestPages.loader(pool), Access.MERGE);
    try {
      if (random.nextInt(16) == 0) {
        Thread.yield();
      }
      assertTrue(TestPages.isPageOf(key, pool, page), "a pinned page");
    } finally {
      cache.unpin(key);
    }
  }

  private void adopt(Random random) {
    long key = randomKey(random);
    int page = pool.allocate(Purpose.MERGE);
    if (page != PagePool.NONE) {
      TestPages.write(key, pool.memory(page), pool.base(page), PAGE);
      cache.adopt(key, page, Purpose.MERGE, Access.MERGE);
    }
  }

  private void write(Random random, Deque<Integer> writes) {
    if (random.nextInt(400) == 0) {
      while (!writes.isEmpty()) {
        pool.retire(writes.remove(), Purpose.WRITE);
      }
    }
    int page = pool.allocate(Purpose.WRITE);
    if (page != PagePool.NONE) {
      pool.memory(page).fill(pool.base(page), PAGE, (byte) 1);
      writes.add(page);
    }
  }

  private void resize(Random random) {
    int choice = random.nextInt(10);
    if (choice < 5) {
      cache.resize((16 + random.nextInt(400)) * (long) PAGE);
    } else if (choice < 6) {
      pool.setLimit((1L << 20) + random.nextInt(6 << 20));
    } else {
      TestPages.checkLedger(pool);
      Ledger ledger = pool.ledger();
      assertTrue(ledger.bytes(Purpose.CACHE) >= BufferCache.MINIMUM_PAGES * PAGE / 2);
    }
    Thread.yield();
  }

  private void drop(Random random) {
    int file = firstFile.getAndIncrement();
    cache.drop(file, FILE_PAGES);
    for (int i = 0; i < 200; i++) {
      Thread.yield();
    }
  }
}
