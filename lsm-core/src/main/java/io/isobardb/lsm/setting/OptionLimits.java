package io.isobardb.lsm.setting;

import java.time.Duration;
import java.util.Objects;

/** Bounds of options that the engine keeps to as well. All sizes in bytes. */
public final class OptionLimits {
  /** How much a tree's writes, or a page for the memory tuner, may count at most. */
  public static final double MOST_WEIGHT = 1e6;

  /** The least memory budget of all. */
  public static final long LEAST_BUDGET = 4 << 20;

  /** A timeout that never passes, and the longest of all. */
  public static final Duration FOREVER = Duration.ofDays(365);

  private static final int LEAST_BUDGET_PAGES = 128;

  private static final long LEAST_TABLE_BYTES = 32 << 10;
  private static final long MOST_TABLE_BYTES = 1 << 30;

  /** The most that can be asked for. */
  private static final long MOST_ACTIVE_BYTES = 64 << 20;

  /** Active SSTables that the write memory has room for at least, whatever size is asked for. */
  private static final int LEAST_ACTIVE_TABLES = 4;

  /**
   * The least that can be asked for, in pages. A cursor holds a page of each run in memory: of a
   * small budget it could not have one of more runs than this makes.
   */
  private static final int LEAST_ACTIVE_PAGES = 8;

  private OptionLimits() {}

  /** Passes if a timeout is zero to {@link #FOREVER}. */
  public static void checkTimeout(String name, Duration value) {
    Objects.requireNonNull(value, name);
    if (value.isNegative() || value.compareTo(FOREVER) > 0) {
      throw new IllegalArgumentException(name + " must be zero to 365 days, not " + value);
    }
  }

  /** The least memory budget for pages of a size. */
  public static long leastBudget(int pageSize) {
    return Math.max(LEAST_BUDGET, (long) LEAST_BUDGET_PAGES * pageSize);
  }

  /** The least size of an active SSTable that may be asked for. */
  public static long leastActiveBytes(int pageSize) {
    return (long) LEAST_ACTIVE_PAGES * pageSize;
  }

  /** The largest size of an active SSTable that may be asked for, with so much write memory. */
  public static long mostActiveBytes(long writeBytes) {
    return Math.min(writeBytes / LEAST_ACTIVE_TABLES, MOST_ACTIVE_BYTES);
  }

  /** Whether SSTables on disk may be so large; 0 if their size follows from something else. */
  public static boolean isTableSize(long bytes) {
    return bytes == 0 || bytes >= LEAST_TABLE_BYTES && bytes <= MOST_TABLE_BYTES;
  }
}
