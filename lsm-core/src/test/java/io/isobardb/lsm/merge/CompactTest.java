package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.error.TreeDroppedException;
import io.isobardb.lsm.event.FailureLatch;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.MergeSchedule;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("any-jdk")
class CompactTest {
  private static final int KEYS = 3000;

  private static final StoreOptions OPTIONS =
      StoreOptions.builder()
          .memoryBudget(4 << 20)
          .writeMemory(512 << 10)
          .memoryTuner(false)
          .pageSize(4096)
          .logLimit(1 << 20)
          .build();

  @TempDir private Path dir;

  private static void fill(SimulatedWorld world, Tree tree, SplittableRandom random) {
    for (int i = 0; i < 4 * KEYS; i++) {
      tree.put(key(random.nextInt(KEYS)), value(i, 1500));
      world.background(i % 3 == 0 ? 1 : 0);
    }
  }

  private static StoreStats.TreeStats stats(Store store) {
    return store.stats().trees().get(0);
  }

  @Test
  void allOfATreeLiesInTheLastLevelAfterwardsWithoutWhatIsDeleted() {
    SimulatedWorld world = new SimulatedWorld(1);
    try (Store store = world.open(OPTIONS)) {
      Tree tree = store.openTree("t");
      fill(world, tree, new SplittableRandom(1));
      for (int i = 0; i < KEYS; i++) {
        if (i % 2 == 0) {
          tree.delete(key(i));
        }
      }
      tree.deleteRange(key(KEYS / 2), null);
      tree.compact(null, null);
      assertOnlyInTheLastLevel(stats(store));
      assertNull(tree.get(key(KEYS - 1)));
      int left = SimulatedStores.contents(tree).size();
      assertTrue(left > KEYS / 5, left + " keys");
      // Neither old versions nor delete markers.
      assertEquals(left, tree.approximateEntries());
      // There is nothing to do the second time.
      long before = store.stats().merges();
      tree.compact(null, null);
      assertEquals(before, store.stats().merges());
    }
  }

  /** What is flushed in the order of keys overlaps nothing, so that nothing else merges it. */
  @Test
  void manySmallSstablesBecomeOne() {
    SimulatedWorld world = new SimulatedWorld(3);
    try (Store store = world.open(OPTIONS)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 200; i++) {
        tree.put(key(i), value(i, 100));
        store.flush();
      }
      store.awaitQuiet();
      assertEquals(200, stats(store).tables());
      tree.compact(key(100), null);
      assertEquals(101, stats(store).tables());
      tree.compact(null, null);
      assertEquals(1, stats(store).tables());
      long before = store.stats().merges();
      tree.compact(null, null);
      assertEquals(before, store.stats().merges());
      for (int i = 0; i < 200; i++) {
        assertArrayEquals(value(i, 100), tree.get(key(i)));
      }
    }
  }

  /** SSTables are cut by the pages they have. Compressed, all of them are small files. */
  @Test
  void smallFilesOfManyPagesAreNotJoined() {
    SimulatedWorld world = new SimulatedWorld(4);
    try (Store store = world.open(OPTIONS)) {
      Tree tree = store.openTree("t", TreeOptions.builder().compression(Compression.LZ4).build());
      for (int i = 0; i < 1500; i++) {
        tree.put(key(i), new byte[900]);
      }
      AtomicInteger merges = new AtomicInteger();
      FailureLatch failure = Inside.of(store).engine().failure();
      store.addListener(
          new StoreListener() {
            @Override
            public void onMerged(Merge merge) {
              if (merges.incrementAndGet() == 200) {
                failure.fail(new AssertionError("it goes on for ever"));
              }
            }
          });
      tree.compact(null, null);
      StoreStats.TreeStats stats = stats(store);
      assertOnlyInTheLastLevel(stats);
      assertTrue(stats.tables() > 1, stats.tables() + " SSTables");
      long most = (long) MergeDown.SMALL_PAGES * OPTIONS.pageSize();
      assertTrue(stats.diskBytes() / stats.tables() < most, stats.diskBytes() + " bytes");
      long before = store.stats().merges();
      tree.compact(null, null);
      assertEquals(before, store.stats().merges());
    }
  }

  private static void assertOnlyInTheLastLevel(StoreStats.TreeStats stats) {
    List<Long> levels = stats.levelBytes();
    for (int i = 0; i < levels.size() - 1; i++) {
      assertEquals(0, levels.get(i), "level " + i + " of " + levels);
    }
  }

  @Test
  void aRangeIsMergedWithLittleElse() {
    SimulatedWorld world = new SimulatedWorld(2);
    try (Store store = world.open(OPTIONS)) {
      Tree tree = store.openTree("t");
      fill(world, tree, new SplittableRandom(2));
      tree.compact(null, null);
      for (int i = 0; i < KEYS / 3; i++) {
        tree.delete(key(i));
      }
      long all = tree.approximateBytes(null, null);
      long before = store.stats().mergeBytesWritten();
      tree.compact(key(0), key(KEYS / 3));
      assertEquals(0, tree.approximateBytes(key(0), key(KEYS / 4)));
      long written = store.stats().mergeBytesWritten() - before;
      assertTrue(written < all / 3, written + " of " + all + " bytes were written");
    }
  }

  @Test
  void whatASnapshotReadsStays() {
    SimulatedWorld world = new SimulatedWorld(3);
    try (Store store = world.open(OPTIONS)) {
      Tree tree = store.openTree("t");
      tree.put(key(1), bytes("one"));
      try (Snapshot snapshot = store.snapshot()) {
        tree.delete(key(1));
        tree.deleteRange(null, null);
        tree.compact(null, null);
        assertArrayEquals(bytes("one"), tree.get(key(1), snapshot));
        assertNull(tree.get(key(1)));
      }
      tree.compact(null, null);
      assertEquals(0, tree.approximateEntries());
    }
  }

  @Test
  void whatHasExpiredGoes() {
    SimulatedWorld world = new SimulatedWorld(5);
    try (Store store = world.open(OPTIONS)) {
      Tree tree = store.openTree("t");
      tree.put(key(1), bytes("one"), world.now().plusMillis(10));
      tree.put(key(2), bytes("two"));
      tree.compact(null, null);
      assertEquals(2, tree.approximateEntries());
      world.pass(20_000_000);
      tree.compact(null, null);
      assertEquals(1, tree.approximateEntries());
    }
  }

  @Test
  void bothBoundsAreCheckedAndAnEmptyTreeIsDoneAtOnce() {
    SimulatedWorld world = new SimulatedWorld(4);
    try (Store store = world.open(OPTIONS)) {
      Tree tree = store.openTree("t");
      assertThrows(IllegalArgumentException.class, () -> tree.compact(key(2), key(1)));
      tree.compact(null, null);
      store.dropTree("t");
      assertThrows(TreeDroppedException.class, () -> tree.compact(null, null));
    }
  }

  @Test
  void writersGoOnMeanwhileAndMergesThatArePostponedDoNotWait() throws InterruptedException {
    StoreOptions options =
        StoreOptions.builder()
            .memoryBudget(16 << 20)
            .mergeSchedule(MergeSchedule.afterLastWrite(Duration.ofHours(1)))
            .build();
    try (Store store = Store.open(dir.resolve("store"), options)) {
      Tree tree = store.openTree("t");
      AtomicReference<@Nullable Throwable> failed = new AtomicReference<>();
      Thread writer =
          new Thread(
              () -> {
                try {
                  for (int i = 0; i < 60_000; i++) {
                    tree.put(key(i % 20_000), value(i, 300));
                  }
                } catch (Throwable e) {
                  failed.set(e);
                }
              });
      writer.start();
      for (int i = 0; writer.isAlive(); i++) {
        tree.compact(i % 2 == 0 ? null : key(5000), null);
      }
      writer.join();
      assertNull(failed.get());
      tree.compact(null, null);
      assertOnlyInTheLastLevel(stats(store));
      assertEquals(20_000, SimulatedStores.contents(tree).size());
    }
  }

  @Test
  void closingTheStoreEndsTheWait() throws InterruptedException {
    Store store = Store.open(dir.resolve("store"), OPTIONS);
    Tree tree = store.openTree("t");
    for (int i = 0; i < 4 * KEYS; i++) {
      tree.put(key(i), value(i, 900));
    }
    AtomicReference<@Nullable Throwable> ended = new AtomicReference<>();
    Thread waiting =
        new Thread(
            () -> {
              try {
                while (true) {
                  tree.compact(null, null);
                  tree.put(key(1), value(1, 900));
                }
              } catch (Throwable e) {
                ended.set(e);
              }
            });
    waiting.start();
    while (store.stats().merges() == 0) {
      Thread.onSpinWait();
    }
    store.close();
    waiting.join();
    assertInstanceOf(StoreClosedException.class, ended.get());
  }
}
