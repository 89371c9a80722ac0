package io.isobardb.tuner.model;

import java.util.function.DoubleUnaryOperator;

/**
 * This engine: write memory that is flushed in slices round the key space, or tree by tree; groups
 * in L0 that are merged down together; levels whose number follows the write memory.
 *
 * <p>A key is flushed every R requests to its tree: a <em>round</em>. Memory holds what came since,
 * so R follows from its size, unless the log is too short for that. L0 is merged down every so many
 * rounds as it has groups, and levels are as in the paper's model of LevelDB.
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
  /** A filter takes an absent key for a present one with this probability. */
  private static final double FALSE_POSITIVES = 0.01;

  private static final int SOLVE_STEPS = 100;

  private final EngineShape shape;

  /**
   * The model of a store.
   *
   * @param shape of all its trees
   */
  public EngineModel(EngineShape shape) {
    this.shape = shape;
  }

  /**
   * {@return requests to a tree between two flushes of the same key: R}
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
   * {@return the sizes of a tree's levels in entries, from L1 on: the last has all keys and sets
   * the others}
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
    double[] written = merges(popularity, round).written(popularity, sizes);
    return new WriteCost(1, popularity.unique(round) / round, written);
  }

  private LevelMerges merges(Popularity popularity, double round) {
    EngineShape.Disk disk = shape.disk();
    double columns = popularity.unique(round) / disk.sliceEntries();
    return new LevelMerges(round * disk.l0Groups(), disk.tableEntries(), columns, shape.whole());
  }

  /**
   * {@return data pages that a point read takes from disk without a cache, if keys are read as they
   * are written} A key was last requested within p requests with the probability 1 - Unique'(p),
   * the mean of which over a round is 1 - Unique(R) / R.
   *
   * @param popularity of the keys of one tree
   */
  public double pagesPerRead(Popularity popularity) {
    double round = roundRequests(popularity);
    double[] intervals =
        merges(popularity, round).intervals(popularity, levelEntries(popularity, round));
    double groups = (shape.disk().l0Groups() - 1) / 2.0;
    double passed = groups * popularity.unique(intervals[0]) / intervals[0];
    for (int l = 1; l < intervals.length; l++) {
      passed += popularity.unique(intervals[l]) / intervals[l];
    }
    return popularity.unique(round) / round + FALSE_POSITIVES * passed;
  }
}
