package io.isobardb.lsm.flush;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.policy.FlushPolicy;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.state.TreeHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Which of three trees is flushed first: an old one, a big one that is idle, or a hot one, which
 * holds the most memory, but less than its share of the writes.
 */
@Tag("any-jdk")
class FlushPolicyStoreTest {
  private static final int VALUE_BYTES = 200;
  private static final int BEFORE = 20_000;
  private static final int OLD = 3000;
  private static final int BIG = 4500;

  private static StoreOptions options(FlushPolicy policy, long logLimit) {
    return ExperimentalOptions.set(
            StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).backgroundThreads(2),
            e -> e.flushPolicy(policy))
        .logLimit(logLimit)
        .build();
  }

  /** Writes until something is flushed, and says which tree it was. */
  private static String firstFlushed(FlushPolicy policy, long logLimit, boolean logged) {
    SimulatedWorld world = new SimulatedWorld(7);
    List<String> flushed = new ArrayList<>();
    try (Store store = world.open(options(policy, logLimit))) {
      store.addListener(
          new StoreListener() {
            @Override
            public void onFlushed(Flush event) {
              flushed.add(event.tree());
            }
          });
      TreeOptions kind = TreeOptions.builder().logged(logged).build();
      Tree old = store.openTree("old", kind);
      Tree big = store.openTree("big", kind);
      Tree hot = store.openTree("hot", kind);
      SplittableRandom random = new SplittableRandom(11);
      for (int i = 0; i < BEFORE; i++) {
        hot.put(key(random.nextInt(1000)), value(i, VALUE_BYTES));
        world.background(20);
      }
      store.flush();
      world.background(1000);
      flushed.clear();
      for (int i = 0; i < OLD; i++) {
        old.put(key(i), value(i, VALUE_BYTES));
      }
      for (int i = 0; i < BIG; i++) {
        big.put(key(i), value(i, VALUE_BYTES));
      }
      for (int i = 0; flushed.isEmpty() && i < 50_000; i++) {
        hot.put(key(random.nextInt(10_000)), value(i, VALUE_BYTES));
        world.background(20);
      }
      String first = flushed.isEmpty() ? "none" : flushed.get(0);
      store.flush();
      for (int i = 0; i < OLD; i += 7) {
        assertArrayEquals(value(i, VALUE_BYTES), old.get(key(i)));
      }
      for (int i = 0; i < BIG; i += 7) {
        assertArrayEquals(value(i, VALUE_BYTES), big.get(key(i)));
      }
      return first;
    }
  }

  @ParameterizedTest
  @CsvSource({
    "MAX_MEMORY, true, hot",
    "MIN_LSN, true, old",
    "OPTIMAL, true, big",
    "MAX_MEMORY, false, hot",
    "MIN_LSN, false, old",
    "OPTIMAL, false, big"
  })
  void thePolicyChoosesTheTreeThatIsFlushedForMemorysSake(
      FlushPolicy policy, boolean logged, String expected) {
    assertEquals(expected, firstFlushed(policy, 256 << 20, logged));
  }

  @ParameterizedTest
  @CsvSource({"MAX_MEMORY", "MIN_LSN", "OPTIMAL"})
  void whateverThePolicyTheOldestTreeGoesFirstForTheLogsSake(FlushPolicy policy) {
    assertEquals("old", firstFlushed(policy, 2 << 20, true));
  }

  @Test
  void theDefaultIsOptimalAndPropertiesSetIt() {
    assertEquals(
        FlushPolicy.OPTIMAL, ExperimentalOptions.of(StoreOptions.defaults()).flushPolicy());
    Properties properties = new Properties();
    properties.setProperty("isobar.experiment.flushPolicy", "min_lsn");
    assertEquals(
        FlushPolicy.MIN_LSN,
        ExperimentalOptions.of(StoreOptions.fromProperties(properties, "isobar.")).flushPolicy());
  }

  @Test
  void aTreeThatWasDroppedIsForgotten() {
    try (Store store = new SimulatedWorld(7).open(options(FlushPolicy.OPTIMAL, 16 << 20))) {
      Tree tree = store.openTree("t");
      TreeHandle handle = Inside.handle(tree);
      Flusher flusher = Inside.of(store).parts().flusher();
      tree.put(key(1), value(1, VALUE_BYTES));
      store.flush();
      assertTrue(flusher.recentMemoryBytes(handle) > 0);
      store.dropTree("t");
      assertEquals(0, flusher.recentMemoryBytes(handle));
    }
  }
}
