package io.isobardb.lsm.merge;

/**
 * What to do with a tree's memory.
 *
 * @param action what
 * @param inputs how many runs are merged, neighbours
 * @param older how many runs are older than these
 * @param table place in the first input of the only table of it that is merged, with what it
 *     overlaps in the second; {@link #ALL} to merge all
 * @param sliceBytes size of the SSTables that a merge makes; {@link Long#MAX_VALUE} for one of all
 * @param roomBytes what it may take beyond the write memory for a while
 */
record MemoryMergeChoice(
    Action action, int inputs, int older, int table, long sliceBytes, long roomBytes) {
  /** Whole runs are merged. */
  static final int ALL = -1;

  /** What to do. */
  enum Action {
    /** Nothing is worth it. */
    LEAVE,
    /** A merge is worth it, but has no room. */
    NO_ROOM,
    /** A merge is worth it once the runs have had their last writes. */
    WAIT,
    /** Seal the active SSTable: it is merged with the others when it gets no more writes. */
    SEAL,
    /** Merge runs into one of packed SSTables. */
    MERGE,
    /** Put runs below one index. */
    INDEX
  }

  /** Whether all is merged that gets no writes any more, slice by slice round the key space. */
  boolean goesRound() {
    return action == Action.MERGE && older == 0 && table == ALL && sliceBytes != Long.MAX_VALUE;
  }

  static MemoryMergeChoice of(Action action) {
    return new MemoryMergeChoice(action, 0, 0, ALL, 0, 0);
  }
}
