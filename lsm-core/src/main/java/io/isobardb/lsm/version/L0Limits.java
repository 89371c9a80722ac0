package io.isobardb.lsm.version;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;

/**
 * How many groups L0 may have.
 *
 * @param start from here on L0 is merged down
 * @param slowdown from here on writers are slowed down, the more the more groups there are
 * @param stop from here on nothing is flushed for memory until merges have made them fewer
 */
public record L0Limits(int start, int slowdown, int stop) {
  /** Merges have begun long before writers feel them. */
  public static final L0Limits DEFAULT = new L0Limits(4, 8, 12);

  /** Those that a store's options ask for. */
  public static L0Limits of(StoreOptions options) {
    ExperimentalOptions chosen = ExperimentalOptions.of(options);
    return new L0Limits(chosen.l0StartGroups(), chosen.l0SlowdownGroups(), chosen.l0StopGroups());
  }

  /**
   * The limits of a tree whose L0 is merged down from other numbers of groups on. Writers and
   * flushes wait no earlier for it than they do for others.
   *
   * @param groups 0 for these limits
   */
  public L0Limits startingAt(int groups) {
    if (groups == 0 || groups == start) {
      return this;
    }
    double factor = Math.max(1, (double) groups / start);
    return new L0Limits(groups, (int) Math.ceil(slowdown * factor), (int) Math.ceil(stop * factor));
  }

  /** Checks the order. */
  public L0Limits {
    if (start < 1 || start >= slowdown || slowdown > stop) {
      throw new IllegalArgumentException(
          "L0 is merged from "
              + start
              + " groups on, slows writers down from "
              + slowdown
              + " on and stops flushes from "
              + stop
              + " on: the first must be 1 or more and less than the second, and that no more than"
              + " the third");
    }
  }
}
