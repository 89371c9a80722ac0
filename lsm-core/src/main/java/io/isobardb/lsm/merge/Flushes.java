package io.isobardb.lsm.merge;

import io.isobardb.lsm.state.TreeHandle;

/**
 * What merges ask of flushes. Thread rule: all methods may be called by any thread; none blocks.
 */
public interface Flushes {
  /** Starts flushes if there is need: a merge that has ended may have kept some from beginning. */
  void request();

  /** Flushes everything a tree holds in memory now. False if a flush of it is under way. */
  boolean flushAll(TreeHandle tree);

  /** Lets writers know how full the trees' L0 is. */
  void seeL0();

  /**
   * The most bytes of write memory that a tree held within about a log's length: what its levels
   * are made for, so that they do not come and go with every flush.
   */
  long recentMemoryBytes(TreeHandle tree);
}
