package io.isobardb.lsm.backup;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.contents;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class CheckpointTest {
  private static final TreeOptions UNLOGGED = TreeOptions.builder().logged(false).build();
  private static final int KEYS = 10;
  private static final int STEPS = 45;
  private static final long SEED = Long.getLong("isobar.seed", 20_240_501L);

  private final SimulatedClock clock = new SimulatedClock();

  /** What both unlogged trees hold after so many steps of the script. */
  private static Map<String, String> after(int steps) {
    Map<String, String> state = new TreeMap<>();
    for (int i = 0; i < steps; i++) {
      if (i % 7 == 3) {
        state.remove("key" + (i + 5) % KEYS);
      } else {
        state.put("key" + i % KEYS, "value" + i);
      }
    }
    return state;
  }

  private static void step(Tree tree, int i) {
    if (i % 7 == 3) {
      tree.delete(bytes("key" + (i + 5) % KEYS));
    } else {
      tree.put(bytes("key" + i % KEYS), bytes("value" + i));
    }
  }

  private Store open(SimulatedStorage storage) {
    return SimulatedStores.open(storage, clock, SEED);
  }

  @Test
  void afterACrashAllUnloggedTreesStandAtTheLastCheckpoint() {
    SimulatedStorage storage = new SimulatedStorage(clock);
    SimulatedStorage crashed;
    try (Store store = open(storage)) {
      Tree a = store.openTree("a", UNLOGGED);
      Tree b = store.openTree("b", UNLOGGED);
      Tree logged = store.openTree("logged");
      a.put(bytes("k"), bytes("before"));
      b.put(bytes("k"), bytes("before"));
      store.checkpoint();
      a.put(bytes("k"), bytes("after"));
      a.put(bytes("new"), bytes("after"));
      store.flush();
      b.delete(bytes("k"));
      logged.put(bytes("k"), bytes("after"), Durability.SYNC);
      crashed = storage.crash(new SplittableRandom(SEED), CrashMode.ALL);
    }
    try (Store store = open(crashed)) {
      assertEquals(Map.of("k", "before"), contents(store.tree("a")));
      assertEquals(Map.of("k", "before"), contents(store.tree("b")));
      assertEquals(Map.of("k", "after"), contents(store.tree("logged")));
    }
  }

  @Test
  void withoutACheckpointUnloggedTreesAreEmptyAfterACrash() {
    SimulatedStorage storage = new SimulatedStorage(clock);
    SimulatedStorage crashed;
    try (Store store = open(storage)) {
      store.openTree("a", UNLOGGED).put(bytes("k"), bytes("v"));
      store.flush();
      crashed = storage.crash(new SplittableRandom(SEED), CrashMode.ALL);
    }
    try (Store store = open(crashed)) {
      assertEquals(Map.of(), contents(store.tree("a")));
    }
  }

  @Test
  void aCleanCloseKeepsEverythingOfUnloggedTrees() {
    SimulatedStorage storage = new SimulatedStorage(clock);
    try (Store store = open(storage)) {
      store.openTree("a", UNLOGGED).put(bytes("k"), bytes("v"));
    }
    try (Store store = open(storage)) {
      assertEquals(Map.of("k", "v"), contents(store.tree("a")));
    }
  }

  @Test
  void theLastCheckpointOutlivesMergesAndReopening() {
    SimulatedStorage storage = new SimulatedStorage(clock);
    try (Store store = open(storage)) {
      Tree tree = store.openTree("a", UNLOGGED);
      for (int i = 0; i < STEPS; i++) {
        step(tree, i);
      }
      store.checkpoint();
      storage = storage.crash(new SplittableRandom(SEED), CrashMode.ALL);
    }
    for (int round = 0; round < 3; round++) {
      try (Store store = open(storage)) {
        assertEquals(after(STEPS), contents(store.tree("a")), "round " + round);
        for (int i = 0; i < 200; i++) {
          step(store.tree("a"), 1000 + i);
          if (i % 10 == 0) {
            store.flush();
            store.awaitQuiet();
          }
        }
        assertTrue(store.stats().merges() > 0);
        storage = storage.crash(new SplittableRandom(SEED), CrashMode.ALL);
      }
    }
  }

  @Test
  void aCheckpointThatFailsLeavesTheLastOneStanding() {
    SimulatedStorage storage = new SimulatedStorage(clock);
    SimulatedStorage crashed;
    Store store = open(storage);
    Tree tree = store.openTree("a", UNLOGGED);
    tree.put(bytes("k"), bytes("first"));
    store.checkpoint();
    tree.put(bytes("k"), bytes("second"));
    storage.faults(FaultPlan.every(Operation.SYNC, Fault.EIO));
    assertThrows(IsobarException.class, store::checkpoint);
    storage.faults(FaultPlan.NONE);
    store.close();
    crashed = storage.crash(new SplittableRandom(SEED), CrashMode.ONLY_SYNCED);
    try (Store again = open(crashed)) {
      assertEquals(Map.of("k", "first"), contents(again.tree("a")));
    }
  }

  /** What is known when the disk is about to change. */
  private static final class Progress {
    int completed = -1;
    int underway = -1;
    int checked;
  }

  @Test
  void aCrashAtAnyOperationLeavesBothTreesAtOneCheckpoint() {
    System.out.println("isobar.seed=" + SEED);
    SplittableRandom random = new SplittableRandom(SEED);
    SimulatedStorage storage = new SimulatedStorage(clock);
    Progress progress = new Progress();
    try (Store store = open(storage)) {
      Tree a = store.openTree("a", UNLOGGED);
      Tree b = store.openTree("b", UNLOGGED);
      Tree logged = store.openTree("logged");
      store.sync();
      progress.completed = 0;
      storage.onMutation(
          disk -> {
            CrashMode mode = CrashMode.values()[random.nextInt(CrashMode.values().length)];
            check(disk.crash(random.split(), mode), progress, random.nextInt(40) == 0);
          });
      for (int i = 0; i < STEPS; i++) {
        step(a, i);
        logged.put(bytes("key"), bytes("value" + i));
        step(b, i);
        if (i % 4 == 1) {
          store.flush();
        }
        if (i % 15 == 14) {
          progress.underway = i + 1;
          store.checkpoint();
          progress.completed = i + 1;
        }
      }
      progress.underway = STEPS;
    }
    storage.onMutation(disk -> {});
    assertTrue(progress.checked > 100, "crash states: " + progress.checked);
    try (Store store = open(storage)) {
      assertEquals(after(STEPS), contents(store.tree("a")));
      assertEquals(after(STEPS), contents(store.tree("b")));
    }
  }

  private void check(SimulatedStorage disk, Progress progress, boolean again) {
    progress.checked++;
    if (again) {
      // Recovery is interrupted too, at every operation.
      SplittableRandom random = new SplittableRandom(progress.checked);
      disk.onMutation(
          inner -> check(inner.crash(random.split(), CrashMode.RANDOM), progress, false));
    }
    try (Store store = SimulatedStores.open(disk, clock, progress.checked)) {
      disk.onMutation(inner -> {});
      Map<String, String> a = contents(store.tree("a"));
      Map<String, String> b = contents(store.tree("b"));
      assertEquals(a, b, "both trees stand at one checkpoint");
      assertTrue(
          a.equals(after(progress.completed))
              || progress.underway >= 0 && a.equals(after(progress.underway)),
          () ->
              a
                  + " is neither checkpoint "
                  + progress.completed
                  + " nor "
                  + progress.underway
                  + " of seed "
                  + SEED);
      store.tree("a").put(bytes("more"), bytes("writes"));
    }
  }
}
