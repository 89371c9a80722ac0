package io.isobardb.lsm.observe;

import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What {@code Store.metrics} tells beside {@code Store.stats}: figures of one moment, and of now.
 */
@Tag("any-jdk")
class RecentStatsTest {
  private final SimulatedClock clock = new SimulatedClock();

  private static void read(Tree tree) {
    for (int i = 0; i < 1000; i++) {
      tree.get(key(i));
    }
  }

  private static long timed(StoreStats stats) {
    return stats.latencies().gets().count();
  }

  private StoreStats after(Store store, long seconds) {
    clock.advance(TimeUnit.SECONDS.toNanos(seconds));
    return store.metrics();
  }

  @Test
  void callsWithinASecondGetTheSame() {
    try (Store store = SimulatedStores.open(new SimulatedStorage(clock), clock, 1)) {
      Tree tree = store.openTree("t");
      StoreStats first = store.metrics();
      read(tree);
      assertSame(first, store.metrics());
      assertEquals(1000, store.stats().operations().gets());
      assertEquals(1000, after(store, 1).operations().gets());
    }
  }

  @Test
  void timesAreThoseOfTheLastMinuteOrTwo() {
    try (Store store = SimulatedStores.open(new SimulatedStorage(clock), clock, 1)) {
      Tree tree = store.openTree("t");
      read(tree);
      final long atFirst = timed(store.metrics());
      read(tree);
      final long inTheFirstMinute = timed(after(store, 61));
      final long before = timed(store.stats());
      read(tree);
      final long inTheSecond = timed(after(store, 61));
      assertTrue(atFirst > 0, "some of 1000 calls are timed");
      assertEquals(before - atFirst, inTheFirstMinute);
      assertEquals(timed(store.stats()) - before, inTheSecond);
      assertEquals(0, timed(after(store, 61)));
      assertEquals(3000, store.metrics().operations().gets());
    }
  }

  @Test
  void aFigureIsReadFromTheStatistics() {
    StoreStats stats = SampleStats.ofStore();
    Map<StallReason, StoreStats.StallStats> stalls = stats.stalls();
    for (Figure<StoreStats> figure : Figure.ofStore()) {
      if (figure.name().equals("stall.time")) {
        Map<?, ?> told = (Map<?, ?>) figure.of(stats);
        stalls.forEach((reason, each) -> assertEquals(each.nanos(), told.get(reason.name())));
        assertEquals(StallReason.values().length, told.size());
      }
      assertTrue(figure.of(stats) instanceof Map == !figure.metric().tag().isEmpty(), figure::name);
    }
  }
}
