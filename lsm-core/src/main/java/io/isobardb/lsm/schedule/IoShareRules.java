package io.isobardb.lsm.schedule;

import java.util.ArrayList;
import java.util.List;

/**
 * How a budget is divided among stores. Pure functions; any thread.
 *
 * <p>Each store with something to do has a weight: half of all weight is divided evenly, and half
 * by what is owed to the stores' merges. A store that uses less than its share by weight gets what
 * it uses and some more, and the others have the rest.
 */
final class IoShareRules {
  /** What a store gets that was not held back, as a multiple of what it used. */
  private static final double ROOM_TO_GROW = 1.5;

  /** A store that used nothing gets this part of what there is. */
  private static final double LEAST_SHARE = 1.0 / 64;

  /** What clients may take of a budget. */
  private static final double MOST_FOR_CLIENTS = 0.5;

  private IoShareRules() {}

  /**
   * What is known of a store with something to do.
   *
   * @param debtBytes what waits for its merges
   * @param usedRate what its jobs used lately, in bytes per second
   * @param heldBack whether they could have used more, or may want to
   */
  record Claim(long debtBytes, double usedRate, boolean heldBack) {}

  /** What is left of a budget to jobs, while clients use so much. All in bytes per second. */
  static double forJobs(long budget, double clients) {
    return Math.max(budget * (1 - MOST_FOR_CLIENTS), budget - clients);
  }

  /** The rates of stores, whose sum is {@code available}; bytes per second. */
  static double[] rates(double available, List<Claim> claims) {
    double[] weights = weights(claims);
    double[] rates = new double[claims.size()];
    List<Integer> open = new ArrayList<>();
    for (int i = 0; i < rates.length; i++) {
      open.add(i);
    }
    double left = available;
    boolean changed = true;
    while (changed) {
      double weight = open.stream().mapToDouble(i -> weights[i]).sum();
      double rest = left;
      List<Integer> satisfied =
          open.stream()
              .filter(i -> wanted(claims.get(i), available) < rest * weights[i] / weight)
              .toList();
      for (int i : satisfied) {
        rates[i] = wanted(claims.get(i), available);
        left -= rates[i];
      }
      open.removeAll(satisfied);
      changed = !satisfied.isEmpty() && !open.isEmpty();
    }
    // Where nobody wants all of it, all have what is left by weight.
    List<Integer> takers = open.isEmpty() ? allOf(rates.length) : open;
    double weight = takers.stream().mapToDouble(i -> weights[i]).sum();
    for (int i : takers) {
      rates[i] += left * weights[i] / weight;
    }
    return rates;
  }

  private static List<Integer> allOf(int count) {
    List<Integer> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(i);
    }
    return all;
  }

  private static double wanted(Claim claim, double available) {
    return claim.heldBack()
        ? Double.POSITIVE_INFINITY
        : claim.usedRate() * ROOM_TO_GROW + available * LEAST_SHARE;
  }

  private static double[] weights(List<Claim> claims) {
    double debt = claims.stream().mapToDouble(Claim::debtBytes).sum();
    double[] weights = new double[claims.size()];
    for (int i = 0; i < weights.length; i++) {
      double even = 1.0 / weights.length;
      weights[i] = (even + (debt > 0 ? claims.get(i).debtBytes() / debt : even)) / 2;
    }
    return weights;
  }
}
