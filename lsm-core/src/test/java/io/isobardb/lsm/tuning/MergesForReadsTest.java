package io.isobardb.lsm.tuning;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.policy.Adaptation;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Level;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What is merged down because reads have paid for it, in a whole, simulated store. {@code
 * -Disobar.seed=S} sets the seed.
 */
@Tag("any-jdk")
class MergesForReadsTest {
  private static final long SEED = Long.getLong("isobar.seed", 1);
  private static final int RECORDS = 50_000;
  private static final int TENTH = RECORDS / 10;
  private static final int VALUE_BYTES = 1_000;

  /** A window has fewer operations. */
  private static final int WINDOW = 3_000;

  private final SimulatedWorld world = new SimulatedWorld(SEED);
  private final SplittableRandom random = new SplittableRandom(SEED);

  private Store open() {
    StoreOptions.Builder options =
        StoreOptions.builder()
            .memoryBudget(4 << 20)
            .writeMemory(512 << 10)
            .pageSize(16_384)
            .memoryTuner(false);
    ExperimentalOptions.set(options, e -> e.adaptation(Adaptation.ON).diskTableSize(256 << 10));
    return world.open(options.build());
  }

  private static byte[] key(int record) {
    return String.format("user%08d", record).getBytes(US_ASCII);
  }

  private static void put(Tree tree, int record) {
    byte[] value = new byte[VALUE_BYTES];
    Arrays.fill(value, (byte) record);
    tree.put(key(record), value);
  }

  /** A tree whose runs stay as they are: a last level, L1 above it, and L0. */
  private Tree build(Store store) {
    Tree tree = store.openTree("t", TreeOptions.builder().runs(Runs.leveled()).build());
    for (int i = 0; i < RECORDS; i++) {
      put(tree, i);
      world.background(1);
    }
    for (int i = 0; i < RECORDS * 3 / 10; i++) {
      put(tree, random.nextInt(RECORDS));
      world.background(4);
    }
    store.flush();
    world.background(100_000);
    return tree;
  }

  /** Pages that a scan has read in the mean, of those that begin in a tenth of the records. */
  private double scan(Store store, Tree tree, int scans, int first, int length) {
    long before = store.stats().cache().queryMisses();
    for (int i = 0; i < scans; i++) {
      int from = first + random.nextInt(TENTH - length);
      try (Cursor cursor = tree.cursor(CursorOptions.all().from(key(from)))) {
        boolean more = cursor.first();
        for (int j = 0; j < length && more; j++) {
          assertEquals((byte) (from + j), cursor.value()[0]);
          more = cursor.next();
        }
      }
      world.background(4);
    }
    return (double) (store.stats().cache().queryMisses() - before) / scans;
  }

  /** Numbers of the SSTables of L1, above the last level, that lie beyond a tenth. */
  private static Set<Long> outside(Tree tree, int first) {
    Level<SSTableMeta> above = above(tree);
    Set<Long> files = new HashSet<>();
    above.elements().forEach(table -> files.add(table.fileNumber()));
    above
        .overlapping(key(first), key(first + TENTH))
        .forEach(table -> files.remove(table.fileNumber()));
    return files;
  }

  private static Level<SSTableMeta> above(Tree tree) {
    return Inside.handle(tree).states().current().version().atHeight(1);
  }

  @Test
  void whatIsScannedIsMergedDownAndNothingElse() {
    try (Store store = open()) {
      Tree tree = build(store);
      assertTrue(above(tree).size() >= 30, above(tree).size() + " SSTables in L1");
      long merged = store.stats().mergeBytesWritten();
      for (int i = 0; i < 5 * WINDOW; i++) {
        assertNull(tree.get(absent()));
        world.background(4);
      }
      assertEquals(merged, store.stats().mergeBytesWritten(), "filters have answered");
      Set<Long> outside = outside(tree, 0);
      int inside = above(tree).size() - outside.size();
      double left = pagesLeft(store, tree, 0, 10);
      assertTrue(left < 0.7, left + " of the pages of a scan of 10");
      // An SSTable of L0 lies over a quarter of the keys, and is merged with what it lies over.
      Set<Long> still = outside(tree, 0);
      still.retainAll(outside);
      assertTrue(still.size() >= 0.7 * outside.size(), still.size() + " of " + outside.size());
      int scanned = above(tree).size() - outside(tree, 0).size();
      assertTrue(scanned <= inside / 2, scanned + " of " + inside + " that are scanned");
      left = pagesLeft(store, tree, RECORDS / 2, 100);
      assertTrue(left < 0.75, left + " of the pages of a scan of 100");
      StoreStats.TreeStats stats = store.stats().trees().get(0);
      assertEquals(store.stats().mergeBytesWritten() - merged, stats.mergeForReadsBytesWritten());
    }
  }

  /** A key that was not put, among those that were. */
  private byte[] absent() {
    byte[] put = key(random.nextInt(RECORDS));
    return Arrays.copyOf(put, put.length + 1);
  }

  /** Scans a tenth until that has been merged; the part of the pages that scans read then. */
  private double pagesLeft(Store store, Tree tree, int first, int length) {
    scan(store, tree, 500, first, length);
    double before = scan(store, tree, 500, first, length);
    scan(store, tree, 6 * WINDOW, first, length);
    double after = scan(store, tree, 500, first, length);
    return after / before;
  }
}
