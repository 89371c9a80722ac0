package io.isobardb.lsm.flush;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.HoldingScheduler;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.version.L0Limits;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A crash at a bad time: as much in L0 as there may be, and more in the log than memory holds. */
class FullL0ReplayTest {
  private static final StoreOptions.Builder OPTIONS =
      StoreOptions.builder().pageSize(4096).logLimit(32 << 20).memoryTuner(false);
  private static final int KEYS = 100;
  private static final int LAST = 4000;

  private final SimulatedClock clock = new SimulatedClock();
  private final SimulatedStorage storage = new SimulatedStorage(clock);

  private static byte[] lastValue(int i) {
    return value(i, 1500);
  }

  /** The disk of a process that was killed while merges were behind. */
  private SimulatedStorage killed() {
    HoldingScheduler scheduler =
        new HoldingScheduler(new SimulatedScheduler(clock, 1), HoldingScheduler.MERGES);
    Environment environment = new Environment(storage, clock, scheduler, new SplittableRandom(1));
    try (Store store = Inside.open(environment, OPTIONS.memoryBudget(32 << 20).build())) {
      Tree tree = store.openTree("t");
      for (int round = 0; round < L0Limits.DEFAULT.stop(); round++) {
        for (int i = 0; i < KEYS; i++) {
          tree.put(key(i), value(round, 100));
        }
        store.flush();
      }
      int groups = store.stats().trees().get(0).l0Groups();
      assertTrue(groups >= L0Limits.DEFAULT.stop(), groups + " groups: merges were not behind");
      for (int i = 0; i < LAST; i++) {
        tree.put(key(i), lastValue(i));
      }
      store.sync();
      SimulatedStorage killed = storage.copy();
      scheduler.letGo();
      return killed;
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void aReplayThatHasToFlushATreeWhoseL0IsFullComesToItsEnd(long seed) {
    SimulatedStorage disk = killed();
    Environment environment =
        new Environment(
            disk, clock, new SimulatedScheduler(clock, seed), new SplittableRandom(seed));
    // Less memory than was logged. A wait that nothing ends is an exception of the scheduler.
    try (Store store = Inside.open(environment, OPTIONS.memoryBudget(4 << 20).build())) {
      Tree tree = store.tree("t");
      for (int i = 0; i < LAST; i++) {
        assertArrayEquals(lastValue(i), tree.get(key(i)));
      }
      assertTrue(store.stats().flushes() > 0, "the replay flushed nothing");
    }
  }
}
