package io.isobardb.lsm.recovery;

import io.isobardb.lsm.commit.StaticShares;
import io.isobardb.lsm.component.MemoryComponent;
import io.isobardb.lsm.flush.FlushPolicy;
import io.isobardb.lsm.flush.FlushStrategy;
import io.isobardb.lsm.merge.MergeSelection;
import io.isobardb.lsm.version.L0Structure;
import org.jspecify.annotations.Nullable;

/**
 * How a store uses its memory and shapes its trees.
 *
 * @param flushPolicy which tree is flushed when write memory runs short
 * @param flushStrategy how much of it
 * @param l0Structure how L0 is kept
 * @param mergeSelection which SSTable of a level goes down
 * @param levelDropFactor by how much a tree's write memory must outgrow L1 before that is dropped
 * @param staticLevelBytes the write memory that levels are made for, whatever a tree has; 0 to
 *     follow it
 * @param memoryComponent how a tree's write memory is arranged
 * @param staticTrees among how many trees write memory is split evenly; 0 if it is shared
 */
public record Policies(
    FlushPolicy flushPolicy,
    FlushStrategy flushStrategy,
    L0Structure l0Structure,
    MergeSelection mergeSelection,
    double levelDropFactor,
    long staticLevelBytes,
    MemoryComponent memoryComponent,
    int staticTrees) {

  /** The even shares of the write memory, null if there are none. */
  @Nullable StaticShares shares() {
    return staticTrees == 0
        ? null
        : new StaticShares(staticTrees, memoryComponent.flushesWhole() ? 2 : 1);
  }

  /** How much of a tree a flush takes, given its memory component. */
  FlushStrategy strategy() {
    return memoryComponent.flushesWhole() ? FlushStrategy.FULL : flushStrategy;
  }
}
