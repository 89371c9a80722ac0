package io.isobardb.lsm.recovery;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.RepairReport;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.repair.salvage.RepairJob;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A repair takes what is newest for the store, also where files alone tell otherwise. */
class RepairedLsnsTest {
  private static final int SEED = 1;
  private static final int FILLERS = 400;
  private static final RepairJob.Settings SETTINGS =
      new RepairJob.Settings(4 << 20, 1, StoreOptions.defaults().keyOrders(), new UUID(7, 8));

  private final SimulatedClock clock = new SimulatedClock();

  /** The log is read in parts, and takes more of the heap than it may in the middle of a record. */
  @Test
  void ofAKeyThatIsWrittenTwiceTheLastWriteCounts() throws IOException {
    SimulatedStorage damaged = new SimulatedStorage(clock);
    SimulatedStorage repaired = new SimulatedStorage(clock);
    try (Store store = SimulatedStores.open(damaged, clock, SEED)) {
      Tree tree = store.openTree("tree");
      WriteBatch batch = store.newBatch();
      batch.put(tree, bytes("put"), bytes("first"));
      batch.put(tree, bytes("deleted"), bytes("first"));
      for (int i = 0; i < FILLERS; i++) {
        batch.put(tree, key(i), value(i, 1000));
      }
      batch.put(tree, bytes("put"), bytes("last"));
      batch.delete(tree, bytes("deleted"));
      store.write(batch, Durability.SYNC);
      repair(damaged, repaired);
    }
    try (Store store = SimulatedStores.open(repaired.copy(), clock, SEED)) {
      Tree tree = store.tree("tree");
      assertArrayEquals(bytes("last"), tree.get(bytes("put")));
      assertNull(tree.get(bytes("deleted")));
      assertArrayEquals(value(7, 1000), tree.get(key(7)));
    }
  }

  /** Its files have the LSN of when it began, and the manifest has that of its commit. */
  @Test
  void aBulkLoadIsNewerThanWhatWasWrittenAfterItBegan() throws IOException {
    SimulatedStorage damaged = new SimulatedStorage(clock);
    SimulatedStorage repaired = new SimulatedStorage(clock);
    try (Store store = SimulatedStores.open(damaged, clock, SEED)) {
      Tree written = store.openTree("written");
      Tree deleted = store.openTree("deleted");
      try (BulkLoad load = store.bulkLoad(written, deleted)) {
        written.put(key(1), bytes("old"));
        deleted.deleteRange(null, null);
        load.add(written, key(1), bytes("loaded"));
        load.add(deleted, key(1), bytes("loaded"));
        load.commit();
      }
      store.sync();
      repair(damaged, repaired);
    }
    try (Store store = SimulatedStores.open(repaired.copy(), clock, SEED)) {
      assertArrayEquals(bytes("loaded"), store.tree("written").get(key(1)));
      assertArrayEquals(bytes("loaded"), store.tree("deleted").get(key(1)));
    }
  }

  /** Records of manifests still say it. */
  @Test
  void soItIsIfNothingTellsWhichManifestIsInForce() throws IOException {
    SimulatedStorage damaged = new SimulatedStorage(clock);
    SimulatedStorage repaired = new SimulatedStorage(clock);
    try (Store store = SimulatedStores.open(damaged, clock, SEED)) {
      Tree tree = store.openTree("tree");
      try (BulkLoad load = store.bulkLoad(tree)) {
        tree.put(key(1), bytes("old"));
        load.add(tree, key(1), bytes("loaded"));
        load.commit();
      }
      store.sync();
      SimulatedStorage copy = damaged.copy();
      copy.delete("CURRENT");
      RepairReport report = RepairJob.run(copy, repaired, SETTINGS, CheckProgress.NONE);
      assertEquals(1, report.losses().size());
    }
    try (Store store = SimulatedStores.open(repaired.copy(), clock, SEED)) {
      assertArrayEquals(bytes("loaded"), store.tree("tree").get(key(1)));
    }
  }

  private static void repair(SimulatedStorage damaged, SimulatedStorage repaired)
      throws IOException {
    RepairReport report = RepairJob.run(damaged.copy(), repaired, SETTINGS, CheckProgress.NONE);
    assertEquals(List.of(), report.losses());
  }
}
