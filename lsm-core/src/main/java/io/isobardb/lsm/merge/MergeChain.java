package io.isobardb.lsm.merge;

import java.util.List;

/**
 * What has to be written until no level of a tree holds more than it may: a pure function.
 * Immutable.
 *
 * <p>What a level holds too much goes down, and is written along with the part of the level below
 * that it overlaps. There it makes that level too large, and so on: a chain.
 *
 * @param stages L0, then tiers if there are any, then the levels above the last one
 * @param lastBytes what the last level holds; it may grow
 */
record MergeChain(List<Stage> stages, long lastBytes) {
  /**
   * A level.
   *
   * @param bytes that it holds
   * @param mayBytes that it may hold
   */
  record Stage(long bytes, long mayBytes) {}

  /** Copies the list. */
  MergeChain {
    stages = List.copyOf(stages);
  }

  /** Bytes that merges are to write. */
  long bytes() {
    double written = 0;
    double coming = 0;
    for (int i = 0; i < stages.size(); i++) {
      Stage stage = stages.get(i);
      double held = stage.bytes() + coming;
      double going = Math.max(0, held - stage.mayBytes());
      long below = i + 1 < stages.size() ? stages.get(i + 1).bytes() : lastBytes;
      // Of the level below as large a part is rewritten as goes of this one.
      written += going == 0 ? 0 : going + below * going / held;
      coming = going;
    }
    return (long) written;
  }
}
