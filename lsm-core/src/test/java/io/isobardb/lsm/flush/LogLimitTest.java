package io.isobardb.lsm.flush;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.simulation.SimulatedWorld;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The log stays within its limit, whatever is written. */
@Tag("any-jdk")
class LogLimitTest {
  private static final long LOG_LIMIT = 1 << 20;
  private static final int WRITES = 40_000;

  @ParameterizedTest
  @CsvSource({
    "1, PARTITIONED",
    "50, PARTITIONED",
    "100000, PARTITIONED",
    "50, MONOLITHIC",
    "50, ACCORDION_INDEX",
    "100000, ACCORDION_INDEX",
    "100000, MONOLITHIC",
    "50, LEVELED",
    "100000, LEVELED"
  })
  void howeverFewTheKeysTheLogIsCut(int keys, MemoryComponent component) {
    SimulatedWorld world = new SimulatedWorld(3);
    StoreOptions options =
        ExperimentalOptions.set(
                StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).logLimit(LOG_LIMIT),
                e -> e.memoryComponent(component))
            .build();
    long longest = 0;
    try (Store store = world.open(options)) {
      Tree tree = store.openTree("hot");
      for (int i = 0; i < WRITES; i++) {
        tree.put(key(i % keys), value(i, 100));
        world.background(2);
        if (i % 16 == 0) {
          longest = Math.max(longest, store.stats().logSizeBytes());
        }
      }
      for (int i = WRITES - Math.min(keys, 1000); i < WRITES; i++) {
        assertArrayEquals(value(i, 100), tree.get(key(i % keys)));
      }
    }
    // Segments are cut whole, and what is flushed meanwhile is written, too.
    assertTrue(longest < 2 * LOG_LIMIT, "the log grew to " + longest + " bytes");
  }

  @Test
  void whoWaitsForTheLogsBufferIsCounted() {
    SimulatedWorld world = new SimulatedWorld(3);
    try (Store store =
        world.open(StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).build())) {
      Tree tree = store.openTree("t");
      // Nothing is done in the background unless somebody waits for it.
      for (int i = 0; i < 1000; i++) {
        tree.put(key(i), value(i, 1000));
      }
      StoreStats stats = store.stats();
      assertTrue(stats.stalls().get(StallReason.LOG_BUFFER).count() > 0, stats::toJson);
      assertTrue(stats.toJson().contains("LOG_BUFFER"), stats::toJson);
    }
  }
}
