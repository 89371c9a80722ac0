package io.isobardb.lsm.commit;

import io.isobardb.lsm.version.L0Limits;
import io.isobardb.lsm.version.Version;
import org.jspecify.annotations.Nullable;

/**
 * How full the L0 of a tree is, for writers. Immutable.
 *
 * @param tree its name; null for none
 * @param groups that it has
 * @param limits how many it may have
 * @param groupBytes bytes of a group, on the average
 */
public record FullL0(@Nullable String tree, int groups, L0Limits limits, long groupBytes) {
  /** An empty one. */
  public static FullL0 none(L0Limits limits) {
    return new FullL0(null, 0, limits, 0);
  }

  /** That of a tree's version. */
  public static FullL0 of(String tree, Version version, L0Limits limits) {
    int groups = version.groups().size();
    return new FullL0(tree, groups, limits, groups == 0 ? 0 : version.l0Bytes() / groups);
  }

  /** The one that is nearer to its limit. */
  public FullL0 or(FullL0 other) {
    return other.part() > part() ? other : this;
  }

  private double part() {
    return (double) groups / limits.stop();
  }

  /** Whether writers may be slowed down. */
  boolean slows() {
    return groups >= limits.slowdown();
  }

  /** Whether it has twice as many groups as it is merged from on, so that reads feel them. */
  boolean slowsReads() {
    return groups >= 2 * limits.start();
  }

  /** Whether merges of L0 begin before writers feel it, whatever is postponed. */
  public boolean nearlySlows() {
    return groups >= limits.slowdown() - 1;
  }

  /** Whether it is on the way to its limit though its merges run. */
  public boolean nearlyFull() {
    return groups > (limits.slowdown() + limits.stop()) / 2;
  }

  /** Whether nothing is flushed for memory until merges have made groups fewer. */
  boolean isFull() {
    return groups >= limits.stop();
  }

  /** Groups that may come before it is nearly full: one is left for what is being flushed. */
  int room() {
    return Math.max(0, limits.stop() - 1 - groups);
  }
}
