package io.isobardb.lsm.policy;

/** Which SSTable of a level that is too large is merged into the level below. */
public enum MergeSelection {
  /**
   * The one that makes the least work for what it moves: with the fewest bytes below it for its
   * size, deletes counting in its favour.
   */
  GREEDY,
  /**
   * The one that was written first: goes round the keys as they are written anew, so that none
   * stays in a level for long.
   */
  OLDEST
}
