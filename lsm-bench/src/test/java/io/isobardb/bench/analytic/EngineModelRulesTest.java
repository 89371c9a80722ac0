package io.isobardb.bench.analytic;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.popularity.KeyGroups;
import io.isobardb.tuner.model.EngineModel;
import io.isobardb.tuner.model.EngineShape;
import io.isobardb.tuner.model.EngineShape.Disk;
import io.isobardb.tuner.model.WriteCost;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What holds without a simulator; {@code simulate.EngineModelTest} has the comparison with one. */
@Tag("any-jdk")
class EngineModelRulesTest {
  private static final double KEYS = 1e6;
  private static final Disk DISK = new Disk(2_500, 7_800, 1, 4, 10);

  private static EngineShape shape(int trees, boolean whole, double memory, double log) {
    return new EngineShape(trees, whole, memory, memory / 7, log, DISK);
  }

  private static double round(EngineShape shape) {
    return new EngineModel(shape).roundRequests(KeyGroups.uniform(KEYS));
  }

  @Test
  void aSweepBringsNearlyTwiceWhatAFullFlushDoes() {
    // Of few keys hardly any is written twice: requests are entries.
    double memory = 7_000;
    double active = memory / 7;
    assertEquals(2 * (memory - 1_250 - active / 2), round(shape(1, false, memory, 1e9)), 100);
    assertEquals(memory, round(shape(1, true, memory, 1e9)), 50);
  }

  @Test
  void oneOfManyTreesHoldsTwiceTheMeanWhenItIsFlushed() {
    double each = 1_000;
    assertEquals(2 * each * 10 / 11, round(shape(10, true, 10 * each, 1e9)), 5);
    assertEquals(2 * each * 50 / 51, round(shape(50, true, 50 * each, 1e9)), 5);
  }

  @Test
  void aShortLogEndsARoundEarly() {
    assertEquals(3_000, round(shape(1, true, 7_000, 3_000)), 1e-9);
    assertEquals(300, round(shape(10, true, 70_000, 3_000)), 1e-9);
    double log = 9_000;
    assertEquals(log - 500, round(shape(1, false, 7_000, log)), 1);
  }

  @Test
  void levelsFollowTheMemory() {
    KeyGroups keys = KeyGroups.uniform(KEYS);
    assertArrayEquals(
        new double[] {1e6}, new EngineModel(shape(1, true, 110_000, 1e9)).levelEntries(keys), 1);
    assertArrayEquals(
        new double[] {1e5, 1e6},
        new EngineModel(shape(1, true, 90_000, 1e9)).levelEntries(keys),
        1);
    assertArrayEquals(
        new double[] {1e4, 1e5, 1e6},
        new EngineModel(shape(1, true, 9_000, 1e9)).levelEntries(keys),
        1);
    // A store that keeps an entry in twice the room has more memory than entries tell.
    EngineShape heavy =
        new EngineShape(1, true, 90_000, 10_000, 1e9, new Disk(2_500, 7_800, 2, 4, 10));
    assertArrayEquals(new double[] {1e6}, new EngineModel(heavy).levelEntries(keys), 1);
  }

  @Test
  void moreMemoryOrLogOrSkewNeverCostsMore() {
    for (boolean whole : new boolean[] {true, false}) {
      double before = Double.POSITIVE_INFINITY;
      for (double log : new double[] {2e4, 4e4, 1e5, 1e7}) {
        double cost = cost(shape(1, whole, 30_000, log), 0);
        assertTrue(cost <= before, cost + " after " + before);
        before = cost;
      }
      before = Double.POSITIVE_INFINITY;
      for (double skew : new double[] {0, 0.5, 0.8, 0.99}) {
        double cost = cost(shape(1, whole, 30_000, 1e7), skew);
        assertTrue(cost < before, cost + " after " + before);
        before = cost;
      }
      // Memory as such makes a level come or go; between that it saves.
      assertTrue(cost(shape(1, whole, 60_000, 1e7), 0) < cost(shape(1, whole, 30_000, 1e7), 0));
      assertTrue(cost(shape(1, whole, 300_000, 1e7), 0) < cost(shape(1, whole, 110_000, 1e7), 0));
    }
  }

  private static double cost(EngineShape shape, double skew) {
    return new EngineModel(shape).cost(KeyGroups.zipf(KEYS, skew)).total();
  }

  @Test
  void whatFitsIntoMemoryIsFlushedForTheLogAlone() {
    EngineShape roomy = shape(1, true, 2 * KEYS, 3 * KEYS);
    assertEquals(3 * KEYS, round(roomy), 1e-6);
    WriteCost cost = new EngineModel(roomy).cost(KeyGroups.uniform(KEYS));
    assertEquals((1 - Math.exp(-3)) / 3, cost.flush(), 1e-4);
  }

  @Test
  void whatIsNoStoreIsRefused() {
    for (Runnable wrong :
        List.<Runnable>of(
            () -> shape(0, true, 7_000, 1e6),
            () -> shape(1, true, 0, 1e6),
            () -> shape(1, true, Double.NaN, 1e6),
            () -> shape(1, true, 7_000, 0),
            () -> shape(1, true, 7_000, Double.POSITIVE_INFINITY),
            () -> shape(1, false, 1_300, 1e6),
            () -> new Disk(0, 1, 1, 4, 10),
            () -> new Disk(1, 1, 0.9, 4, 10),
            () -> new Disk(1, 1, 1, 0, 10),
            () -> new Disk(1, 1, 1, 4, 1))) {
      assertThrows(IllegalArgumentException.class, wrong::run);
    }
  }
}
