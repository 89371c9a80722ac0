package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.observe.StoreStats.TreeStats;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What tiers and levels hold while a tree is written to, looked at after each flush and merge. */
class SpaceBoundTest {
  private static final int KEYS = 20_000;
  private static final int VALUE_BYTES = 500;

  /** Rounds of writes, by keys. In the first one, after a load in key order, levels come. */
  private static final int ROUNDS = 4;

  @ParameterizedTest
  @CsvSource({"LAZY(8), 1.25", "LAZY(4), 1.6", "TIERED(4), 2"})
  void tiersAndLevelsHoldWhatMaxSpaceAllowsAtEveryMoment(String runs, double maxSpace) {
    StoreOptions options =
        StoreOptions.builder()
            .memoryBudget(4 << 20)
            .writeMemory(256 << 10)
            .memoryTuner(false)
            .pageSize(4096)
            .logLimit(4 << 20)
            .build();
    TreeOptions treeOptions =
        TreeOptions.builder().runs(Runs.parse(runs)).maxSpace(maxSpace).build();
    SimulatedWorld world = new SimulatedWorld(1);
    try (Store store = world.open(options)) {
      AtomicBoolean changed = new AtomicBoolean();
      store.addListener(
          new StoreListener() {
            @Override
            public void onFlushed(Flush event) {
              changed.set(true);
            }

            @Override
            public void onMerged(Merge event) {
              changed.set(true);
            }
          });
      Tree tree = store.openTree("t", treeOptions);
      for (int i = 0; i < KEYS; i++) {
        tree.put(key(i), value(i, VALUE_BYTES));
        world.background(4);
      }
      SplittableRandom random = new SplittableRandom(1);
      double most = 0;
      boolean tiers = false;
      for (int i = 0; i < ROUNDS * KEYS; i++) {
        tree.put(key(random.nextInt(KEYS)), value(i, VALUE_BYTES));
        world.background(4);
        if (changed.getAndSet(false) && i >= KEYS) {
          TreeStats stats = store.stats().trees().get(0);
          most = Math.max(most, stats.spaceAmplification());
          tiers |= !stats.tierBytes().isEmpty();
        }
      }
      assertTrue(most <= 1.05 * maxSpace, "held " + most);
      assertTrue(tiers);
    }
  }
}
