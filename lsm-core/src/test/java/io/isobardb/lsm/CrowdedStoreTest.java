package io.isobardb.lsm;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A store of so many trees that write memory has no page for each. */
@Tag("any-jdk")
class CrowdedStoreTest {
  private static final int TREES = 2000;

  private final SimulatedClock clock = new SimulatedClock();
  private final SimulatedStorage storage = new SimulatedStorage(clock);

  private Store open() {
    return Inside.open(
        new Environment(storage, clock, new SimulatedScheduler(clock, 1), new SplittableRandom(1)),
        StoreOptions.builder().memoryBudget(8 << 20).memoryTuner(false).build());
  }

  private static List<Tree> trees(Store store) {
    List<Tree> trees = new ArrayList<>();
    for (int i = 0; i < TREES; i++) {
      trees.add(store.openTree("t" + i));
    }
    return trees;
  }

  private static void put(List<Tree> trees, int from, int to) {
    for (int i = from; i < to; i++) {
      for (int t = 0; t < TREES; t++) {
        trees.get(t).put(key(i), value(t + i, 100));
      }
    }
  }

  /** A page for each would be four times the write memory. */
  @Test
  void aFewEntriesOfEachAreNotFlushed() {
    try (Store store = open()) {
      put(trees(store), 0, 3);
      assertEquals(0, store.stats().flushes());
      assertTrue(store.stats().writeMemoryBytes() < 2 << 20);
    }
  }

  @Test
  void aFlushHasManyEntriesAndNoneIsLost() {
    Store store = open();
    List<Tree> trees = trees(store);
    put(trees, 0, 20);
    long flushes = store.stats().flushes();
    assertTrue(flushes < 20L * TREES / 5, flushes + " flushes of " + 20 * TREES + " entries");
    assertTrue(store.stats().ledger().allocatedBytes() <= 8 << 20);
    store.close();
    try (Store again = open()) {
      trees = trees(again);
      for (int t = 0; t < TREES; t++) {
        for (int i = 0; i < 20; i++) {
          assertArrayEquals(value(t + i, 100), trees.get(t).get(key(i)));
        }
      }
    }
  }
}
