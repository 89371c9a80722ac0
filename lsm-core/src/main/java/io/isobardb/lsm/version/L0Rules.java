package io.isobardb.lsm.version;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;

/**
 * How many groups L0 may have, by what reads lose to them: a pure function. Immutable.
 *
 * <p>A group that waits costs writers nothing, and a merge that waits may save one. Lookups ask one
 * filter more for each group, and cursors are placed in one run more. So L0 may grow until
 * operations cost twice what they do where merges begin: to a few groups where all scan, to the
 * most there may be where nobody reads. Where it has more already it is taken back group by group,
 * so that nobody waits because reads have begun.
 *
 * @param least the limits that hold whatever is read
 * @param most how many groups there may be before flushes stop; that of {@code least} if limits are
 *     fixed
 */
public record L0Rules(L0Limits least, int most) {
  /** More groups than there ever are, and few enough to be reckoned with. */
  private static final int ENDLESS = 1 << 29;

  /** For a store that merges nothing: nobody waits for it. */
  public static final L0Rules UNLIMITED = fixed(new L0Limits(ENDLESS, ENDLESS + 1, ENDLESS + 2));

  /** What a group costs a lookup: a filter, asked in vain, beside a lookup's own page. */
  private static final double FILTER = 0.05;

  /** What a write costs, beside a lookup. */
  private static final double WRITE = 0.5;

  /** What a step of a cursor costs, beside the placing in a run: its part of a page. */
  private static final double STEP = 1 / 16.0;

  /**
   * What users do to a tree, each in any one unit of time.
   *
   * @param gets lookups
   * @param scans cursors that are placed
   * @param steps of cursors
   * @param writes puts and deletes
   */
  public record Load(double gets, double scans, double steps, double writes) {
    /** Nobody does anything. */
    public static final Load NONE = new Load(0, 0, 0, 0);
  }

  /** Checks the order. */
  public L0Rules {
    if (most < least.stop()) {
      throw new IllegalArgumentException(
          "L0 may have " + least.stop() + " groups in any case, and " + most + " at most");
    }
  }

  /** Those that a store's options ask for. */
  public static L0Rules of(StoreOptions options) {
    ExperimentalOptions chosen = ExperimentalOptions.of(options);
    return new L0Rules(L0Limits.of(options), chosen.l0MostGroups());
  }

  /**
   * The rules of a tree whose L0 is merged down from other numbers of groups on.
   *
   * @param groups 0 for these rules
   */
  public L0Rules startingAt(int groups) {
    L0Limits other = least.startingAt(groups);
    boolean isFixed = most == least.stop();
    return new L0Rules(other, isFixed ? other.stop() : Math.max(most, other.stop()));
  }

  /** Limits that hold whatever is read. */
  public static L0Rules fixed(L0Limits limits) {
    return new L0Rules(limits, limits.stop());
  }

  /**
   * The limits for a tree.
   *
   * @param load what users do
   * @param groups that L0 has
   * @param deeper runs that there are below L0
   */
  public L0Limits limits(Load load, int groups, int deeper) {
    if (most == least.stop()) {
      return least;
    }
    int start = least.start();
    double runs = start + deeper;
    double all =
        load.gets() * (1 + FILTER * runs)
            + load.scans() * runs
            + load.steps() * STEP
            + load.writes() * WRITE;
    double perGroup = load.gets() * FILTER + load.scans();
    double more = perGroup == 0 ? most : all / perGroup;
    int stop = (int) Math.max(least.stop(), Math.min(most, start + more));
    int held = Math.max(stop, Math.min(most, groups + 1));
    return new L0Limits(start, Math.max(least.slowdown(), held - (held - start) / 2), held);
  }
}
