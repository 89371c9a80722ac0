package io.isobardb.lsm.policy;

import io.isobardb.lsm.option.Runs;
import java.util.Objects;

/**
 * What a user wants of the shape of a tree on disk. Immutable.
 *
 * @param runs how many runs each level has
 * @param maxSpace so many times the last level all levels and tiers may hold together
 */
public record TreeShape(Runs runs, double maxSpace) {
  /** Least space for several runs of the size of the last level. */
  public static final double LEAST_TIERED_SPACE = 2;

  /** One run on each level, and a quarter more than the last level. */
  public static final TreeShape DEFAULT = new TreeShape(Runs.leveled(), 1.25);

  /** Checks the number. */
  public TreeShape {
    Objects.requireNonNull(runs, "runs");
    if (!(maxSpace > 1)) {
      throw new IllegalArgumentException("space " + maxSpace + ", must be above 1");
    }
  }
}
