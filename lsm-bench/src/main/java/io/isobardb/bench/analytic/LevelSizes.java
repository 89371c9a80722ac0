package io.isobardb.bench.analytic;

import java.util.Arrays;

/** Level sizes of leveled designs, in entries from the first level on. */
final class LevelSizes {
  private static final int MAX_LEVELS = 64;

  private LevelSizes() {}

  /**
   * A copy of level sizes.
   *
   * @throws IllegalArgumentException unless they are more than 0 and ascend
   */
  static double[] checked(double[] entries) {
    if (entries.length == 0 || entries.length > MAX_LEVELS) {
      throw new IllegalArgumentException(
          "there must be 1 to " + MAX_LEVELS + " levels, not " + entries.length);
    }
    double before = 0;
    for (double size : entries) {
      if (!(size > before) || size == Double.POSITIVE_INFINITY) {
        throw new IllegalArgumentException(
            "level sizes must be more than 0 and ascend, not " + Arrays.toString(entries));
      }
      before = size;
    }
    return entries.clone();
  }

  /**
   * Sizes that grow by a ratio, as far as they stay below the number of keys, and then that number.
   */
  static double[] geometric(double first, double ratio, double keys) {
    double[] sizes = new double[MAX_LEVELS];
    int count = 0;
    for (double size = first; size < keys && count < MAX_LEVELS - 1; size *= ratio) {
      sizes[count++] = size;
    }
    sizes[count++] = keys;
    return Arrays.copyOf(sizes, count);
  }

  /** Refuses a last level that does not hold exactly the keys, but for rounding. */
  static void checkLast(double[] entries, double keys) {
    double last = entries[entries.length - 1];
    if (Math.abs(last - keys) > keys * 1e-9) {
      throw new IllegalArgumentException(
          "the last level holds all keys: its size must be " + keys + ", not " + last);
    }
  }
}
