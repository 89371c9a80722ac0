package io.isobardb.lsm.option;

/**
 * Which tree to flush when write memory runs short ("Breaking Down Memory Walls in LSM-based
 * Storage Systems", 4.2).
 */
public enum FlushPolicy {
  /** The tree that holds the most memory: what others do, and there to compare with. */
  MAX_MEMORY,
  /** The tree with the oldest entry in memory. Comes near to {@link #OPTIMAL}. */
  MIN_LSN,
  /**
   * The tree that holds most above its share, a tree's share of the memory being its share of the
   * writes in the window. Memory in proportion to the writes makes for the fewest bytes written.
   */
  OPTIMAL
}
