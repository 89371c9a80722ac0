package io.isobardb.tuner.workload;

import org.jspecify.annotations.Nullable;

/**
 * What {@link LevelTuner} keeps in mind of a tree from one cycle to the next. Costs are entries
 * that merges write for each entry put. Immutable.
 *
 * @param stage how far it is with a plan
 * @param plan what levels are to hold; null if nothing is planned, and levels follow the batches
 * @param goal where the plan leads; null when at rest
 * @param before what was planned before this plan, to go back to; may be null
 * @param costBefore what was found before this plan
 * @param modelBefore what the model said then
 * @param expected what the plan is to cost
 * @param barred for how many turnovers nothing is planned
 * @param barLength how long that will be the next time
 */
public record LevelProgress(
    Stage stage,
    @Nullable LevelShares plan,
    @Nullable LevelShares goal,
    @Nullable LevelShares before,
    double costBefore,
    double modelBefore,
    double expected,
    int barred,
    int barLength) {
  private static final int FIRST_BAR = 3;
  private static final int LONGEST_BAR = 24;

  /** What is known of a tree that was not looked at yet. */
  public static final LevelProgress START =
      new LevelProgress(Stage.RESTING, null, null, null, 0, 0, 0, 0, FIRST_BAR);

  /** How far it is with a plan. */
  public enum Stage {
    /** Nothing is under way; what the present sizes cost is being found. */
    RESTING,
    /** Levels are on their way to what is planned. */
    MOVING,
    /** They have their sizes; what they hold is still from before. */
    SETTLING,
    /** What the plan costs is being found. */
    MEASURING,
    /** It has cost more than before once, and is looked at again. */
    DOUBTING,
    /** The plan is being taken back. */
    RETURNING
  }

  /** Goes to another stage. */
  LevelProgress at(Stage other) {
    return new LevelProgress(
        other, plan, goal, before, costBefore, modelBefore, expected, barred, barLength);
  }

  /** A new plan begins. */
  LevelProgress planned(LevelShares wanted, double cost, double model, double expectedCost) {
    return new LevelProgress(
        Stage.MOVING, plan, wanted, plan, cost, model, expectedCost, 0, barLength);
  }

  /** The levels are to hold this from now on. */
  LevelProgress step(LevelShares next) {
    return new LevelProgress(
        stage, next, goal, before, costBefore, modelBefore, expected, barred, barLength);
  }

  /** The plan stays. */
  LevelProgress kept() {
    return new LevelProgress(
        Stage.RESTING, plan, null, null, costBefore, modelBefore, expected, 0, FIRST_BAR);
  }

  /** The plan is to be taken back, and none made for a while: for longer than the last time. */
  LevelProgress refused() {
    return new LevelProgress(
        Stage.RETURNING,
        plan,
        goal,
        before,
        costBefore,
        modelBefore,
        expected,
        barLength,
        Math.min(2 * barLength, LONGEST_BAR));
  }

  /** The plan has been taken back. */
  LevelProgress returned() {
    return new LevelProgress(Stage.RESTING, before, null, null, 0, 0, 0, barred, barLength);
  }

  /** A turnover has passed in which nothing was to be planned. */
  LevelProgress waited() {
    return new LevelProgress(
        stage, plan, goal, before, costBefore, modelBefore, expected, barred - 1, barLength);
  }
}
