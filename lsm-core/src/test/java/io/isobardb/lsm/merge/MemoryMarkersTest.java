package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Delete markers in memory go once nothing can lie below them. */
class MemoryMarkersTest {
  private static final int KEYS = 20_000;
  private static final int LEFT = 5_000;

  private final SimulatedWorld world = new SimulatedWorld(7);

  private static StoreOptions options() {
    return StoreOptions.builder()
        .memoryBudget(32 << 20)
        .pageSize(4096)
        .backgroundThreads(2)
        .logLimit(64 << 20)
        .build();
  }

  private static void fill(Tree tree) {
    for (int i = 0; i < KEYS; i++) {
      tree.put(key(i), value(i, 30));
    }
  }

  /** Deletes the first keys, as the consumer of a queue does. */
  private static void consume(Store store, Tree tree) {
    for (int i = 0; i < KEYS - LEFT; i++) {
      tree.delete(key(i));
      if (i % 1000 == 0) {
        seal(store, tree);
      }
    }
    seal(store, tree);
  }

  private static void seal(Store store, Tree tree) {
    Inside.of(store).parts().sealer().seal(Inside.handle(tree));
  }

  /** Merges what is sealed in memory, all of it. */
  private void merge(Store store, Tree tree) throws Exception {
    TreeHandle handle = Inside.handle(tree);
    world.background(1000);
    assertTrue(handle.memory().tryTake());
    int runs = handle.states().current().memoryRunCount();
    MemoryMergeChoice all =
        new MemoryMergeChoice(
            MemoryMergeChoice.Action.MERGE, runs, 0, MemoryMergeChoice.ALL, 1 << 20, 0);
    Engine engine = Inside.of(store).parts().engine();
    MemoryMergeJob job =
        new MemoryMergeJob(Inside.of(store).parts().memoryMerger(), engine, handle, all);
    boolean more = true;
    while (more) {
      more = job.step();
    }
    assertEquals(1, handle.states().current().memoryRunCount());
  }

  private static long entries(Tree tree) {
    List<Run> memory = Inside.handle(tree).states().current().memory();
    long entries = 0;
    for (Run run : memory) {
      for (Table table : run.tables()) {
        entries +=
            table instanceof Table.Stored stored
                ? stored.content().meta().entries()
                : ((Table.Written) table).content().entries();
      }
    }
    return entries;
  }

  private static void check(Tree tree) {
    for (int i = 0; i < KEYS; i += 7) {
      byte[] found = tree.get(key(i));
      if (i < KEYS - LEFT) {
        assertNull(found, "key " + i);
      } else {
        assertArrayEquals(value(i, 30), found, "key " + i);
      }
    }
    try (Cursor cursor = tree.cursor()) {
      assertTrue(cursor.first());
      assertArrayEquals(key(KEYS - LEFT), cursor.key());
    }
  }

  @Test
  void ofATreeThatIsInMemoryAloneTheyGoAndNoCrashBringsBackWhatTheyHid() throws Exception {
    try (Store store = world.open(options())) {
      Tree tree = store.openTree("t");
      fill(tree);
      consume(store, tree);
      store.sync();
      merge(store, tree);
      assertEquals(LEFT, entries(tree));
      check(tree);
      for (CrashMode mode : CrashMode.values()) {
        SimulatedStorage left = world.storage().crash(new SplittableRandom(3), mode);
        try (Store again = new SimulatedWorld(left, 8).open(options())) {
          check(again.openTree("t"));
        }
      }
    }
  }

  @Test
  void aSnapshotThatReadsBelowThemKeepsThem() throws Exception {
    try (Store store = world.open(options())) {
      Tree tree = store.openTree("t");
      fill(tree);
      try (Snapshot before = store.snapshot()) {
        consume(store, tree);
        store.sync();
        merge(store, tree);
        check(tree);
        for (int i = 0; i < KEYS; i += 7) {
          assertArrayEquals(value(i, 30), tree.get(key(i), before), "key " + i);
        }
      }
      assertTrue(entries(tree) >= 2 * (KEYS - LEFT), entries(tree) + " entries");
    }
  }

  @Test
  void thoseThatAreNotSyncedStay() throws Exception {
    StoreOptions seldom = options().toBuilder().asyncSyncInterval(Duration.ofHours(1)).build();
    try (Store store = world.open(seldom)) {
      Tree tree = store.openTree("t");
      fill(tree);
      store.sync();
      consume(store, tree);
      merge(store, tree);
      check(tree);
      assertTrue(entries(tree) >= KEYS, entries(tree) + " entries");
    }
  }

  @Test
  void thoseOfKeysThatMayLieOnDiskStay() throws Exception {
    try (Store store = world.open(options())) {
      Tree tree = store.openTree("t");
      fill(tree);
      store.flush();
      consume(store, tree);
      store.sync();
      merge(store, tree);
      check(tree);
      assertTrue(entries(tree) >= KEYS - LEFT, entries(tree) + " entries");
      store.flush();
      check(tree);
      assertNotNull(tree.get(key(KEYS - 1)));
    }
  }
}
