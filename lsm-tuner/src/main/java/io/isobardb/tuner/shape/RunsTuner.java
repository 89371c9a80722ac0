package io.isobardb.tuner.shape;

import io.isobardb.tuner.shape.ShapeDecision.Action;
import io.isobardb.tuner.shape.ShapeProgress.Stage;
import io.isobardb.tuner.shape.ShapeProgress.Trial;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Decides how many runs the levels of a tree are to have. Pure functions; any thread.
 *
 * <p>A change costs what it rewrites, and saves what the model says as long as the tree is used as
 * it is. Where that is known from phases like this one, what it saves in the time left is weighed
 * against its price. Else it is rent or buy: the change is made once waiting has cost as much as it
 * does. At the plain price a stay of any length so costs at most twice what it would with
 * hindsight, and a window. Patience, and doubt in runs that the tree never had, raise the price.
 *
 * <p>A change is judged by what it has saved: what was found, beside what the model says of the
 * runs before. One that costs more is taken back, and others are barred for a while, each time for
 * longer. If the model itself would not make it any more, the tree is used otherwise, and nothing
 * is said of the change.
 */
public final class RunsTuner {
  /** Other runs must save this part of the cost. */
  private static final double LEAST_GAIN = 0.04;

  /** What is expected of a stay must come to so many times the price. */
  private static final double MARGIN = 1.5;

  /** A change that is not to pay before the stay ends waits so many times longer. */
  private static final double UNLIKELY = 2;

  /** What the model says of runs that the tree never had is not proved: their price counts more. */
  private static final double UNTRIED = 2;

  /** A change without a price waits until more than one window would have been cheaper. */
  private static final double WINDOWS = 1.5;

  /** Fewer windows tell nothing of a change, and after {@link #MOST_WINDOWS} it is judged. */
  private static final int FEW_WINDOWS = 3;

  private static final int MOST_WINDOWS = 10;

  /** A change that costs so many times what was before is taken back at once. */
  private static final double HARM = 1.25;

  /** The same in the end. */
  private static final double TOLERANCE = 1.05;

  /** One that costs so little is kept at once. */
  private static final double PROVED = 0.9;

  private static final String USED_OTHERWISE = "the tree is used otherwise before it is known";

  private RunsTuner() {}

  /**
   * What is done now.
   *
   * @param before what it kept in mind at the window before
   * @param view the tree at the end of a window
   * @return what is done now, and what is kept in mind
   */
  public static ShapeDecision choose(ShapeProgress before, ShapeView view) {
    return switch (before.stage()) {
      case RESTING -> rest(before.rested(view), view);
      case SETTLING -> settle(before, view);
      case MEASURING -> judge(before, view);
    };
  }

  private static ShapeDecision rest(ShapeProgress progress, ShapeView view) {
    if (progress.barred() > 0) {
      return waiting(view, "a change has failed; none is made for some windows", progress);
    }
    if (view.phases().isDoubtful() || !view.isSettled()) {
      return waiting(view, "what the tree is used for may be changing", progress);
    }
    if (!view.isFree()) {
      return waiting(view, "something else is being changed, or too little is known", progress);
    }
    Choice best = null;
    for (int i = 0; i < view.options().size(); i++) {
      Choice choice = worth(progress, view, i);
      if (choice != null && (best == null || choice.value > best.value)) {
        best = choice;
      }
    }
    if (best == null) {
      return waiting(view, "no other runs save enough", progress);
    }
    ShapeView.Option to = best.option;
    return new ShapeDecision(
        view.window(),
        view.tree(),
        Action.CHANGE,
        view.now().runs(),
        to.runs(),
        view.now().cost(),
        to.cost(),
        view.found(),
        to.price(),
        best.reason,
        progress.changed(view, to.price()));
  }

  /** What may be done, and what it is worth in pages. */
  private record Choice(ShapeView.Option option, double value, String reason) {}

  private static @Nullable Choice worth(ShapeProgress progress, ShapeView view, int i) {
    ShapeView.Option option = view.options().get(i);
    double gain = view.now().cost() - option.cost();
    if (i == view.current() || !(gain > LEAST_GAIN * view.now().cost())) {
      return null;
    }
    double stay = view.phases().expectedStay();
    double price = progress.patience() * option.price() * (option.isTried() ? 1 : UNTRIED);
    boolean known = !Double.isNaN(stay);
    if (known && gain * stay > MARGIN * price) {
      return new Choice(
          option,
          gain * stay - option.price(),
          text("saves %.4g a time, for %.0f operations, of %.0f", gain, stay, option.price()));
    }
    double missed = progress.regrets().get(i);
    // One that costs nothing may have to be paid for when it is taken back.
    double back = (progress.patience() - 1) * progress.price();
    double enough =
        Math.max(
            Math.max(price * (known ? UNLIKELY : 1), back), WINDOWS * gain * view.operations());
    if (missed < enough) {
      return null;
    }
    return new Choice(
        option,
        gain * Math.max(view.operations(), view.phases().now().operations()) - option.price(),
        text("would have saved %.0f, and costs %.0f", missed, option.price()));
  }

  private static ShapeDecision settle(ShapeProgress before, ShapeView view) {
    if (view.phases().began()) {
      return unjudged(before, view, USED_OTHERWISE);
    }
    Trial trial = before.trial().with(0, 0, 0);
    if (!view.isSettled() && trial.windows() < MOST_WINDOWS) {
      return waiting(view, "a change is being carried out", before.at(Stage.SETTLING, trial));
    }
    return waiting(
        view, "a change is measured from now on", before.at(Stage.MEASURING, Trial.NONE));
  }

  private static ShapeDecision judge(ShapeProgress before, ShapeView view) {
    if (view.phases().began()) {
      return unjudged(before, view, USED_OTHERWISE);
    }
    if (!view.has(before.before())) {
      return unjudged(before, view, before.before() + " is no choice any more");
    }
    if (view.phases().isDoubtful()) {
      return waiting(view, "what the tree is used for may be changing", before);
    }
    double former = view.named(before.before()).cost();
    double operations = view.operations();
    Trial trial =
        before
            .trial()
            .with(view.found() * operations, view.now().cost() * operations, former * operations);
    ShapeProgress seen = before.at(Stage.MEASURING, trial);
    if (trial.modelled() > trial.former()) {
      return unjudged(seen, view, USED_OTHERWISE);
    }
    double ratio = trial.found() / Math.max(1e-9, trial.former());
    String reason = text("costs %.2f times what %s would", ratio, before.before());
    if (trial.windows() < FEW_WINDOWS) {
      return waiting(view, "what a change has brought is found", seen);
    }
    boolean isLast = trial.windows() >= MOST_WINDOWS;
    if (ratio > HARM || (isLast && ratio > TOLERANCE)) {
      ShapeView.Option back = view.named(before.before());
      return judged(view, Action.TAKE_BACK, back, ratio * former, reason, seen.takenBack(view));
    }
    if (isLast || ratio < PROVED) {
      return judged(view, Action.KEEP, view.now(), ratio * former, reason, seen.kept());
    }
    return waiting(view, reason, seen);
  }

  /**
   * Ends the judging of a change that can't be judged any more.
   *
   * @param before what it kept in mind at the last window
   * @param window that one's number
   * @param tree the tree's number
   * @param runs what the tree has
   * @param reason why, in words
   * @return that what it has stays
   */
  public static ShapeDecision leave(
      ShapeProgress before, long window, int tree, String runs, String reason) {
    return new ShapeDecision(
        window,
        tree,
        Action.UNJUDGED,
        runs,
        runs,
        Double.NaN,
        Double.NaN,
        Double.NaN,
        0,
        reason,
        before.kept());
  }

  private static ShapeDecision unjudged(ShapeProgress before, ShapeView view, String reason) {
    return judged(view, Action.UNJUDGED, view.now(), view.found(), reason, before.kept());
  }

  private static ShapeDecision waiting(ShapeView view, String reason, ShapeProgress after) {
    return judged(view, Action.WAIT, view.now(), view.found(), reason, after);
  }

  private static ShapeDecision judged(
      ShapeView view,
      Action action,
      ShapeView.Option to,
      double found,
      String reason,
      ShapeProgress after) {
    return new ShapeDecision(
        view.window(),
        view.tree(),
        action,
        view.now().runs(),
        to.runs(),
        view.now().cost(),
        to.cost(),
        found,
        to.price(),
        reason,
        after);
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
