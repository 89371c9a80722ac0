package io.isobardb.bench.analytic;

import io.isobardb.tuner.model.Popularity;
import java.util.function.DoubleUnaryOperator;

/**
 * What a point read costs: the sum over all levels of the share of reads that end there and what a
 * read that ends there costs (section 8 of the paper, theorem 4).
 *
 * <p>A level holds what was inserted between its newest and its oldest age, in requests. A read for
 * a key ends at the first level that holds it.
 */
public final class ReadModel {
  private final double[] oldest;
  private final double[] cost;

  /**
   * @param oldest the age of the oldest entries of each level in requests, from memory on; the
   *     newest entries of a level are as old as the oldest of the level before. Not descending; the
   *     last may be infinite
   * @param cost of a read that ends at each level
   */
  public ReadModel(double[] oldest, double[] cost) {
    if (oldest.length != cost.length || oldest.length == 0) {
      throw new IllegalArgumentException(
          "each level needs an age and a cost, but there are "
              + (oldest.length + " and " + cost.length));
    }
    double before = 0;
    for (double age : oldest) {
      if (!(age >= before)) {
        throw new IllegalArgumentException(
            "ages must not descend, but " + age + " follows " + before);
      }
      before = age;
    }
    this.oldest = oldest.clone();
    this.cost = cost.clone();
  }

  /**
   * The ages of LevelDB's levels: memory, level 0, then the levels. These are means over time and
   * over the keys: memory is half full, and a level that is emptied round the key space was so half
   * an interval ago.
   *
   * @param cost of a read that ends at each of them
   */
  public static ReadModel of(LevelDbModel design, Popularity popularity, double[] cost) {
    double[] sizes = design.levelEntries();
    double[] oldest = new double[sizes.length + 2];
    oldest[0] = design.bufferEntries() / 2;
    oldest[1] = oldest[0] + design.bufferEntries() * level0(design);
    for (int l = 0; l < sizes.length - 1; l++) {
      oldest[l + 2] = oldest[l + 1] + popularity.sweptUniqueInverse(sizes[l]) / 2;
    }
    oldest[oldest.length - 1] = Double.POSITIVE_INFINITY;
    return new ReadModel(oldest, cost);
  }

  /** Tables of level 0, which is merged down as soon as it has all; the mean over time. */
  private static double level0(LevelDbModel design) {
    return (design.level0Tables() - 1) / 2.0;
  }

  /**
   * LevelDB without filters and without a cache: the tables that a read looks into. One that ends
   * in level 0 looks into half of those there.
   */
  public static ReadModel ofTables(LevelDbModel design, Popularity popularity) {
    double[] cost = new double[design.levelEntries().length + 2];
    double level0 = level0(design);
    cost[1] = (level0 + 1) / 2;
    for (int l = 2; l < cost.length; l++) {
      cost[l] = level0 + l - 1;
    }
    return of(design, popularity, cost);
  }

  /**
   * The expected cost of a read if keys are read as they are written. A key was written within so
   * many requests with the probability 1 - Unique'(requests) (definition 1).
   */
  public double costAsWritten(Popularity writers) {
    return cost(age -> 1 - slope(writers, age));
  }

  private static double slope(Popularity writers, double requests) {
    if (requests == Double.POSITIVE_INFINITY) {
      return 0;
    }
    double step = Math.max(1, requests * 1e-3);
    return (writers.unique(requests + step) - writers.unique(requests)) / step;
  }

  /**
   * The expected cost of a read.
   *
   * @param readers keys weighted by their share of the reads, requested as they are written
   */
  public double cost(Popularity readers) {
    return cost(age -> readers.unique(age) / readers.keys());
  }

  /**
   * @param found the share of the reads that find an entry no older than that
   */
  private double cost(DoubleUnaryOperator found) {
    double sum = 0;
    double seen = 0;
    for (int l = 0; l < oldest.length; l++) {
      double share = found.applyAsDouble(oldest[l]);
      sum += (share - seen) * cost[l];
      seen = share;
    }
    return sum;
  }
}
