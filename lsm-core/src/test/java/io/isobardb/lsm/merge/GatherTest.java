package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.ModelTree;
import io.isobardb.lsm.simulation.ModelValue;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.TailOperator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Small groups of L0 become one while a larger merge of L0 is under way. */
@Tag("any-jdk")
class GatherTest {
  private static final int KEYS = 400;
  private static final int SEEDS = 6;

  private static final TreeOptions TREE =
      TreeOptions.builder().mergeOperator(TailOperator.TAIL).build();

  private static StoreOptions options(int threads) {
    return ExperimentalOptions.set(
            StoreOptions.builder()
                .pageSize(4096)
                .memoryBudget(8 << 20)
                .memoryTuner(false)
                .mergeOperator(TailOperator.TAIL)
                .durability(Durability.ASYNC)
                .backgroundThreads(threads),
            e -> e.l0StartGroups(4).l0SlowdownGroups(6).l0StopGroups(9).l0MostGroups(9))
        .build();
  }

  /** What ends first. */
  enum First {
    SMALL,
    LARGE,
    ANY
  }

  @ParameterizedTest
  @EnumSource
  void readsFindWhatTheyShouldWhicheverMergeEndsFirst(First first) {
    for (int seed = 1; seed <= SEEDS; seed++) {
      try (History history = new History(new SimulatedStorage(), seed, 2)) {
        history.begin();
        history.end(first);
        history.check(Long.MAX_VALUE);
        history.store.awaitQuiet();
        history.check(Long.MAX_VALUE);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aCrashBetweenTheTwoLosesNothing(First first) {
    for (int seed = 1; seed <= SEEDS; seed++) {
      SimulatedStorage disk;
      ModelTree model;
      try (History history = new History(new SimulatedStorage(), seed, 2)) {
        history.begin();
        history.end(first);
        model = history.model;
        disk = history.storage.crash(new SplittableRandom(seed), CrashMode.ONLY_SYNCED);
      }
      try (History history = new History(disk, seed, 2)) {
        compare(model, history.tree, Long.MAX_VALUE);
        history.store.awaitQuiet();
        compare(model, history.tree, Long.MAX_VALUE);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4})
  void groupsBecomeFewerHoweverManyThreadsThereAre(int threads) {
    try (History history = new History(new SimulatedStorage(), 1, threads)) {
      history.begin();
      history.end(First.SMALL);
      assertTrue(history.groups() < 8, history.groups() + " groups");
    }
  }

  private static void compare(ModelTree model, Tree tree, long at) {
    for (int i = 0; i < KEYS; i++) {
      assertArrayEquals(model.get(key(i), at), tree.get(key(i)), "key " + i);
    }
  }

  /** A store with one tree, whose merges of L0 can be held back once they have begun. */
  private static final class History implements AutoCloseable {
    final SimulatedStorage storage;
    private final SimulatedClock clock;
    private final SimulatedScheduler scheduler;
    final SplittableRandom random;
    final Store store;
    final Tree tree;
    final ModelTree model = new ModelTree("t", TREE);
    final List<StoreListener.MergeKind> ended = new ArrayList<>();
    private final List<Snapshot> snapshots = new ArrayList<>();
    private final List<Long> moments = new ArrayList<>();
    private long now;

    History(SimulatedStorage storage, int seed, int threads) {
      this.storage = storage;
      clock = storage.newClock();
      scheduler = new SimulatedScheduler(clock, seed);
      random = new SplittableRandom(seed);
      store =
          Inside.open(new Environment(storage, clock, scheduler, random.split()), options(threads));
      tree = store.openTree("t", TREE);
      store.addListener(
          new StoreListener() {
            @Override
            public void onMerged(Merge event) {
              ended.add(event.kind());
            }
          });
    }

    /** A merge of L0 down is under way, and then another one within L0. */
    void begin() {
      scheduler.hold(Job.Priority.MERGE_L0, true);
      scheduler.hold(Job.Priority.GATHER, true);
      for (int i = 0; i < 4; i++) {
        round(KEYS);
      }
      scheduler.hold(Job.Priority.MERGE_L0, false);
      steps(1 + random.nextInt(20));
      scheduler.hold(Job.Priority.MERGE_L0, true);
      steps(2);
      for (int i = 0; i < 5; i++) {
        round(100);
      }
      assertTrue(groups() >= 8, groups() + " groups");
      assertEquals(List.of(), ended, "a merge has ended before the other began");
      assertEquals(2, scheduler.pending(), "merges under way");
      scheduler.hold(Job.Priority.GATHER, false);
      steps(1 + random.nextInt(3));
      scheduler.hold(Job.Priority.GATHER, true);
      steps(2);
      round(20);
      assertEquals(List.of(), ended, "a merge has ended");
      check(now);
    }

    void release(Job.Priority priority) {
      scheduler.hold(priority, false);
    }

    void end(First first) {
      switch (first) {
        case SMALL -> {
          release(Job.Priority.GATHER);
          awaitEnd();
          assertEquals(StoreListener.MergeKind.WITHIN_L0, ended.get(0));
        }
        case LARGE -> {
          release(Job.Priority.MERGE_L0);
          awaitEnd();
          assertEquals(StoreListener.MergeKind.L0, ended.get(0));
        }
        case ANY -> {
          release(Job.Priority.MERGE_L0);
          release(Job.Priority.GATHER);
          awaitEnd();
        }
        default -> throw new IllegalStateException();
      }
      check(now);
      release(Job.Priority.MERGE_L0);
      release(Job.Priority.GATHER);
    }

    private void awaitEnd() {
      while (ended.isEmpty()) {
        assertTrue(scheduler.runOne(), "nothing goes on");
      }
    }

    void steps(int count) {
      for (int i = 0; i < count && scheduler.runOne(); i++) {}
    }

    int groups() {
      return Inside.handle(tree).states().current().version().groups().size();
    }

    /** Writes of all kinds, which become a group. */
    private void round(int writes) {
      int from = writes == KEYS ? 0 : random.nextInt(KEYS / 2);
      for (int i = 0; i < writes; i++) {
        int k = writes == KEYS ? i : from + random.nextInt(KEYS / 2);
        byte[] value = new byte[200 + random.nextInt(400)];
        Arrays.fill(value, (byte) ('a' + random.nextInt(26)));
        now++;
        switch (random.nextInt(8)) {
          case 0 -> {
            tree.delete(key(k));
            model.write(key(k), null, now);
          }
          case 1, 2 -> {
            tree.merge(key(k), value);
            model.merge(key(k), value, now);
          }
          default -> {
            tree.put(key(k), value);
            model.write(key(k), ModelValue.made(value), now);
          }
        }
      }
      now++;
      int low = random.nextInt(KEYS);
      tree.deleteRange(key(low), key(low + 20));
      model.deleteRange(key(low), key(low + 20), now);
      if (random.nextInt(2) == 0) {
        snapshots.add(store.snapshot());
        moments.add(now);
      }
      if (random.nextInt(5) == 0 && !snapshots.isEmpty()) {
        snapshots.remove(0).close();
        moments.remove(0);
      }
      store.flush();
    }

    void check(long at) {
      compare(model, tree, at);
      for (int i = 0; i < snapshots.size(); i++) {
        for (int k = 0; k < KEYS; k++) {
          assertArrayEquals(
              model.get(key(k), moments.get(i)),
              tree.get(key(k), snapshots.get(i)),
              "key " + k + " of a snapshot");
        }
      }
    }

    @Override
    public void close() {
      release(Job.Priority.MERGE_L0);
      release(Job.Priority.GATHER);
      snapshots.forEach(Snapshot::close);
      store.close();
    }
  }
}
