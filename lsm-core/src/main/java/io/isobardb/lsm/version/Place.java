package io.isobardb.lsm.version;

/**
 * Where in a tree an SSTable stands: in a group of L0, or in a level.
 *
 * <p>Places keep their meaning while levels come and go. Groups have numbers that grow: a higher
 * one is newer. Levels are added and dropped at L1 only, so a level is known by its height above
 * the last level, which is 0: of n levels, L<sub>i</sub> has height n - i.
 *
 * @param inL0 whether {@code number} is that of a group
 * @param number a group's number, 1 or more, or a level's height
 */
public record Place(boolean inL0, long number) {
  /** The most levels below L0 that a tree can have. */
  public static final int MAX_LEVELS = 32;

  /** Checks the number. */
  public Place {
    if (inL0 ? number < 1 : number < 0 || number >= MAX_LEVELS) {
      throw new IllegalArgumentException((inL0 ? "group " : "height ") + number);
    }
  }

  /** A group of L0. */
  public static Place group(long number) {
    return new Place(true, number);
  }

  /** The level that stands so many levels above the last one. */
  public static Place level(int height) {
    return new Place(false, height);
  }

  /** The height above the last level; not for L0. */
  public int height() {
    if (inL0) {
      throw new IllegalStateException("L0 has no height");
    }
    return (int) number;
  }

  @Override
  public String toString() {
    return inL0 ? "L0/" + number : number == 0 ? "last" : "last-" + number;
  }
}
