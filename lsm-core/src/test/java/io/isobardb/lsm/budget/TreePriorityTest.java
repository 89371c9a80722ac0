package io.isobardb.lsm.budget;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.policy.FlushPolicy;
import io.isobardb.lsm.simulation.SimulatedWorld;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Floors and weights of trees, in simulated stores. */
@Tag("any-jdk")
class TreePriorityTest {
  private static final int VALUE_BYTES = 200;
  private static final int QUIET = 5000;
  private static final int BUSY = 60_000;

  private final SimulatedWorld world = new SimulatedWorld(7);

  private Store open(FlushPolicy policy) {
    return world.open(
        ExperimentalOptions.set(
                StoreOptions.builder()
                    .memoryBudget(8 << 20)
                    .pageSize(4096)
                    .memoryTuner(false)
                    .logLimit(256 << 20),
                e -> e.flushPolicy(policy))
            .build());
  }

  private static long memory(Store store, String tree) {
    return store.stats().trees().stream()
        .filter(stats -> stats.name().equals(tree))
        .mapToLong(StoreStats.TreeStats::memoryBytes)
        .sum();
  }

  private void write(Tree tree, int entries) {
    for (int i = 0; i < entries; i++) {
      tree.put(key(i), value(i, VALUE_BYTES));
      if (i % 16 == 0) {
        world.background(20);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(FlushPolicy.class)
  void whatATreeHasBelowItsFloorIsNotTakenFromIt(FlushPolicy policy) {
    try (Store store = open(policy)) {
      Tree quiet = store.openTree("quiet");
      Tree busy = store.openTree("busy");
      quiet.setWriteMemoryFloor(3 << 19);
      assertEquals(3 << 19, quiet.writeMemoryFloor());
      write(quiet, QUIET);
      long held = memory(store, "quiet");
      assertTrue(held > QUIET * VALUE_BYTES && held < 3 << 19, "holds " + held);
      write(busy, BUSY);
      assertTrue(store.stats().flushes() > 2, store.stats()::toJson);
      assertEquals(held, memory(store, "quiet"), store.stats()::toJson);
      // By MAX_MEMORY the one that has more to give goes first.
      quiet.setWriteMemoryFloor(0);
      busy.setWriteMemoryFloor(3 << 20);
      write(busy, BUSY);
      assertTrue(memory(store, "quiet") < held, store.stats()::toJson);
      // A flush that is asked for heeds no floor.
      quiet.setWriteMemoryFloor(3 << 19);
      store.flush();
      assertEquals(0, memory(store, "quiet"));
      assertArrayEquals(value(77, VALUE_BYTES), quiet.get(key(77)));
    }
  }

  @Test
  void floorsBeyondTheWriteMemoryLeaveHalfOfItToWhoeverWrites() {
    try (Store store = open(FlushPolicy.OPTIMAL)) {
      Tree[] trees = {store.openTree("a"), store.openTree("b"), store.openTree("c")};
      for (Tree tree : trees) {
        tree.setWriteMemoryFloor(8 << 20);
      }
      for (int round = 0; round < 2; round++) {
        for (Tree tree : trees) {
          write(tree, BUSY / 2);
        }
      }
      assertTrue(store.stats().flushes() > 2, store.stats()::toJson);
      for (Tree tree : trees) {
        // Of 4 MB half is for floors, a third of that for each.
        assertTrue(memory(store, tree.name()) > (4 << 20) / 6 / 2, store.stats()::toJson);
      }
    }
  }

  @Test
  void aTreeHasMemoryInProportionToItsWritesTimesItsWeight() {
    try (Store store = open(FlushPolicy.OPTIMAL)) {
      Tree heavy = store.openTree("heavy");
      Tree light = store.openTree("light");
      heavy.setWriteWeight(6);
      assertEquals(6, heavy.writeWeight());
      double heavyBytes = 0;
      double lightBytes = 0;
      for (int i = 0; i < 2 * BUSY; i++) {
        heavy.put(key((int) (i * 7919L % BUSY)), value(i, VALUE_BYTES));
        light.put(key((int) (i * 7919L % BUSY)), value(i, VALUE_BYTES));
        if (i % 16 == 0) {
          world.background(20);
        }
        if (i > BUSY && i % 100 == 0) {
          heavyBytes += memory(store, "heavy");
          lightBytes += memory(store, "light");
        }
      }
      assertTrue(
          heavyBytes > 2.5 * lightBytes, "mean ratio " + heavyBytes / lightBytes + " instead of 6");
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {-1, 1e7, Double.NaN, Double.POSITIVE_INFINITY})
  void whatIsNoFloorOrWeightIsRefused(double number) {
    try (Store store = open(FlushPolicy.OPTIMAL)) {
      Tree tree = store.openTree("t");
      IllegalArgumentException refused =
          assertThrows(IllegalArgumentException.class, () -> tree.setWriteWeight(number));
      assertTrue(refused.getMessage().contains("weight of tree 't'"), refused.getMessage());
      assertEquals(1, tree.writeWeight());
      for (long floor : new long[] {-1, (8 << 20) + 1, Long.MAX_VALUE}) {
        refused =
            assertThrows(IllegalArgumentException.class, () -> tree.setWriteMemoryFloor(floor));
        assertTrue(refused.getMessage().contains("floor of tree 't'"), refused.getMessage());
      }
      assertEquals(0, tree.writeMemoryFloor());
    }
  }

  @Test
  void aFloorMayBeUpToTheBudgetAsItIsNow() {
    try (Store store = open(FlushPolicy.OPTIMAL)) {
      Tree tree = store.openTree("t");
      store.setMemoryBudget(12 << 20);
      tree.setWriteMemoryFloor(12 << 20);
      assertEquals(12 << 20, tree.writeMemoryFloor());
      store.setMemoryBudget(6 << 20);
      assertThrows(IllegalArgumentException.class, () -> tree.setWriteMemoryFloor(8 << 20));
    }
  }
}
