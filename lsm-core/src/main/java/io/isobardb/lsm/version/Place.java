package io.isobardb.lsm.version;

/**
 * Where in a tree an SSTable stands: in a group of L0, in a tier, or in a level.
 *
 * <p>Places keep their meaning while tiers and levels come and go. Groups have numbers that grow: a
 * higher one is newer. So have tiers, in a count of their own; all of them are older than L0, and
 * newer than the levels. Levels are added and dropped at L1 only, so a level is known by its height
 * above the last level, which is 0: of n levels, L<sub>i</sub> has height n - i.
 *
 * @param kind what it is
 * @param number a group's or a tier's number, 1 or more, or a level's height
 */
public record Place(Kind kind, long number) {
  /** The most levels below L0 that a tree can have. */
  public static final int MAX_LEVELS = 32;

  /**
   * Above all tiers: what is merged out of L0 goes to the place that {@link Version#placeInTiers}
   * tells in the end.
   */
  public static final Place TIERS = tier(Long.MAX_VALUE >> 1);

  /** What an SSTable can stand in. */
  public enum Kind {
    /** A group of L0: what was flushed, and not merged with what is below. */
    GROUP,
    /** One of several runs that stand above the levels. */
    TIER,
    /** The one run of a level. */
    LEVEL
  }

  /** Checks the number. */
  public Place {
    if (kind == Kind.LEVEL ? number < 0 || number >= MAX_LEVELS : number < 1) {
      String what =
          switch (kind) {
            case GROUP -> "group ";
            case TIER -> "tier ";
            case LEVEL -> "height ";
          };
      throw new IllegalArgumentException(what + number);
    }
  }

  /** A group of L0. */
  public static Place group(long number) {
    return new Place(Kind.GROUP, number);
  }

  /** A tier. */
  public static Place tier(long number) {
    return new Place(Kind.TIER, number);
  }

  /** The level that stands so many levels above the last one. */
  public static Place level(int height) {
    return new Place(Kind.LEVEL, height);
  }

  /** Whether it is a group of L0. */
  public boolean inL0() {
    return kind == Kind.GROUP;
  }

  /** Whether it is a level. */
  public boolean isLevel() {
    return kind == Kind.LEVEL;
  }

  /** The height above the last level; only of levels. */
  public int height() {
    if (kind != Kind.LEVEL) {
      throw new IllegalStateException(this + " has no height");
    }
    return (int) number;
  }

  @Override
  public String toString() {
    return switch (kind) {
      case GROUP -> "L0/" + number;
      case TIER -> "tier/" + number;
      case LEVEL -> number == 0 ? "last" : "last-" + number;
    };
  }
}
