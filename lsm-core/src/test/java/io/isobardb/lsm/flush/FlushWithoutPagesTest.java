package io.isobardb.lsm.flush;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.commit.Committer.Writer;
import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.recovery.ClosingSteps;
import io.isobardb.lsm.recovery.StoreParts;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.state.Adjustments;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** A flush that finds pages for some of the runs only. */
class FlushWithoutPagesTest {
  private static final int RUNS = 2;

  private final SimulatedClock clock = new SimulatedClock();
  private final SimulatedScheduler scheduler = new SimulatedScheduler(clock, 7);

  /** Pages that flushes still get. */
  private int pages = Integer.MAX_VALUE;

  private StoreParts open() throws IOException {
    Environment environment =
        new Environment(
            new SimulatedStorage(clock),
            clock,
            scheduler,
            new SplittableRandom(7),
            purpose -> purpose == Purpose.MERGE && pages-- <= 0);
    return StoreParts.open(environment, SimulatedStores.SMALL, pages -> {});
  }

  /** As a tree's handle does it, up to where the sealed one is told: till then it is copied. */
  private static void sealHalfway(StoreParts parts, TreeHandle tree) {
    Table.StartLsn start = new Table.StartLsn(parts.engine().log().end());
    ActiveTree fresh = new ActiveTree(parts.pool(), tree.order(), 1 << 20);
    tree.states().swap(state -> state.sealed(tree.order(), new Table.Active(fresh, start)));
  }

  @Test
  void itGivesBackThoseItHasAndIsTriedAgain() throws IOException {
    StoreParts parts = open();
    TreeHandle.Settings settings =
        new TreeHandle.Settings(KeyOrder.BYTES, true, Compression.NONE, 10, null);
    TreeHandle tree = parts.createTree("t", settings, Adjustments.NONE);
    List<ActiveTree> sealed = new ArrayList<>();
    for (int i = 0; i < RUNS; i++) {
      sealed.add(tree.activeTree());
      byte[] value = value(i, 100);
      Writer writer = parts.committer().writer();
      writer.write().of(Kind.PUT, key(i), 0, key(i).length).value(value, 0, value.length);
      int slot = parts.engine().operations().enter();
      parts.committer().write(tree, writer, slot);
      parts.engine().operations().exit(slot);
      writer.give();
      sealHalfway(parts, tree);
    }
    pages = RUNS - 1;
    parts.flusher().flushAll(tree);
    scheduler.runUntilIdle();
    assertFalse(tree.memory().isTaken());
    assertEquals(RUNS, tree.states().current().memoryRunCount());
    assertEquals(0, parts.pool().pages(Purpose.MERGE));
    pages = Integer.MAX_VALUE;
    sealed.forEach(run -> run.sealedAt(parts.engine().log().end()));
    parts.checkpointer().flush(tree);
    assertEquals(0, tree.states().current().memoryRunCount());
    tree.close(TreeHandle.Refusal.STORE_CLOSED);
    scheduler.runUntilIdle();
    ClosingSteps steps = new ClosingSteps();
    parts.addClosing(steps);
    steps.takeAll();
  }
}
