package io.isobardb.memory.cache;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class EntryCacheTest {
  private static final int PAGE = 4096;
  private static final long NEWEST = Long.MAX_VALUE;

  private final PagePool pool = new PagePool(2 << 20, PAGE, true);
  private final EntryCache cache = new EntryCache(pool);

  /** Reads and writes as one thread does. */
  private static final class Client {
    private final PagePool pool;
    private final EntryCache cache;
    private final Memory source;
    private final ByteBuffer target;

    Client(PagePool pool, EntryCache cache) {
      this.pool = pool;
      this.cache = cache;
      this.source = new Memory(ByteBuffer.allocateDirect(pool.pageSize()));
      this.target = ByteBuffer.allocate(pool.pageSize());
    }

    void put(int file, byte[] key, byte[] value, long lsn) {
      source.put(0, value, 0, value.length);
      int slot = pool.epochs().enter();
      try {
        EntryCache.Value stored = new EntryCache.Value(source, 0, value.length, lsn);
        cache.put(file, key, 0, key.length, hash(key), stored);
      } finally {
        pool.epochs().exit(slot);
      }
    }

    byte @Nullable [] get(int file, byte[] key, long lsn) {
      int slot = pool.epochs().enter();
      try {
        int length = cache.get(file, key, 0, key.length, hash(key), lsn, target.clear());
        return length == EntryCache.ABSENT ? null : Arrays.copyOf(target.array(), length);
      } finally {
        pool.epochs().exit(slot);
      }
    }
  }

  private final Client client = new Client(pool, cache);

  private static long hash(byte[] key) {
    return Arrays.hashCode(key) * 0x9E3779B97F4A7C15L;
  }

  private static byte[] key(long i) {
    return ByteBuffer.allocate(8).order(ByteOrder.BIG_ENDIAN).putLong(i).array();
  }

  @Test
  void anEmptyOneTakesNothingAndFindsNothing() {
    client.put(1, key(1), new byte[] {1}, 8);
    assertNull(client.get(1, key(1), NEWEST));
    assertTrue(cache.isEmpty());
  }

  @Test
  void anEntryIsFoundByItsFileAndKeyAlone() {
    cache.resize(3);
    client.put(1, key(1), new byte[] {1, 2}, 80);
    assertArrayEquals(new byte[] {1, 2}, client.get(1, key(1), NEWEST));
    assertNull(client.get(2, key(1), NEWEST));
    assertNull(client.get(1, key(2), NEWEST));
    close();
  }

  @Test
  void anEntryThatIsNewerThanTheSnapshotDoesNotCount() {
    cache.resize(1);
    client.put(1, key(1), new byte[] {1}, 80);
    assertNull(client.get(1, key(1), 79));
    assertArrayEquals(new byte[] {1}, client.get(1, key(1), 80));
    close();
  }

  @Test
  void whatAFileLacksIsKnownUntilItHasToGo() {
    cache.resize(1);
    int slot = pool.epochs().enter();
    cache.put(1, key(1), 0, 8, hash(key(1)), null);
    ByteBuffer target = ByteBuffer.allocate(8);
    for (long lsn : new long[] {0, 80, NEWEST}) {
      assertEquals(EntryCache.NO_SUCH_KEY, cache.get(1, key(1), 0, 8, hash(key(1)), lsn, target));
    }
    assertEquals(EntryCache.ABSENT, cache.get(2, key(1), 0, 8, hash(key(1)), NEWEST, target));
    pool.epochs().exit(slot);
    for (int i = 2; i < 400; i++) {
      client.put(1, key(i), new byte[40], 8);
    }
    assertNull(client.get(1, key(1), NEWEST));
    close();
  }

  @Test
  void aValueThatDoesNotFitTheTargetTellsItsLength() {
    cache.resize(1);
    client.put(1, key(1), new byte[100], 8);
    int slot = pool.epochs().enter();
    ByteBuffer small = ByteBuffer.allocate(99);
    assertEquals(100, cache.get(1, key(1), 0, 8, hash(key(1)), NEWEST, small));
    pool.epochs().exit(slot);
    close();
  }

  @Test
  void anEntryThatWouldFillAPageIsNotTaken() {
    cache.resize(1);
    client.put(1, key(1), new byte[PAGE / 16], 8);
    assertNull(client.get(1, key(1), NEWEST));
    close();
  }

  @Test
  void aPageOf64KilobytesThatIsFilledToItsEndHarmsNeitherItselfNorItsNeighbours() {
    PagePool large = new PagePool(2 << 20, 65536, true);
    List<Integer> neighbours = new ArrayList<>();
    for (int page = large.tryAllocate(Purpose.WRITE); page != PagePool.NONE; ) {
      neighbours.add(page);
      large.memory(page).fill(large.base(page), 65536, (byte) 0x5A);
      page = large.tryAllocate(Purpose.WRITE);
    }
    // The cache's page and its scratch page, each with another behind it in memory.
    large.release(neighbours.remove(2), Purpose.WRITE);
    large.release(neighbours.remove(0), Purpose.WRITE);
    EntryCache filled = new EntryCache(large);
    filled.resize(1);
    assertEquals(1, filled.pageCount());
    Client client = new Client(large, filled);
    // Before the first entry there are 5472 bytes; an entry has 16 besides key and value.
    for (int i = 0; i < 30; i++) {
      byte[] value = new byte[i == 15 ? 64 - 24 : 4000 - 24];
      Arrays.fill(value, (byte) i);
      client.put(1, key(i), value, 30_000);
      assertArrayEquals(value, client.get(1, key(i), NEWEST));
      for (int j = 0; j < i; j++) {
        byte[] found = client.get(1, key(j), NEWEST);
        assertTrue(found == null || (found.length == (j == 15 ? 40 : 3976) && found[0] == j));
      }
    }
    for (int page : neighbours) {
      for (int at = 0; at < 65536; at += 8) {
        assertEquals(
            0x5A5A5A5A5A5A5A5AL, large.memory(page).getLong(large.base(page) + at), "at " + at);
      }
      large.release(page, Purpose.WRITE);
    }
    filled.resize(0);
    large.close();
  }

  @Test
  void randomOperationsFindWhatWasPutOrNothing() {
    for (long seed = 1; seed <= 20; seed++) {
      System.out.println("EntryCacheTest seed " + seed);
      Random random = new Random(seed);
      String told = "seed " + seed;
      Map<List<Long>, byte[]> put = new HashMap<>();
      for (int i = 0; i < 20_000; i++) {
        int file = 1 + random.nextInt(3) + i / 10_000;
        long number = random.nextInt(400);
        // Of different lengths, some of them beginnings of others.
        byte[] key = Arrays.copyOf(key(number), (int) (8 + number % 30));
        List<Long> name = List.of((long) file, number);
        if (random.nextInt(500) == 0) {
          cache.resize(random.nextInt(12));
        } else if (random.nextBoolean()) {
          byte[] value = put.get(name);
          if (value == null) {
            value = new byte[random.nextInt(random.nextInt(10) == 0 ? 180 : 60)];
            random.nextBytes(value);
            put.put(name, value);
          }
          client.put(file, key, value, 8);
          if (!cache.isEmpty()) {
            assertArrayEquals(value, client.get(file, key, NEWEST), told);
          }
        } else {
          byte[] found = client.get(file, key, NEWEST);
          if (found != null) {
            assertArrayEquals(put.get(name), found, told);
          }
        }
        assertTrue(pool.pages(Purpose.ENTRIES) <= cache.pageCount() + 1);
      }
      cache.resize(0);
    }
    close();
  }

  @Test
  void whatIsReadOftenStaysAndWhatIsNotGoes() {
    cache.resize(8);
    int hot = 0;
    for (int i = 0; i < 40_000; i++) {
      if (i % 2 == 0) {
        byte[] key = key(i / 2 % 40);
        if (client.get(1, key, NEWEST) != null) {
          hot++;
        } else {
          client.put(1, key, new byte[50], 8);
        }
      } else {
        client.put(1, key(1000 + i), new byte[50], 8);
      }
    }
    assertTrue(hot > 19_000, "hot entries found " + hot + " times of 20,000");
    close();
  }

  @Test
  void growingMovesEntriesToTheirNewPages() {
    cache.resize(1);
    for (int pages = 1; pages <= 13; pages++) {
      cache.resize(pages);
      for (int i = 0; i < 5; i++) {
        client.put(1, key(100 * pages + i), new byte[] {(byte) pages, (byte) i}, 8);
      }
    }
    for (int pages = 1; pages <= 13; pages++) {
      for (int i = 0; i < 5; i++) {
        byte[] value = {(byte) pages, (byte) i};
        assertArrayEquals(value, client.get(1, key(100 * pages + i), NEWEST));
      }
    }
    close();
  }

  @Test
  void ghostsTellWhetherMoreRoomWouldHelp() {
    cache.resize(8);
    assertTrue(cache.hasRoom());
    assertEquals(0, cache.gained());
    long few = ghostHits(600);
    assertTrue(cache.gained() > 200);
    assertEquals(0, cache.gained());
    assertFalse(cache.hasRoom());
    long many = ghostHits(100_000);
    assertTrue(few > 10 * Math.max(1, many), few + " and " + many);
    assertTrue(cache.ghostPages() > 2 && cache.ghostPages() < 8, "" + cache.ghostPages());
    close();
  }

  /** The ghost hits of 20,000 reads of a number of keys, each put in if it is not found. */
  private long ghostHits(int keys) {
    long before = cache.ghostHits();
    Random random = new Random(keys);
    for (int i = 0; i < 20_000; i++) {
      byte[] key = key(random.nextInt(keys));
      if (client.get(1, key, NEWEST) == null) {
        client.put(1, key, new byte[60], 8);
      }
    }
    return cache.ghostHits() - before;
  }

  @Test
  void threadsNeverReadAnythingButWhatWasPut() throws InterruptedException {
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 3; t++) {
      Random random = new Random(t);
      Client mine = new Client(pool, cache);
      boolean resizes = t == 0;
      Thread thread =
          new Thread(
              () -> {
                for (int i = 0; i < 150_000 && failure.get() == null; i++) {
                  long number = random.nextInt(1000);
                  if (resizes && i % 1000 == 0) {
                    cache.resize(random.nextInt(10));
                  } else if (random.nextInt(3) == 0) {
                    mine.put(1, key(number), value(number), 8);
                  } else {
                    byte[] found = mine.get(1, key(number), NEWEST);
                    if (found != null) {
                      assertArrayEquals(value(number), found);
                    }
                  }
                }
              });
      thread.setUncaughtExceptionHandler((who, cause) -> failure.set(cause));
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertNull(failure.get());
    close();
  }

  private static byte[] value(long number) {
    byte[] value = new byte[(int) (20 + number % 80)];
    Arrays.fill(value, (byte) number);
    return value;
  }

  /** All counts are back where they were, and no page is missing. */
  private void close() {
    cache.resize(0);
    assertEquals(0, cache.ghostPages());
    pool.close();
  }
}
