package io.isobardb.lsm.store;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.observe.StoreProfile;
import io.isobardb.lsm.observe.StoreProfile.RunProfile;
import io.isobardb.lsm.observe.StoreProfile.TableReadStats;
import io.isobardb.lsm.observe.StoreProfile.TreeProfile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code Store.profile} tells of reads whose runs are known. */
class StoreProfileTest {
  /** One single get in so many is counted. */
  private static final int SAMPLE = 64;

  private static final int KEYS = 1000;
  private static final int COUNTED = 50;

  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(6 << 20).pageSize(4096).logLimit(2 << 20).build();

  @TempDir Path temp;

  /** Even keys in the last level, and every fourth of them deleted in L0. */
  private static Tree twoRuns(Store store) {
    Tree tree = store.openTree("t");
    for (int i = 0; i < KEYS; i++) {
      tree.put(key(2 * i), value(i, 100));
    }
    tree.compact(null, null);
    for (int i = 0; i < KEYS; i += 4) {
      tree.delete(key(2 * i));
    }
    store.flush();
    return tree;
  }

  private static TreeProfile profile(Store store) {
    return store.profile().trees().get(0);
  }

  private static RunProfile run(Store store, String place) {
    return profile(store).runs().stream()
        .filter(each -> each.place().startsWith(place))
        .findFirst()
        .orElseThrow();
  }

  private static void get(Tree tree, int key, boolean there) {
    for (int i = 0; i < SAMPLE * COUNTED; i++) {
      assertEquals(there, tree.get(key(key)) != null);
    }
  }

  @Test
  void getsAreCountedAtTheRunsThatTheyAsk() {
    try (Store store = Store.open(temp.resolve("store"), OPTIONS)) {
      Tree tree = twoRuns(store);
      assertEquals(TableReadStats.NONE, run(store, "last").reads());
      get(tree, 2 * 5, true);
      TableReadStats above = run(store, "L0").reads();
      TableReadStats last = run(store, "last").reads();
      assertEquals(new TableReadStats(COUNTED, above.passed(), 0, 0, 0, above.pagesRead()), above);
      assertEquals(new TableReadStats(COUNTED, COUNTED, COUNTED, 0, 0, last.pagesRead()), last);
      get(tree, 2 * 4, false);
      assertEquals(COUNTED, run(store, "L0").reads().deleted());
      assertEquals(COUNTED, run(store, "last").reads().asked());
      get(tree, 2 * 5 + 1, false);
      last = run(store, "last").reads();
      assertEquals(2 * COUNTED, last.asked());
      assertEquals(COUNTED, last.found());
      assertEquals(last.passed() - COUNTED, last.falsePositives());
      TreeProfile all = profile(store);
      assertEquals(3 * COUNTED, all.lookups());
      assertEquals(2 * COUNTED, all.foundOnDisk());
      assertEquals(COUNTED, all.absent());
    }
  }

  @Test
  void cursorsAndPagesThatAreReadAreCounted() {
    try (Store store = Store.open(temp.resolve("store"), OPTIONS)) {
      twoRuns(store);
    }
    try (Store store = Store.open(temp.resolve("store"), OPTIONS)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 3; i++) {
        try (Cursor cursor = tree.cursor()) {
          int entries = 0;
          for (boolean more = cursor.first(); more; more = cursor.next()) {
            entries++;
          }
          assertEquals(KEYS * 3 / 4, entries);
        }
      }
      RunProfile last = run(store, "last");
      assertEquals(3L * last.tables().size(), last.reads().cursors());
      // Each page once: then they are in the cache.
      long pages = last.bytes() / 4096;
      assertTrue(last.reads().pagesRead() > 0 && last.reads().pagesRead() <= pages, last::toString);
      assertEquals(
          last.reads(),
          last.tables().stream()
              .map(StoreProfile.TableProfile::reads)
              .reduce(TableReadStats.NONE, TableReadStats::plus));
    }
  }

  @Test
  void aClosedStoreHasTheProfileOfItsLastReads() throws IOException {
    Path file = temp.resolve("store").resolve(StoreProfile.FILE);
    String json;
    try (Store store = Store.open(temp.resolve("store"), OPTIONS)) {
      Tree tree = twoRuns(store);
      get(tree, 2 * 5, true);
      // The SSTables of trees that nobody reads are left out.
      store.openTree("unread").put(key(1), value(1, 10));
      store.flush();
      assertEquals(2, store.profile().trees().size());
      StoreProfile asked = store.profile().asked(100);
      assertEquals(1, asked.trees().size());
      assertEquals(run(store, "last").reads(), asked.trees().get(0).runs().get(1).reads());
      json = asked.toJson();
      assertEquals(0, store.profile().asked(0).trees().get(0).runs().get(1).tables().size());
      assertFalse(Files.exists(file));
    }
    assertEquals(List.of(json), Files.readAllLines(file));
    // Nothing is read, and then nothing may be written.
    Store.open(temp.resolve("store"), OPTIONS).close();
    try (Store store = Store.openReadOnly(temp.resolve("store"), OPTIONS)) {
      assertTrue(store.tree("t").contains(key(2 * 5)));
      try (Cursor cursor = store.tree("t").cursor()) {
        assertTrue(cursor.first());
      }
    }
    assertEquals(List.of(json), Files.readAllLines(file));
  }
}
