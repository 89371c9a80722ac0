package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedWorld;
import org.junit.jupiter.api.Test;

/** Runs in memory are merged for those who scan them, while others write. */
class ScansAndMergesTest {
  private static final int KEYS = 2_000;
  private static final long SECOND = 1_000_000_000;

  private static StoreOptions options() {
    return ExperimentalOptions.set(
            StoreOptions.builder().memoryBudget(16 << 20).pageSize(4096),
            e -> e.activeTableSize(64 << 10))
        .memoryTuner(false)
        .build();
  }

  /** Writes one key after the other, and scans in between; gives the runs in memory at the end. */
  private static int runsAfter(int scans) {
    SimulatedWorld world = new SimulatedWorld(3);
    try (Store store = world.open(options())) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < KEYS; i++) {
        tree.put(key(i * 7 % KEYS), value(i, 100));
      }
      for (int i = 0; i < 400; i++) {
        tree.put(key(i), value(KEYS + i, 100));
        for (int scan = 0; scan < scans; scan++) {
          assertEquals(100, scan(tree, i % 1000));
        }
        world.background(4);
      }
      return store.stats().trees().get(0).memoryRuns();
    }
  }

  private static int scan(Tree tree, int from) {
    int seen = 0;
    try (Cursor cursor = tree.cursor()) {
      for (boolean more = cursor.seek(key(from)); more && seen < 100; more = cursor.next()) {
        seen++;
      }
    }
    return seen;
  }

  @Test
  void runsThatAreScannedAreMergedAndOthersNot() {
    int unread = runsAfter(0);
    assertTrue(unread >= 4, unread + " runs, and nothing to see");
    int scanned = runsAfter(5);
    assertTrue(scanned <= 2, scanned + " runs, of " + unread + " without the scans");
  }

  @Test
  void whatIsNotSealedIsPackedOnceScansHavePaidForThatAndNobodyWrites() {
    SimulatedWorld world = new SimulatedWorld(3);
    try (Store store = world.open(options())) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < KEYS; i++) {
        tree.put(key(i * 7 % KEYS), value(i, 100));
      }
      for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 1000; i++) {
          tree.put(key(i * 2), value(KEYS + i, 100));
        }
        scan(tree, 1000);
        world.pass(SECOND);
        assertEquals(0, Inside.handle(tree).activeTree().bytesUsed());
        for (int i = 0; i < 300; i++) {
          tree.put(key(i * 6), value(2 * KEYS + i, 100));
        }
        world.pass(SECOND);
        assertPackedWhenScanned(store, tree, world);
      }
    }
  }

  /** About 300 KB are worth 0.6 ms, and a scan counts as 7 us. */
  private static void assertPackedWhenScanned(Store store, Tree tree, SimulatedWorld world) {
    assertEquals(1, store.stats().trees().get(0).memoryRuns());
    long merges = store.stats().memoryMerges();
    scan(tree, 1000);
    world.pass(SECOND);
    assertEquals(merges, store.stats().memoryMerges());
    for (int i = 0; i < 200; i++) {
      scan(tree, 1000);
    }
    world.pass(SECOND);
    assertEquals(merges + 1, store.stats().memoryMerges());
    assertEquals(1, store.stats().trees().get(0).memoryRuns());
    for (int i = 0; i < 1000; i++) {
      scan(tree, 1000);
    }
    world.pass(SECOND);
    assertEquals(merges + 1, store.stats().memoryMerges());
  }
}
