package io.isobardb.lsm.merge;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which SSTable of a {@code LEVELED} memory component goes down one level: the memory merges of
 * "Breaking Down Memory Walls in LSM-based Storage Systems", 4.1.1. Pure functions; any thread.
 *
 * <p>Sealed active SSTables stand above the levels M1 to Mn. The last level is never full, and sets
 * the others: one has a tenth of the one below it. The fullest gives the SSTable that overlaps
 * least below, by its size. A sealed run counts as a level that is full. It begins a level of its
 * own if M1 is more than ten times as large. A level that has become empty is none.
 */
final class MemoryLeveling {
  /** How many times larger a level is than the one above it: T. */
  static final int RATIO = 10;

  private MemoryLeveling() {}

  /**
   * An SSTable of a level.
   *
   * @param bytes its size
   * @param belowBytes of the SSTables of the next level that it overlaps
   */
  record Item(long bytes, long belowBytes) {}

  /**
   * What goes down.
   *
   * @param level where it is: 0 for the oldest sealed run, else that of M1, M2, ...
   * @param table its place there
   * @param joins whether it goes into the next level; else it becomes one
   */
  record Pick(int level, int table, boolean joins) {}

  /**
   * What goes down next; null if no level is full.
   *
   * @param sealed how many sealed runs there are
   * @param arriving bytes of the oldest of them
   * @param levels M1 to Mn, none empty
   */
  static @Nullable Pick choose(int sealed, long arriving, List<List<Item>> levels) {
    int last = levels.size() - 1;
    double most = sealed;
    int full = 0;
    double target = last < 0 ? 0 : bytes(levels.get(last));
    for (int i = last - 1; i >= 0; i--) {
      target /= RATIO;
      double fullness = bytes(levels.get(i)) / target;
      if (fullness > Math.max(1, most)) {
        most = fullness;
        full = i + 1;
      }
    }
    if (full > 0) {
      return new Pick(full, leastBelow(levels.get(full - 1)), true);
    }
    boolean joins = last >= 0 && bytes(levels.get(0)) <= (double) RATIO * arriving;
    return sealed == 0 ? null : new Pick(0, 0, joins);
  }

  private static long bytes(List<Item> level) {
    return level.stream().mapToLong(Item::bytes).sum();
  }

  private static int leastBelow(List<Item> level) {
    int least = 0;
    for (int i = 1; i < level.size(); i++) {
      if (ratio(level.get(i)) < ratio(level.get(least))) {
        least = i;
      }
    }
    return least;
  }

  private static double ratio(Item item) {
    return (double) item.belowBytes() / item.bytes();
  }
}
