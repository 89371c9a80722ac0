package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What an opening does to the levels of a tree that is much larger than write memory. */
@Tag("any-jdk")
class ReopenedLevelsTest {
  private static final int WRITES = 60_000;
  private static final int VALUE_BYTES = 500;

  /** Steps of jobs for so many puts: merges lag, so that what L0 delivers at a time is large. */
  private static final int PUTS_A_STEP = 4;

  private static final StoreOptions OPTIONS =
      StoreOptions.builder()
          .memoryBudget(4 << 20)
          .writeMemory(256 << 10)
          .memoryTuner(false)
          .backgroundThreads(2)
          .pageSize(4096)
          .logLimit(4 << 20)
          .build();

  @Test
  void aTreeThatWasSettledIsLeftAsItIs() {
    SimulatedWorld world = new SimulatedWorld(1);
    SplittableRandom random = new SplittableRandom(1);
    List<Long> settled;
    try (Store store = world.open(OPTIONS)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < WRITES; i++) {
        tree.put(key(random.nextInt(WRITES)), value(i, VALUE_BYTES));
        world.background(i % PUTS_A_STEP == 0 ? 1 : 0);
      }
      store.flush();
      store.awaitQuiet();
      settled = levels(store);
      assertTrue(settled.size() > 1, settled::toString);
    }
    try (Store store = world.open(OPTIONS)) {
      store.awaitQuiet();
      assertEquals(settled, levels(store));
      assertEquals(0, store.stats().mergeBytesWritten());
    }
  }

  private static List<Long> levels(Store store) {
    return store.stats().trees().get(0).levelBytes();
  }
}
