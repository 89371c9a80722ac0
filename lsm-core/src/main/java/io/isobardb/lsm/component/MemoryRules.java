package io.isobardb.lsm.component;

import io.isobardb.lsm.policy.MemoryComponent;

/**
 * What follows from how a tree's write memory is arranged ({@link MemoryComponent}), and sizes that
 * several decisions go by. Pure functions; any thread.
 */
public final class MemoryRules {
  /** An active SSTable of this size the processor's cache still helps with. */
  public static final int MOST_ACTIVE_BYTES = 32 << 20;

  /** What it takes to merge what is sealed, for small entries. */
  public static final int MERGE_NANOS_PER_BYTE = 2;

  /** A tree of this size is flushed by slices, whatever its part of the write memory. */
  private static final int SLICED_BYTES = 8 << 20;

  /**
   * A tree that is flushed by slices is flushed whole again once it has less than this. By slices
   * it holds about half of what it has when whole.
   */
  private static final int LEAST_SLICED_BYTES = SLICED_BYTES / 2;

  /** Slices of a tree that shares the write memory. */
  private static final int SLICES = 8;

  /** The least size of such a slice. */
  private static final int LEAST_SLICE_BYTES = 1 << 20;

  /**
   * A tree with this part of the write memory has slices of the usual size. Even one that shares
   * with nobody has no more where the log calls for flushes early.
   */
  private static final int WHOLE_PART = 4;

  /** Sealed runs that {@link #mergesWhole} makes one. */
  public static final int PIPELINE = 4;

  /**
   * An index over the entries of what is merged is made up to this part of the write memory, or of
   * that of a tree of which nothing is on disk: what it takes is not missed before a flush is near.
   */
  private static final double INDEXED_PART = 0.5;

  private static final double INDEXED_PART_IF_FITTING = 0.75;

  private MemoryRules() {}

  /**
   * Whether a merge in memory makes an index over entries, which point reads gain by.
   *
   * @param indexBytes what it takes
   * @param usedBytes write memory in use
   * @param limitBytes the write memory
   * @param fits whether nothing of the tree is on disk
   */
  public static boolean indexes(long indexBytes, long usedBytes, long limitBytes, boolean fits) {
    double part = fits ? INDEXED_PART_IF_FITTING : INDEXED_PART;
    return usedBytes + indexBytes <= part * limitBytes;
  }

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
   * @param sliced whether it was flushed by slices so far
   */
  public static boolean isSmall(long treeBytes, long writeBytes, boolean sliced) {
    return treeBytes < Math.min(writeBytes / 2, sliced ? LEAST_SLICED_BYTES : SLICED_BYTES);
  }

  /**
   * The size of what a tree is cut into that is flushed by slices: of its slices, and of its active
   * SSTables. One that has a good part of the write memory is cut as if it had all of it.
   *
   * @param treeBytes what the tree has in memory
   * @param writeBytes the write memory
   * @param usual the size if the tree had all of it
   */
  public static long partBytes(long treeBytes, long writeBytes, long usual) {
    return treeBytes >= writeBytes / WHOLE_PART
        ? usual
        : Math.min(usual, Math.max(LEAST_SLICE_BYTES, treeBytes / SLICES));
  }

  /** Whether a merge in memory takes all sealed runs, and makes one of them. */
  public static boolean mergesWhole(MemoryComponent component) {
    return component == MemoryComponent.ACCORDION_INDEX
        || component == MemoryComponent.ACCORDION_DATA;
  }
}
