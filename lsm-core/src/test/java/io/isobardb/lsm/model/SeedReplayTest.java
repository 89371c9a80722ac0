package io.isobardb.lsm.model;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The same seed is the same history to the last write to the disk: else no failure could be
 * replayed.
 *
 * <p>What breaks it is, above all, an order that comes from identity hash codes. They differ from
 * object to object, so a second run in the same process finds that out.
 */
@Tag("any-jdk")
class SeedReplayTest {
  private static final long FIRST_SEED = Long.getLong("isobar.replay.seed", 100);
  private static final int SEEDS = Integer.getInteger("isobar.replay.seeds", 2);

  private static final StoreOptions SMALL =
      StoreOptions.builder().memoryBudget(4 << 20).pageSize(4096).logLimit(1 << 20).build();

  private static long history(long seed) {
    StoreHistory history = new StoreHistory(HistoryScript.random(seed, 300));
    history.run();
    return history.trace();
  }

  @Test
  void aHistoryOfTheModelTestReplays() throws IOException {
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      assertEquals(history(seed), history(seed), "seed " + seed);
    }
  }

  /** What a run has done: its trace, and what it holds and has lost at the end. */
  private record Outcome(long trace, String stats) {}

  /** Cursors keep old states and pages, and give them up when told, or when they are closed. */
  private static Outcome cursorsComeAndGo(long seed) {
    SimulatedWorld world = new SimulatedWorld(seed);
    SplittableRandom random = new SplittableRandom(seed);
    String stats;
    try (Store store = world.open(SMALL)) {
      List<Tree> trees = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        trees.add(store.openTree("t" + i));
      }
      List<Cursor> cursors = new ArrayList<>();
      for (int i = 0; i < 5_000; i++) {
        Tree tree = trees.get(random.nextInt(3));
        tree.put(key(random.nextInt(5000)), value(i, 300));
        if (i % 100 == 0) {
          Cursor cursor = tree.cursor();
          cursor.seek(key(random.nextInt(5000)));
          cursors.add(cursor);
          world.background(20);
        }
        if (cursors.size() > 12) {
          cursors.remove(random.nextInt(cursors.size())).close();
        }
        tree.get(key(random.nextInt(5000)));
      }
      stats = store.stats().toJson();
    }
    return new Outcome(world.trace(), stats);
  }

  @Test
  void whatCursorsKeepComesFreeInTheSameOrder() {
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      assertEquals(cursorsComeAndGo(seed), cursorsComeAndGo(seed), "seed " + seed);
    }
  }

  /** Each cursor is the last that keeps SSTables which merges have replaced. */
  private static long closedWithCursors(long seed) {
    SimulatedWorld world = new SimulatedWorld(seed);
    try (Store store = world.open(SMALL)) {
      List<Tree> trees = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        trees.add(store.openTree("t" + i));
      }
      for (int round = 0; round < 6; round++) {
        for (Tree tree : trees) {
          for (int i = 0; i < 200; i++) {
            tree.put(key(i), value(round, 200));
          }
        }
        store.flush();
        if (round == 2) {
          trees.forEach(tree -> tree.cursor().first());
        }
      }
      store.awaitQuiet();
    }
    return world.trace();
  }

  @Test
  void closingAStoreGivesUpWhatItsCursorsKeepInTheSameOrder() {
    assertEquals(closedWithCursors(FIRST_SEED), closedWithCursors(FIRST_SEED));
  }
}
