package io.isobardb.lsm.budget;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.ForwardingScheduler;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Errand;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.store.OpenStore;
import io.isobardb.memory.stats.Purpose;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Memory is made by helpers, before writers need it. */
class MemoryAheadTest {
  /** The slabs of this budget have 2 MB. */
  private static final long BUDGET = 64 << 20;

  private static final long SLAB = 2 << 20;

  @Test
  void slabsAreMadeByHelpersAndOnlyAsTheyAreUsed() {
    SimulatedClock clock = new SimulatedClock();
    AtomicInteger errands = new AtomicInteger();
    ForwardingScheduler scheduler =
        new ForwardingScheduler(new SimulatedScheduler(clock, 3)) {
          @Override
          public boolean help(Errand errand) {
            errands.incrementAndGet();
            return errand.run();
          }
        };
    Environment world =
        new Environment(new SimulatedStorage(clock), clock, scheduler, new SplittableRandom(3));
    StoreOptions options = StoreOptions.builder().memoryBudget(BUDGET).build();
    try (Store store = OpenStore.open(world, options)) {
      Tree tree = store.openTree("t");
      tree.put(key(0), value(0, 100));
      assertEquals(0, errands.get(), "a store that is hardly used");
      long before = store.stats().ledger().allocatedBytes();
      for (int i = 0; i < 40_000; i++) {
        tree.put(key(i), value(i, 300));
        if (i % 1000 == 0) {
          long free = store.stats().ledger().bytes().get(Purpose.FREE);
          assertTrue(free <= 2 * SLAB, () -> free + " bytes are free");
        }
      }
      long slabs = (store.stats().ledger().allocatedBytes() - before) / SLAB;
      assertTrue(slabs >= 5, () -> slabs + " slabs");
      assertTrue(errands.get() >= slabs, () -> errands + " of " + slabs + " slabs");
    }
  }
}
