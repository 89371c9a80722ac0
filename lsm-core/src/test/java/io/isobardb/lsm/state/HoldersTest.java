package io.isobardb.lsm.state;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Flushes look at the trees that hold something, and not at all that there are. */
@Tag("any-jdk")
class HoldersTest {
  private static final int TREES = 100;

  private final SimulatedClock clock = new SimulatedClock();
  private final SimulatedStorage storage = new SimulatedStorage(clock);
  private SimulatedScheduler scheduler = new SimulatedScheduler(clock, 1);

  private Store open() {
    scheduler = new SimulatedScheduler(clock, 1);
    return Inside.open(
        new Environment(storage, clock, scheduler, new SplittableRandom(1)),
        StoreOptions.builder().memoryBudget(8 << 20).memoryTuner(false).build());
  }

  private static Catalog catalog(Store store) {
    return Inside.of(store).engine().catalog();
  }

  private static Set<String> holders(Store store) {
    Set<String> names = new TreeSet<>();
    catalog(store).holders().forEach(tree -> names.add(tree.name()));
    return names;
  }

  private static List<Tree> trees(Store store) {
    List<Tree> trees = new ArrayList<>();
    for (int i = 0; i < TREES; i++) {
      trees.add(store.openTree("t" + i));
    }
    return trees;
  }

  @Test
  void theyAreTheTreesThatWereWrittenToSinceTheirFlush() {
    try (Store store = open()) {
      List<Tree> trees = trees(store);
      assertEquals(Set.of(), holders(store));
      trees.forEach(tree -> tree.put(key(1), value(1, 10)));
      assertEquals(TREES, holders(store).size());
      store.flush();
      assertEquals(Set.of(), holders(store));
      trees.get(7).put(key(2), value(2, 10));
      trees.get(8).deleteRange(key(1), key(2));
      assertEquals(Set.of("t7", "t8"), holders(store));
      store.flush();
      assertEquals(Set.of(), holders(store));
      trees.get(9).put(key(2), value(2, 10));
      store.dropTree("t9");
      assertEquals(Set.of(), holders(store));
    }
  }

  @Test
  void whatAReplayBringsIsHeld() {
    Store store = open();
    List<Tree> trees = trees(store);
    store.flush();
    trees.get(3).put(key(1), value(1, 10));
    store.close();
    try (Store again = open()) {
      assertEquals(Set.of("t3"), holders(again));
    }
  }

  /** The log is not cut before what came while a flush was under way. */
  @Test
  void oneThatIsWrittenToDuringItsFlushStays() {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      tree.put(key(1), value(1, 10));
      Inside.of(store).parts().flusher().flushAll(Inside.handle(tree));
      long before = Inside.of(store).engine().log().end();
      tree.put(key(2), value(2, 10));
      scheduler.runUntilIdle();
      assertEquals(1, Inside.handle(tree).states().current().version().tableCount());
      assertEquals(Set.of("t"), holders(store));
      assertTrue(catalog(store).neededLsn() <= before, "the log is needed from there");
    }
  }

  @Test
  void aFirstEntryIsNotMissedWhileTheTreeIsLookedAt() throws InterruptedException {
    try (Store store = open()) {
      Catalog catalog = catalog(store);
      AtomicBoolean done = new AtomicBoolean();
      Thread looking =
          new Thread(
              () -> {
                while (!done.get()) {
                  catalog.trees().forEach(catalog::onFlushed);
                }
              });
      looking.start();
      try {
        for (Tree tree : trees(store)) {
          tree.put(key(1), value(1, 10));
          assertTrue(holders(store).contains(tree.name()), tree.name());
        }
      } finally {
        done.set(true);
        looking.join();
      }
    }
  }
}
