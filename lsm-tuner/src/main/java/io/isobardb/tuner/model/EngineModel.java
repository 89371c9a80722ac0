package io.isobardb.tuner.model;

import java.util.function.DoubleUnaryOperator;

/**
 * This engine: write memory that is flushed in slices round the key space, or tree by tree; groups
 * in L0 that are merged down together; levels whose number follows the write memory.
 *
 * <p>A key is flushed every R requests to its tree: a <em>round</em>. Memory holds what came since,
 * so R follows from its size, unless the log is too short for that. L0 is merged down every so many
 * rounds as it has groups, and levels are as in {@link LevelDbModel}.
 *
 * <p>What merges rewrite beyond the keys that they have to is told by factors, found once with an
 * item-level simulation of the engine's policies: uniform keys and Zipf's law, write memory of a
 * hundredth to a fifth of the data. docs/models.md has the errors.
 *
 * <p>It leaves out merges within L0, which trees with equal shares do not need, tables that move as
 * they are, and what merges that run late cost. Where a level is about to come or go, it may have
 * another number of levels than the store.
 */
public final class EngineModel implements WriteModel {
  /**
   * Of the table that each end of a slice lies in, so much is rewritten needlessly. Whole flushes
   * cut all groups at the same keys, and all of a group is merged down at once.
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

  /** A filter takes an absent key for a present one with this probability. */
  private static final double FALSE_POSITIVES = 0.01;

  private static final int SOLVE_STEPS = 100;

  private final EngineShape shape;

  /** The model of a store. */
  public EngineModel(EngineShape shape) {
    this.shape = shape;
  }

  /**
   * Requests to a tree between two flushes of the same key: R.
   *
   * @param popularity of the keys of one tree
   */
  public double roundRequests(Popularity popularity) {
    double memory = shape.memoryEntries() / shape.trees();
    double log = shape.logEntries() / shape.trees();
    if (shape.whole()) {
      return Math.min(log, wholeRound(popularity, memory));
    }
    double active = activeRequests(popularity);
    // Memory is full when the next slice, the oldest, is complete: half a slice above the mean.
    double halfSlice = shape.disk().sliceEntries() / 2 / shape.trees();
    double sealed = memory - halfSlice - popularity.sweptUnique(active);
    double round =
        sealed < popularity.keys()
            ? popularity.sweptUniqueInverse(sealed)
            : Double.POSITIVE_INFINITY;
    // What was sealed is in the log until a round has passed over all of it: for the round, and
    // for the half of it on average that was written before it was sealed.
    return Math.min(round, Math.max(log - active / 2, log / 2));
  }

  private double activeRequests(Popularity popularity) {
    return popularity.uniqueInverse(Math.min(shape.activeEntries(), popularity.keys() / 2));
  }

  /** Trees are flushed in turn, so that their ages are spread evenly from 0 to R. */
  private double wholeRound(Popularity popularity, double memory) {
    if (memory >= popularity.keys()) {
      return Double.POSITIVE_INFINITY;
    }
    int trees = shape.trees();
    DoubleUnaryOperator held =
        requests -> {
          double sum = 0;
          for (int tree = 1; tree <= trees; tree++) {
            sum += popularity.unique(requests * tree / trees);
          }
          return sum / trees;
        };
    double low = memory;
    double high = 2 * memory;
    while (held.applyAsDouble(high) < memory) {
      low = high;
      high *= 2;
    }
    for (int step = 0; step < SOLVE_STEPS && high - low > 1e-12 * high; step++) {
      double middle = (low + high) / 2;
      if (held.applyAsDouble(middle) < memory) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return high;
  }

  /**
   * The sizes of a tree's levels in entries, from L1 on: the last has all keys and sets the others.
   *
   * @param popularity of the keys of one tree
   */
  public double[] levelEntries(Popularity popularity) {
    return levelEntries(popularity, roundRequests(popularity));
  }

  private double[] levelEntries(Popularity popularity, double round) {
    double most = popularity.unique(round);
    if (!shape.whole()) {
      most =
          popularity.sweptUnique(round)
              + popularity.sweptUnique(activeRequests(popularity))
              + shape.disk().sliceEntries() / 2 / shape.trees();
    }
    double ratio = shape.disk().sizeRatio();
    double reach = Math.max(most * shape.disk().memoryWeight(), shape.disk().tableEntries());
    reach *= ratio;
    int levels = 1;
    for (double share = popularity.keys(); reach < share; share /= ratio) {
      levels++;
    }
    double[] entries = new double[levels];
    double size = popularity.keys();
    for (int l = levels - 1; l >= 0; l--) {
      entries[l] = Math.max(size, shape.disk().tableEntries());
      size /= ratio;
    }
    return entries;
  }

  /**
   * {@inheritDoc}
   *
   * @param popularity of the keys of one tree
   */
  @Override
  public WriteCost cost(Popularity popularity) {
    double round = roundRequests(popularity);
    double[] sizes = levelEntries(popularity, round);
    double[] intervals = intervals(popularity, round, sizes);
    double[] written = new double[sizes.length];
    double batch = popularity.unique(intervals[0]);
    double columns = popularity.unique(round) / shape.disk().sliceEntries();
    double sliced = sizes.length == 1 ? LAST_OVERLAP : SLICE_OVERLAP;
    double overlap = shape.whole() ? WHOLE_OVERLAP : sliced;
    double needless =
        Math.min(overlap * Math.max(0, columns - 1) * shape.disk().tableEntries(), held(sizes, 0));
    written[0] = (popularity.merge(batch, held(sizes, 0)) + needless) / intervals[0];
    for (int l = 1; l < sizes.length; l++) {
      double moved = popularity.unique(intervals[l]);
      double tables = sizes[l - 1] / shape.disk().tableEntries();
      double batches = batch / sizes[l - 1] * (1 - 1 / (tables * tables));
      double part = LEVEL_OVERLAP / (1 + OVERLAP_OF_BATCHES * batches);
      written[l] = (popularity.merge(moved, held(sizes, l)) + part * moved) / intervals[l];
    }
    return new WriteCost(1, popularity.unique(round) / round, written);
  }

  /** Requests between two merges of the same key into each level, from L1 on: Interval. */
  private double[] intervals(Popularity popularity, double round, double[] sizes) {
    double[] intervals = new double[sizes.length];
    intervals[0] = round * shape.disk().l0Groups();
    for (int l = 1; l < sizes.length; l++) {
      intervals[l] = intervals[l - 1] + popularity.sweptUniqueInverse(held(sizes, l - 1));
    }
    return intervals;
  }

  /** A level but the last gives a table away when it is full: half a table less is its mean. */
  private double held(double[] sizes, int l) {
    return l == sizes.length - 1 ? sizes[l] : sizes[l] - shape.disk().tableEntries() / 2;
  }

  /**
   * Data pages that a point read takes from disk without a cache, if keys are read as they are
   * written. A key was last requested within p requests with the probability 1 - Unique'(p), the
   * mean of which over a round is 1 - Unique(R) / R.
   *
   * @param popularity of the keys of one tree
   */
  public double pagesPerRead(Popularity popularity) {
    double round = roundRequests(popularity);
    double[] intervals = intervals(popularity, round, levelEntries(popularity, round));
    double groups = (shape.disk().l0Groups() - 1) / 2.0;
    double passed = groups * popularity.unique(intervals[0]) / intervals[0];
    for (int l = 1; l < intervals.length; l++) {
      passed += popularity.unique(intervals[l]) / intervals[l];
    }
    return popularity.unique(round) / round + FALSE_POSITIVES * passed;
  }
}
