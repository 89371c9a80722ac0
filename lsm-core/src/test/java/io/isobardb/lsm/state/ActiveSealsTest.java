package io.isobardb.lsm.state;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is done while writers wait for the boundary of a new active SSTable. */
@Tag("any-jdk")
class ActiveSealsTest {
  private final SimulatedClock clock = new SimulatedClock();

  private Store open() {
    return Inside.open(
        new Environment(
            new SimulatedStorage(clock),
            clock,
            new SimulatedScheduler(clock, 1),
            new SplittableRandom(1)),
        StoreOptions.builder().memoryBudget(8 << 20).memoryTuner(false).build());
  }

  @Test
  void nothingIsFreedBeforeTheBoundaryIsDrawn() {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      TreeHandle handle = Inside.handle(tree);
      TreeStates states = handle.states();
      tree.put(key(1), value(1, 10));
      TreeState held = states.acquire();
      AtomicInteger freed = new AtomicInteger();
      states.swap(
          state -> state.withMemory(state.memory()), List.of(() -> freed.incrementAndGet()));
      // A reader has given it up, and has not come to clean up after it.
      held.drop();

      Engine engine = Inside.of(store).engine();
      ActiveTree fresh = new ActiveTree(engine.catalog().space().pool(), handle.order(), 1 << 20);
      ActiveSeals.Seal seal = handle.seals().begin(handle.activeTree(), () -> fresh);
      assertEquals(0, freed.get(), "writers wait for the boundary");
      assertNotNull(seal);
      seal.drawAt(engine.log().end());
      seal.end();
      assertEquals(1, freed.get());
      assertArrayEquals(value(1, 10), tree.get(key(1)));
    }
  }

  /** A bulk load seals so: what fails then must not keep all others waiting. */
  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void whatFailsToBeFreedLeavesNoGapInTheLog() {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      TreeHandle handle = Inside.handle(tree);
      TreeStates states = handle.states();
      tree.put(key(1), value(1, 10));
      TreeState held = states.acquire();
      states.swap(
          state -> state.withMemory(state.memory()),
          List.of(
              () -> {
                throw new IllegalStateException("planted");
              }));
      held.drop();
      Exception failed =
          assertThrows(
              IllegalStateException.class,
              () -> Inside.of(store).parts().sealer().sealTogether(List.of(handle)));
      assertEquals("planted", failed.getMessage());
      tree.put(key(2), value(2, 10));
      assertArrayEquals(value(1, 10), tree.get(key(1)));
      assertArrayEquals(value(2, 10), tree.get(key(2)));
    }
  }
}
