package io.isobardb.lsm.flush;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.ForwardingScheduler;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.commit.WriteShares;
import io.isobardb.lsm.merge.TableSizes;
import io.isobardb.lsm.policy.FlushPolicy;
import io.isobardb.lsm.policy.FlushStrategy;
import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.version.L0Limits;
import io.isobardb.lsm.version.L0Rules;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A flush that fails when it has given a tree's memory back already. */
@Tag("any-jdk")
class LeftOnceTest {
  private final SimulatedClock clock = new SimulatedClock();
  private final Held scheduler = new Held(new SimulatedScheduler(clock, 1));

  /** Has the flushes of this test's own flusher. */
  private static final class Held extends ForwardingScheduler {
    private final List<Job> flushes = new ArrayList<>();
    private boolean holds;

    Held(Scheduler scheduler) {
      super(scheduler);
    }

    @Override
    public void submit(Job job) {
      if (holds && job instanceof FlushJob) {
        flushes.add(job);
      } else {
        scheduler.submit(job);
      }
    }
  }

  /** Somebody else takes the memory of a tree as soon as it is left. Telling of that fails then. */
  private static final class Taking implements Flusher.Listener {
    @Override
    public void onFlushed(TreeHandle tree) {}

    @Override
    public void onLeft(TreeHandle tree) {
      assertTrue(tree.memory().tryTake());
      throw new OutOfBudgetException("the test has no room");
    }

    @Override
    public void memoryShort() {}
  }

  private Flusher flusher(Store store) {
    return new Flusher(
        Inside.of(store).engine(),
        new Flusher.Settings(
            new FlushRules(FlushPolicy.OPTIMAL, FlushStrategy.ROUND_ROBIN, 64 << 20),
            L0Structure.GREEDY_GROUPED,
            new TableSizes(4096, 0),
            1,
            L0Rules.fixed(L0Limits.DEFAULT)),
        Inside.of(store).parts().sealer(),
        new Taking(),
        WriteShares.NONE);
  }

  @Test
  void whoHasTakenTheMemoryMeanwhileKeepsIt() {
    try (Store store =
        Inside.open(
            new Environment(new SimulatedStorage(clock), clock, scheduler, new SplittableRandom(1)),
            StoreOptions.builder().memoryBudget(8 << 20).memoryTuner(false).build())) {
      Tree tree = store.openTree("t");
      TreeHandle handle = Inside.handle(tree);
      for (int i = 0; i < 100; i++) {
        tree.put(key(i), value(i, 100));
      }
      scheduler.holds = true;
      assertTrue(flusher(store).flushAll(handle));
      Job job = scheduler.flushes.get(0);
      OutOfBudgetException failure =
          assertThrows(OutOfBudgetException.class, () -> toEnd(job), "as it was left");
      job.onFailed(failure);
      assertTrue(handle.memory().isTaken(), "by somebody else");
      handle.memory().leave();
      scheduler.holds = false;
    }
  }

  private static void toEnd(Job job) throws Exception {
    boolean more = true;
    while (more) {
      more = job.step();
    }
  }
}
