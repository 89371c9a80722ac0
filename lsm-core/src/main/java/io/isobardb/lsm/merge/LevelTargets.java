package io.isobardb.lsm.merge;

import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.Version;

/**
 * How large the levels of a tree should be, and whether L1 should come or go. The last level is
 * taken as full and sets the others, by a {@link LevelPlan} for the batches that L0 delivers.
 *
 * <p>While no batches are known, or T is given, the rule is the paper's: a level at height h may
 * hold a T<sup>h</sup>th of the last one. L1 is added when write memory times T is less than L1's
 * target, dropped when it exceeds f times L2's. Just after either, the write memory must change by
 * the factor f, or T, before the other.
 */
final class LevelTargets {
  /**
   * In a smaller tree, by write memories, sizes by batches wrote no less, and merges of L0 were
   * several times as large (decision 0034).
   */
  private static final int LARGE = 16;

  private final LevelingOptions options;
  private final long targetBytes;
  private final long lastBytes;
  private final int levels;
  private final long writeMemoryBytes;

  /** What L0 delivers at a time; 0 if sizes don't go by that. */
  private final long batchBytes;

  private final double ratio;

  LevelTargets(LevelingOptions options, MergeView view) {
    Version version = view.version();
    long followed =
        options.fixedWriteMemoryBytes() > 0
            ? options.fixedWriteMemoryBytes()
            : view.writeMemoryBytes();
    this.options = options;
    this.targetBytes = view.targetBytes();
    this.lastBytes = version.atHeight(0).sizeBytes();
    this.levels = version.levelCount();
    // A flush writes an SSTable at least, so less memory needs no further level.
    this.writeMemoryBytes = Math.max(followed, targetBytes);
    boolean fixed = options.sizeRatio() > 0 || options.fixedWriteMemoryBytes() > 0;
    boolean large = lastBytes >= LARGE * writeMemoryBytes;
    this.batchBytes = fixed || !large ? 0 : view.batchBytes();
    this.ratio =
        batchBytes > 0
            ? LevelPlan.of(levels, lastBytes, batchBytes, options.maxSpace()).ratio()
            : options.usualRatio();
  }

  /** The write memory that levels are made for, in bytes. */
  long writeMemoryBytes() {
    return writeMemoryBytes;
  }

  /** What levels are made for, if L0 has told; else 0. */
  long batchBytes() {
    return batchBytes;
  }

  /** What a level should hold at most, in bytes; the last one has no target. */
  long targetBytes(int height) {
    return Math.max(targetBytes, (long) share(height));
  }

  /** Whether L1 is too large for what comes from memory. */
  boolean wantsLevel() {
    return levels < Place.MAX_LEVELS
        && (batchBytes > 0 ? wanted(batchBytes) > levels : reach() < share(levels - 1));
  }

  /** Whether L1 is of no use, memory being so large. */
  boolean wantsNoL1() {
    return levels > 1
        && (batchBytes > 0
            ? wanted(batchBytes / options.dropFactor()) < levels
            : reach() > options.dropFactor() * share(levels - 2));
  }

  private int wanted(double batch) {
    return LevelPlan.cheapest(lastBytes, batch, options.maxSpace()).levels();
  }

  /** Write memory times T. */
  private double reach() {
    return writeMemoryBytes * ratio;
  }

  private double share(int height) {
    return lastBytes / Math.pow(ratio, height);
  }
}
