package io.isobardb.lsm.merge;

import io.isobardb.lsm.merge.MergeChoice.Slot;
import io.isobardb.lsm.policy.TreeShape;
import io.isobardb.lsm.version.Version;
import io.isobardb.tuner.workload.LevelShares;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a merge policy looks at: one tree.
 *
 * @param version its disk SSTables
 * @param shape what its user wants of them
 * @param writeMemoryBytes the write memory it holds, averaged over some time so that levels do not
 *     come and go with every flush
 * @param targetBytes the size of an SSTable
 * @param batchBytes what L0 delivers to the levels at a time, without what is overwritten within
 *     it; 0 if that is not to be looked at, {@link #UNTOLD} if it has not delivered anything yet
 * @param plan what the levels are to hold; null if they follow batches or write memory
 * @param running choices for this tree that were made and are not yet in {@code version}
 * @param voidable those of {@code running} that can still be given up, without a trace
 * @param free the slots of which there is one for another merge; {@link Slot#GATHER} if a merge
 *     takes groups of L0 down and L0 is on the way to its limit though
 */
public record MergeView(
    Version version,
    TreeShape shape,
    long writeMemoryBytes,
    long targetBytes,
    long batchBytes,
    @Nullable LevelShares plan,
    List<MergeChoice> running,
    List<MergeChoice> voidable,
    Set<Slot> free) {
  /** L0 has delivered nothing to the levels since the tree was opened. */
  public static final long UNTOLD = -1;

  /** A view of a tree that may begin any merge, where none is given up. */
  public MergeView(
      Version version,
      TreeShape shape,
      long writeMemoryBytes,
      long targetBytes,
      List<MergeChoice> running) {
    this(
        version,
        shape,
        writeMemoryBytes,
        targetBytes,
        0,
        null,
        running,
        List.of(),
        Set.of(Slot.L0, Slot.DEEP));
  }

  /** Checks the numbers. */
  public MergeView {
    if (writeMemoryBytes < 0 || targetBytes <= 0 || batchBytes < UNTOLD) {
      throw new IllegalArgumentException(
          "write memory " + writeMemoryBytes + ", target " + targetBytes + ", batch " + batchBytes);
    }
    running = List.copyOf(running);
    voidable = List.copyOf(voidable);
    free = Set.copyOf(free);
  }

  /** The view as it will be when the merges that can be given up are. */
  MergeView withoutVoidable() {
    List<MergeChoice> left = running.stream().filter(choice -> !voidable.contains(choice)).toList();
    return with(plan, left, List.of());
  }

  /** The view with other merges that can be given up. */
  MergeView withVoidable(List<MergeChoice> others) {
    return with(plan, running, others);
  }

  /** The view as it is if nothing is planned. */
  public MergeView withoutPlan() {
    return with(null, running, voidable);
  }

  private MergeView with(
      @Nullable LevelShares planned, List<MergeChoice> going, List<MergeChoice> others) {
    return new MergeView(
        version, shape, writeMemoryBytes, targetBytes, batchBytes, planned, going, others, free);
  }
}
