package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.HoldingScheduler;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.flush.FlusherAccess;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.version.L0Limits;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Merges that are behind, and who has to wait for them. */
@Tag("any-jdk")
class MergesInTurnTest {
  private static final int KEYS = 1000;
  private static final long LOG_LIMIT = 64 << 20;

  private static final StoreOptions OPTIONS =
      StoreOptions.builder()
          .pageSize(4096)
          .memoryBudget(32 << 20)
          .logLimit(LOG_LIMIT)
          .memoryTuner(false)
          .backgroundThreads(2)
          .build();

  private final SimulatedClock clock = new SimulatedClock();
  private final HoldingScheduler scheduler =
      new HoldingScheduler(new SimulatedScheduler(clock, 1), HoldingScheduler.MERGES);

  private Store open() {
    return Inside.open(
        new Environment(new SimulatedStorage(clock), clock, scheduler, new SplittableRandom(1)),
        OPTIONS);
  }

  private static void fillL0(Store store, Tree tree) {
    for (int round = 0; round < L0Limits.DEFAULT.stop(); round++) {
      for (int i = 0; i < KEYS; i++) {
        tree.put(key(i), value(round, 1000));
      }
      store.flush();
    }
  }

  @Test
  void aTreeWithMuchToMergeLetsOthersHaveTheirTurn() {
    List<String> order = new ArrayList<>();
    try (Store store = open()) {
      Tree first = store.openTree("first");
      Tree second = store.openTree("second");
      fillL0(store, first);
      fillL0(store, second);
      store.addListener(
          new StoreListener() {
            @Override
            public void onMerged(Merge event) {
              order.add(event.tree());
            }
          });
      scheduler.letGo();
      store.awaitQuiet();
    }
    assertEquals(List.of("first", "second", "first"), order.subList(0, 3));
  }

  @Test
  void treesThatWaitForASlotAreMergedWhenOneIsFree() {
    Set<String> merged = new TreeSet<>();
    try (Store store = open()) {
      List<Tree> trees = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        trees.add(store.openTree("t" + i));
        fillL0(store, trees.get(i));
      }
      store.addListener(
          new StoreListener() {
            @Override
            public void onMerged(Merge event) {
              merged.add(event.tree());
            }
          });
      scheduler.letGo();
      store.awaitQuiet();
      for (Tree tree : trees) {
        int groups = Inside.handle(tree).states().current().version().groups().size();
        assertTrue(groups < L0Limits.DEFAULT.start(), tree + " still has " + groups + " groups");
      }
    }
    assertEquals(Set.of("t0", "t1", "t2", "t3", "t4"), merged);
  }

  @Test
  void aFlushForMemoryDoesNotGoOnWhenL0IsFull() {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      fillL0(store, tree);
      for (int i = 0; !Inside.of(store).engine().gate().pressed(); i++) {
        tree.put(key(i), value(i, 1000));
      }
      assertFalse(FlusherAccess.goesOn(Inside.of(store).engine(), Inside.handle(tree), LOG_LIMIT));
      scheduler.letGo();
    }
  }

  @Test
  void noMergeOfL0WaitsForTheEndOfADeeperOne() {
    SimulatedScheduler steps = new SimulatedScheduler(clock, 2);
    HoldingScheduler busy =
        new HoldingScheduler(steps, job -> job.priority() == Job.Priority.MERGE_DEEP);
    StoreOptions options =
        StoreOptions.builder()
            .pageSize(4096)
            .memoryBudget(8 << 20)
            .writeMemory(512 << 10)
            .memoryTuner(false)
            .backgroundThreads(2)
            .build();
    SplittableRandom random = new SplittableRandom(2);
    Set<String> keys = new TreeSet<>();
    try (Store store =
        Inside.open(
            new Environment(new SimulatedStorage(clock), clock, busy, random.split()), options)) {
      Tree tree = store.openTree("t");
      int most = 0;
      try {
        for (int i = 0; busy.heldJobs() == 0; i++) {
          assertTrue(i < 200_000, "there was no deep merge");
          put(tree, random.nextInt(20_000), i, keys);
        }
        for (int i = 0; i < 20_000; i++) {
          put(tree, random.nextInt(20_000), i, keys);
          steps.runUntilIdle();
          most = Math.max(most, Inside.handle(tree).states().current().version().groups().size());
          assertTrue(most < L0Limits.DEFAULT.slowdown(), most + " groups: L0 was left alone");
        }
      } finally {
        busy.letGo();
      }
      store.awaitQuiet();
      assertEquals(keys, SimulatedStores.contents(tree).keySet());
    }
  }

  private static void put(Tree tree, int i, int n, Set<String> keys) {
    byte[] key = key(i);
    keys.add(new String(key, UTF_8));
    tree.put(key, value(n, 1000));
  }
}
