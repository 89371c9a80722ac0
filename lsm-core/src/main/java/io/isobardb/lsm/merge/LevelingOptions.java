package io.isobardb.lsm.merge;

import io.isobardb.lsm.version.L0Structure;
import io.isobardb.lsm.version.Version;

/**
 * How {@link PartitionedLeveling} shapes a tree.
 *
 * @param sizeRatio T: how many times larger a level is than the one above it; 0 for what suits the
 *     batches that L0 delivers
 * @param dropFactor f: by how much the write memory must outgrow L1's use before L1 is dropped
 * @param l0 how L0 is kept
 * @param selection which SSTable of a level goes down
 * @param l0StartGroups groups of L0 from which on it is merged down
 * @param fixedWriteMemoryBytes the write memory that the levels are made for, whatever the tree
 *     has; 0 to follow it
 * @param maxSpace with sizes that go by batches, so many times the last level all may hold together
 */
public record LevelingOptions(
    int sizeRatio,
    double dropFactor,
    L0Structure l0,
    MergeSelection selection,
    int l0StartGroups,
    long fixedWriteMemoryBytes,
    double maxSpace) {
  /** T where nothing is known of batches: the paper's. */
  private static final int USUAL_RATIO = 10;

  /** What measurements have shown to be best; otherwise the paper's choices. */
  public static final LevelingOptions DEFAULT =
      new LevelingOptions(0, 1.5, L0Structure.GREEDY_GROUPED, MergeSelection.GREEDY, 4, 0, 1.25);

  /** T; where it is left to batches, what holds while none are known. */
  public int usualRatio() {
    return sizeRatio > 0 ? sizeRatio : USUAL_RATIO;
  }

  /** Checks the numbers. */
  public LevelingOptions {
    if (sizeRatio != 0 && sizeRatio < 2) {
      throw new IllegalArgumentException("size ratio " + sizeRatio + ", must be 0, or 2 or more");
    }
    if (!(dropFactor >= 1)) {
      throw new IllegalArgumentException("drop factor " + dropFactor + ", must be 1 or more");
    }
    if (l0StartGroups < 1 || l0StartGroups >= Version.MAX_L0_GROUPS) {
      throw new IllegalArgumentException(
          "L0 is merged from " + l0StartGroups + " groups on, full with " + Version.MAX_L0_GROUPS);
    }
    if (!(maxSpace > 1)) {
      throw new IllegalArgumentException("space " + maxSpace + ", must be above 1");
    }
    if (fixedWriteMemoryBytes < 0) {
      throw new IllegalArgumentException("write memory " + fixedWriteMemoryBytes);
    }
  }
}
