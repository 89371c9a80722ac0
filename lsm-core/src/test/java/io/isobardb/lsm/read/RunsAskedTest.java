package io.isobardb.lsm.read;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.observe.StoreStats.ExpectedCosts;
import io.isobardb.lsm.observe.StoreStats.TreeStats;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How many runs on disk readers look into, as the statistics tell. */
class RunsAskedTest {
  private static final int KEYS = 4000;

  /** Gets of one thread of which some are counted. */
  private static final int GETS = 64 * 20;

  @TempDir Path directory;

  private static byte[] key(int number) {
    return ByteBuffer.allocate(4).putInt(number).array();
  }

  private static byte[] value(int number) {
    return ByteBuffer.allocate(500).putInt(number).array();
  }

  private Store open() {
    return Store.open(directory, StoreOptions.builder().memoryBudget(8L << 20).build());
  }

  /** All even keys are in the last level, each hundredth of them in L0, too. */
  private void fill(int filterBits) {
    try (Store store = open()) {
      Tree tree = store.openTree("t", TreeOptions.builder().filterBitsPerKey(filterBits).build());
      for (int i = 0; i < KEYS; i++) {
        tree.put(key(2 * i), value(0));
      }
      tree.compact(null, null);
      for (int i = 0; i < KEYS; i += 100) {
        tree.put(key(2 * i), value(1));
      }
      tree.put(key(2 * KEYS), value(1));
      store.flush();
      assertEquals(1, stats(store).l0Groups());
    }
  }

  private static TreeStats stats(Store store) {
    return store.stats().trees().get(0);
  }

  /**
   * Gets keys in a store that was just opened.
   *
   * @param step from one key to the next
   * @param version of their values; below 0 if they are not there
   */
  private TreeStats get(int first, int step, int version) {
    try (Store store = open()) {
      Tree tree = store.tree("t");
      int most = (2 * KEYS - first) / step;
      for (int i = 0; i < GETS; i++) {
        byte[] found = tree.get(key(first + step * (i % most)));
        if (version < 0) {
          assertNull(found);
        } else {
          assertArrayEquals(value(version), found);
        }
      }
      return stats(store);
    }
  }

  @Test
  void withoutFiltersEachRunDownToTheOneThatAnswersIsAsked() {
    fill(0);
    TreeStats inL0 = get(0, 200, 1);
    assertEquals(1.0, inL0.expected().spaceAmplification(), 1e-6);
    assertEquals(1.0, inL0.readers().readAmplification());
    assertTrue(inL0.readers().lookups() > 10, inL0.readers()::toString);
    assertEquals(2.0, get(2, 200, 0).readers().readAmplification());
    TreeStats absent = get(1, 2, -1);
    assertEquals(2.0, absent.readers().readAmplification());
    assertEquals(absent.readers().lookups(), absent.readers().absent());
    assertEquals(2.0, absent.expected().readAmplification(), 0.1);
  }

  @Test
  void filtersSpareRunsAsManyAsTheirSizesLetExpect() {
    fill(10);
    TreeStats below = get(2, 200, 0);
    assertTrue(below.readers().readAmplification() < 1.3, below.readers()::toString);
    assertEquals(1.0, below.expected().readAmplification(), 0.05);
    TreeStats absent = get(1, 2, -1);
    assertTrue(absent.readers().readAmplification() < 0.3, absent.readers()::toString);
    assertEquals(0.02, absent.expected().readAmplification(), 0.02);
  }

  @Test
  void whatMemoryAnswersAsksNothing() {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      assertEquals(0.0, stats(store).readers().readAmplification());
      assertEquals(new ExpectedCosts(0, 0, 0), stats(store).expected());
      tree.put(key(1), value(1));
      for (int i = 0; i < GETS; i++) {
        tree.get(key(1));
      }
      assertEquals(0.0, stats(store).readers().readAmplification());
      assertTrue(stats(store).readers().lookups() > 10);
      assertEquals(0.0, stats(store).readers().scanAmplification());
    }
  }

  @Test
  void aCursorOpensAllRunsOnDisk() {
    fill(10);
    try (Store store = open()) {
      Tree tree = store.tree("t");
      for (int i = 0; i < 3; i++) {
        try (Cursor cursor = tree.cursor()) {
          assertTrue(cursor.first());
        }
      }
      assertEquals(3, stats(store).readers().scans());
      assertEquals(2.0, stats(store).readers().scanAmplification());
    }
  }
}
