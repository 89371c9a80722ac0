package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.observe.StoreStats.TreeStats;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.state.ReadLoss;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A tree that is read and not written to becomes one run on disk once reads have paid for it. */
@Tag("any-jdk")
class SettlerTest {
  private static final int KEYS = 3_000;
  private static final int LARGE = 32_000;
  private static final int FITTING = 14_000;
  private static final long SECOND = 1_000_000_000;
  private static final long MB = 1 << 20;

  private final SimulatedWorld world = new SimulatedWorld(5);

  private Store open(long budget) {
    return world.open(
        StoreOptions.builder().memoryBudget(budget).pageSize(4096).memoryTuner(false).build());
  }

  /** Some of the keys on the last level, all of them once more in memory. */
  private static Tree twice(Store store) {
    Tree tree = store.openTree("t");
    for (int i = 0; i < KEYS; i += 2) {
      tree.put(key(i), value(i, 100));
    }
    tree.compact(null, null);
    for (int i = 0; i < KEYS; i++) {
      tree.put(key(i), value(KEYS + i, 100));
    }
    tree.delete(key(7));
    return tree;
  }

  private static int scan(Tree tree) {
    int seen = 0;
    try (Cursor cursor = tree.cursor()) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        seen++;
      }
    }
    return seen;
  }

  private static TreeStats stats(Store store) {
    return store.stats().trees().get(0);
  }

  private static boolean isOneRun(Store store) {
    return stats(store).memoryBytes() == 0 && store.profile().trees().get(0).runs().size() == 1;
  }

  @Test
  void aTreeThatIsReadAndNotWrittenToBecomesOneRun() {
    try (Store store = open(16 * MB)) {
      Tree tree = twice(store);
      world.pass(SECOND);
      assertTrue(stats(store).memoryBytes() > 0);
      assertEquals(KEYS - 1, scan(tree));
      world.pass(SECOND);
      assertTrue(stats(store).memoryBytes() > 0, "a single scan has not paid for it");
      scanUntilPaid(tree);
      world.pass(SECOND);
      assertTrue(isOneRun(store), () -> store.profile().trees().get(0).runs().toString());
      assertEquals(KEYS - 1, scan(tree));
      assertArrayEquals(value(KEYS + 8, 100), tree.get(key(8)));
      assertTrue(stats(store).mergeForReadsBytesWritten() > 0);
    }
  }

  /** About 1 MB costs 2 ms, and a step over one run more counts as 50 ns. */
  private static void scanUntilPaid(Tree tree) {
    for (int i = 0; i < 60; i++) {
      scan(tree);
    }
  }

  @Test
  void scansThatPassDeleteMarkersPayByThese() {
    try (Store store = open(16 * MB)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < KEYS; i++) {
        tree.put(key(i), value(i, 100));
      }
      tree.compact(null, null);
      for (int i = 0; i < KEYS; i++) {
        tree.delete(key(i));
      }
      world.pass(SECOND);
      assertEquals(0, scan(tree));
      world.pass(SECOND);
      assertTrue(stats(store).memoryBytes() > 0, "a single scan has not paid for it");
      for (int i = 0; i < 20; i++) {
        assertEquals(0, scan(tree));
      }
      world.pass(SECOND);
      assertEquals(0, stats(store).memoryBytes() + stats(store).diskBytes());
    }
  }

  /** A queue: one is put at the end, the first one is looked for and deleted. */
  @Test
  void aQueueIsRidOfDeleteMarkersBesideWrites() {
    try (Store store = open(16 * MB)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < KEYS; i++) {
        tree.put(key(i), value(i, 100));
      }
      tree.compact(null, null);
      long before = stats(store).diskBytes();
      for (int i = 0; i < KEYS; i++) {
        tree.put(key(KEYS + i), value(i, 1));
        try (Cursor cursor = tree.cursor()) {
          assertTrue(cursor.first());
          assertArrayEquals(key(i), cursor.key());
        }
        tree.delete(key(i));
        world.pass(SECOND / 100);
      }
      assertTrue(stats(store).diskBytes() < before / 2, "what was deleted is gone");
      assertTrue(stats(store).mergeForReadsBytesWritten() < 20 * before, "and not too often");
      assertEquals(KEYS, scan(tree));
    }
  }

  @Test
  void readsBesideWritesPayForNothing() {
    try (Store store = open(16 * MB)) {
      Tree tree = twice(store);
      for (int i = 0; i < 40; i++) {
        scanUntilPaid(tree);
        tree.put(key(i), value(i, 100));
        world.pass(SECOND / 20);
      }
      world.pass(SECOND);
      assertTrue(stats(store).memoryBytes() > 0);
    }
  }

  @Test
  void lookupsCountAgainstItUntilTheyAreOver() {
    try (Store store = open(16 * MB)) {
      Tree tree = twice(store);
      world.pass(SECOND);
      for (int i = 0; i < 10; i++) {
        for (int k = 0; k < 100_000; k++) {
          tree.get(key(k % KEYS));
        }
        scanUntilPaid(tree);
        world.pass(SECOND);
        assertTrue(stats(store).memoryBytes() > 0, "lookups have gained more than scans have lost");
      }
      scanUntilPaid(tree);
      world.pass(SECOND);
      assertTrue(isOneRun(store), "what lookups have gained is past");
    }
  }

  @Test
  void aTreeThatDoesNotFitIntoTheBudgetIsLeftAlone() {
    try (Store store = open(4 * MB)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 40_000; i++) {
        tree.put(key(i), value(i, 100));
      }
      tree.compact(null, null);
      for (int i = 0; i < 8_000; i++) {
        tree.put(key(i), value(1, 100));
      }
      world.pass(SECOND);
      for (int i = 0; i < 40; i++) {
        scan(tree);
      }
      world.pass(SECOND);
      assertTrue(stats(store).memoryBytes() > 0);
    }
  }

  /** All keys on the last level, and again in L0. */
  private static Tree large(Store store) {
    Tree tree = store.openTree("t");
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < LARGE; i++) {
        tree.put(key(i * 7919 % LARGE), value(round, 100));
      }
      if (round == 0) {
        tree.compact(null, null);
      }
    }
    return tree;
  }

  private static void scanShortly(Tree tree, int scans) {
    for (int i = 0; i < scans; i++) {
      try (Cursor cursor = tree.cursor()) {
        assertTrue(cursor.seek(key(i * 6007 % (LARGE / 2))));
        assertTrue(cursor.next());
      }
    }
  }

  @Test
  void aLargerTreeGoesDownWhereScansHaveWaited() {
    try (Store store = open(4 * MB)) {
      Tree tree = large(store);
      world.pass(SECOND);
      int groups = stats(store).l0Groups();
      long above = stats(store).diskBytes() - lastLevelBytes(store);
      assertTrue(groups > 1 && above > MB, groups + " groups, " + above + " bytes");
      scanShortly(tree, 200);
      world.pass(SECOND);
      assertEquals(0, stats(store).mergeForReadsBytesWritten(), "they have not paid for it");
      for (int i = 0; i < 8; i++) {
        scanShortly(tree, 800);
        world.pass(SECOND / 4);
      }
      assertTrue(stats(store).mergeForReadsBytesWritten() > 0);
      long left = stats(store).diskBytes() - lastLevelBytes(store);
      assertTrue(left < 0.7 * above, left + " of " + above + " bytes are left above");
      assertTrue(left > 0.2 * above, "what nobody scans stays, save " + left + " of " + above);
      assertTrue(stats(store).memoryBytes() > 0, "what is in memory stays there");
      assertEquals(LARGE, scan(tree));
      assertArrayEquals(value(1, 100), tree.get(key(8)));
    }
  }

  @Test
  void aLargerTreeWithNothingInMemoryGoesDownToo() {
    try (Store store = open(4 * MB)) {
      Tree tree = large(store);
      store.flush();
      world.pass(SECOND);
      assertTrue(stats(store).l0Groups() > 0);
      for (int i = 0; i < 4; i++) {
        scanShortly(tree, 800);
        world.pass(SECOND / 4);
      }
      assertTrue(stats(store).mergeForReadsBytesWritten() > 0);
    }
  }

  /** Twice as much as fits, and all of it twice: as one run it fits. */
  @Test
  void aTreeThatFitsOnceItIsMergedBecomesOneRun() {
    try (Store store = open(4 * MB)) {
      Tree tree = store.openTree("t");
      for (int round = 0; round < 2; round++) {
        for (int i = 0; i < FITTING; i++) {
          tree.put(key(i * 7919 % FITTING), value(round, 100));
        }
        if (round == 0) {
          tree.compact(null, null);
        }
      }
      world.pass(SECOND);
      TreeStats before = stats(store);
      long all = before.memoryBytes() + before.diskBytes();
      assertTrue(all > 3 * MB && before.memoryBytes() > 0, all + " bytes");
      for (int i = 0; i < 20 && !isOneRun(store); i++) {
        scan(tree);
        world.pass(SECOND / 4);
      }
      assertTrue(isOneRun(store), () -> store.profile().trees().get(0).runs().toString());
      assertTrue(stats(store).diskBytes() < 0.75 * 4 * MB);
      assertEquals(FITTING, scan(tree));
    }
  }

  private static long lastLevelBytes(Store store) {
    List<Long> levels = stats(store).levelBytes();
    return levels.get(levels.size() - 1);
  }

  @Test
  void lookupsThatFindWhatTheyAskForHaveWaitedForNothing() {
    try (Store store = open(4 * MB)) {
      Tree tree = large(store);
      world.pass(SECOND);
      for (int i = 0; i < 10_000; i++) {
        tree.get(key(i * 6007 % LARGE));
      }
      scanShortly(tree, 100);
      world.pass(SECOND);
      assertEquals(0, stats(store).mergeForReadsBytesWritten());
    }
  }

  @Test
  void aTreeThatIsNearlyOneRunIsLeftAlone() {
    try (Store store = open(16 * MB)) {
      Tree tree = twice(store);
      tree.compact(null, null);
      for (int i = 0; i < KEYS / 20; i++) {
        tree.put(key(i), value(1, 100));
      }
      world.pass(SECOND);
      scanUntilPaid(tree);
      world.pass(SECOND);
      assertTrue(stats(store).memoryBytes() > 0);
    }
  }

  @Test
  void whatASnapshotSeesStays() {
    try (Store store = open(16 * MB)) {
      Tree tree = twice(store);
      try (Snapshot snapshot = store.snapshot()) {
        tree.put(key(8), value(1, 100));
        tree.delete(key(10));
        world.pass(SECOND);
        scanUntilPaid(tree);
        world.pass(SECOND);
        assertTrue(isOneRun(store));
        assertArrayEquals(value(KEYS + 8, 100), tree.get(key(8), snapshot));
        assertArrayEquals(value(KEYS + 10, 100), tree.get(key(10), snapshot));
        assertArrayEquals(value(1, 100), tree.get(key(8)));
      }
    }
  }

  @Test
  void thePriceIsThatOfFlushingAndMerging() {
    int unit = Settler.NANOS_PER_BYTE;
    assertEquals(unit * 300, price(2, 100, 100, 100));
    assertEquals(unit * 100, price(4, 100, 100, 100), "each run more loses that");
    assertEquals(Long.MAX_VALUE, price(1, 0, 100, 100), "it is one run");
    assertEquals(Long.MAX_VALUE, price(3, 100, 0, 50), "nothing is on disk");
    assertEquals(Long.MAX_VALUE, price(2, 100, 700, 700), "it does not fit");
    assertEquals(unit * 850, price(2, 100, 650, 650));
    assertEquals(unit * 500, price(2, 50, 400, 400));
    assertEquals(Long.MAX_VALUE, price(2, 50, 401, 401), "it is nearly one run");
  }

  @Test
  void aCallForASmallPageTakesNearlyAsLongAsForALargerOne() {
    assertEquals(
        8192, Settler.waitedBytes(8192), "a page of a merge is as dear as one of a reader");
    assertEquals(7168, Settler.waitedBytes(4096));
    assertEquals(22_528, Settler.waitedBytes(65_536));
  }

  @Test
  void pagesThatWereWaitedForCountIfAllFitsOnceItIsMerged() {
    long mb = 1_000_000;
    var large = new Settler.Sizes(3, 100 * mb, 1100 * mb, 700 * mb);
    long nanos = Settler.NANOS_PER_BYTE * 1300 * mb;
    assertEquals(Long.MAX_VALUE, price(large, 0.35, 0));
    assertEquals(nanos / 2, price(large, 0.4, 0));
    assertEquals((nanos - Settler.NANOS_PER_PAGE * 1000L) / 2, price(large, 0.4, 1000));
    assertEquals(0, price(large, 0.4, mb));
    var fitting = new Settler.Sizes(3, 100 * mb, 600 * mb, 400 * mb);
    assertEquals(price(fitting, 0.4, 0), price(fitting, 0.4, mb), "it is read once, merged or not");
  }

  @Test
  void markersPayEightTimesBesideWrites() {
    Settler.Sizes sizes = new Settler.Sizes(2, MB, 2 * MB, 2 * MB);
    long price = 8 * 2 * 4 * MB;
    assertTrue(Settler.markersPayBesideWrites(sizes, price, 16 * MB));
    assertFalse(Settler.markersPayBesideWrites(sizes, price - 8, 16 * MB));
    assertFalse(Settler.markersPayBesideWrites(sizes, price, 3 * MB), "it does not fit");
    Settler.Sizes inMemory = new Settler.Sizes(2, MB, 0, MB);
    assertFalse(Settler.markersPayBesideWrites(inMemory, price, 16 * MB), "nothing to flush to");
  }

  @Test
  void markersPayForAllThatIsRewrittenWhateverTheRuns() {
    var nearlyOne = new Settler.Sizes(2, 95, 5, 95);
    long nanos = Settler.NANOS_PER_BYTE * 195;
    assertTrue(markersPay(nearlyOne, nanos, 1000));
    assertFalse(markersPay(nearlyOne, nanos - 1, 1000));
    assertFalse(markersPay(new Settler.Sizes(2, 100, 0, 95), nanos, 1000), "nothing is on disk");
    assertFalse(markersPay(nearlyOne, nanos, 50), "more is rewritten than would fit");
    assertTrue(markersPay(new Settler.Sizes(3, 30, 70, 40), nanos, 50), "it fits without them");
  }

  private static boolean markersPay(Settler.Sizes sizes, long nanos, long budget) {
    var scans = new ReadLoss.Scans(0, 1, 9, nanos);
    return Settler.markersPay(sizes, new Settler.Reads(scans, 0), budget);
  }

  private static long price(Settler.Sizes sizes, double passedPart, long pages) {
    long passed = Math.round(1000 * passedPart);
    var scans = new ReadLoss.Scans(0, 1000 - passed, passed, 0);
    return Settler.priceNanos(sizes, new Settler.Reads(scans, pages), 1_000_000_000);
  }

  private static long price(int runs, long memory, long disk, long largest) {
    var reads = new Settler.Reads(new ReadLoss.Scans(0, 0, 0, 0), 0);
    return Settler.priceNanos(new Settler.Sizes(runs, memory, disk, largest), reads, 1000);
  }
}
