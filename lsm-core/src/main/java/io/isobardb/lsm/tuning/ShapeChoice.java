package io.isobardb.lsm.tuning;

import io.isobardb.lsm.option.Runs;

/**
 * What a store may choose for a tree. Immutable.
 *
 * @param runs of its levels
 * @param l0Start groups of L0 from which on it is merged down; 0 for those of the store's options
 */
record ShapeChoice(Runs runs, int l0Start) {
  /** In words without blanks, as in {@code LEVELED} and {@code LAZY(4),L0=8}. */
  @Override
  public String toString() {
    return l0Start == 0 ? runs.toString() : runs + ",L0=" + l0Start;
  }

  /** The groups of L0 from which on it is merged down, where the store's options say so many. */
  int groups(int usual) {
    return l0Start == 0 ? usual : l0Start;
  }
}
