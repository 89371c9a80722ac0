package io.isobardb.lsm.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.simulation.CrashMode;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * What merges leave out of an index with validation. {@code -Disobar.seed=S} sets the first seed,
 * {@code -Disobar.repair.seeds=N} how many there are.
 */
class MergeRepairTest {
  private static final long SEED = Long.getLong("isobar.seed", 1);
  private static final int SEEDS = Integer.getInteger("isobar.repair.seeds", 5);
  private static final int RECORDS = 200;

  /** Done once, by the extractor. */
  private Runnable meanwhile = () -> {};

  private Index index() {
    return Index.builder("i")
        .key(
            (key, value) -> {
              Runnable todo = meanwhile;
              meanwhile = () -> {};
              todo.run();
              return List.of(value);
            })
        .maintenance(Maintenance.VALIDATION)
        .build();
  }

  private Dataset open(Store store, boolean logged) {
    return Dataset.open(
        store,
        "d",
        DatasetOptions.builder()
            .primary(TreeOptions.builder().logged(logged).build())
            .index(index())
            .build());
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  /** Gives all records, or of a random part each, an index key of its own. */
  private static void write(Dataset dataset, String value, @Nullable SplittableRandom random) {
    for (int i = 0; i < RECORDS; i++) {
      if (random == null || random.nextBoolean()) {
        dataset.put(bytes("k" + i), bytes(i % 10 + value));
      }
    }
  }

  /** Groups of L0, each of which makes what was there before stale. */
  private static void rounds(Store store, Dataset dataset, int rounds) {
    for (int round = 0; round < rounds; round++) {
      write(dataset, "round" + round, null);
      store.flush();
    }
  }

  private static long found(Dataset dataset, Snapshot snapshot, String value) {
    long found = 0;
    for (int i = 0; i < 10; i++) {
      found += dataset.find(snapshot, "i", bytes(i + value)).size();
    }
    return found;
  }

  private static long dropped(Dataset dataset) {
    return dataset.indexes().get(0).staleDropped();
  }

  private static DatasetCheck.IndexCheck check(Dataset dataset) {
    DatasetCheck check = dataset.check();
    assertTrue(check.isSound(), check::toString);
    return check.indexes().get(0);
  }

  @Test
  void mergesLeaveOutWhatIsStale() {
    try (Store store = new SimulatedDatasets(SEED).open()) {
      Dataset dataset = open(store, true);
      rounds(store, dataset, 10);
      store.awaitQuiet();
      DatasetCheck.IndexCheck check = check(dataset);
      assertTrue(dropped(dataset) > 4 * RECORDS, "dropped: " + dropped(dataset));
      assertEquals(RECORDS + check.stale(), check.entries());
      assertEquals(10L * RECORDS, check.entries() + dropped(dataset));
      try (Snapshot now = store.snapshot()) {
        assertEquals(RECORDS, found(dataset, now, "round9"));
        assertEquals(0, found(dataset, now, "round8"));
      }
    }
  }

  @Test
  void aRangeDeleteAloneMakesEntriesStale() {
    try (Store store = new SimulatedDatasets(SEED).open()) {
      Dataset dataset = open(store, true);
      write(dataset, "gone", null);
      store.flush();
      dataset.deleteRange(bytes("k"), bytes("l"));
      // Merges of the index have something to do, and none of this is ever stale.
      for (int round = 0; round < 8; round++) {
        for (int i = 0; i < RECORDS; i++) {
          dataset.put(bytes("m" + round + "-" + i), bytes(i % 10 + "kept"));
        }
        store.flush();
      }
      for (String tree : store.treeNames()) {
        store.tree(tree).compact(null, null);
      }
      assertEquals(RECORDS, dropped(dataset));
      assertEquals(8 * RECORDS, check(dataset).entries());
      try (Snapshot now = store.snapshot()) {
        assertEquals(0, found(dataset, now, "gone"));
        assertEquals(8 * RECORDS, found(dataset, now, "kept"));
      }
    }
  }

  @Test
  void whatASnapshotFindsStays() {
    try (Store store = new SimulatedDatasets(SEED).open()) {
      Dataset dataset = open(store, true);
      rounds(store, dataset, 3);
      Snapshot then = store.snapshot();
      long before = dropped(dataset);
      rounds(store, dataset, 8);
      store.awaitQuiet();
      assertEquals(RECORDS, found(dataset, then, "round2"));
      assertTrue(dropped(dataset) - before <= 2 * RECORDS, "dropped: " + dropped(dataset));
      then.close();
      rounds(store, dataset, 4);
      store.awaitQuiet();
      assertTrue(dropped(dataset) - before > 4 * RECORDS, "dropped: " + dropped(dataset));
      check(dataset);
    }
  }

  /** Which a crash could take back: the index would lack what the records had before. */
  @Test
  void whatIsStaleByUnsyncedWritesGoesNoSoonerThanTheyAreSynced() {
    long dropped = 0;
    for (long seed = SEED; seed < SEED + SEEDS; seed++) {
      SimulatedDatasets world = new SimulatedDatasets(seed);
      SplittableRandom random = new SplittableRandom(seed);
      try (Store store = world.open()) {
        Dataset dataset = open(store, true);
        rounds(store, dataset, 3);
        store.sync();
        write(dataset, "synced", null);
        // Comes while a merge goes on, which asks for the index keys of a record.
        meanwhile = () -> write(dataset, "lost", random);
        store.flush();
        world.background(random.nextInt(40));
        meanwhile = () -> {};
        if (random.nextBoolean()) {
          // This syncs them.
          store.flush();
          world.background(random.nextInt(400));
        }
        dropped += dropped(dataset);
        world.use(world.crashed(CrashMode.ONLY_SYNCED));
      }
      try (Store again = world.open()) {
        Dataset dataset = open(again, true);
        DatasetCheck check = dataset.check();
        assertTrue(check.isSound(), "seed " + seed + ": " + check);
      }
    }
    long withoutThem = 3L * RECORDS * SEEDS;
    assertTrue(dropped > withoutThem, dropped + " dropped, of which " + withoutThem + " before");
  }

  @Test
  void whatCanNotBeToldStays() {
    try (Store store = new SimulatedDatasets(SEED).open()) {
      Dataset dataset = open(store, false);
      rounds(store, dataset, 5);
      store.awaitQuiet();
      assertEquals(4 * RECORDS, check(dataset).stale());
    }
    try (Store store = new SimulatedDatasets(SEED).open()) {
      Dataset dataset = open(store, true);
      rounds(store, dataset, 3);
      write(dataset, "last", null);
      meanwhile =
          () -> {
            throw new IllegalStateException("as if the extractor had a bug");
          };
      store.flush();
      store.awaitQuiet();
      assertEquals(0, dropped(dataset));
      assertEquals(3 * RECORDS, check(dataset).stale());
      write(dataset, "the store goes on", null);
    }
  }
}
