package io.isobardb.lsm.baseline;

import io.isobardb.lsm.commit.Fullness;
import java.util.Comparator;
import java.util.List;

/**
 * Write memory split evenly among so many trees, as some stores do: the paper's B+-static. A tree
 * that is written to takes a slot; if there is none left, the tree that was written least recently
 * has to give up its own. Pure functions; any thread.
 *
 * @param trees how many slots there are
 * @param buffers 2 if a tree has one component to write to and one to flush, each with half of its
 *     share; 1 if it has but one, which is flushed little by little
 */
public record StaticShares(int trees, int buffers) {
  /**
   * A slot that is taken.
   *
   * @param treeId by whom
   * @param lastWrite when that was written last; higher is later
   * @param leaving whether it is being flushed to give up the slot
   */
  public record Slot(int treeId, long lastWrite, boolean leaving) {}

  /** Checks the numbers. */
  public StaticShares {
    if (trees < 1 || buffers < 1 || buffers > 2) {
      throw new IllegalArgumentException(trees + " trees with " + buffers + " buffers");
    }
  }

  /** What a tree may hold at most before its writers wait. */
  public long shareBytes(long writeBytes) {
    return writeBytes / trees;
  }

  /** What a tree holds when a flush of it is due. */
  public long triggerBytes(long writeBytes) {
    long share = shareBytes(writeBytes);
    return buffers == 2 ? share / 2 : Fullness.USUAL.flushFrom(share);
  }

  /**
   * The trees that have to leave now, those written least recently first.
   *
   * @param slots those taken
   * @param wanting trees that wait for one
   */
  public List<Integer> leave(List<Slot> slots, int wanting) {
    long leaving = slots.stream().filter(Slot::leaving).count();
    long missing = slots.size() - leaving + wanting - trees;
    return slots.stream()
        .filter(slot -> !slot.leaving())
        .sorted(Comparator.comparingLong(Slot::lastWrite).thenComparingInt(Slot::treeId))
        .limit(Math.max(0, Math.min(missing, slots.size() - leaving)))
        .map(Slot::treeId)
        .toList();
  }
}
