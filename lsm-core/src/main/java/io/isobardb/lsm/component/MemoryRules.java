package io.isobardb.lsm.component;

import io.isobardb.lsm.option.MemoryComponent;

/**
 * What follows from how a tree's write memory is arranged ({@link MemoryComponent}), and sizes that
 * several decisions go by. Pure functions; any thread.
 */
public final class MemoryRules {
  /** An active SSTable of this size the processor's cache still helps with. */
  public static final int MOST_ACTIVE_BYTES = 32 << 20;

  /** What it takes to merge what is sealed, for small entries. */
  public static final int MERGE_NANOS_PER_BYTE = 2;

  /** With more than this a tree has slices enough, whatever part of the write memory it is. */
  private static final int MOST_SMALL_BYTES = 4 * MOST_ACTIVE_BYTES;

  /** Sealed runs that {@link #mergesWhole} makes one. */
  public static final int PIPELINE = 4;

  private MemoryRules() {}

  /** Whether a flush takes all of a tree, whatever it is for. */
  public static boolean flushesWhole(MemoryComponent component) {
    return component != MemoryComponent.PARTITIONED && component != MemoryComponent.LEVELED;
  }

  /**
   * Whether a tree has so little of the write memory that slices of it are of no use: they would be
   * two or three, of which one may span most of the keys, and such SSTables tie together in L0 what
   * lies beside each other, so that a merge rewrites all of L1. As a whole it is flushed into
   * SSTables that end where the last ones ended, and the memory is put to use by other trees.
   *
   * @param treeBytes what the tree has in memory
   * @param writeBytes the write memory
   */
  public static boolean isSmall(long treeBytes, long writeBytes) {
    return treeBytes < Math.min(writeBytes / 2, MOST_SMALL_BYTES);
  }

  /** Whether a merge in memory takes all sealed runs, and makes one of them. */
  public static boolean mergesWhole(MemoryComponent component) {
    return component == MemoryComponent.ACCORDION_INDEX
        || component == MemoryComponent.ACCORDION_DATA;
  }
}
