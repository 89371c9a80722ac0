package io.isobardb.lsm.budget;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.memory.stats.Ledger;
import io.isobardb.memory.system.Region;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Values of all sizes in many trees and little memory: none of it is lost, nor ever too much. */
@Tag("any-jdk")
class MixedSizesTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_241_121L);
  private static final int OPERATIONS = Integer.getInteger("isobar.mixed.operations", 1200);
  private static final long BUDGET = 32 << 20;
  private static final int TREES = 50;
  private static final int KEYS = 25;
  private static final int LARGEST = 1 << 20;

  private static final StoreOptions OPTIONS = StoreOptions.builder().memoryBudget(BUDGET).build();

  @TempDir Path temp;

  /** A value that its seed determines. */
  private record Value(long seed, int length) {
    byte[] bytes() {
      byte[] bytes = new byte[length];
      new SplittableRandom(seed).nextBytes(bytes);
      return bytes;
    }
  }

  /** A thread that has keys of its own, in all trees, and knows what they hold. */
  private static final class Worker implements Runnable {
    private final Store store;
    private final String prefix;
    private final SplittableRandom random;
    private final AtomicBoolean stop;
    private final List<TreeMap<String, Value>> model =
        java.util.stream.IntStream.range(0, TREES)
            .mapToObj(i -> new TreeMap<String, Value>())
            .toList();

    Worker(Store store, int number, AtomicBoolean stop) {
      this.store = store;
      this.prefix = (char) ('a' + number) + "-";
      this.random = new SplittableRandom(SEED + number);
      this.stop = stop;
    }

    private static byte[] key(String key) {
      return key.getBytes(StandardCharsets.US_ASCII);
    }

    private int length() {
      int bits = random.nextInt(22);
      return bits == 0 ? 0 : Math.min(LARGEST, (1 << (bits - 1)) + random.nextInt(1 << (bits - 1)));
    }

    @Override
    public void run() {
      for (int n = 0; n < OPERATIONS && !stop.get(); n++) {
        int number = random.nextInt(TREES);
        Tree tree = store.tree("t" + number);
        TreeMap<String, Value> mine = model.get(number);
        String key = prefix + random.nextInt(KEYS);
        int dice = random.nextInt(100);
        if (dice < 50) {
          Value value = new Value(random.nextLong(), length());
          tree.put(key(key), value.bytes());
          mine.put(key, value);
        } else if (dice < 60) {
          tree.delete(key(key));
          mine.remove(key);
        } else if (dice < 95) {
          check(tree, key, mine.get(key));
        } else {
          scan(tree, mine);
        }
      }
    }

    private static void check(Tree tree, String key, Value expected) {
      byte[] found = tree.get(key(key));
      if (expected == null) {
        assertNull(found, key);
      } else {
        assertNotNull(found, () -> key + " is missing in " + tree);
        assertArrayEquals(expected.bytes(), found, () -> key + " in " + tree);
      }
    }

    private void scan(Tree tree, TreeMap<String, Value> mine) {
      CursorOptions range = CursorOptions.all().from(key(prefix)).to(key(prefix.replace('-', '.')));
      try (Cursor cursor = tree.cursor(range)) {
        boolean more = cursor.first();
        for (var entry : mine.entrySet()) {
          assertTrue(more, () -> entry.getKey() + " is missing in " + tree);
          assertArrayEquals(key(entry.getKey()), cursor.key());
          assertArrayEquals(entry.getValue().bytes(), cursor.value());
          more = cursor.next();
        }
        assertTrue(!more, () -> "too much in " + tree);
      }
    }

    void checkAll(Store reopened) {
      for (int i = 0; i < TREES; i++) {
        Tree tree = reopened.tree("t" + i);
        for (int k = 0; k < KEYS; k++) {
          check(tree, prefix + k, model.get(i).get(prefix + k));
        }
        scan(tree, model.get(i));
      }
    }
  }

  /** What was allocated, in the eyes of the allocator, before the store was opened. */
  private long before;

  private static long allocatorHolds() {
    return Region.heldBytes();
  }

  private void checkMemory(Store store) {
    boolean same = false;
    for (int i = 0; i < 1000 && !same; i++) {
      Ledger ledger = store.stats().ledger();
      long sum = ledger.bytes().values().stream().mapToLong(Long::longValue).sum();
      assertEquals(ledger.allocatedBytes(), sum, ledger::toString);
      assertTrue(ledger.peakBytes() <= BUDGET, ledger::toString);
      // Somebody may be allocating at this very moment: then another look tells.
      same = allocatorHolds() - before == ledger.allocatedBytes();
    }
    assertTrue(same, () -> "held: " + (allocatorHolds() - before) + ", " + store.stats().ledger());
  }

  @Test
  @Timeout(value = 180, unit = TimeUnit.SECONDS)
  void valuesOfAllSizesInFiftyTreesFitIntoTheBudget() throws Exception {
    System.out.println("isobar.seed=" + SEED);
    before = allocatorHolds();
    AtomicBoolean stop = new AtomicBoolean();
    ExecutorService threads = Executors.newFixedThreadPool(2);
    List<Worker> workers;
    int samples = 0;
    try (Store store = Store.open(temp.resolve("store"), OPTIONS)) {
      for (int i = 0; i < TREES; i++) {
        store.openTree("t" + i);
      }
      workers = List.of(new Worker(store, 0, stop), new Worker(store, 1, stop));
      List<Future<?>> running =
          List.of(threads.submit(workers.get(0)), threads.submit(workers.get(1)));
      try {
        while (!running.stream().allMatch(Future::isDone)) {
          checkMemory(store);
          samples++;
          Thread.sleep(2);
        }
      } finally {
        stop.set(true);
        for (Future<?> future : running) {
          future.get();
        }
      }
      workers.forEach(worker -> worker.checkAll(store));
      checkMemory(store);
      System.out.println(samples + " samples, " + store.stats().ledger());
    } finally {
      threads.shutdownNow();
    }
    assertEquals(before, allocatorHolds());
    try (Store store = Store.open(temp.resolve("store"), OPTIONS)) {
      workers.forEach(worker -> worker.checkAll(store));
      checkMemory(store);
    }
  }
}
