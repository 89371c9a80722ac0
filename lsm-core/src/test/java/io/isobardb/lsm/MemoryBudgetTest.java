package io.isobardb.lsm;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.memory.pool.DirectMemory;
import io.isobardb.memory.pool.Ledger;
import io.isobardb.memory.pool.Purpose;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class MemoryBudgetTest {
  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(24 << 20).pageSize(4096).build();

  @TempDir Path temp;

  @Test
  @Timeout(120)
  void theBudgetChangesUnderLoadInBothDirectionsAndHolds() throws Exception {
    AtomicBoolean stop = new AtomicBoolean();
    ExecutorService pool = Executors.newFixedThreadPool(2);
    try (Store store = Store.open(temp.resolve("s"), OPTIONS)) {
      Tree tree = store.openTree("t");
      store.openTree("idle").put(key(1), value(1, 100));
      for (int i = 0; i < 20_000; i++) {
        tree.put(key(i), value(i, 300));
      }
      Future<?> writer =
          pool.submit(
              () -> {
                for (int i = 0; !stop.get(); i = (i + 1) % 60_000) {
                  tree.put(key(i), value(i, 300));
                }
              });
      Future<?> reader =
          pool.submit(
              () -> {
                for (int i = 0; !stop.get(); i = (i + 7) % 20_000) {
                  assertArrayEquals(value(i, 300), tree.get(key(i)));
                }
              });
      for (int megabytes : new int[] {64, 12, 40, 8, 24}) {
        long budget = (long) megabytes << 20;
        store.setMemoryBudget(budget);
        awaitWithin(store, budget);
        assertEquals(budget / 2, store.stats().writeMemoryLimitBytes());
      }
      stop.set(true);
      writer.get(60, TimeUnit.SECONDS);
      reader.get(60, TimeUnit.SECONDS);
      for (int i = 0; i < 20_000; i++) {
        assertArrayEquals(value(i, 300), tree.get(key(i)));
      }
    } finally {
      stop.set(true);
      pool.shutdownNow();
    }
  }

  private static void awaitWithin(Store store, long budget) throws InterruptedException {
    for (int i = 0; ; i++) {
      Ledger ledger = store.stats().ledger();
      assertTrue(i < 4000, () -> "not within its budget: " + store.stats().toJson());
      assertEquals(budget, ledger.limitBytes());
      if (ledger.allocatedBytes() <= budget) {
        return;
      }
      Thread.sleep(5);
    }
  }

  @Test
  void theCacheHasWhatItHadBeforeWhileAScanReadsAhead() {
    StoreOptions options =
        StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).memoryTuner(false).build();
    try (Store store = Store.open(temp.resolve("s"), options)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 20_000; i++) {
        tree.put(key(i), value(i, 1000));
      }
      store.flush();
      store.awaitQuiet();
      store.setMemoryBudget(8 << 20);
      long target = store.stats().cache().targetPages();
      try (Cursor scan = tree.cursor()) {
        assertTrue(scan.first());
        while (store.stats().ledger().bytes(Purpose.MERGE) == 0) {
          assertTrue(scan.next());
        }
        store.setMemoryBudget(8 << 20);
        assertEquals(target, store.stats().cache().targetPages());
      }
    }
  }

  @Test
  void aBudgetThatIsTooSmallOrTooLargeIsRefusedAndChangesNothing() {
    try (Store store = Store.open(temp.resolve("s"), OPTIONS)) {
      assertSays("at least", () -> store.setMemoryBudget(1 << 20));
      assertSays(
          "-XX:MaxDirectMemorySize",
          () -> store.setMemoryBudget(DirectMemory.limitBytes() + (8 << 20)));
      assertEquals(24 << 20, store.stats().ledger().limitBytes());
    }
  }

  private static void assertSays(String part, org.junit.jupiter.api.function.Executable call) {
    String message = assertThrows(IllegalArgumentException.class, call).getMessage();
    assertTrue(message.contains(part), message);
  }
}
