package io.isobardb.lsm.merge;

import io.isobardb.lsm.option.L0Structure;
import io.isobardb.lsm.option.MergeSelection;
import io.isobardb.lsm.version.L0Limits;

/**
 * How {@link PartitionedLeveling} shapes a tree.
 *
 * @param sizeRatio T: how many times larger a level is than the one above it
 * @param dropFactor f: by how much the write memory must outgrow L1's use before L1 is dropped
 * @param l0 how L0 is kept
 * @param selection which SSTable of a level goes down
 * @param l0Limits how many groups L0 may have
 * @param fixedWriteMemoryBytes the write memory that the levels are made for, whatever the tree
 *     has; 0 to follow it
 */
public record LevelingOptions(
    int sizeRatio,
    double dropFactor,
    L0Structure l0,
    MergeSelection selection,
    L0Limits l0Limits,
    long fixedWriteMemoryBytes) {
  /** The paper's choices. */
  public static final LevelingOptions DEFAULT =
      new LevelingOptions(
          10, 1.5, L0Structure.GREEDY_GROUPED, MergeSelection.GREEDY, L0Limits.DEFAULT, 0);

  /** The paper's choices but for what a store's options say. */
  public static LevelingOptions of(
      double dropFactor,
      L0Structure l0,
      MergeSelection selection,
      L0Limits l0Limits,
      long fixedWriteMemoryBytes) {
    return new LevelingOptions(
        DEFAULT.sizeRatio, dropFactor, l0, selection, l0Limits, fixedWriteMemoryBytes);
  }

  /** Checks the numbers. */
  public LevelingOptions {
    if (sizeRatio < 2) {
      throw new IllegalArgumentException("size ratio " + sizeRatio + ", must be 2 or more");
    }
    if (!(dropFactor >= 1)) {
      throw new IllegalArgumentException("drop factor " + dropFactor + ", must be 1 or more");
    }
    if (fixedWriteMemoryBytes < 0) {
      throw new IllegalArgumentException("write memory " + fixedWriteMemoryBytes);
    }
  }
}
