package io.isobardb.lsm.budget;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.memory.stats.Ledger;
import io.isobardb.memory.stats.Purpose;
import org.junit.jupiter.api.Test;

/** An idle or empty tree costs next to nothing. */
class ManyTreesTest {
  private static final int TREES = 2000;
  private static final long MOST_BYTES = 64 << 20;

  private static void assertSmall(Store store, String when) {
    Ledger ledger = store.stats().ledger();
    System.out.println(TREES + " trees " + when + ": " + ledger);
    assertTrue(ledger.allocatedBytes() < MOST_BYTES, () -> when + ": " + ledger);
    assertTrue(ledger.peakBytes() < MOST_BYTES, () -> when + ": " + ledger);
    assertTrue(ledger.bytes(Purpose.WRITE) < MOST_BYTES / 4, () -> when + ": " + ledger);
  }

  @Test
  void twoThousandEmptyTreesTakeLittleMemory() {
    StoreOptions options = StoreOptions.builder().memoryBudget(512 << 20).build();
    SimulatedWorld world = new SimulatedWorld(1);
    try (Store store = world.open(options)) {
      for (int i = 0; i < TREES; i++) {
        store.createTree("tree" + i, TreeOptions.defaults());
      }
      assertSmall(store, "made");
    }
    long start = System.nanoTime();
    try (Store store = world.open(options)) {
      System.out.println("opened in " + (System.nanoTime() - start) / 1_000_000 + " ms");
      assertEquals(TREES, store.treeNames().size());
      assertSmall(store, "opened");
      for (int i = 0; i < TREES; i++) {
        assertNull(store.tree("tree" + i).get(bytes("k")));
      }
      store.tree("tree1234").put(bytes("k"), bytes("v"));
      store.flush();
      assertArrayEquals(bytes("v"), store.tree("tree1234").get(bytes("k")));
      assertSmall(store, "looked at");
    }
  }
}
