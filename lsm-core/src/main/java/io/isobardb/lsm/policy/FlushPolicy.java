package io.isobardb.lsm.policy;

/**
 * Which tree to flush when write memory runs short ("Breaking Down Memory Walls in LSM-based
 * Storage Systems", 4.2).
 *
 * <p>{@link #OPTIMAL} is the default: a flush takes a slice of a tree, whatever its size, so all
 * trees give back the same, and memory in proportion to the writes makes for the fewest bytes
 * written. {@link #MIN_LSN} comes near to it, and cuts the log best. {@link #MAX_MEMORY} takes from
 * the trees with the most writes what idle ones keep, until the log drives those out.
 */
public enum FlushPolicy {
  /** The tree that holds the most memory: what others do, and there to compare with. */
  MAX_MEMORY,
  /** The tree with the oldest entry in memory. */
  MIN_LSN,
  /**
   * The tree that holds most above its share, a tree's share of the memory being its share of the
   * writes in the window.
   */
  OPTIMAL
}
