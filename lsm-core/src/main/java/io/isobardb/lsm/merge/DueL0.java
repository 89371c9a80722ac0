package io.isobardb.lsm.merge;

import io.isobardb.lsm.version.L0Limits;
import io.isobardb.lsm.version.Version;
import java.util.List;

/**
 * How much of L0 is due to be merged: a pure function. Immutable.
 *
 * <p>L0 is merged from a number of groups on, and before that if it holds too many bytes, as after
 * a load in key order, which makes one group. Both grow by what is flushed, not at once: of a group
 * too many the smallest ones are due, and of bytes too many just these.
 *
 * @param groupBytes what each group holds
 * @param startGroups from so many on L0 is merged
 * @param mayBytes what it may hold, in however few groups
 */
record DueL0(List<Long> groupBytes, int startGroups, long mayBytes) {
  /** Sorts the groups. */
  DueL0 {
    groupBytes = groupBytes.stream().sorted().toList();
  }

  /** That of a tree: L0 may hold what L1 may, or what stops flushes if each group is a memory's. */
  static DueL0 of(Version version, L0Limits limits, LevelTargets targets) {
    int top = version.levelCount() - 1;
    return new DueL0(
        version.groups().stream().map(group -> group.run().sizeBytes()).toList(),
        limits.start(),
        Math.max(
            limits.stop() * targets.writeMemoryBytes(), top == 0 ? 0 : targets.targetBytes(top)));
  }

  /** Groups or bytes by those that begin a merge, whichever is more. */
  double score() {
    return Math.max((double) groupBytes.size() / startGroups, (double) bytes() / mayBytes);
  }

  /** What has to leave L0 until it is not worth a merge. */
  long dueBytes() {
    int tooMany = Math.max(0, groupBytes.size() - startGroups + 1);
    long ofGroups = groupBytes.stream().limit(tooMany).mapToLong(Long::longValue).sum();
    return Math.max(ofGroups, bytes() - mayBytes);
  }

  private long bytes() {
    return groupBytes.stream().mapToLong(Long::longValue).sum();
  }
}
