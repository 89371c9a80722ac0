package io.isobardb.bench.search;

/**
 * What was learnt of a surface from noisy values at some points; lower is better. Immutable once it
 * is made.
 */
interface Model {
  /** What it says of a point. */
  Prediction at(double[] point);

  /** The standard deviation of single runs at one point; NaN if the model can't tell. */
  double noise();
}
