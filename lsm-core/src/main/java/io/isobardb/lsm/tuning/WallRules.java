package io.isobardb.lsm.tuning;

import io.isobardb.tuner.memory.TunerOptions;

/**
 * Where the wall between write memory and buffer cache may stand, and how fast it moves. All sizes
 * in bytes. Pure functions; any thread.
 *
 * @param writeFloorShare the least part of the budget that the options leave the write memory; 0
 *     for what the store needs
 * @param cacheFloorShare the same for the cache
 * @param pageSize of the store
 */
record WallRules(double writeFloorShare, double cacheFloorShare, int pageSize) {
  /** A large write takes this part of the write memory at most. */
  static final int LARGE_WRITES = 4;

  /** Each side keeps one in so many parts of what is shared, at most {@link #FLOOR_BYTES}. */
  private static final int FLOOR_SHARE = 16;

  /** The most that {@link #FLOOR_SHARE} keeps for a side, unless the tuner's own floor is more. */
  private static final long FLOOR_BYTES = 4 << 20;

  /** As with the options: no more than three of four parts of the budget are for writes. */
  private static final int BESIDE_WRITES = 4;

  private static final int LEAST_CACHE_PAGES = 48;
  private static final int LEAST_WRITE_PAGES = 64;
  private static final int LEAST_TREE_PAGES = 2;

  /** A step of the wall is one in so many parts of what is shared. */
  private static final int STEPS = 64;

  /** The same of the write memory, where writers have filled what it has to give up. */
  private static final int PRESSED_STEPS = 64;

  /**
   * How the memory is divided.
   *
   * @param budget all memory of the store
   * @param shared what write memory and cache have together
   * @param grant the write memory that the options say; writes can count on it
   * @param mostWrite the most that the write memory can have
   */
  record Division(long budget, long shared, long grant, long mostWrite) {}

  /**
   * What needs write memory.
   *
   * @param trees how many there are
   * @param floors what these are to keep in memory together
   * @param largestWrite that did not fit
   */
  record Needs(int trees, long floors, long largestWrite) {}

  /** The least write memory, and the least cache. */
  record Floors(long write, long cache) {
    /** Where the wall goes, if it is to go to {@code wanted}. */
    long within(long wanted, Division division) {
      long room = Math.min(division.mostWrite(), division.shared() - cache);
      return Math.max(write, Math.min(Math.max(write, room), wanted));
    }
  }

  /**
   * The floors. Trees keep theirs in half of the write memory, so it should be twice as large. What
   * the options grant to writes is no floor, and no floor but a large write's goes beyond it.
   */
  Floors floors(Division division, Needs needs) {
    long shared = division.shared();
    long own =
        Math.max(
            (long) (TunerOptions.DEFAULT.floorShare() * shared),
            Math.min(shared / FLOOR_SHARE, FLOOR_BYTES));
    return new Floors(writeFloor(division, needs, own), cacheFloor(division, own));
  }

  private long writeFloor(Division division, Needs needs, long own) {
    // By powers of two, so that the floor does not move with each tree.
    long trees = Long.highestOneBit(Math.max(1, 2L * needs.trees() - 1));
    long pages = Math.max(LEAST_WRITE_PAGES, LEAST_TREE_PAGES * trees);
    long wanted = Math.max(2 * needs.floors(), (long) (division.budget() * writeFloorShare));
    long floor = Math.max(Math.max(own, pages * pageSize), wanted);
    return Math.max(LARGE_WRITES * needs.largestWrite(), Math.min(floor, division.grant()));
  }

  private long cacheFloor(Division division, long own) {
    long wanted = (long) (division.budget() * cacheFloorShare);
    long mostWrite =
        Math.min(division.mostWrite(), division.budget() / BESIDE_WRITES * (BESIDE_WRITES - 1));
    long beside = division.shared() - mostWrite;
    long least =
        Math.max(Math.max(own, (long) LEAST_CACHE_PAGES * pageSize), Math.max(wanted, beside));
    return Math.max(0, Math.min(least, division.shared() - division.grant()));
  }

  /**
   * Where the wall stands after a step.
   *
   * @param now where it stands
   * @param target where it is going
   * @param shared what write memory and cache have together
   * @param limitForUse the size of the write memory for which what is in use is no reason to flush
   */
  long next(long now, long target, long shared, long limitForUse) {
    long step = Math.max(shared / STEPS, pageSize);
    if (now < target) {
      return Math.min(target, now + step);
    }
    long free = Math.max(now - step, limitForUse);
    long pressed = now - Math.max(now / PRESSED_STEPS, pageSize);
    return Math.max(target, Math.min(free, pressed));
  }
}
