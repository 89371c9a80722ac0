package io.isobardb.lsm.flush;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many trees that each have little in memory. */
@Tag("any-jdk")
class FlushRoundTest {
  private static final int TREES = 60;
  private static final int WRITES = 6_000;

  private final SimulatedClock clock = new SimulatedClock();
  private final SimulatedStorage storage = new SimulatedStorage(clock);

  private static List<Tree> open(Store store) {
    List<Tree> trees = new ArrayList<>();
    for (int i = 0; i < TREES; i++) {
      trees.add(store.openTree("t" + i));
    }
    return trees;
  }

  private static void write(List<Tree> trees) {
    for (int i = 0; i < WRITES; i++) {
      trees.get(i % TREES).put(key(i), value(i, 500));
    }
  }

  @Test
  void smallTreesAreFlushedByCommonEditsOfTheManifest() {
    int[] syncs = new int[1];
    // A log that is no reason to flush.
    StoreOptions options =
        StoreOptions.builder().memoryBudget(4 << 20).pageSize(4096).logLimit(64 << 20).build();
    Environment environment =
        new Environment(storage, clock, new SimulatedScheduler(clock, 1), new SplittableRandom(1));
    try (Store store = Inside.open(environment, options)) {
      List<Tree> trees = open(store);
      // Of the trees themselves.
      store.sync();
      storage.faults(
          (operation, file, index) -> {
            boolean manifest = operation == Operation.SYNC && file.startsWith("MANIFEST");
            syncs[0] += manifest ? 1 : 0;
            return Fault.NONE;
          });
      for (int round = 0; round < 2; round++) {
        write(trees);
      }
      long flushes = store.stats().flushes();
      assertTrue(flushes > TREES, flushes + " flushes");
      long edits = syncs[0] - store.stats().merges();
      assertTrue(2 * edits < flushes, edits + " edits for " + flushes + " flushes");
    }
  }

  @ParameterizedTest
  @EnumSource(CrashMode.class)
  void afterACrashAllThatWasSyncedIsThere(CrashMode mode) {
    for (long seed = 1; seed <= 3; seed++) {
      SimulatedStorage disk = new SimulatedStorage(clock);
      SimulatedStorage crashed;
      try (Store store = SimulatedStores.open(disk, clock, seed)) {
        write(open(store));
        store.sync();
        crashed = disk.crash(new SplittableRandom(seed), mode);
      }
      try (Store store = SimulatedStores.open(crashed, new SimulatedClock(), seed)) {
        List<Tree> trees = open(store);
        for (int i = 0; i < WRITES; i++) {
          byte[] found = trees.get(i % TREES).get(key(i));
          assertArrayEquals(value(i, 500), found, "seed " + seed + ", key " + i);
        }
      }
    }
  }
}
