package io.isobardb.lsm.policy;

/**
 * How much of a tree a flush takes, once the tree is chosen ("Breaking Down Memory Walls in
 * LSM-based Storage Systems", 4.1.4). A tree that has less than half of the write memory, less than
 * 8 MiB, and no floor is flushed whole for memory's sake, whatever the strategy.
 */
public enum FlushStrategy {
  /** Slices of all runs, each going on in the key space where the last one ended. */
  ROUND_ROBIN,
  /** Slices of all runs, those first that have some of the oldest entries. */
  OLDEST,
  /** All the tree has in memory. */
  FULL,
  /**
   * As {@link #ROUND_ROBIN}, or as {@link #FULL} where the log is cut before slices have come
   * round. Slices would then be flushed for memory's sake and again for the log's, and the two
   * together write more than either alone.
   */
  ADAPTIVE,
  /**
   * As {@link #ROUND_ROBIN}, but all for the log's sake if no more than half of what a tree had in
   * memory was flushed for memory's sake within the length of the log: the paper's rule alone.
   */
  BETA
}
