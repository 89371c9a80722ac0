package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.simulation.SimulatedWorld;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many small SSTables that overlap nothing become few. */
@Tag("any-jdk")
class SmallTablesTest {
  private static final long SECOND = 1_000_000_000;

  private final SimulatedWorld world = new SimulatedWorld(11);

  private Store open() {
    return world.open(StoreOptions.builder().memoryBudget(16 << 20).pageSize(4096).build());
  }

  private static int tables(Store store) {
    return store.stats().trees().get(0).tables();
  }

  @Test
  void whatIsCheckpointedInTheOrderOfKeysIsJoined() {
    int keys = 5 * SmallTables.FEWEST / 2;
    try (Store store = open()) {
      Tree tree = store.openTree("t", TreeOptions.builder().logged(false).build());
      int most = 0;
      for (int i = 0; i < keys; i++) {
        tree.put(key(i), value(i, 100));
        store.checkpoint();
        world.pass(SECOND / 8);
        most = Math.max(most, tables(store));
      }
      assertTrue(most < SmallTables.FEWEST + 50, most + " SSTables");
      world.pass(SECOND);
      assertTrue(tables(store) < SmallTables.FEWEST, tables(store) + " SSTables");
      for (int i = 0; i < keys; i++) {
        assertArrayEquals(value(i, 100), tree.get(key(i)));
      }
    }
  }

  @Test
  void thoseOfAnOpenedStoreAreJoinedThoughNobodyWrites() {
    int keys = SmallTables.FEWEST + 10;
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < keys; i++) {
        tree.put(key(i), value(i, 100));
        store.flush();
      }
      assertEquals(keys, tables(store));
    }
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      world.pass(5 * SECOND);
      assertTrue(tables(store) < keys / 2, tables(store) + " SSTables");
      assertArrayEquals(value(7, 100), tree.get(key(7)));
    }
  }

  @Test
  void fewerStay() {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < SmallTables.FEWEST - 10; i++) {
        tree.put(key(i), value(i, 100));
        store.flush();
      }
      world.pass(5 * SECOND);
      assertEquals(SmallTables.FEWEST - 10, tables(store));
    }
  }
}
