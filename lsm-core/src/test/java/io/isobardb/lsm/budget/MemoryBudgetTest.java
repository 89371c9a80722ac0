package io.isobardb.lsm.budget;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.memory.pool.DirectMemory;
import io.isobardb.memory.stats.Ledger;
import io.isobardb.memory.stats.Purpose;
import io.isobardb.memory.system.Region;
import java.nio.file.Path;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("any-jdk")
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

  @Test
  @Timeout(120)
  void aLoweredBudgetIsReachedWhenTheCallReturnsThoughNothingElseIsCalled() {
    long large = 64 << 20;
    long small = 12 << 20;
    StoreOptions options = StoreOptions.builder().memoryBudget(large).pageSize(4096).build();
    long before = Region.heldBytes();
    try (Store store = Store.open(temp.resolve("s"), options)) {
      Tree[] trees = {store.openTree("a"), store.openTree("b"), store.openTree("c")};
      Random random = new Random(5);
      for (int cycle = 0; cycle < 3; cycle++) {
        while (Region.heldBytes() - before < large * 4 / 5) {
          for (int i = 0; i < 5000; i++) {
            int key = random.nextInt(100_000);
            trees[i % 3].put(key(key), value(key, 500));
            trees[i / 7 % 3].get(key(random.nextInt(100_000)));
          }
        }
        store.setMemoryBudget(small);
        long held = Region.heldBytes() - before;
        int at = cycle;
        assertTrue(held <= small, () -> held + " bytes are held after cycle " + at);
        store.setMemoryBudget(large);
      }
    }
    assertEquals(before, Region.heldBytes());
  }

  @Test
  void treesThatAreBusyWhenTheBudgetIsLoweredGiveTheirMemoryBackToo() {
    StoreOptions options = StoreOptions.builder().memoryBudget(24 << 20).pageSize(4096).build();
    long small = 6 << 20;
    for (int seed = 1; seed <= 5; seed++) {
      SimulatedClock clock = new SimulatedClock();
      SimulatedScheduler scheduler = new SimulatedScheduler(clock, seed);
      try (Store store = simulated(clock, scheduler, options)) {
        Tree a = store.openTree("a");
        Tree b = store.openTree("b");
        for (int i = 0; i < 12_000; i++) {
          (i % 3 == 0 ? a : b).put(key(i * 7919 % 10_000), value(i, 1000));
        }
        for (int i = 0; i < 8 * seed; i++) {
          scheduler.runOne();
        }
        store.setMemoryBudget(small);
        Ledger ledger = store.stats().ledger();
        assertTrue(ledger.allocatedBytes() <= small, "seed " + seed + ": " + ledger);
      }
    }
  }

  private static Store simulated(
      SimulatedClock clock, SimulatedScheduler scheduler, StoreOptions options) {
    return Inside.open(
        new Environment(new SimulatedStorage(), clock, scheduler, new SplittableRandom(1)),
        options);
  }

  @Test
  void whatReadersKeepIsGivenBackInTheBackgroundWhenTheyHaveLeft() {
    SimulatedClock clock = new SimulatedClock();
    SimulatedScheduler scheduler = new SimulatedScheduler(clock, 3);
    StoreOptions options = StoreOptions.builder().memoryBudget(24 << 20).pageSize(4096).build();
    long small = 6 << 20;
    try (Store store = simulated(clock, scheduler, options)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 4000; i++) {
        tree.put(key(i), value(i, 3000));
      }
      store.flush();
      scheduler.runFor(60_000_000_000L);
      for (int i = 0; i < 4000; i++) {
        tree.get(key(i));
      }
      readWithin(
          tree,
          0,
          () -> {
            store.setMemoryBudget(small);
            assertTrue(store.stats().ledger().allocatedBytes() > small, "readers keep memory");
          });
      scheduler.runFor(1_000_000_000L);
      assertTrue(
          store.stats().ledger().allocatedBytes() <= small,
          () -> "not given back: " + store.stats().ledger());
    }
  }

  /** Looks at many values at once, in pages all over the cache, and runs {@code inside} then. */
  private static void readWithin(Tree tree, int i, Runnable inside) {
    if (i == 4000) {
      inside.run();
      return;
    }
    tree.read(
        key(i),
        value -> {
          readWithin(tree, i + 40, inside);
          return i;
        });
  }

  private static void assertSays(String part, org.junit.jupiter.api.function.Executable call) {
    String message = assertThrows(IllegalArgumentException.class, call).getMessage();
    assertTrue(message.contains(part), message);
  }
}
