package io.isobardb.lsm.merge;

import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.Version;

/**
 * How large the levels of a tree should be, and whether L1 should come or go. The last level is
 * taken as full and sets the others: one at height h may hold a T<sup>h</sup>th of it.
 *
 * <p>L1 is added when write memory times T is less than L1's target, dropped when it exceeds f
 * times L2's. Just after either, the write memory must change by the factor f, or T, before the
 * other.
 */
final class LevelTargets {
  private final LevelingOptions options;
  private final long targetBytes;
  private final long lastBytes;
  private final int levels;
  private final long writeMemoryBytes;

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
  }

  /** The write memory that levels are made for, in bytes. */
  long writeMemoryBytes() {
    return writeMemoryBytes;
  }

  /** What a level should hold at most, in bytes; the last one has no target. */
  long targetBytes(int height) {
    return Math.max(targetBytes, (long) share(height));
  }

  /** Whether L1 is too large for what comes from memory. */
  boolean wantsLevel() {
    return levels < Place.MAX_LEVELS && reach() < share(levels - 1);
  }

  /** Whether L1 is of no use, memory being so large. */
  boolean wantsNoL1() {
    return levels > 1 && reach() > options.dropFactor() * share(levels - 2);
  }

  /** Write memory times T. */
  private double reach() {
    return (double) writeMemoryBytes * options.sizeRatio();
  }

  private double share(int height) {
    return lastBytes / Math.pow(options.sizeRatio(), height);
  }
}
