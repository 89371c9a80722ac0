package io.isobardb.bench.search;

/**
 * What a model says of a point: a mean, and the standard deviation of what it does not know. Noise
 * of single runs is not part of it.
 */
record Prediction(double mean, double deviation) {
  private static final double LEAST_DEVIATION = 1e-12;

  /** By how much less than {@code best} is expected; what is more counts as 0. */
  double improvement(double best) {
    if (deviation < LEAST_DEVIATION) {
      return Math.max(0, best - mean);
    }
    double z = (best - mean) / deviation;
    return (best - mean) * Normal.below(z) + deviation * Normal.density(z);
  }

  /** How likely the truth is to be at most {@code bound}. */
  double below(double bound) {
    if (deviation < LEAST_DEVIATION) {
      return mean <= bound ? 1 : 0;
    }
    return Normal.below((bound - mean) / deviation);
  }
}
