package io.isobardb.lsm.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LevelPlanTest {
  private static final double MUCH = 1e9;

  @Test
  void levelsGrowByOneRatioFromABatchToTheLast() {
    // 1000 batches in three steps: a tenth, a hundredth of the last level, and the batch itself.
    LevelPlan plan = LevelPlan.of(3, 1000, 1, 10);
    assertEquals(10, plan.ratio(), 1e-9);
    assertEquals(0.1, plan.share(1), 1e-9);
    assertEquals(0.01, plan.share(2), 1e-9);
    assertEquals(3 * 11, plan.cost(), 1e-9);
  }

  @Test
  void aBoundOnSpaceMakesUpperLevelsSmallerAndTheFirstStepShorter() {
    // One level above the last, of a quarter at most: 16 batches below 4 below 1.
    LevelPlan plan = LevelPlan.of(2, 9, 1, 1.25);
    assertEquals(4, plan.ratio(), 1e-6);
    assertEquals(1 + 4 + 1 + 9 / 4.0, plan.cost(), 1e-5);
    // Two levels above it: a ratio r with 1/r + 1/r^2 = 0.25.
    double ratio = LevelPlan.of(3, 9, 1, 1.25).ratio();
    assertEquals(0.25, 1 / ratio + 1 / ratio / ratio, 1e-6);
  }

  @Test
  void aTreeNotMuchLargerThanABatchHasOneLevel() {
    assertEquals(1, LevelPlan.cheapest(10, 10, 1.25).levels());
    assertEquals(1, LevelPlan.cheapest(5, 10, 1.25).levels());
    assertEquals(1, LevelPlan.cheapest(0, 10, 1.25).levels());
    // 1.5 (1 + r) is more than 2 (1 + root of r) from r = 2.4 on.
    assertEquals(1, LevelPlan.cheapest(23, 10, MUCH).levels());
    assertEquals(2, LevelPlan.cheapest(25, 10, MUCH).levels());
    // With a quarter of the last at most the other is 6 + r / 4: from r = 3.6 on.
    assertEquals(1, LevelPlan.cheapest(35, 10, 1.25).levels());
    assertEquals(2, LevelPlan.cheapest(37, 10, 1.25).levels());
  }

  @Test
  void largerBatchesNeverAskForMoreLevels() {
    for (long seed = 0; seed < 30; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      double last = Math.pow(10, random.nextDouble(3, 12));
      double space = 1.01 + random.nextDouble() * random.nextInt(1, 8);
      int levels = Integer.MAX_VALUE;
      for (double batch = last / 1e6; batch < 2 * last; batch *= 1.3) {
        LevelPlan plan = LevelPlan.cheapest(last, batch, space);
        assertTrue(plan.levels() <= levels, "seed " + seed + ", " + plan);
        levels = plan.levels();
        double above = 0;
        for (int height = 1; height < levels; height++) {
          above += plan.share(height);
        }
        assertTrue(above <= space - 1 + 1e-6, "seed " + seed + ": " + above + " of " + space);
      }
      assertEquals(1, levels, "seed " + seed);
    }
  }
}
