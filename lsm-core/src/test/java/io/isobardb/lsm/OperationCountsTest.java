package io.isobardb.lsm;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.observe.OperationStats;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OperationCountsTest {
  private static final StoreOptions OPTIONS = StoreOptions.builder().memoryBudget(16 << 20).build();

  @TempDir Path dir;

  private static StoreStats.TreeStats of(Store store, String tree) {
    return store.stats().trees().stream()
        .filter(stats -> stats.name().equals(tree))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aMergeSetsAKeyAndARangeDeleteRemoves() {
    try (Store store = Store.open(dir, OPTIONS)) {
      Tree sums =
          store.openTree("t", TreeOptions.builder().mergeOperator(MergeOperator.ADD_LONG).build());
      byte[] one = ByteBuffer.allocate(8).putLong(1).array();
      sums.merge(key(1), one);
      WriteBatch batch = store.newBatch();
      batch.merge(sums, key(2), one);
      store.write(batch);
      sums.deleteRange(key(1), key(2));
      OperationStats counted = of(store, "t").operations();
      assertEquals(2, counted.puts());
      assertEquals(1, counted.deletes());
    }
  }

  @Test
  void eachOperationCountsOnceWhateverItTakes() {
    try (Store store = Store.open(dir, OPTIONS)) {
      Tree tree = store.openTree("t");
      Tree other = store.openTree("u");
      // Small, larger than what is copied at first, and in pages of its own.
      int[] sizes = {10, 2000, 6000, 100_000};
      long bytes = 0;
      for (int i = 0; i < sizes.length; i++) {
        tree.put(key(i), value(i, sizes[i]));
        bytes += key(i).length + sizes[i];
      }
      for (int round = 0; round < 2; round++) {
        long before = of(store, "t").operations().gets();
        for (int i = 0; i < sizes.length; i++) {
          assertNotNull(tree.get(key(i)));
          assertEquals(sizes[i], tree.read(key(i), ByteBuffer::remaining));
          assertEquals(sizes[i], tree.get(key(i), ByteBuffer.allocate(5)));
        }
        assertNull(tree.get(key(99)));
        assertEquals(4, tree.multiGet(List.of(key(0), key(3), key(2), key(77))).size());
        assertEquals(3 * sizes.length + 1 + 4, of(store, "t").operations().gets() - before);
        // The same again from disk.
        store.flush();
      }
      tree.delete(key(0));
      WriteBatch batch = store.newBatch();
      batch.put(tree, key(5), value(5, 7));
      batch.delete(other, key(6));
      store.write(batch);
      store.inTransaction(
          transaction -> {
            transaction.put(tree, key(8), value(8, 9));
            assertNotNull(transaction.get(tree, key(8)));
            return transaction.get(tree, key(1));
          });
      bytes += 2L * key(0).length + 7 + key(8).length + 9;
      int moves = 0;
      try (Cursor cursor = tree.cursor()) {
        for (boolean on = cursor.first(); on; on = cursor.next()) {
          moves++;
        }
      }
      long gets = 2 * (3 * sizes.length + 5) + 1;
      assertEquals(new OperationStats(gets, 6, 1, 1, moves, bytes), of(store, "t").operations());
      assertEquals(new OperationStats(0, 0, 1, 0, 0, key(6).length), of(store, "u").operations());
      StoreStats stats = store.stats();
      assertEquals(
          of(store, "t").operations().plus(of(store, "u").operations()), stats.operations());
      assertEquals(1, stats.batches());
      assertTrue(stats.writeAmplification() >= 1, stats.toString());
      assertTrue(of(store, "t").flushBytesWritten() >= 100_000, stats.toString());
    }
  }

  @Test
  void whatIsReplayedDoesNotCountAndWhatWasDroppedDoes() {
    try (Store store = Store.open(dir, OPTIONS)) {
      store.openTree("t").put(key(1), value(1, 10));
      store.openTree("gone").put(key(1), value(1, 10));
      store.openTree("gone").put(key(2), value(1, 10));
      store.dropTree("gone");
      assertEquals(3, store.stats().operations().puts());
      assertEquals(1, store.stats().trees().size());
    }
    try (Store store = Store.open(dir, OPTIONS)) {
      assertNotNull(store.openTree("t").get(key(1)));
      assertEquals(new OperationStats(1, 0, 0, 0, 0, 0), store.stats().operations());
    }
  }

  @Test
  void theOldestUnsyncedWriteAgesUntilTheLogIsSynced() {
    SimulatedClock clock = new SimulatedClock();
    SimulatedStorage storage = new SimulatedStorage(clock);
    SimulatedScheduler scheduler = new SimulatedScheduler(clock, 1);
    try (Store store = SimulatedStores.open(storage, clock, scheduler, 1)) {
      Tree tree = store.openTree("t");
      tree.put(key(0), value(0, 10), Durability.SYNC);
      assertEquals(0, store.stats().unsyncedNanos());
      tree.put(key(1), value(1, 10), Durability.ASYNC);
      clock.advance(5_000_000);
      long age = store.stats().unsyncedNanos();
      assertTrue(age >= 5_000_000 && age < 10_000_000, "aged " + age);
      store.sync();
      assertEquals(0, store.stats().unsyncedNanos());
      clock.advance(5_000_000);
      tree.put(key(2), value(2, 10), Durability.ASYNC);
      age = store.stats().unsyncedNanos();
      assertTrue(age < 1_000_000, "aged " + age + ", though all before was synced");
    }
  }

  @Test
  void manyThreadsLoseNoCount() throws InterruptedException {
    int threads = 6;
    int rounds = 5000;
    try (Store store = Store.open(dir, OPTIONS)) {
      Tree tree = store.openTree("t");
      List<Thread> running = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        int first = i * rounds;
        Thread thread =
            new Thread(
                () -> {
                  for (int round = 0; round < rounds; round++) {
                    tree.put(key(first + round), value(round, 20));
                    tree.get(key(first + round));
                  }
                });
        running.add(thread);
        thread.start();
      }
      for (Thread thread : running) {
        thread.join();
      }
      StoreStats stats = store.stats();
      long all = (long) threads * rounds;
      assertEquals(
          new OperationStats(all, all, 0, 0, 0, all * (key(0).length + 20)), stats.operations());
      // One call in 64 is timed.
      assertEquals(all / 64.0, stats.latencies().gets().count(), all / 640.0);
      assertEquals(all / 64.0, stats.latencies().writes().count(), all / 640.0);
      assertEquals(0, stats.latencies().batches().count());
      assertTrue(stats.latencies().gets().quantileNanos(0.5) > 0);
    }
  }
}
