package io.isobardb.bench.search;

import org.hipparchus.special.Erf;

/** The standard normal distribution. */
final class Normal {
  private Normal() {}

  static double density(double z) {
    return Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI);
  }

  /** How likely a value is to be at most {@code z}. */
  static double below(double z) {
    return Erf.erfc(-z / Math.sqrt(2)) / 2;
  }
}
