package io.isobardb.tuner.model;

import java.util.ArrayList;
import java.util.List;

/**
 * How many bits of filter per key each run of a tree gets, within a mean over all of its keys, so
 * that a lookup of an absent key reads the fewest pages. Pure functions; any thread.
 *
 * <p>The rule is that of <i>Monkey</i> (Dayan, Athanassoulis and Idreos, SIGMOD 2017, section 4.1):
 * a false positive costs the same in every run, but a bit per key costs less in a small one. So the
 * sum of the rates is least if one more bit of memory lowers it equally in all runs. Monkey solves
 * that for the rate of an ideal Bloom filter. Here the rates are those of this engine's filters,
 * which set eight bits per key whatever their size, so the solution is a search.
 *
 * <p>A filter has a least useful size of some four bits per key. With a small mean, a large run may
 * get none at all.
 */
public final class FilterBits {
  /** The most bits per key that a run gets. */
  public static final double MOST = 24;

  /** Bits are multiples of one part in so many. */
  private static final int PARTS = 32;

  /** Words of a block. A key sets one bit in each. */
  private static final int WORDS = 8;

  private static final int WORD_BITS = 64;

  /** Numbers of keys in a block that are less likely count as impossible, beyond the mean. */
  private static final double NEGLIGIBLE = 1e-18;

  private static final int PRICE_STEPS = 60;

  /** False positive rates by parts of a bit. */
  private static final double[] RATES = rates();

  /** The sizes, in parts of a bit, that are best for some price: the lower convex hull. */
  private static final int[] HULL = hull();

  private FilterBits() {}

  /**
   * The part of absent keys that a filter takes for present ones. A block has a Poisson-distributed
   * number of keys, as in <i>Cache-, Hash- and Space-Efficient Bloom Filters</i> (Putze, Sanders
   * and Singler, WEA 2007, section 3), and each of its words is a filter with one bit per key.
   *
   * @param bits per key, 0 to {@link #MOST}; between two 32nds, what lies between their rates
   * @return 1 with 0 bits
   */
  public static double falsePositives(double bits) {
    if (!(bits >= 0 && bits <= MOST)) {
      throw new IllegalArgumentException("bits must be from 0 to " + MOST + ", not " + bits);
    }
    int below = (int) (bits * PARTS);
    double part = bits * PARTS - below;
    return part == 0 ? RATES[below] : RATES[below] + part * (RATES[below + 1] - RATES[below]);
  }

  /**
   * Bits per key of each run.
   *
   * @param entries of each run, 0 or more
   * @param presence the part of the time that each run is there, above 0 to 1: what it takes counts
   *     by that
   * @param mean bits per key over all runs, 0 to {@link #MOST}
   * @return for each run a multiple of a 32nd, or the mean for all if that is no worse
   */
  public static double[] of(double[] entries, double[] presence, double mean) {
    check(entries, presence, mean);
    double budget = 0;
    for (int i = 0; i < entries.length; i++) {
      budget += entries[i] * presence[i] * mean;
    }
    // What a bit per key of one entry may cost, as a logarithm: bits fall as it rises.
    double low = -80;
    double high = 10;
    for (int step = 0; step < PRICE_STEPS; step++) {
      double middle = (low + high) / 2;
      if (taken(entries, presence, StrictMath.exp(middle)) > budget * (1 + 1e-12)) {
        low = middle;
      } else {
        high = middle;
      }
    }
    double price = StrictMath.exp(high);
    double[] bits = new double[entries.length];
    double[] same = new double[entries.length];
    for (int i = 0; i < bits.length; i++) {
      bits[i] = best(entries[i] * price);
      same[i] = mean;
    }
    return falsePositives(bits, presence) < falsePositives(same, presence) ? bits : same;
  }

  private static void check(double[] entries, double[] presence, double mean) {
    falsePositives(mean);
    if (entries.length != presence.length) {
      throw new IllegalArgumentException(
          "each run needs entries and a presence, but there are "
              + (entries.length + " and " + presence.length));
    }
    for (int i = 0; i < entries.length; i++) {
      if (!(entries[i] >= 0) || !(presence[i] > 0 && presence[i] <= 1)) {
        throw new IllegalArgumentException(
            "run " + i + " has " + entries[i] + " entries and a presence of " + presence[i]);
      }
    }
  }

  /**
   * {@return pages that a lookup of an absent key reads: the sum of the rates of all runs}
   *
   * @param bits per key of each run
   * @param presence the part of the time that each run is there
   */
  public static double falsePositives(double[] bits, double[] presence) {
    double sum = 0;
    for (int i = 0; i < bits.length; i++) {
      sum += falsePositives(bits[i]) * presence[i];
    }
    return sum;
  }

  private static double taken(double[] entries, double[] presence, double price) {
    double sum = 0;
    for (int i = 0; i < entries.length; i++) {
      sum += entries[i] * presence[i] * best(entries[i] * price);
    }
    return sum;
  }

  /** The size with the least sum of rate and price, given what a bit per key costs. */
  private static double best(double price) {
    int low = 0;
    int high = HULL.length - 1;
    while (low < high) {
      int middle = (low + high) / 2;
      if (gain(HULL[middle], HULL[middle + 1]) > price) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return (double) HULL[low] / PARTS;
  }

  /** By how much the rate falls for each bit more. */
  private static double gain(int from, int to) {
    return (RATES[from] - RATES[to]) * PARTS / (to - from);
  }

  private static double[] rates() {
    double[] rates = new double[(int) MOST * PARTS + 1];
    for (int i = PARTS; i < rates.length; i++) {
      rates[i] = rate((double) WORDS * WORD_BITS * PARTS / i);
    }
    // With less than one bit per key all bits of a block are set, so no run gets that.
    for (int i = 0; i < PARTS; i++) {
      rates[i] = 1 - (1 - rates[PARTS]) * i / PARTS;
    }
    return rates;
  }

  /** The mean over blocks, given their mean number of keys. */
  private static double rate(double keysPerBlock) {
    double sum = 0;
    double probability = StrictMath.exp(-keysPerBlock);
    double unset = 1;
    for (int keys = 1; keys <= keysPerBlock || probability >= NEGLIGIBLE; keys++) {
      probability *= keysPerBlock / keys;
      unset *= 1 - 1.0 / WORD_BITS;
      sum += probability * StrictMath.pow(1 - unset, WORDS);
    }
    return sum;
  }

  private static int[] hull() {
    List<Integer> hull = new ArrayList<>(List.of(0));
    for (int i = 1; i < RATES.length; i++) {
      while (hull.size() > 1
          && gain(hull.get(hull.size() - 2), hull.get(hull.size() - 1))
              <= gain(hull.get(hull.size() - 1), i)) {
        hull.remove(hull.size() - 1);
      }
      hull.add(i);
    }
    return hull.stream().mapToInt(Integer::intValue).toArray();
  }
}
