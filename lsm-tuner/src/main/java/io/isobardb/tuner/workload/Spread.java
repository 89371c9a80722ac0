package io.isobardb.tuner.workload;

/**
 * A distribution of positive numbers that were seen one after the other; older ones count less.
 * Immutable.
 */
public final class Spread {
  /** Nothing was seen. */
  public static final Spread NONE = new Spread(new double[Spread.BUCKETS]);

  /** Numbers up to 2^48. */
  private static final int BUCKETS = 4 * 48;

  private static final int PER_OCTAVE = 4;

  /** What a number counts once another one was seen. */
  private static final double KEPT = 31.0 / 32;

  private final double[] weights;

  private Spread(double[] weights) {
    this.weights = weights;
  }

  /**
   * {@return the same with one number more} Earlier ones count less.
   *
   * @param number less than 1 counts as 1
   */
  public Spread with(double number) {
    double[] next = new double[BUCKETS];
    for (int i = 0; i < BUCKETS; i++) {
      next[i] = weights[i] * KEPT;
    }
    next[bucket(number)]++;
    return new Spread(next);
  }

  private static int bucket(double number) {
    double octaves = Math.log(Math.max(1, number)) / Math.log(2);
    return Math.min(BUCKETS - 1, (int) (octaves * PER_OCTAVE));
  }

  /** {@return what all count for together: about how many were seen, 32 at most} */
  public double weight() {
    return weightFrom(1);
  }

  /**
   * {@return what those count for that are about as large as this, or larger}
   *
   * @param number to compare with
   */
  public double weightFrom(double number) {
    double sum = 0;
    for (int i = bucket(number); i < BUCKETS; i++) {
      sum += weights[i];
    }
    return sum;
  }

  /**
   * {@return about the number that so large a part is no larger than; 0 if nothing was seen}
   *
   * @param part from 0 to 1
   */
  public double quantile(double part) {
    double left = part * weight();
    double last = 0;
    for (int i = 0; i < BUCKETS; i++) {
      if (weights[i] > 0) {
        last = Math.pow(2, (i + 1.0) / PER_OCTAVE);
        left -= weights[i];
        if (left <= 0) {
          return last;
        }
      }
    }
    return last;
  }
}
