package io.isobardb.lsm.merge;

import io.isobardb.lsm.component.MemoryRules;

/**
 * How large SSTables on disk are. Pure functions; any thread.
 *
 * @param pageSize of the store
 * @param givenBytes what all of them have; 0 if that follows the memory and the tree
 */
public record TableSizes(int pageSize, long givenBytes) {
  /** A flushed SSTable has one in so many parts of the write memory. */
  private static final int FLUSHED_SHARE = 8;

  /** The least size of a flushed SSTable. */
  private static final long LEAST_BYTES = 256 << 10;

  /** The largest size of a flushed SSTable, and of one that grows with its tree. */
  private static final long MOST_BYTES = 16 << 20;

  /**
   * The least pages of an SSTable: those for header, index, filter and footer are few among them.
   */
  private static final int LEAST_PAGES = 16;

  /** SSTables of a tree grow beyond what is flushed when it would have more than so many. */
  private static final int TREE_PARTS = 128;

  /** The least size in a tree that is flushed whole. */
  private static final long LEAST_OF_SMALL_BYTES = 1 << 20;

  /** The size of one that is flushed while the write memory is so large. */
  public long flushed(long writeBytes) {
    if (givenBytes > 0) {
      return Math.max(givenBytes, (long) LEAST_PAGES * pageSize);
    }
    long least = Math.max(LEAST_BYTES, (long) LEAST_PAGES * pageSize);
    return Math.max(Math.min(writeBytes / FLUSHED_SHARE, MOST_BYTES), least);
  }

  /**
   * The size of one that is flushed of a tree.
   *
   * @param writeBytes the write memory
   * @param memoryBytes what the tree has of it
   * @param sliced whether it is flushed by slices
   */
  public long flushed(long writeBytes, long memoryBytes, boolean sliced) {
    long usual = flushed(writeBytes);
    return sliced && givenBytes == 0
        ? MemoryRules.partBytes(memoryBytes, writeBytes, usual)
        : usual;
  }

  /**
   * The size of one that a disk merge writes. With little write memory what is flushed is small,
   * but each SSTable's index and filter take pages of the cache, and each one's ends make merges
   * larger than they need be: so they grow with the tree, and those of a tree that is flushed
   * whole, without slices to match, have a least size (decision 0034).
   *
   * @param writeBytes the write memory
   * @param diskBytes what the tree has on disk
   * @param memoryBytes the most that it had in memory lately
   * @param sliced whether it is flushed by slices
   */
  public long merged(long writeBytes, long diskBytes, long memoryBytes, boolean sliced) {
    long flushed = flushed(writeBytes, memoryBytes, sliced);
    if (givenBytes > 0) {
      return flushed;
    }
    long wanted = Math.max(flushed, Math.min(diskBytes / TREE_PARTS, MOST_BYTES));
    return !sliced && MemoryRules.isSmall(memoryBytes, writeBytes, false)
        ? Math.max(wanted, LEAST_OF_SMALL_BYTES)
        : wanted;
  }
}
