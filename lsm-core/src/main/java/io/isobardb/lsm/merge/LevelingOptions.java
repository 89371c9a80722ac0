package io.isobardb.lsm.merge;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.policy.MergeSelection;
import io.isobardb.lsm.version.L0Limits;

/**
 * How a {@link MergePolicy} shapes a tree, and which one does.
 *
 * @param sizeRatio T: how many times larger a level is than the one above it; 0 for what suits the
 *     batches that L0 delivers
 * @param dropFactor f: by how much the write memory must outgrow L1's use before L1 is dropped
 * @param l0 how L0 is kept
 * @param selection which SSTable of a level goes down
 * @param l0Limits how many groups L0 may have
 * @param fixedWriteMemoryBytes the write memory that the levels are made for, whatever the tree
 *     has; 0 to follow it
 * @param mergesWithinL0 whether groups of L0 that are small for what they overlap are merged with
 *     each other first
 */
public record LevelingOptions(
    int sizeRatio,
    double dropFactor,
    L0Structure l0,
    MergeSelection selection,
    L0Limits l0Limits,
    long fixedWriteMemoryBytes,
    boolean mergesWithinL0) {
  /** T where nothing is known of batches: the paper's. */
  private static final int USUAL_RATIO = 10;

  /** What measurements have shown to be best; otherwise the paper's choices. */
  public static final LevelingOptions DEFAULT =
      new LevelingOptions(
          0, 1.5, L0Structure.GREEDY_GROUPED, MergeSelection.GREEDY, L0Limits.DEFAULT, 0, true);

  /** Those that a store's options ask for. */
  public static LevelingOptions of(StoreOptions options) {
    ExperimentalOptions chosen = ExperimentalOptions.of(options);
    return new LevelingOptions(
        chosen.levelSizeRatio(),
        chosen.levelDropFactor(),
        chosen.l0Structure(),
        chosen.mergeSelection(),
        L0Limits.of(options),
        options.levels().writeMemoryBytes(),
        chosen.mergesWithinL0());
  }

  /** T; where it is left to batches, what holds while none are known. */
  public int usualRatio() {
    return sizeRatio > 0 ? sizeRatio : USUAL_RATIO;
  }

  /** What chooses the merges: in stores, in the simulator of the models, and in tests. */
  public MergePolicy policy() {
    return new PartitionedLeveling(this);
  }

  /** Checks the numbers. */
  public LevelingOptions {
    if (sizeRatio != 0 && sizeRatio < 2) {
      throw new IllegalArgumentException("size ratio " + sizeRatio + ", must be 0, or 2 or more");
    }
    if (!(dropFactor >= 1)) {
      throw new IllegalArgumentException("drop factor " + dropFactor + ", must be 1 or more");
    }
    if (fixedWriteMemoryBytes < 0) {
      throw new IllegalArgumentException("write memory " + fixedWriteMemoryBytes);
    }
  }
}
