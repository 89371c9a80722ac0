package io.isobardb.lsm.policy;

import io.isobardb.lsm.option.Runs;
import java.util.Objects;

/**
 * What is wanted of the shape of a tree on disk. Immutable.
 *
 * @param runs how many runs each level has
 * @param maxSpace so many times the last level all levels and tiers may hold together
 * @param l0Start groups of L0 from which on it is merged down; 0 for those of the store's options
 */
public record TreeShape(Runs runs, double maxSpace, int l0Start) {
  /** Least space for several runs of the size of the last level. */
  public static final double LEAST_TIERED_SPACE = 2;

  /** One run on each level, and a quarter more than the last level. */
  public static final TreeShape DEFAULT = new TreeShape(Runs.leveled(), 1.25);

  /** What a user wants: L0 is merged down as the store's options say. */
  public TreeShape(Runs runs, double maxSpace) {
    this(runs, maxSpace, 0);
  }

  /** Checks the numbers. */
  public TreeShape {
    Objects.requireNonNull(runs, "runs");
    if (!(maxSpace > 1)) {
      throw new IllegalArgumentException("space " + maxSpace + ", must be above 1");
    }
    if (l0Start < 0) {
      throw new IllegalArgumentException(l0Start + " groups of L0, must be 0 or more");
    }
  }

  /** Whether that is space enough for several runs as large as the last level. */
  public static boolean isWideEnough(double maxSpace) {
    return maxSpace >= LEAST_TIERED_SPACE;
  }

  /**
   * Passes if both can be kept together.
   *
   * @return this
   * @throws IllegalArgumentException if not, with the least space that can
   */
  public TreeShape check() {
    if (runs.last() > 1 && !isWideEnough(maxSpace)) {
      throw new IllegalArgumentException(
          "runs="
              + runs
              + " keeps several runs as large as the last level, which maxSpace="
              + maxSpace
              + " does not allow: set maxSpace to "
              + LEAST_TIERED_SPACE
              + " or more, or take runs=LAZY("
              + runs.last()
              + ")");
    }
    return this;
  }
}
