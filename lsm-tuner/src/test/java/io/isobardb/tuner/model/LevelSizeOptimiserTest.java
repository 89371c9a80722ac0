package io.isobardb.tuner.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.popularity.KeyGroups;
import io.isobardb.popularity.TabulatedPopularity;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class LevelSizeOptimiserTest {
  private static final double BUFFER = 4194;
  private static final LevelMerges MERGES = new LevelMerges(4 * BUFFER, 8_000, 2, false);

  @Test
  void noSizeNearThePlanIsCheaper() {
    Popularity popularity = TabulatedPopularity.of(KeyGroups.zipf(1e7, 0.99));
    LevelSizeOptimiser.Plan plan = optimise(popularity, new LevelBounds(1e7, BUFFER, 1, 8, 100));
    double[] sizes = plan.levelEntries();
    for (int i = 0; i < sizes.length - 1; i++) {
      for (double factor : new double[] {0.7, 0.95, 1.05, 1.4}) {
        double[] other = plan.levelEntries();
        other[i] *= factor;
        double cost = MERGES.cost(popularity, other);
        assertTrue(cost > plan.cost() * (1 - 1e-6), "level " + i + " times " + factor);
      }
    }
  }

  @Test
  void spaceIsKeptWithinItsBound() {
    Popularity popularity = TabulatedPopularity.of(KeyGroups.uniform(1e6));
    double before = 0;
    for (double space : new double[] {1.3, 1.2, 1.1, 1.05}) {
      LevelSizeOptimiser.Plan plan =
          optimise(popularity, new LevelBounds(1e6, BUFFER, 1, 6, space));
      assertTrue(plan.space() <= space, plan.toString());
      assertTrue(plan.cost() >= before, "less space does not cost less");
      before = plan.cost();
    }
  }

  @Test
  void noLevelIsSmallerThanWhatComesIntoIt() {
    Popularity popularity = TabulatedPopularity.of(KeyGroups.zipf(1e6, 1.2));
    LevelSizeOptimiser.Plan plan = optimise(popularity, new LevelBounds(1e6, 200_000, 1, 6, 100));
    assertTrue(plan.levelEntries()[0] >= 200_000, plan.toString());
  }

  /** A level has one SSTable at least: it has no neighbours, and saves nothing by them. */
  @Test
  void levelsSmallerThanATableCostSomething() {
    Popularity popularity = KeyGroups.uniform(1e6);
    for (double size = 5_000; size < 6_000; size++) {
      double[] written = MERGES.written(popularity, new double[] {size, 10 * size, 1e6});
      for (double level : written) {
        assertTrue(level > 0 && level < 100, size + ": " + Arrays.toString(written));
      }
    }
  }

  @Test
  void equalBoundsGiveEqualPlans() {
    Popularity popularity = TabulatedPopularity.of(KeyGroups.zipf(1e6, 0.99));
    LevelBounds bounds = new LevelBounds(1e6, BUFFER, 1, 6, 1.15);
    assertEquals(optimise(popularity, bounds), optimise(popularity, bounds));
  }

  @Test
  void boundsThatAllowNothingAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> new LevelBounds(1e6, 10, 3, 2, 2));
    assertThrows(IllegalArgumentException.class, () -> new LevelBounds(1e6, 10, 1, 2, 1));
    LevelSizeOptimiser none =
        new LevelSizeOptimiser(
            sizes -> Double.POSITIVE_INFINITY, new LevelBounds(1e6, 10, 1, 2, 2));
    assertThrows(IllegalArgumentException.class, none::optimise);
  }

  private static LevelSizeOptimiser.Plan optimise(Popularity popularity, LevelBounds bounds) {
    return new LevelSizeOptimiser(sizes -> MERGES.cost(popularity, sizes), bounds).optimise();
  }
}
