package io.isobardb.tuner.model;

/**
 * What merges of tiers write in a tree of this engine, if space bounds what all tiers hold: from
 * the runs that leave L0 to the columns that go down to the levels. Pure.
 *
 * <p>A column goes down when it holds {@value #FULLER} times what tiers may, and {@value #NEWEST}
 * of the runs that leave L0. These newest ones were never merged with others. All else was: one
 * more than the runs of a size that may be there become one, as often as it takes to come from what
 * leaves L0 to a column.
 *
 * @param first requests between two merges of the same key out of L0
 * @param entries that all tiers may hold together
 * @param runs how many there may be of a size
 */
public record TierMerges(double first, double entries, int runs) {
  /**
   * A column goes down when it holds so many times what tiers may. It would hold about twice that
   * if columns were emptied whole, and simulated ones do not. This and {@link #NEWEST} are a fit to
   * simulated trees: docs/models.md has the errors.
   */
  private static final double FULLER = 1.1;

  /**
   * Runs of the size that leaves L0 which come down with a column, but never joined a larger run.
   */
  private static final double NEWEST = 1.5;

  /** A column that goes down costs what so many runs of equal size hold of the same writes. */
  private static final double RUNS_OF_COLUMN = 2;

  /** No run of tiers is taken to hold a larger part of the keys. */
  private static final double MOST_OF_KEYS = 0.75;

  /**
   * Checks the numbers.
   *
   * @param first above 0
   * @param entries above 0
   * @param runs 2 or more
   */
  public TierMerges {
    if (!(first > 0) || !(entries > 0) || runs < 2) {
      throw new IllegalArgumentException(
          "tiers need an interval, entries and two runs, not "
              + (first + ", " + entries + " and " + runs));
    }
  }

  /**
   * {@return requests between two times that the same key goes down to the levels}
   *
   * @param popularity of the keys that are put
   */
  public double interval(Popularity popularity) {
    double parts = parts(popularity);
    return Math.max(first, parts * part(popularity, parts));
  }

  /** Requests in which the runs come that a column is made of. */
  private double part(Popularity popularity, double parts) {
    return popularity.uniqueInverse(column(popularity) / parts);
  }

  private double parts(Popularity popularity) {
    return Math.max(RUNS_OF_COLUMN, column(popularity) / (MOST_OF_KEYS * popularity.keys()));
  }

  /** What a column holds when it goes down, if it lies over all keys. */
  private double column(Popularity popularity) {
    return FULLER * entries + NEWEST * popularity.unique(first);
  }

  /**
   * {@return how many sizes runs climb through before they go down; not a whole number}
   *
   * @param popularity of the keys that are put
   */
  public double climbs(Popularity popularity) {
    return StrictMath.log(interval(popularity) / first) / StrictMath.log(runs + 1);
  }

  /**
   * {@return entries written to tiers for each entry put, by size from the runs that leave L0 on}
   *
   * @param popularity of the keys that are put
   */
  public double[] written(Popularity popularity) {
    double size = popularity.unique(first);
    double part = part(popularity, parts(popularity));
    double merged = Math.max(0, 1 - NEWEST * first / interval(popularity));
    double kept = (size / first + popularity.unique(part) / part) / 2;
    double climbs = climbs(popularity);
    double[] written = new double[1 + (int) Math.ceil(climbs)];
    written[0] = size / first;
    for (int i = 1; i < written.length; i++) {
      written[i] = Math.min(1, climbs - (i - 1)) * merged * kept;
    }
    return written;
  }
}
