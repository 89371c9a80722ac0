package io.isobardb.tuner.memory;

/** Refuses numbers that no counter, share or weight can have. */
final class Check {
  private static final double MAX_WEIGHT = 1e6;

  private Check() {}

  static void notNegative(String name, double value) {
    if (!(value >= 0) || value == Double.POSITIVE_INFINITY) {
      throw new IllegalArgumentException(
          name + " is " + value + "; it must be a finite number, 0 or more");
    }
  }

  static void positive(String name, double value) {
    notNegative(name, value);
    if (value == 0) {
      throw new IllegalArgumentException(name + " is 0; it must be more");
    }
  }

  /** Weights have a bound so that no product of what is admitted is infinite. */
  static void weight(String name, double value) {
    notNegative(name, value);
    if (value > MAX_WEIGHT) {
      throw new IllegalArgumentException(
          name + " is " + value + "; it must be from 0 to " + MAX_WEIGHT);
    }
  }

  static void share(String name, double value) {
    notNegative(name, value);
    if (value > 1) {
      throw new IllegalArgumentException(name + " is " + value + "; it must be from 0 to 1");
    }
  }
}
