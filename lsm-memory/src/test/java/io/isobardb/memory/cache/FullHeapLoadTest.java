package io.isobardb.memory.cache;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a thread leaves that finds the heap full, in a process of its own. */
class FullHeapLoadTest {
  /**
   * In Java 17 a wait for a lock takes heap. Others would wait for ever for the end of the load.
   */
  @Test
  void aLoadEndsThoughTheHeapIsFullAndItsLockIsHeld() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx24m",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Program.class.getName())
            .redirectErrorStream(true)
            .start();
    try {
      boolean ended = process.waitFor(60, TimeUnit.SECONDS);
      assertTrue(ended, "the second load waits for the end of the first one");
      String output =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      assertTrue(output.endsWith("loaded"), output); // Threads may have told of the full heap.
    } finally {
      process.destroyForcibly();
    }
  }

  static final class Program {
    private static final int PAGE = 4096;
    private static final CountDownLatch ADOPTING = new CountDownLatch(1);
    private static final CountDownLatch FULL = new CountDownLatch(1);
    private static final CountDownLatch GO = new CountDownLatch(1);

    private static volatile Object @Nullable [] chain;

    public static void main(String[] arguments) throws Exception {
      PagePool pool = new PagePool(16 << 20, PAGE);
      Thread[] adopter = {Thread.currentThread()};
      Guides guides =
          (memory, base) -> {
            if (Thread.currentThread() == adopter[0]) {
              ADOPTING.countDown();
              await(GO); // With the lock of the stripe.
            }
            return false;
          };
      BufferCache cache = new BufferCache(pool, 64 * PAGE, 0, CacheNeighbours.NONE, guides);
      long key = BufferCache.key(1, 1);
      long other = neighbour(key);
      int page = pool.allocate(Purpose.MERGE);
      adopter[0] = new Thread(() -> adopt(cache, other, page));
      adopter[0].setDaemon(true);
      PageLoader filling =
          (same, memory, base) -> {
            adopter[0].start();
            await(ADOPTING);
            fill();
            FULL.countDown();
          };
      Thread loader = new Thread(() -> load(cache, key, filling));
      loader.setDaemon(true);
      loader.start();
      await(FULL);
      spin(200); // It comes to the lock meanwhile.
      GO.countDown();
      spin(20);
      chain = null;
      load(cache, key, (same, memory, base) -> {});
      System.out.println("loaded");
      System.exit(0);
    }

    private static long neighbour(long key) {
      long other = key + 1;
      while (((PageTable.hash(other) ^ PageTable.hash(key)) & 63) != 0) {
        other++;
      }
      return other;
    }

    /** To sleep takes heap, in Java 25. */
    private static void spin(int millis) {
      long end = System.nanoTime() + millis * 1_000_000L;
      while (System.nanoTime() - end < 0) {
        Thread.onSpinWait();
      }
    }

    private static void await(CountDownLatch latch) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    private static void adopt(BufferCache cache, long key, int page) {
      try {
        cache.adopt(key, page, Purpose.MERGE, Access.QUERY);
      } catch (OutOfMemoryError e) {
        // The lock has been given back by now.
      }
    }

    private static void load(BufferCache cache, long key, PageLoader loader) {
      try {
        cache.load(key, loader, Access.QUERY);
      } catch (IOException e) {
        throw new AssertionError(e);
      } catch (OutOfMemoryError e) {
        // It was to end all the same.
      }
    }

    /** Takes the heap to its last bytes. */
    private static void fill() {
      int size = 1 << 20;
      while (size > 0) {
        try {
          Object[] next = new Object[size];
          next[0] = chain;
          chain = next;
        } catch (OutOfMemoryError e) {
          size /= 2;
        }
      }
    }
  }
}
