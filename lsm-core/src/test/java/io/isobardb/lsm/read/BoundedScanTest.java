package io.isobardb.lsm.read;

import static io.isobardb.lsm.SimulatedStores.key;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.policy.FlushStrategy;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Cursors that begin and end where parts of SSTables in memory do, since others were flushed. */
class BoundedScanTest {
  private static final long SEED = Long.getLong("isobar.seed", 20261129L);
  private static final int KEYS = 4000;
  private static final int WRITES = 12_000;

  /** Just behind the ends of parts of SSTables in memory. */
  private static List<Integer> boundsOfParts(Tree tree) {
    List<Integer> bounds = new ArrayList<>();
    for (Run run : Inside.handle(tree).states().current().memory()) {
      for (Table table : run.tables()) {
        byte[] high = table.range().high();
        if (table instanceof Table.Stored && table.isBoundedAbove() && high != null) {
          bounds.add(Integer.parseInt(new String(high, UTF_8).substring(3)) + 1);
        }
      }
    }
    return bounds;
  }

  private static @Nullable String text(Cursor cursor, boolean stands) {
    return stands ? new String(cursor.key(), UTF_8) : null;
  }

  private static @Nullable String text(@Nullable Integer key) {
    return key == null ? null : new String(key(key), UTF_8);
  }

  @Test
  void theEntriesNextToEachBoundAreFound() {
    SplittableRandom random = new SplittableRandom(SEED);
    SimulatedWorld world = new SimulatedWorld(SEED);
    NavigableSet<Integer> model = new TreeSet<>();
    StoreOptions.Builder options =
        StoreOptions.builder()
            .memoryBudget(8 << 20)
            .writeMemory(2 << 20)
            .pageSize(4096)
            .logLimit(3 << 20)
            .memoryTuner(false);
    // Slices begin where no SSTable does.
    ExperimentalOptions.set(
        options,
        e ->
            e.flushStrategy(FlushStrategy.OLDEST)
                .memoryComponent(MemoryComponent.LEVELED)
                .activeTableSize(64 << 10));
    int parts = 0;
    try (Store store = world.open(options.build())) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < WRITES; i++) {
        int n = 2 * random.nextInt(KEYS);
        if (random.nextInt(8) == 0) {
          tree.delete(key(n));
          model.remove(n);
        } else {
          tree.put(key(n), new byte[random.nextInt(1000)]);
          model.add(n);
        }
        world.background(1);
        if (i % 20 == 0) {
          List<Integer> bounds = boundsOfParts(tree);
          parts += bounds.size();
          for (int more = 0; more < 3; more++) {
            bounds.add(2 * random.nextInt(KEYS) + 1);
          }
          for (int bound : bounds) {
            check(tree, model, bound, random);
          }
        }
      }
    }
    assertTrue(parts > 0, "no part of an SSTable was read");
  }

  private static void check(
      Tree tree, NavigableSet<Integer> model, int bound, SplittableRandom random) {
    String what = "-Disobar.seed=" + SEED;
    try (Cursor cursor = tree.cursor(CursorOptions.all().to(key(bound)))) {
      assertEquals(text(model.lower(bound)), text(cursor, cursor.last()), what);
      int before = 2 * random.nextInt(KEYS) + 1;
      Integer expected = model.lower(Math.min(before, bound));
      assertEquals(text(expected), text(cursor, cursor.seekBefore(key(before))), what);
      if (expected != null) {
        assertEquals(text(model.lower(expected)), text(cursor, cursor.previous()), what);
      }
    }
    try (Cursor cursor = tree.cursor(CursorOptions.all().from(key(bound)))) {
      assertEquals(text(model.higher(bound)), text(cursor, cursor.first()), what);
    }
  }
}
