package io.isobardb.lsm.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Everything at once in the smallest budget: slow, but nobody waits for ever. */
class SmallBudgetTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_240_614L);
  private static final int OPERATIONS = Integer.getInteger("isobar.small.operations", 4000);
  private static final int TREES = 3;
  private static final int KEYS = 20_000;

  @TempDir Path temp;

  /** What one thread does; number {@code n} of its operations. */
  private interface Work {
    void run(Tree tree, byte[] key, int n);
  }

  @Test
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void readersWritersAndCursorsAllComeToTheirEndInTheSmallestBudget() throws Exception {
    System.out.println("isobar.seed=" + SEED);
    StoreOptions options =
        StoreOptions.builder().memoryBudget(4 << 20).pageSize(4096).logLimit(1 << 20).build();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    try (Store store = Store.open(temp.resolve("store"), options)) {
      Tree[] trees = new Tree[TREES];
      for (int i = 0; i < TREES; i++) {
        trees[i] = store.openTree("t" + i);
      }
      Work write = (tree, key, n) -> tree.put(key, new byte[500]);
      Work read = (tree, key, n) -> tree.get(key);
      Work scan = (tree, key, n) -> scan(tree, key, n % 40 == 0 ? 300 : 0);
      List<Thread> threads = new ArrayList<>();
      for (Work work : List.of(write, write, write, read, read, scan, scan)) {
        long seed = SEED + threads.size();
        Thread thread = new Thread(() -> repeat(work, trees, seed, failure));
        threads.add(thread);
        thread.start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertNull(failure.get(), () -> "seed " + SEED + ": " + failure.get());
      long budget = store.stats().ledger().limitBytes();
      assertTrue(store.stats().ledger().peakBytes() <= budget, "beyond the budget");
      store.stats().trees().forEach(tree -> assertTrue(tree.l0Groups() <= 20, tree.toString()));
    }
  }

  private static void scan(Tree tree, byte[] from, int entries) {
    try (Cursor cursor = tree.cursor()) {
      int seen = 0;
      for (boolean more = cursor.seek(from); more && seen < entries; more = cursor.next()) {
        assertEquals(500, cursor.valueLength());
        seen++;
      }
    }
  }

  private static void repeat(
      Work work, Tree[] trees, long seed, AtomicReference<Throwable> failure) {
    SplittableRandom random = new SplittableRandom(seed);
    try {
      for (int n = 0; n < OPERATIONS && failure.get() == null; n++) {
        String key = String.format("%08d", random.nextInt(KEYS));
        work.run(trees[random.nextInt(TREES)], key.getBytes(StandardCharsets.US_ASCII), n);
      }
    } catch (RuntimeException | Error e) {
      failure.compareAndSet(null, e);
    }
  }

  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void theLogIsCutAfterTheLastWriteToo() {
    StoreOptions options =
        StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).logLimit(1 << 20).build();
    try (Store store = Store.open(temp.resolve("store"), options)) {
      Tree tree = store.openTree("t");
      byte[] value = new byte[1000];
      // More than the limit several times, with pauses in which nothing else would cut it.
      for (int i = 0; i < 20_000; i++) {
        tree.put(Integer.toString(i % 100).getBytes(StandardCharsets.US_ASCII), value);
      }
      assertTrue(store.stats().logSizeBytes() < 2 << 20);
    }
  }
}
