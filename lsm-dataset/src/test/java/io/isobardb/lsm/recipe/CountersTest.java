package io.isobardb.lsm.recipe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.typed.KeyCodec;
import io.isobardb.lsm.typed.KeyRange;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CountersTest {
  private static final StoreOptions SMALL = StoreOptions.builder().memoryBudget(8 << 20).build();

  @TempDir Path directory;

  @Test
  void countersAddUpAndOutliveTheProcess() {
    try (Store store = Store.open(directory, SMALL)) {
      Counters<String> hits = Counters.open(store, "hits", KeyCodec.ofString());
      assertEquals(0, hits.get("a"));
      hits.increment("a");
      hits.add("a", -11);
      hits.add("b", 5);
      WriteBatch batch = store.newBatch();
      hits.add(batch, "a", 100);
      hits.add(batch, "b", 1);
      store.write(batch);
      store.runInTransaction(transaction -> hits.add(transaction, "c", 7));
      assertEquals(91, hits.addAndGet("a", 1));
    }
    try (Store store = Store.open(directory, SMALL)) {
      Counters<String> hits = Counters.open(store, "hits", KeyCodec.ofString());
      assertEquals(104, hits.sum(KeyRange.all()));
      assertEquals(97, hits.sum(KeyRange.before("c")));
      assertEquals(91, hits.reset("a"));
      assertEquals(0, hits.get("a"));
      assertEquals(0, hits.reset("a"));
      hits.increment("a");
      assertEquals(1, hits.get("a"));
    }
  }

  @Test
  void nothingIsLostAmongThreadsAndNoSumIsGivenTwice() throws Exception {
    int threads = 4;
    int rounds = 200;
    try (Store store = Store.open(directory, SMALL)) {
      Counters<Long> counters = Counters.open(store, "c", KeyCodec.ofLong());
      ExecutorService pool = Executors.newFixedThreadPool(threads);
      Set<Long> given = ConcurrentHashMap.newKeySet();
      List<Future<?>> done = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        done.add(
            pool.submit(
                () -> {
                  for (int i = 0; i < rounds; i++) {
                    counters.increment(1L);
                    if (i % 4 == 0) {
                      assertTrue(given.add(counters.addAndGet(2L, 1)));
                    }
                  }
                }));
      }
      for (Future<?> thread : done) {
        thread.get();
      }
      pool.shutdown();
      assertEquals(threads * rounds, counters.get(1L));
      assertEquals(threads * rounds / 4, counters.get(2L));
    }
  }

  @Test
  void anAdditionIsCountedOnceWhateverACrashLeaves() {
    StoreOptions synced =
        StoreOptions.builder()
            .memoryBudget(4 << 20)
            .pageSize(4096)
            .logLimit(1 << 20)
            .durability(Durability.SYNC)
            .build();
    SplittableRandom random = new SplittableRandom(5);
    SimulatedWorld world = new SimulatedWorld(5);
    long expected = 0;
    for (int round = 0; round < 12; round++) {
      Store store = world.open(synced);
      Counters<Long> counters = Counters.open(store, "c", KeyCodec.ofLong());
      assertEquals(expected, counters.get(1L));
      for (int i = random.nextInt(20); i > 0; i--) {
        long number = random.nextLong(-100, 100);
        counters.add(1L, number);
        expected += number;
      }
      CrashMode mode = CrashMode.values()[round % CrashMode.values().length];
      SimulatedWorld next = new SimulatedWorld(world.storage().crash(random.split(), mode), round);
      store.close();
      world = next;
    }
  }

  @Test
  void aTreeThatDoesNotAddIsRefused() {
    try (Store store = Store.open(directory, SMALL)) {
      store.openTree("plain");
      assertThrows(
          IllegalArgumentException.class, () -> Counters.open(store, "plain", KeyCodec.ofString()));
    }
  }
}
