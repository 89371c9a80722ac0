package io.isobardb.tuner.workload;

import java.util.ArrayList;
import java.util.List;

/**
 * How large the levels of a tree are to be, as shares of the last one. Levels are known by their
 * height above the last, which is 0. Immutable.
 *
 * @param byHeight from 1, for the last level, on; none is larger than the one before
 */
public record LevelShares(List<Double> byHeight) {
  /** The most levels that there may be. */
  public static final int MOST_LEVELS = 32;

  /**
   * Checks the shares, and copies the list.
   *
   * @param byHeight from 1, for the last level, on; {@link #MOST_LEVELS} at most
   * @throws IllegalArgumentException if these are no shares of levels
   */
  public LevelShares {
    byHeight = List.copyOf(byHeight);
    boolean fits = !byHeight.isEmpty() && byHeight.size() <= MOST_LEVELS && byHeight.get(0) == 1;
    for (int height = 1; fits && height < byHeight.size(); height++) {
      fits = byHeight.get(height) > 0 && byHeight.get(height) <= byHeight.get(height - 1);
    }
    if (!fits) {
      throw new IllegalArgumentException(
          "shares of levels are from 1 downwards, above 0, not " + byHeight);
    }
  }

  /** {@return how many levels there are} */
  public int count() {
    return byHeight.size();
  }

  /**
   * {@return the share of the level at this height; 0 if there is none}
   *
   * @param height above the last level, which has 0
   */
  public double share(int height) {
    return height < byHeight.size() ? byHeight.get(height) : 0;
  }

  /** Entries of each level from L1 on, with so many in the last. */
  double[] entries(double last) {
    double[] entries = new double[count()];
    for (int height = 0; height < entries.length; height++) {
      entries[entries.length - 1 - height] = byHeight.get(height) * last;
    }
    return entries;
  }

  /** The shares of levels that hold so many entries, from L1 on. */
  static LevelShares of(double[] entries) {
    List<Double> shares = new ArrayList<>();
    for (int i = entries.length - 1; i >= 0; i--) {
      shares.add(entries[i] / entries[entries.length - 1]);
    }
    return new LevelShares(shares);
  }

  /**
   * The next step to other shares: no level changes by more than a factor. A level that comes is
   * empty at first, and gets its share at once.
   */
  LevelShares towards(LevelShares goal, double factor) {
    List<Double> next = new ArrayList<>();
    double below = 1;
    for (int height = 0; height < goal.count(); height++) {
      double wanted = goal.share(height);
      if (height < count()) {
        double now = share(height);
        wanted = Math.max(now / factor, Math.min(now * factor, wanted));
      }
      below = Math.min(below, wanted);
      next.add(below);
    }
    return new LevelShares(next);
  }
}
