package io.isobardb.tuner.model;

/**
 * All keys are equally popular, and there are so many that requests are as good as independent of
 * each other. Closed forms, but for one inverse. Immutable.
 *
 * @param keys how many there are, above 0, in any unit
 */
public record EvenPopularity(double keys) implements Popularity {
  /** Below it the share of swept keys is taken from its series. */
  private static final double SERIES_BELOW = 1e-4;

  private static final int SOLVE_STEPS = 60;

  /**
   * Checks the number.
   *
   * @param keys above 0, finite
   */
  public EvenPopularity {
    if (!(keys > 0 && keys < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException("there must be some keys, not " + keys);
    }
  }

  @Override
  public double unique(double requests) {
    return -keys * Math.expm1(-requests / keys);
  }

  @Override
  public double uniqueInverse(double unique) {
    return -keys * Math.log1p(-unique / keys);
  }

  @Override
  public double sweptUnique(double requests) {
    return keys * swept(requests / keys);
  }

  private static double swept(double rate) {
    return rate < SERIES_BELOW
        ? rate / 2 - rate * rate / 6
        : rate == Double.POSITIVE_INFINITY ? 1 : 1 + Math.expm1(-rate) / rate;
  }

  @Override
  public double sweptUniqueInverse(double unique) {
    double share = unique / keys;
    if (share >= 1) {
      return Double.POSITIVE_INFINITY;
    }
    double low = share;
    double high = Math.max(2 * share, 1 / (1 - share));
    while (swept(high) < share) {
      low = high;
      high *= 2;
    }
    for (int step = 0; step < SOLVE_STEPS; step++) {
      double middle = (low + high) / 2;
      if (swept(middle) < share) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return keys * high;
  }
}
