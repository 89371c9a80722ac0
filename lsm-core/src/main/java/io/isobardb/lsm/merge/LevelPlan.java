package io.isobardb.lsm.merge;

import io.isobardb.lsm.version.Place;

/**
 * Sizes of a tree's levels for what L0 delivers at a time. The last level is taken as full. Each of
 * the others is as many times as large as the one above it, and the first as many times as large as
 * a batch: then a byte that moves down is charged the same everywhere. Pure functions; any thread.
 *
 * @param levels how many there are, the last one included
 * @param ratio of a level to the one above it, but for the first
 * @param cost bytes written for a byte that goes from L0 to the last level
 */
record LevelPlan(int levels, double ratio, double cost) {
  /** How many times cheaper one level has to be. */
  private static final double MUCH_CHEAPER = 1.5;

  /** Sizes with so many levels. */
  static LevelPlan of(int levels, double lastBytes, double batchBytes, double maxSpace) {
    double whole = Math.max(1, lastBytes / Math.max(1, batchBytes));
    double even = Math.pow(whole, 1.0 / levels);
    double ratio = levels == 1 ? even : Math.max(even, leastRatio(levels - 1, maxSpace - 1));
    double first = whole / Math.pow(ratio, levels - 1);
    return new LevelPlan(levels, ratio, (levels - 1) * (1 + ratio) + 1 + first);
  }

  /**
   * The ratio with which so many levels above the last one hold this part of it together: the root
   * of a sum that falls with the ratio.
   */
  static double leastRatio(int above, double part) {
    double low = 1;
    double high = 1 + 1 / part;
    for (int i = 0; i < 50; i++) {
      double middle = (low + high) / 2;
      double sum = 0;
      for (int level = 1; level <= above; level++) {
        sum += Math.pow(middle, -level);
      }
      if (sum > part) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return high;
  }

  /**
   * The number of levels with which the fewest bytes are written; one only if that is much cheaper
   * than two. Versions of hot keys meet in a level above the last, which the cost has no term for,
   * and without one batches seem larger than they are (decision 0034).
   */
  static LevelPlan cheapest(double lastBytes, double batchBytes, double maxSpace) {
    LevelPlan best = of(2, lastBytes, batchBytes, maxSpace);
    for (int levels = 3; levels <= Place.MAX_LEVELS; levels++) {
      LevelPlan plan = of(levels, lastBytes, batchBytes, maxSpace);
      if (plan.cost < best.cost) {
        best = plan;
      }
    }
    LevelPlan alone = of(1, lastBytes, batchBytes, maxSpace);
    return MUCH_CHEAPER * alone.cost < best.cost ? alone : best;
  }

  /** The part of the last level that a level of this height may hold. */
  double share(int height) {
    return Math.pow(ratio, -height);
  }
}
