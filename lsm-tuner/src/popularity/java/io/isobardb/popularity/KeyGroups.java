package io.isobardb.popularity;

import io.isobardb.tuner.model.Popularity;
import java.util.Arrays;
import java.util.Locale;

/**
 * A popularity given by groups of keys that are about equally popular. Uniform popularity is one
 * group; Zipf's law is cut into groups whose ranks differ by at most one percent.
 *
 * <p>Unique and its inverse are within 0.01 % of the sum over single keys.
 */
public final class KeyGroups implements Popularity {
  /** The most keys that a popularity may have. */
  public static final double MAX_KEYS = 1e12;

  /** This many of the most popular keys of Zipf's law are groups of their own. */
  private static final int SINGLE_RANKS = 512;

  /** Width of the other groups, as a share of their first rank. */
  private static final double GROUP_WIDTH = 0.01;

  private static final int MAX_STEPS = 200;

  /** Precision of the logarithm of a number of requests. */
  private static final double PRECISION = 1e-12;

  /** Below this, 1 - (1 - exp(-x)) / x is computed by its series. */
  private static final double SERIES_BELOW = 1e-3;

  /** Minus the logarithm of the probability that one request misses a key of the group. */
  private final double[] rates;

  /** Keys in the group, or what they weigh together. */
  private final double[] masses;

  private final double keys;

  private KeyGroups(double[] rates, double[] masses) {
    this.rates = rates;
    this.masses = masses;
    this.keys = Arrays.stream(masses).sum();
  }

  /**
   * All keys equally popular.
   *
   * @param keys 2 to {@link #MAX_KEYS}
   */
  public static KeyGroups uniform(double keys) {
    checkKeys(keys);
    return new KeyGroups(new double[] {rate(1 / keys)}, new double[] {keys});
  }

  /**
   * The key of rank i is requested in proportion to i to the power of {@code -skew}.
   *
   * @param keys 2 to {@link #MAX_KEYS}
   * @param skew 0 or more; 0 is uniform, 0.99 is YCSB's
   */
  public static KeyGroups zipf(double keys, double skew) {
    checkKeys(keys);
    if (!(skew >= 0) || skew == Double.POSITIVE_INFINITY) {
      throw new IllegalArgumentException("skew must be 0 or more, not " + skew);
    }
    if (skew == 0) {
      return uniform(keys);
    }
    double[] firsts = firstRanks(keys);
    int groups = firsts.length - 1;
    double[] shares = new double[groups];
    double[] masses = new double[groups];
    double sum = 0;
    for (int i = groups - 1; i >= 0; i--) {
      masses[i] = firsts[i + 1] - firsts[i];
      shares[i] = powerSum(firsts[i], firsts[i + 1] - 1, skew);
      sum += shares[i];
    }
    double[] rates = new double[groups];
    for (int i = 0; i < groups; i++) {
      rates[i] = rate(shares[i] / masses[i] / sum);
    }
    return new KeyGroups(rates, masses);
  }

  /**
   * Groups of keys as they were observed.
   *
   * @param counts keys in each group, more than 0
   * @param shares of all requests that each group gets, more than 0; they need not add up to 1
   */
  public static KeyGroups of(double[] counts, double[] shares) {
    return weighted(counts, shares, ones(counts.length));
  }

  /**
   * As {@link #of}, where a key counts by its weight.
   *
   * @param weights of a single key of each group, 0 or more, not all 0
   */
  public static KeyGroups weighted(double[] counts, double[] shares, double[] weights) {
    if (counts.length != shares.length || counts.length != weights.length) {
      throw new IllegalArgumentException(
          "each group needs a count, a share and a weight, but there are "
              + (counts.length + ", " + shares.length + " and " + weights.length));
    }
    double all = 0;
    double requests = 0;
    for (int i = 0; i < counts.length; i++) {
      positive("count", i, counts[i]);
      positive("share", i, shares[i]);
      all += counts[i];
      requests += shares[i];
    }
    checkKeys(all);
    double[] rates = new double[counts.length];
    double[] masses = new double[counts.length];
    double weight = 0;
    for (int i = 0; i < counts.length; i++) {
      double share = shares[i] / requests / counts[i];
      if (share >= 1) {
        throw new IllegalArgumentException("group " + i + " has one key and all requests");
      }
      if (!(weights[i] >= 0) || weights[i] == Double.POSITIVE_INFINITY) {
        throw new IllegalArgumentException(
            "the weight of group " + i + " must be 0 or more, not " + weights[i]);
      }
      rates[i] = rate(share);
      masses[i] = counts[i] * weights[i];
      weight += masses[i];
    }
    if (weight == 0) {
      throw new IllegalArgumentException("the weights are all 0");
    }
    return new KeyGroups(rates, masses);
  }

  private static double[] ones(int length) {
    double[] ones = new double[length];
    Arrays.fill(ones, 1);
    return ones;
  }

  private static void positive(String what, int group, double value) {
    if (!(value > 0) || value == Double.POSITIVE_INFINITY) {
      throw new IllegalArgumentException(
          "the " + what + " of group " + group + " must be more than 0, not " + value);
    }
  }

  private static void checkKeys(double keys) {
    if (!(keys >= 2 && keys <= MAX_KEYS)) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "the number of keys must be from 2 to %,.0f, not %,.0f",
              MAX_KEYS,
              keys));
    }
  }

  /** The first rank of each group, and one more than the last rank. */
  private static double[] firstRanks(double keys) {
    double[] firsts = new double[4096];
    int count = 0;
    double end = Math.floor(keys) + 1;
    for (double rank = 1; rank < end; count++) {
      firsts[count] = rank;
      rank += rank <= SINGLE_RANKS ? 1 : Math.ceil(rank * GROUP_WIDTH);
    }
    firsts[count] = end;
    return Arrays.copyOf(firsts, count + 1);
  }

  /** The sum of i to the power of {@code -skew} over ranks, by Euler and Maclaurin. */
  private static double powerSum(double first, double last, double skew) {
    double atFirst = StrictMath.pow(first, -skew);
    if (first == last) {
      return atFirst;
    }
    double atLast = StrictMath.pow(last, -skew);
    double slopes = skew * (atFirst / first - atLast / last) / 12;
    return integral(first, last, skew) + (atFirst + atLast) / 2 + slopes;
  }

  private static double integral(double first, double last, double skew) {
    double logRatio = StrictMath.log(last / first);
    double power = 1 - skew;
    if (Math.abs(power * logRatio) < 1e-12) {
      return StrictMath.pow(first, power) * logRatio;
    }
    return StrictMath.pow(first, power) * StrictMath.expm1(power * logRatio) / power;
  }

  private static double rate(double probability) {
    return -StrictMath.log1p(-probability);
  }

  @Override
  public double keys() {
    return keys;
  }

  @Override
  public double unique(double requests) {
    checkRequests(requests);
    if (requests == Double.POSITIVE_INFINITY) {
      return keys;
    }
    double sum = 0;
    for (int i = rates.length - 1; i >= 0; i--) {
      sum -= masses[i] * StrictMath.expm1(-rates[i] * requests);
    }
    return Math.min(sum, keys);
  }

  /** The keys that are not expected in a sequence of requests: N - Unique, exact near N, too. */
  double missing(double requests) {
    double sum = 0;
    for (int i = rates.length - 1; i >= 0; i--) {
      sum += masses[i] * StrictMath.exp(-rates[i] * requests);
    }
    return sum;
  }

  @Override
  public double sweptUnique(double requests) {
    checkRequests(requests);
    if (requests == Double.POSITIVE_INFINITY) {
      return keys;
    }
    double sum = 0;
    for (int i = rates.length - 1; i >= 0; i--) {
      sum += masses[i] * swept(rates[i] * requests);
    }
    return Math.min(sum, keys);
  }

  /** N less {@link #sweptUnique}, exact near N, too. */
  double sweptMissing(double requests) {
    double sum = 0;
    for (int i = rates.length - 1; i >= 0; i--) {
      double x = rates[i] * requests;
      sum += masses[i] * (x < SERIES_BELOW ? 1 - swept(x) : -StrictMath.expm1(-x) / x);
    }
    return sum;
  }

  /** 1 - (1 - exp(-x)) / x. */
  private static double swept(double x) {
    return x < SERIES_BELOW
        ? x * (0.5 - x * (1.0 / 6 - x * (1.0 / 24 - x / 120)))
        : 1 + StrictMath.expm1(-x) / x;
  }

  @Override
  public double uniqueInverse(double unique) {
    return inverse(unique, this::unique, this::missing);
  }

  @Override
  public double sweptUniqueInverse(double unique) {
    return inverse(unique, this::sweptUnique, this::sweptMissing);
  }

  /** A count of keys for a number of requests. */
  private interface Curve {
    double at(double requests);
  }

  /**
   * Solves {@code found.at(requests) == unique}. The odds of a key to be found, over the requests,
   * are nearly a straight line on logarithmic scales; the root is bracketed and then approached by
   * secants, or by halving where these fail.
   */
  private double inverse(double unique, Curve found, Curve missing) {
    if (!(unique >= 0 && unique <= keys * (1 + 1e-12))) {
      throw new IllegalArgumentException(
          "the number of distinct keys must be from 0 to " + keys + ", not " + unique);
    }
    if (unique == 0) {
      return 0;
    }
    if (unique >= keys) {
      return Double.POSITIVE_INFINITY;
    }
    double target = StrictMath.log(unique / (keys - unique));
    double low = StrictMath.log(unique / (keys * 2));
    double atLow = odds(low, found, missing) - target;
    while (atLow > 0) {
      low -= 4;
      atLow = odds(low, found, missing) - target;
    }
    double high = low + 4;
    double atHigh = odds(high, found, missing) - target;
    while (atHigh < 0) {
      low = high;
      atLow = atHigh;
      high += 4;
      atHigh = odds(high, found, missing) - target;
    }
    return StrictMath.exp(root(low, atLow, high, atHigh, x -> odds(x, found, missing) - target));
  }

  /** The logarithm of found by missing keys, for the logarithm of a number of requests. */
  private static double odds(double logRequests, Curve found, Curve missing) {
    double requests = StrictMath.exp(logRequests);
    double rest = missing.at(requests);
    return rest == 0 ? Double.MAX_VALUE : StrictMath.log(found.at(requests) / rest);
  }

  /** The root between two points, by the Illinois variant of false position. */
  private static double root(double low, double atLow, double high, double atHigh, Curve curve) {
    double left = low;
    double right = high;
    double atLeft = atLow;
    double atRight = atHigh;
    int side = 0;
    for (int step = 0; step < MAX_STEPS && right - left > PRECISION; step++) {
      double x = right - atRight * (right - left) / (atRight - atLeft);
      if (!(x > left && x < right)) {
        x = (left + right) / 2;
      }
      double at = curve.at(x);
      if (Math.abs(at) < PRECISION / 10) {
        return x;
      } else if (at < 0) {
        left = x;
        atLeft = at;
        atRight = side < 0 ? atRight / 2 : atRight;
        side = -1;
      } else {
        right = x;
        atRight = at;
        atLeft = side > 0 ? atLeft / 2 : atLeft;
        side = 1;
      }
    }
    return (left + right) / 2;
  }

  private static void checkRequests(double requests) {
    if (!(requests >= 0)) {
      throw new IllegalArgumentException("requests must be 0 or more, not " + requests);
    }
  }
}
