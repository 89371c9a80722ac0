package io.isobardb.lsm.policy;

/** How trees come to write memory. */
public enum WriteMemoryAllocation {
  /** All trees share it; a flush policy says which of them gives some back. */
  DYNAMIC,
  /**
   * It is split evenly among a fixed number of trees, those written last. A write to one more waits
   * until the tree that was written least recently has been flushed. There to compare with.
   */
  STATIC
}
