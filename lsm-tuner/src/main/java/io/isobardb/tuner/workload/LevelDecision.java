package io.isobardb.tuner.workload;

import org.jspecify.annotations.Nullable;

/**
 * What {@link LevelTuner} has decided for a tree. Costs are entries that merges write for each
 * entry put; NaN where nothing is known. Immutable.
 *
 * @param cycle when
 * @param tree the tree's number
 * @param action what is done
 * @param modelled what the model says of the sizes that the levels had
 * @param expected what the sizes that are planned are to cost
 * @param found what was found since the decision before
 * @param reason why, in words
 * @param after what to keep in mind
 */
public record LevelDecision(
    long cycle,
    int tree,
    Action action,
    double modelled,
    double expected,
    double found,
    String reason,
    LevelProgress after) {

  /** What is done. */
  public enum Action {
    /** Nothing yet: what is being found goes on being found. */
    WAIT,
    /** Nothing; what is to be found is found anew from now on. */
    STAY,
    /** The levels take a step to other sizes. */
    MOVE,
    /** A plan has proved itself. */
    KEEP,
    /** A plan has cost more than what was before, and is looked at again. */
    DOUBT,
    /** A plan is being taken back. */
    TAKE_BACK
  }

  /** {@return what the levels are to hold from now on; null if they follow the batches} */
  public @Nullable LevelShares plan() {
    return after.plan();
  }
}
