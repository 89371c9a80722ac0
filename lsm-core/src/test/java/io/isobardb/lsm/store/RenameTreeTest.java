package io.isobardb.lsm.store;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.repair.StoreRepair;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RenameTreeTest {
  @TempDir private Path dir;

  @Test
  void handlesStayAndTheNameIsFreeForAnotherTree() {
    SimulatedWorld world = new SimulatedWorld(1);
    try (Store store = world.open(SimulatedStores.SMALL)) {
      Tree tree = store.openTree("old");
      tree.put(bytes("k"), bytes("v"));
      Snapshot snapshot = store.snapshot();
      Cursor cursor = tree.cursor();
      WriteBatch batch = store.newBatch().put(tree, bytes("later"), bytes("w"));
      Transaction transaction = store.begin();
      transaction.put(tree, bytes("last"), bytes("x"));
      store.renameTree("old", "new");
      assertEquals("new", tree.name());
      assertSame(tree, store.tree("new"));
      assertEquals(List.of("new"), store.treeNames());
      assertEquals(
          List.of("new"), store.stats().trees().stream().map(StoreStats.TreeStats::name).toList());
      assertTrue(cursor.first());
      assertEquals(1, tree.multiGet(List.of(bytes("k")), snapshot).size());
      store.write(batch);
      transaction.commit();
      store.openTree("old").put(bytes("k"), bytes("another"));
      cursor.close();
      snapshot.close();
    }
    Map<String, String> expected = Map.of("k", "v", "last", "x", "later", "w");
    try (Store store = world.open(SimulatedStores.SMALL)) {
      assertEquals(expected, SimulatedStores.contents(store.tree("new")));
      assertEquals(Map.of("k", "another"), SimulatedStores.contents(store.tree("old")));
    }
  }

  @Test
  void aNameThatIsTakenOrCantBeStoredOrIsNotThereIsRefused() {
    SimulatedWorld world = new SimulatedWorld(1);
    try (Store store = world.open(SimulatedStores.SMALL)) {
      store.openTree("a");
      store.openTree("b");
      for (String name : List.of("b", "a", "", "\ud800", "line\nbreak", "n".repeat(201))) {
        assertThrows(IllegalArgumentException.class, () -> store.renameTree("a", name), name);
      }
      Exception missing =
          assertThrows(IllegalArgumentException.class, () -> store.renameTree("c", "d"));
      assertTrue(missing.getMessage().contains("there is no tree 'c'"), missing.getMessage());
      assertEquals(List.of("a", "b"), store.treeNames());
    }
  }

  @Test
  void aCrashAtAnyCallLeavesOneNameAndAllThatIsInTheTree() {
    SimulatedWorld world = new SimulatedWorld(3);
    List<SimulatedStorage> crashed = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(3);
    try (Store store = world.open(SimulatedStores.SMALL)) {
      store.openTree("old").put(bytes("k"), bytes("v"), Durability.SYNC);
      world
          .storage()
          .onMutation(
              storage -> {
                for (CrashMode mode : CrashMode.values()) {
                  crashed.add(storage.crash(random.split(), mode));
                }
              });
      store.renameTree("old", "new");
      world.storage().onMutation(storage -> {});
    }
    assertTrue(crashed.size() >= CrashMode.values().length, crashed.size() + " crashes");
    Set<String> seen = new HashSet<>();
    for (SimulatedStorage storage : crashed) {
      try (Store store = new SimulatedWorld(storage, 4).open(SimulatedStores.SMALL)) {
        assertEquals(1, store.treeNames().size());
        String name = store.treeNames().get(0);
        seen.add(name);
        assertEquals(Map.of("k", "v"), SimulatedStores.contents(store.tree(name)));
      }
    }
    assertEquals(Set.of("old", "new"), seen);
  }

  @Test
  void repairFindsTheNewName() throws IOException {
    Path store = dir.resolve("store");
    StoreOptions options = StoreOptions.builder().memoryBudget(8 << 20).build();
    try (Store open = Store.open(store, options)) {
      Tree tree = open.openTree("old");
      tree.put(bytes("a"), bytes("1"));
      open.flush();
      open.renameTree("old", "new");
      tree.put(bytes("b"), bytes("2"));
      open.flush();
    }
    // Without a manifest only the SSTables know how their tree was called when they were written.
    try (DirectoryStream<Path> manifests = Files.newDirectoryStream(store, "MANIFEST-*")) {
      for (Path manifest : manifests) {
        Files.delete(manifest);
      }
    }
    Path repaired = dir.resolve("repaired");
    StoreRepair.run(store, repaired, options, CheckProgress.NONE);
    try (Store open = Store.open(repaired, options)) {
      assertEquals(List.of("new"), open.treeNames());
      Map<String, String> contents = SimulatedStores.contents(open.tree("new"));
      assertEquals(Map.of("a", "1", "b", "2"), contents);
    }
  }
}
