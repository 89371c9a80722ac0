package io.isobardb.tuner.workload;

import io.isobardb.tuner.model.LevelBounds;
import io.isobardb.tuner.model.LevelMerges;
import io.isobardb.tuner.model.LevelSizeOptimiser;
import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.workload.LevelDecision.Action;
import io.isobardb.tuner.workload.LevelProgress.Stage;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Decides the sizes of a tree's levels by the model and the popularity that was learnt. Pure
 * functions; any thread.
 *
 * <p>A plan is made when the model promises that other sizes cost less. Levels go there by steps.
 * When merges have gone round the last level once more, what they write in another round is
 * compared with what the sizes before would have cost: what was found for those, times what the
 * model says has changed meanwhile. A plan that costs more is looked at again, then taken back, and
 * for a while no other is made: each time for longer.
 */
public final class LevelTuner {
  /** Other sizes must cost less by this part. */
  private static final double LEAST_GAIN = 0.03;

  /** A plan that costs more than what was before by more than this part has failed. */
  private static final double TOLERANCE = 0.02;

  /** The part more of write memory by which the model's slope is taken: a step of the wall. */
  private static final double MORE_MEMORY = 0.1;

  /** With memory for nearly all keys the model has no slope to tell. */
  private static final double NEARLY_ALL = 0.999;

  /** By how much a level may grow or shrink in a cycle. */
  private static final double STEP = 2;

  private static final int MOST_LEVELS = 16;

  private LevelTuner() {}

  /**
   * How many percent less merges write with one percent more write memory, by the model, if levels
   * stay as they are. Where they have the cheapest sizes it is the same if they follow.
   *
   * @param view a tree at the end of a cycle
   * @return 0 if what the model must know is not known
   */
  public static double steepness(LevelView view) {
    Model model = Model.of(view);
    return model == null ? 0 : model.steepness();
  }

  /**
   * What is done now.
   *
   * @param before what it kept in mind in the cycle before
   * @param view a tree at the end of a cycle
   * @return what is done now, and what is kept in mind
   */
  public static LevelDecision choose(LevelProgress before, LevelView view) {
    Model model = Model.of(view);
    if (model == null) {
      return decision(view, Action.WAIT, null, Double.NaN, view.missing(), before);
    }
    return switch (before.stage()) {
      case RESTING -> rest(before, view, model);
      case MOVING -> move(before, view, model);
      case SETTLING -> settle(before, view, model);
      case MEASURING, DOUBTING -> judge(before, view, model);
      case RETURNING -> goBack(before, view, model, Action.MOVE, "on the way back");
    };
  }

  private static LevelDecision rest(LevelProgress before, LevelView view, Model model) {
    if (view.turnovers() < 1) {
      return decision(
          view, Action.WAIT, model, Double.NaN, "what these sizes cost is found", before);
    }
    double found = view.work().perWrite();
    if (before.barred() > 0) {
      LevelProgress after = before.waited();
      String reason = text("a plan has failed; none is made for %d turnovers", after.barred());
      return decision(view, Action.STAY, model, found, reason, after);
    }
    double now = model.cost(view.now());
    LevelShares goal = model.optimum();
    double gain = 1 - model.cost(goal) / now;
    if (!(gain >= LEAST_GAIN)) {
      String reason = text("no other sizes save more than %.1f %%", 100 * Math.max(0, gain));
      return decision(view, Action.STAY, model, found, reason, before);
    }
    LevelProgress planned = before.planned(goal, found, now, found * (1 - gain));
    LevelProgress after = planned.step(view.now().towards(goal, STEP));
    String reason = text("other sizes are to save %.1f %%: %s", 100 * gain, words(goal));
    return decision(view, Action.MOVE, model, found, reason, after);
  }

  private static LevelDecision move(LevelProgress before, LevelView view, Model model) {
    LevelShares goal = Objects.requireNonNull(before.goal());
    LevelShares plan = Objects.requireNonNull(before.plan());
    if (!plan.equals(goal)) {
      LevelProgress after = before.step(plan.towards(goal, STEP));
      return decision(view, Action.MOVE, model, Double.NaN, "a step to what is planned", after);
    }
    LevelProgress after = before.at(Stage.SETTLING);
    return decision(view, Action.STAY, model, Double.NaN, "the levels have their sizes", after);
  }

  private static LevelDecision settle(LevelProgress before, LevelView view, Model model) {
    if (view.turnovers() < 1) {
      String reason = "what the last level has is from before";
      return decision(view, Action.WAIT, model, Double.NaN, reason, before);
    }
    LevelProgress after = before.at(Stage.MEASURING);
    return decision(
        view, Action.STAY, model, Double.NaN, "the plan is measured from now on", after);
  }

  private static LevelDecision judge(LevelProgress before, LevelView view, Model model) {
    if (view.turnovers() < 1) {
      return decision(view, Action.WAIT, model, Double.NaN, "what the plan costs is found", before);
    }
    double found = view.work().perWrite();
    double former = before.costBefore() / before.modelBefore() * model.cost(former(before, view));
    String reason =
        text(
            "%.2f entries merged for each put, %.2f expected, %.2f as it was before",
            found, before.expected(), former);
    if (!(found > former * (1 + TOLERANCE))) {
      return decision(view, Action.KEEP, model, found, reason, before.kept());
    }
    if (before.stage() == Stage.MEASURING) {
      return decision(view, Action.DOUBT, model, found, reason, before.at(Stage.DOUBTING));
    }
    return goBack(before.refused(), view, model, Action.TAKE_BACK, reason);
  }

  /** What the levels would hold without the plan that is under way. */
  private static LevelShares former(LevelProgress progress, LevelView view) {
    return progress.before() == null ? view.usual() : progress.before();
  }

  private static LevelDecision goBack(
      LevelProgress before, LevelView view, Model model, Action action, String reason) {
    LevelShares goal = former(before, view);
    LevelShares next = view.now().towards(goal, STEP);
    double found = action == Action.TAKE_BACK ? view.work().perWrite() : Double.NaN;
    LevelProgress after = next.equals(goal) ? before.returned() : before.step(next);
    return decision(view, action, model, found, reason, after);
  }

  private static LevelDecision decision(
      LevelView view,
      Action action,
      @Nullable Model model,
      double found,
      String reason,
      LevelProgress after) {
    return new LevelDecision(
        view.cycle(),
        view.tree(),
        action,
        model == null ? Double.NaN : model.cost(view.now()),
        after.expected() > 0 ? after.expected() : Double.NaN,
        found,
        reason,
        after);
  }

  private static String words(LevelShares shares) {
    StringBuilder words = new StringBuilder();
    for (int height = shares.count() - 1; height > 0; height--) {
      words.append(text("%.2f %%, ", 100 * shares.share(height)));
    }
    return words + "the last level";
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }

  /** What sizes cost by the model. */
  private record Model(LevelView view, Popularity popularity, LevelMerges merges) {
    static @Nullable Model of(LevelView view) {
      Popularity popularity = view.popularity();
      LevelView.Sizes sizes = view.sizes();
      if (popularity == null || !sizes.known()) {
        return null;
      }
      return new Model(view, popularity, merges(popularity, sizes, 1, sizes.round()));
    }

    /** With so many times the slices, and rounds of so many writes. */
    private static LevelMerges merges(
        Popularity popularity, LevelView.Sizes sizes, double slices, double round) {
      double columns = popularity.unique(round) / (sizes.slice() * slices);
      return new LevelMerges(round * sizes.depth(), sizes.table(), columns, false);
    }

    /** What memory holds is what came since its keys were flushed last: it tells the round. */
    double steepness() {
      double more = 1 + MORE_MEMORY;
      double held = popularity.sweptUnique(view.sizes().round());
      double most = NEARLY_ALL * popularity.keys();
      if (held * more >= most) {
        return 0;
      }
      double round = popularity.sweptUniqueInverse(held * more);
      double[] entries = view.now().entries(view.sizes().last());
      double after = merges(popularity, view.sizes(), more, round).cost(popularity, entries);
      double steepness = StrictMath.log(cost(view.now()) / after) / StrictMath.log(more);
      return steepness > 0 && Double.isFinite(steepness) ? steepness : 0;
    }

    double cost(LevelShares shares) {
      return merges.cost(popularity, shares.entries(view.sizes().last()));
    }

    /**
     * The cheapest sizes with no more levels than there are or would be. If as much comes in at a
     * time as the last level has, or it is less than an SSTable, that one is enough. What is learnt
     * may be of some more keys than the tree has, so what comes in counts as the last level at
     * most.
     */
    LevelShares optimum() {
      LevelView.Sizes sizes = view.sizes();
      int most = Math.max(view.now().count(), view.usual().count());
      double arriving = Math.max(popularity.unique(merges.interval()), sizes.table());
      LevelBounds bounds =
          new LevelBounds(
              sizes.last(),
              Math.min(sizes.last(), arriving),
              1,
              Math.min(most, MOST_LEVELS),
              view.mostSpace());
      LevelSizeOptimiser optimiser =
          new LevelSizeOptimiser(entries -> merges.cost(popularity, entries), bounds);
      return LevelShares.of(optimiser.optimise().levelEntries());
    }
  }
}
