package io.isobardb.tuner.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("any-jdk")
class LevelSizeOptimiserTest {
  private static final double BUFFER = 4194;

  /** Figure 12: the paper finds up to 9.4 %. */
  @ParameterizedTest
  @CsvSource({"1e6, 0", "1e7, 0", "1e8, 0", "1e6, 0.99", "1e7, 0.99", "1e8, 0.99"})
  void sizesThatDoNotGrowByOneRatioSaveSevenToTenPercent(double keys, double skew) {
    Popularity popularity = TabulatedPopularity.of(KeyGroups.zipf(keys, skew));
    LevelDbModel standard = LevelDbModel.standard(keys, 1000);
    int levels = standard.levelEntries().length;
    LevelSizeOptimiser.Plan plan =
        optimise(standard, popularity, new LevelBounds(keys, BUFFER, levels, levels, 100));
    double saved = 1 - plan.cost() / standard.cost(popularity).total();
    assertTrue(saved > 0.07 && saved < 0.102, "saved " + saved);
  }

  @Test
  void noSizeNearThePlanIsCheaper() {
    Popularity popularity = TabulatedPopularity.of(KeyGroups.zipf(1e7, 0.99));
    LevelDbModel design = LevelDbModel.standard(1e7, 1000);
    LevelSizeOptimiser.Plan plan =
        optimise(design, popularity, new LevelBounds(1e7, BUFFER, 1, 8, 100));
    double[] sizes = plan.levelEntries();
    for (int i = 0; i < sizes.length - 1; i++) {
      for (double factor : new double[] {0.7, 0.95, 1.05, 1.4}) {
        double[] other = plan.levelEntries();
        other[i] *= factor;
        double cost = design.withLevels(other).cost(popularity).total();
        assertTrue(cost > plan.cost() * (1 - 1e-6), "level " + i + " times " + factor);
      }
    }
  }

  @Test
  void spaceIsKeptWithinItsBound() {
    Popularity popularity = TabulatedPopularity.of(KeyGroups.uniform(1e6));
    LevelDbModel design = LevelDbModel.standard(1e6, 1000);
    double before = 0;
    for (double space : new double[] {1.3, 1.2, 1.1, 1.05}) {
      LevelSizeOptimiser.Plan plan =
          optimise(design, popularity, new LevelBounds(1e6, BUFFER, 1, 6, space));
      assertTrue(plan.space() <= space, plan.toString());
      assertTrue(plan.cost() >= before, "less space does not cost less");
      before = plan.cost();
    }
  }

  @Test
  void noLevelIsSmallerThanWhatComesIntoIt() {
    Popularity popularity = TabulatedPopularity.of(KeyGroups.zipf(1e6, 1.2));
    LevelDbModel design = LevelDbModel.standard(1e6, 1000);
    LevelSizeOptimiser.Plan plan =
        optimise(design, popularity, new LevelBounds(1e6, 200_000, 1, 6, 100));
    assertTrue(plan.levelEntries()[0] >= 200_000, plan.toString());
  }

  @Test
  void equalBoundsGiveEqualPlans() {
    Popularity popularity = TabulatedPopularity.of(KeyGroups.zipf(1e6, 0.99));
    LevelDbModel design = LevelDbModel.standard(1e6, 1000);
    LevelBounds bounds = new LevelBounds(1e6, BUFFER, 1, 6, 1.15);
    assertEquals(optimise(design, popularity, bounds), optimise(design, popularity, bounds));
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

  private static LevelSizeOptimiser.Plan optimise(
      LevelDbModel design, Popularity popularity, LevelBounds bounds) {
    return new LevelSizeOptimiser(
            sizes -> design.withLevels(sizes).cost(popularity).total(), bounds)
        .optimise();
  }
}
