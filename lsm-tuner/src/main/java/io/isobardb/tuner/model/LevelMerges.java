package io.isobardb.tuner.model;

import java.util.Arrays;

/**
 * What merges write to the levels of a tree of this engine for each entry put, whatever brings
 * entries into its L0: Algorithm 1 of the paper, with what merges rewrite needlessly. Pure.
 *
 * <p>The factors were found once with an item-level simulation of the engine's policies: uniform
 * keys and Zipf's law, write memory of a hundredth to a fifth of the data. docs/models.md has the
 * errors.
 *
 * @param interval requests between two merges of the same key out of L0
 * @param tableEntries of an SSTable that a merge writes
 * @param columns SSTables of a flush that lie side by side in L0
 * @param whole whether flushes take all of a tree, not slices
 */
public record LevelMerges(double interval, double tableEntries, double columns, boolean whole) {
  /**
   * The share of the table at each end of a slice that is rewritten needlessly. Whole flushes cut
   * all groups at the same keys, and all of a group is merged down at once.
   */
  private static final double SLICE_OVERLAP = 0.45;

  /** As {@link #SLICE_OVERLAP}, where no level below says where the tables of L1 end. */
  private static final double LAST_OVERLAP = 0.75;

  private static final double WHOLE_OVERLAP = 0.2;

  /**
   * What a merge into the second level and those below rewrites beyond its own range, by what it
   * moves there. It is less the more comes from L0 at a time for the size of the level above:
   * neighbours then move one after another, and share the tables below them. A level of a single
   * table has no neighbours.
   */
  private static final double LEVEL_OVERLAP = 1.1;

  private static final double OVERLAP_OF_BATCHES = 0.27;

  /** A level above the last is taken to lack some keys, or it would be emptied never. */
  private static final double NEARLY_ALL = 0.999;

  /**
   * Checks the numbers.
   *
   * @param interval above 0
   * @param tableEntries above 0
   * @param columns 0 or more
   * @param whole whether flushes take all of a tree
   */
  public LevelMerges {
    if (!(interval > 0) || !(tableEntries > 0) || !(columns >= 0)) {
      throw new IllegalArgumentException(
          "merges need an interval, SSTables and columns, not "
              + (interval + ", " + tableEntries + " and " + columns));
    }
  }

  /**
   * {@return entries written to each level for each entry put, from L1 on}
   *
   * @param popularity of the keys that are put
   * @param sizes of the levels in entries, from L1 on; the last one has all keys
   */
  public double[] written(Popularity popularity, double[] sizes) {
    double[] intervals = intervals(popularity, sizes);
    double[] written = new double[sizes.length];
    double batch = popularity.unique(intervals[0]);
    double sliced = sizes.length == 1 ? LAST_OVERLAP : SLICE_OVERLAP;
    double overlap = whole ? WHOLE_OVERLAP : sliced;
    double needless =
        Math.min(overlap * Math.max(0, columns - 1) * tableEntries, held(popularity, sizes, 0));
    written[0] = (merged(popularity, batch, sizes, 0) + needless) / intervals[0];
    for (int l = 1; l < sizes.length; l++) {
      double moved = popularity.unique(intervals[l]);
      double tables = Math.max(1, sizes[l - 1] / tableEntries);
      double batches = batch / sizes[l - 1] * (1 - 1 / (tables * tables));
      double part = LEVEL_OVERLAP / (1 + OVERLAP_OF_BATCHES * batches);
      written[l] = (merged(popularity, moved, sizes, l) + part * moved) / intervals[l];
    }
    return written;
  }

  /**
   * {@return the sum of {@link #written}}
   *
   * @param popularity of the keys that are put
   * @param sizes of the levels in entries, from L1 on
   */
  public double cost(Popularity popularity, double[] sizes) {
    return Arrays.stream(written(popularity, sizes)).sum();
  }

  /**
   * {@return requests between two merges of the same key into each level, from L1 on: Interval}
   *
   * @param popularity of the keys that are put
   * @param sizes of the levels in entries, from L1 on
   */
  public double[] intervals(Popularity popularity, double[] sizes) {
    double[] intervals = new double[sizes.length];
    intervals[0] = interval;
    for (int l = 1; l < sizes.length; l++) {
      double above = held(popularity, sizes, l - 1);
      intervals[l] = intervals[l - 1] + popularity.sweptUniqueInverse(above);
    }
    return intervals;
  }

  /** What a level holds together with what comes into it. */
  private double merged(Popularity popularity, double moved, double[] sizes, int l) {
    double held = held(popularity, sizes, l);
    // Not all keys of the last level need be among those that are put now.
    return l == sizes.length - 1 ? held : popularity.merge(moved, held);
  }

  /** A level but the last gives a table away when it is full: half a table less is its mean. */
  private double held(Popularity popularity, double[] sizes, int l) {
    return l == sizes.length - 1
        ? sizes[l]
        : Math.min(
            Math.max(sizes[l] - tableEntries / 2, sizes[l] / 2), NEARLY_ALL * popularity.keys());
  }
}
