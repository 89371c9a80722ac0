package io.isobardb.lsm.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What would take long to replay is flushed when a store is closed. */
class ClosingFlushTest {
  private static final StoreOptions LARGE =
      StoreOptions.builder().memoryBudget(256L << 20).writeMemory(160L << 20).build();

  private static final int VALUE_BYTES = 40_000;

  /** Some 80 MB. */
  private static final int LONG_LOG = 2_000;

  /** Some 20 MB. */
  private static final int SHORT_LOG = 500;

  private static void put(Store store, int count) {
    Tree tree = store.openTree("t");
    byte[] value = new byte[VALUE_BYTES];
    new SplittableRandom(1).nextBytes(value);
    for (int i = 0; i < count; i++) {
      tree.put(SimulatedStores.key(i), value);
    }
    store.openTree("small").put(SimulatedStores.key(0), value);
  }

  private static void check(Store store, int count) {
    Tree tree = store.tree("t");
    byte[] value = new byte[VALUE_BYTES];
    new SplittableRandom(1).nextBytes(value);
    for (int i = 0; i < count; i++) {
      assertArrayEquals(value, tree.get(SimulatedStores.key(i)));
    }
    assertArrayEquals(value, store.tree("small").get(SimulatedStores.key(0)));
  }

  @Test
  void aLongLogIsNotLeftToTheNextOpening(@TempDir Path dir) {
    try (Store store = Store.open(dir, LARGE)) {
      put(store, LONG_LOG);
      assertTrue(store.stats().diskBytes() < (long) LONG_LOG * VALUE_BYTES / 2);
    }
    try (Store store = Store.open(dir, LARGE)) {
      assertTrue(store.stats().diskBytes() > (long) LONG_LOG * VALUE_BYTES);
      // The small tree is not worth an SSTable.
      assertTrue(store.stats().writeMemoryBytes() > 0);
      assertTrue(store.stats().writeMemoryBytes() < 1 << 20);
      check(store, LONG_LOG);
    }
  }

  @Test
  void aShortOneIs(@TempDir Path dir) {
    try (Store store = Store.open(dir, LARGE)) {
      put(store, SHORT_LOG);
    }
    try (Store store = Store.open(dir, LARGE)) {
      assertEquals(0, store.stats().diskBytes());
      check(store, SHORT_LOG);
    }
  }

  private static Store open(SimulatedStorage disk, SimulatedClock clock) {
    SplittableRandom random = new SplittableRandom(1);
    SimulatedScheduler scheduler = new SimulatedScheduler(clock, random.nextLong());
    return Inside.open(new Environment(disk, clock, scheduler, random), LARGE);
  }

  @Test
  void aFullDiskDoesNotKeepAStoreFromBeingClosed() throws IOException {
    SimulatedClock clock = new SimulatedClock();
    SimulatedStorage disk = new SimulatedStorage(clock);
    try (Store store = open(disk, clock)) {
      put(store, LONG_LOG);
      disk.capacityBytes(0);
    }
    disk.capacityBytes(Long.MAX_VALUE);
    try (Store store = open(disk, clock)) {
      check(store, LONG_LOG);
    }
  }
}
