package io.isobardb.lsm.merge;

/**
 * What {@link MemoryMerging} looks at: the memory of one tree. All sizes in bytes.
 *
 * @param runs what the tree has in memory
 * @param grown whether its active SSTable is full, and may be sealed
 * @param lostNanos what reads have lost since the last merge, by asking several runs
 * @param hoped whether a merge of all may make room, as far as earlier ones tell
 * @param sizes what SSTables and runs go by
 * @param room how full the write memory is
 * @param fits whether nothing of the tree is on disk
 */
record MemoryMergeView(
    Runs runs, boolean grown, long lostNanos, boolean hoped, Sizes sizes, Room room, boolean fits) {

  /**
   * The runs of a tree.
   *
   * @param frozen the sizes of those that get no writes any more, from the youngest to the oldest
   * @param open how many younger ones there are
   * @param mergedBytes what of the frozen ones was merged before
   * @param memoryBytes all that the tree has in memory, the active SSTable too
   * @param besidesBytes what making one of all that is sealed takes besides it
   */
  record Runs(long[] frozen, int open, long mergedBytes, long memoryBytes, long besidesBytes) {
    int count() {
      return open + frozen.length;
    }

    /** Whether all is in one run that was merged. */
    boolean areOne() {
      return open == 0 && frozen.length == 1 && mergedBytes == frozen[0];
    }
  }

  /**
   * Sizes.
   *
   * @param active a small active SSTable
   * @param table an SSTable that is flushed
   * @param page a page
   */
  record Sizes(long active, long table, long page) {}

  /**
   * The write memory.
   *
   * @param used what all trees have of it
   * @param limit its size
   */
  record Room(long used, long limit) {}
}
