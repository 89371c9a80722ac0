package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.ForwardingScheduler;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.ForwardingStorage;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.version.L0Limits;
import io.isobardb.lsm.version.L0Rules;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.Version;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Merges that are given up within a step, and those that need what they had. */
@Tag("any-jdk")
class GivenUpMergesTest {
  private static final int KEYS = 100;

  private final SimulatedClock clock = new SimulatedClock();
  private final Held scheduler = new Held(new SimulatedScheduler(clock, 1));
  private final Deque<Function<MergeView, @Nullable MergeChoice>> script = new ArrayDeque<>();
  private Runnable onClosed = () -> {};

  /** Has the merges of this test's own merger, to be stepped by it. */
  private static final class Held extends ForwardingScheduler {
    final List<Job> merges = new ArrayList<>();
    int stepBytes = super.stepBytes();

    Held(Scheduler scheduler) {
      super(scheduler);
    }

    @Override
    public void submit(Job job) {
      if (job instanceof DiskMergeJob) {
        merges.add(job);
      } else {
        scheduler.submit(job);
      }
    }

    @Override
    public int stepBytes() {
      return stepBytes;
    }
  }

  /** Does something when an SSTable's file is closed that is being written. */
  private final class Watched extends ForwardingStorage {
    Watched(Storage storage) {
      super(storage);
    }

    @Override
    protected DataFile wrap(DataFile file, IoMode mode) {
      return new ForwardingFile(file) {
        @Override
        public void close() throws IOException {
          Runnable action = onClosed;
          onClosed = () -> {};
          action.run();
          super.close();
        }
      };
    }
  }

  /** Chooses what the script says, once each. */
  private final class Scripted implements MergePolicy {
    @Override
    public @Nullable MergeChoice choose(MergeView view) {
      Function<MergeView, @Nullable MergeChoice> next = script.poll();
      return next == null ? null : next.apply(view);
    }

    @Override
    public @Nullable MergeChoice choose(MergeView view, MergeDown wish) {
      return null;
    }

    @Override
    public List<MergeDown.Passed> paidFor(MergeView view, ReadLosses losses) {
      return List.of();
    }

    @Override
    public long debtBytes(MergeView view) {
      return 0;
    }

    @Override
    public long chainBytes(MergeView view) {
      return 0;
    }

    @Override
    public LevelCosts expected(MergeView view) {
      return new LevelCosts(0, 0);
    }
  }

  private Store open() {
    StoreOptions options =
        ExperimentalOptions.set(
                StoreOptions.builder().pageSize(4096).memoryBudget(8 << 20).memoryTuner(false),
                e -> e.l0StartGroups(1000).l0SlowdownGroups(1001).l0StopGroups(1002))
            .build();
    return Inside.open(
        new Environment(
            new Watched(new SimulatedStorage(clock)), clock, scheduler, new SplittableRandom(1)),
        options);
  }

  private Merger merger(Store store) {
    return new Merger(
        Inside.of(store).engine(),
        new Merger.Settings(
            new Scripted(),
            new TableSizes(4096, 0),
            new Merger.Slots(3, 3, 6),
            L0Rules.fixed(L0Limits.DEFAULT)),
        Inside.of(store).parts().flusher(),
        () -> {});
  }

  /** A merge of some SSTables of the one group of L0 into the last level. */
  private static MergeChoice down(MergeView view, int from, int to, List<MergeChoice> voids) {
    Version version = view.version();
    List<SSTableMeta> all = version.groups().get(0).run().elements();
    List<SSTableMeta> tables = List.copyOf(all.subList(from, to));
    return new MergeChoice(
        MergeChoice.Kind.MERGE,
        List.of(new MergeChoice.Input(version.groups().get(0).place(), tables)),
        Place.level(0),
        tables.get(0).minKey(),
        tables.get(tables.size() - 1).maxKey(),
        true,
        "the script says so",
        voids);
  }

  @Test
  void noMergeTakesWhatOneThatWasGivenUpStillReads() throws Exception {
    try (Store store = open()) {
      Tree tree = filled(store);
      TreeHandle handle = Inside.handle(tree);
      Merger merger = merger(store);
      script.add(view -> down(view, 0, 2, List.of()));
      merger.request(handle);
      Job first = scheduler.merges.remove(0);

      script.add(view -> down(view, 0, 1, view.voidable()));
      script.add(view -> down(view, 1, 2, List.of()));
      handle.setFilter(
          (key, lsn) -> {
            // Within a step of the first one, which has not opened its second SSTable yet.
            handle.setFilter(null);
            merger.request(handle);
            assertEquals(List.of(), scheduler.merges, "what the first one reads is taken");
            return false;
          });
      toEnd(first);
      endThoseThatWaited();
      check(tree);
    }
  }

  @Test
  void nobodyTakesWhatIsBeingLetGoOf() throws Exception {
    try (Store store = open()) {
      Tree tree = filled(store);
      TreeHandle handle = Inside.handle(tree);
      Merger merger = merger(store);
      script.add(view -> down(view, 0, 2, List.of()));
      merger.request(handle);
      Job first = begun();

      script.add(view -> down(view, 0, 1, view.voidable()));
      script.add(view -> down(view, 1, 2, List.of()));
      onClosed =
          () -> {
            // One thread lets go of its inputs for the second merge, a worker comes to its step.
            assertFalse(stepped(first));
            merger.request(handle);
            assertEquals(List.of(), scheduler.merges, "what it has may still be read");
          };
      merger.request(handle);
      endThoseThatWaited();
      check(tree);
      assertFalse(merger.busy(handle));
    }
  }

  @Test
  void whatHasFailedIsNotGivenUpAsWell() throws Exception {
    try (Store store = open()) {
      Tree tree = filled(store);
      TreeHandle handle = Inside.handle(tree);
      Merger merger = merger(store);
      script.add(view -> down(view, 0, 2, List.of()));
      merger.request(handle);
      Job first = begun();

      script.add(view -> view.voidable().isEmpty() ? null : down(view, 0, 1, view.voidable()));
      onClosed = () -> merger.request(handle);
      first.onFailed(new OutOfBudgetException("the test has no room"));
      assertEquals(0, merger.voided(), "given up while it ended");
      assertFalse(merger.busy(handle));
      check(tree);
    }
  }

  @Test
  void aTreeIsNotBusyForAChoiceThatFailed() {
    try (Store store = open()) {
      Tree tree = filled(store);
      TreeHandle handle = Inside.handle(tree);
      Merger merger = merger(store);
      script.add(
          view -> {
            throw new IllegalStateException("as a key order could");
          });
      assertThrows(IllegalStateException.class, () -> merger.request(handle));
      assertFalse(merger.busy(handle), "whoever drops the tree would wait for ever");
    }
  }

  /** A tree with two SSTables in one group of L0. */
  private static Tree filled(Store store) {
    Tree tree = store.openTree("t");
    for (int i = 0; i < 2 * KEYS; i++) {
      tree.put(key(i), value(i, 100));
      if (i % KEYS == KEYS - 1) {
        store.flush();
      }
    }
    return tree;
  }

  /** The merge that was submitted, in the midst of its first output. */
  private Job begun() throws Exception {
    Job job = scheduler.merges.remove(0);
    scheduler.stepBytes = 1000;
    assertTrue(job.step());
    return job;
  }

  private static boolean stepped(Job job) {
    try {
      return job.step();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private void endThoseThatWaited() throws Exception {
    assertEquals(2, scheduler.merges.size(), "merges that waited for it");
    for (Job merge : List.copyOf(scheduler.merges)) {
      toEnd(merge);
    }
  }

  private static void check(Tree tree) {
    for (int i = 0; i < 2 * KEYS; i++) {
      assertArrayEquals(value(i, 100), tree.get(key(i)));
    }
  }

  private static void toEnd(Job job) throws Exception {
    boolean more = true;
    while (more) {
      more = job.step();
    }
  }
}
