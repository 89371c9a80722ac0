package io.isobardb.tuner.shape;

/**
 * What was done to a tree, counted. Immutable.
 *
 * @param inserts puts of keys that were not there
 * @param updates all other puts
 * @param deletes keys removed
 * @param lookups gets of keys that were there
 * @param absent gets of keys that were not
 * @param scans cursors opened
 * @param steps entries that cursors went over
 */
public record Window(
    double inserts,
    double updates,
    double deletes,
    double lookups,
    double absent,
    double scans,
    double steps) {
  /** Nothing was done. */
  public static final Window NONE = new Window(0, 0, 0, 0, 0, 0, 0);

  /** Scans whose lengths differ less than by this factor count as alike. */
  private static final double OTHER_LENGTH = 4;

  /**
   * Checks the numbers.
   *
   * @param inserts 0 or more
   * @param updates 0 or more
   * @param deletes 0 or more
   * @param lookups 0 or more
   * @param absent 0 or more
   * @param scans 0 or more
   * @param steps 0 or more
   */
  public Window {
    for (double count : new double[] {inserts, updates, deletes, lookups, absent, scans, steps}) {
      if (!(count >= 0 && count < Double.POSITIVE_INFINITY)) {
        throw new IllegalArgumentException("a count is 0 or more, not " + count);
      }
    }
  }

  /** {@return all of them; steps of cursors are none of their own} */
  public double operations() {
    return inserts + updates + deletes + lookups + absent + scans;
  }

  /** {@return puts and deletes} */
  public double writes() {
    return inserts + updates + deletes;
  }

  /** {@return entries of a scan in the mean, 1 or more} */
  public double scanLength() {
    return scans == 0 ? 1 : Math.max(1, steps / scans);
  }

  /**
   * {@return these and others}
   *
   * @param others of the same tree
   */
  public Window plus(Window others) {
    return new Window(
        inserts + others.inserts,
        updates + others.updates,
        deletes + others.deletes,
        lookups + others.lookups,
        absent + others.absent,
        scans + others.scans,
        steps + others.steps);
  }

  /**
   * {@return how much of the operations are others, from 0 to 1} Scans of far other lengths are
   * others. Inserts and updates are told apart by an estimate, so they count as the same.
   *
   * @param other of the same tree
   */
  public double distance(Window other) {
    double here = Math.max(1, operations());
    double there = Math.max(1, other.operations());
    double ratio = scanLength() / other.scanLength();
    boolean alike = ratio < OTHER_LENGTH && ratio > 1 / OTHER_LENGTH;
    double scanned = scans / here;
    double scannedThere = other.scans / there;
    double sum =
        Math.abs((inserts + updates) / here - (other.inserts + other.updates) / there)
            + Math.abs(deletes / here - other.deletes / there)
            + Math.abs(lookups / here - other.lookups / there)
            + Math.abs(absent / here - other.absent / there)
            + (alike ? Math.abs(scanned - scannedThere) : scanned + scannedThere);
    return sum / 2;
  }
}
