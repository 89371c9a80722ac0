package io.isobardb.tuner.model;

import java.util.Arrays;

/**
 * A popularity given by the share of writes whose keys were not written for some time before them:
 * the slope of Unique. {@link ReuseTimes} measures it.
 *
 * <p>The slope is a straight line between the times it is known for. Behind the last one it falls
 * as fast as it did over the second half of the time before: with keys that are never written
 * again, hardly at all, and so there may be no end to the number of keys.
 */
public final class LearntPopularity implements Popularity {
  private static final int MAX_STEPS = 200;
  private static final double PRECISION = 1e-12;

  private final double[] ages;
  private final double[] slopes;

  /** Unique at each age, and the integral of Unique up to it. */
  private final double[] uniques;

  private final double[] integrals;

  /** The mean of Unique up to each age. */
  private final double[] means;

  /** By how much the logarithm of the slope falls per request behind the last age. */
  private final double decay;

  /**
   * @param ages in requests, from 0 on, ascending; two or more
   * @param slopes of Unique at each age, 0 to 1, not ascending
   */
  LearntPopularity(double[] ages, double[] slopes) {
    this.ages = ages.clone();
    this.slopes = slopes.clone();
    this.uniques = new double[ages.length];
    this.integrals = new double[ages.length];
    this.means = new double[ages.length];
    for (int i = 1; i < ages.length; i++) {
      double width = ages[i] - ages[i - 1];
      uniques[i] = uniqueFrom(i - 1, width);
      integrals[i] = integralFrom(i - 1, width);
      means[i] = integrals[i] / ages[i];
    }
    int last = ages.length - 1;
    int middle = last;
    while (middle > 0 && ages[middle] > ages[last] / 2) {
      middle--;
    }
    double fall = StrictMath.log(slopes[middle] / slopes[last]);
    this.decay = slopes[last] > 0 ? fall / (ages[last] - ages[middle]) : Double.POSITIVE_INFINITY;
  }

  private double uniqueFrom(int i, double further) {
    double bend = (slopes[i + 1] - slopes[i]) / (ages[i + 1] - ages[i]);
    return uniques[i] + further * (slopes[i] + further * bend / 2);
  }

  private double integralFrom(int i, double further) {
    double bend = (slopes[i + 1] - slopes[i]) / (ages[i + 1] - ages[i]);
    return integrals[i] + further * (uniques[i] + further * (slopes[i] / 2 + further * bend / 6));
  }

  /** May be infinite. */
  @Override
  public double keys() {
    int last = ages.length - 1;
    return slopes[last] == 0 ? uniques[last] : uniques[last] + slopes[last] / decay;
  }

  @Override
  public double unique(double requests) {
    checkRequests(requests);
    int last = ages.length - 1;
    if (requests < ages[last]) {
      int i = piece(ages, requests);
      return uniqueFrom(i, requests - ages[i]);
    }
    return uniques[last] + tail(requests - ages[last]);
  }

  /** Where the piece begins that a number lies in. */
  private static int piece(double[] starts, double number) {
    int found = Arrays.binarySearch(starts, number);
    return found >= 0 ? found : -found - 2;
  }

  /** New keys in so many requests behind the last age. */
  private double tail(double further) {
    double slope = slopes[slopes.length - 1];
    if (slope == 0) {
      return 0;
    }
    return decay == 0 ? slope * further : -slope * StrictMath.expm1(-decay * further) / decay;
  }

  @Override
  public double sweptUnique(double requests) {
    checkRequests(requests);
    if (requests == 0) {
      return 0;
    }
    if (requests == Double.POSITIVE_INFINITY) {
      return keys();
    }
    int last = ages.length - 1;
    if (requests < ages[last]) {
      int i = piece(ages, requests);
      return integralFrom(i, requests - ages[i]) / requests;
    }
    double further = requests - ages[last];
    double slope = slopes[last];
    double more = 0;
    if (slope > 0) {
      more = decay == 0 ? slope * further * further / 2 : (slope * further - tail(further)) / decay;
    }
    return (integrals[last] + uniques[last] * further + more) / requests;
  }

  @Override
  public double uniqueInverse(double unique) {
    checkUnique(unique);
    int last = ages.length - 1;
    if (unique >= uniques[last]) {
      return ages[last] + tailInverse(unique - uniques[last]);
    }
    int i = piece(uniques, unique);
    double more = unique - uniques[i];
    double bend = (slopes[i + 1] - slopes[i]) / (ages[i + 1] - ages[i]);
    // The root of a parabola, in the form that a straight line is no exception to.
    double root = Math.sqrt(Math.max(0, slopes[i] * slopes[i] + 2 * bend * more));
    return more == 0 ? ages[i] : ages[i] + 2 * more / (slopes[i] + root);
  }

  /** Requests behind the last age that have so many new keys. */
  private double tailInverse(double more) {
    double slope = slopes[slopes.length - 1];
    if (more == 0) {
      return 0;
    }
    if (decay == 0) {
      return more / slope;
    }
    double left = slope > 0 ? more * decay / slope : 1;
    return left < 1 ? -StrictMath.log1p(-left) / decay : Double.POSITIVE_INFINITY;
  }

  @Override
  public double sweptUniqueInverse(double unique) {
    checkUnique(unique);
    if (unique == 0) {
      return 0;
    }
    int last = ages.length - 1;
    double low = ages[last];
    double high = ages[last];
    if (unique < means[last]) {
      int i = piece(means, unique);
      low = ages[i];
      high = ages[i + 1];
    }
    while (sweptUnique(high) < unique) {
      high *= 2;
      if (high > 1e300) {
        return Double.POSITIVE_INFINITY;
      }
    }
    for (int step = 0; step < MAX_STEPS && high - low > PRECISION * high; step++) {
      double middle = (low + high) / 2;
      if (sweptUnique(middle) < unique) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return high;
  }

  private void checkUnique(double unique) {
    double keys = keys();
    if (!(unique >= 0 && unique <= keys * (1 + PRECISION))) {
      throw new IllegalArgumentException(
          "the number of distinct keys must be from 0 to " + keys + ", not " + unique);
    }
  }

  private static void checkRequests(double requests) {
    if (!(requests >= 0)) {
      throw new IllegalArgumentException("requests must be 0 or more, not " + requests);
    }
  }
}
