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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What tiers and levels hold while a tree is written to, looked at after each flush and merge. */
@Tag("any-jdk")
class SpaceBoundTest {
  private static final int KEYS = 20_000;
  private static final int VALUE_BYTES = 500;

  /** Rounds of writes, by keys. In the first one, after a load in key order, levels come. */
  private static final int ROUNDS = 4;

  /** The same where merges lag. At first L0 takes what they do not get done. */
  private static final int LAG_ROUNDS = 3;

  /** What the device writes in a second. */
  private static final long DEVICE_BYTES = 20 << 20;

  /** What a put takes, so that writers ask for more than the device does. */
  private static final long PUT_NANOS = 10_000;

  private static StoreOptions options() {
    return StoreOptions.builder()
        .memoryBudget(4 << 20)
        .writeMemory(256 << 10)
        .memoryTuner(false)
        .backgroundThreads(2)
        .pageSize(4096)
        .logLimit(4 << 20)
        .build();
  }

  private static TreeOptions treeOptions(String runs, double maxSpace) {
    return TreeOptions.builder().runs(Runs.parse(runs)).maxSpace(maxSpace).build();
  }

  /** The most that tiers and levels of a store's one tree have held by its last level. */
  private static final class Held implements StoreListener {
    private final Store store;
    private final AtomicBoolean changed = new AtomicBoolean();
    private double most;
    private boolean tiers;

    Held(Store store) {
      this.store = store;
      store.addListener(this);
    }

    @Override
    public void onFlushed(Flush event) {
      changed.set(true);
    }

    @Override
    public void onMerged(Merge event) {
      changed.set(true);
    }

    void look() {
      if (changed.getAndSet(false)) {
        TreeStats stats = store.stats().trees().get(0);
        most = Math.max(most, stats.spaceAmplification());
        tiers |= !stats.tierBytes().isEmpty();
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"LAZY(8), 1.25", "LAZY(4), 1.6", "TIERED(4), 2"})
  void tiersAndLevelsHoldWhatMaxSpaceAllowsAtEveryMoment(String runs, double maxSpace) {
    SimulatedWorld world = new SimulatedWorld(1);
    try (Store store = world.open(options())) {
      Tree tree = store.openTree("t", treeOptions(runs, maxSpace));
      for (int i = 0; i < KEYS; i++) {
        tree.put(key(i), value(i, VALUE_BYTES));
        world.background(4);
      }
      Held held = new Held(store);
      SplittableRandom random = new SplittableRandom(1);
      for (int i = 0; i < ROUNDS * KEYS; i++) {
        tree.put(key(random.nextInt(KEYS)), value(i, VALUE_BYTES));
        world.background(4);
        if (i >= KEYS) {
          held.look();
        }
      }
      assertTrue(held.most <= 1.05 * maxSpace, "held " + held.most);
      assertTrue(held.tiers);
    }
  }

  @ParameterizedTest
  @CsvSource({"LAZY(8), 1.25, 1", "LAZY(4), 1.6, 2", "TIERED(4), 2, 3"})
  void theyHoldNoMoreWhileMergesLagBehindWriters(String runs, double maxSpace, long seed) {
    VirtualWorld world = new VirtualWorld(seed, DEVICE_BYTES, 2);
    try (Store store = world.open(options())) {
      Tree tree = store.openTree("t", treeOptions(runs, maxSpace));
      for (int i = 0; i < KEYS; i++) {
        tree.put(key(i), value(i, VALUE_BYTES));
        world.scheduler.settle();
      }
      store.awaitQuiet();
      Held held = new Held(store);
      SplittableRandom random = new SplittableRandom(seed);
      for (int i = 0; i < LAG_ROUNDS * KEYS; i++) {
        tree.put(key(random.nextInt(KEYS)), value(i, VALUE_BYTES));
        world.scheduler.compute(PUT_NANOS);
        world.scheduler.settle();
        held.look();
      }
      assertTrue(held.most <= 1.05 * maxSpace, "seed " + seed + ", held " + held.most);
      assertTrue(held.tiers, "seed " + seed);
    }
  }
}
