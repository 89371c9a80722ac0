package io.isobardb.tuner.model;

/**
 * What the optimiser may choose from.
 *
 * @param keys entries in the last level, which is not chosen
 * @param leastFirst the least that the first level may hold: no less than comes in at a time
 * @param leastLevels levels, the last included; 1 or more
 * @param mostLevels not below {@code leastLevels}; 16 at most
 * @param mostSpace entries in all levels together for each entry of the last, more than 1; may be
 *     infinite
 */
public record LevelBounds(
    double keys, double leastFirst, int leastLevels, int mostLevels, double mostSpace) {
  private static final int MAX_LEVELS = 16;

  /**
   * Checks the numbers.
   *
   * @param keys above 1
   * @param leastFirst above 0
   * @param leastLevels 1 or more
   * @param mostLevels {@code leastLevels} to 16
   * @param mostSpace above 1; may be infinite
   */
  public LevelBounds {
    if (!(keys > 1) || !(leastFirst > 0)) {
      throw new IllegalArgumentException(
          "levels need more than 1 key and a first level that holds some, not "
              + (keys + " and " + leastFirst));
    }
    if (leastLevels < 1 || mostLevels < leastLevels || mostLevels > MAX_LEVELS) {
      throw new IllegalArgumentException(
          "the number of levels must be from 1 to "
              + MAX_LEVELS
              + ", not "
              + (leastLevels + " to " + mostLevels));
    }
    if (!(mostSpace > 1)) {
      throw new IllegalArgumentException("space must be more than 1, not " + mostSpace);
    }
  }
}
