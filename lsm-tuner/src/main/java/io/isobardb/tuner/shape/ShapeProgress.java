package io.isobardb.tuner.shape;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * What {@link RunsTuner} keeps in mind of a tree. Immutable.
 *
 * @param stage what it is at
 * @param before what the tree had before the last change; empty if there was none
 * @param price of the last change
 * @param earned what it has saved since, by the model; may be less than 0
 * @param most the most that this was so far, 0 or more: what is lost later is the next phase's
 * @param regrets what each option would have saved lately, 0 or more
 * @param trial what was seen of the last change
 * @param barred for how many windows no change is made
 * @param barLength for how many the next one that fails bars others
 * @param patience how many times its price waiting must have cost before a change; rises with each
 *     that did not earn its price
 */
public record ShapeProgress(
    Stage stage,
    String before,
    double price,
    double earned,
    double most,
    List<Double> regrets,
    Trial trial,
    int barred,
    int barLength,
    double patience) {

  /** What the tuner is at. */
  public enum Stage {
    /** Nothing was changed, or what was has proved itself. */
    RESTING,
    /** A change is being carried out. */
    SETTLING,
    /** What a change has brought is found. */
    MEASURING
  }

  /**
   * What was seen of a change.
   *
   * @param windows how many
   * @param found what their operations have cost
   * @param modelled what they cost by the model
   * @param former what they would have cost without it, by the model
   */
  public record Trial(int windows, double found, double modelled, double former) {
    static final Trial NONE = new Trial(0, 0, 0, 0);

    Trial with(double foundCost, double modelledCost, double formerCost) {
      return new Trial(
          windows + 1, found + foundCost, modelled + modelledCost, former + formerCost);
    }
  }

  static final int FIRST_BAR = 8;
  private static final int LONGEST_BAR = 1024;
  private static final double MOST_PATIENCE = 16;

  /** Nothing was done. */
  public static final ShapeProgress START =
      new ShapeProgress(Stage.RESTING, "", 0, 0, 0, List.of(), Trial.NONE, 0, FIRST_BAR, 1);

  /**
   * Copies the list.
   *
   * @param stage what the tuner is at
   * @param before runs, in words; empty if there was no change
   * @param price 0 or more
   * @param earned of any sign
   * @param most 0 or more
   * @param regrets one for each option
   * @param trial of the last change
   * @param barred in windows, 0 or more
   * @param barLength in windows
   * @param patience above 0
   */
  public ShapeProgress {
    regrets = List.copyOf(regrets);
  }

  /** One window more, at rest: what the other options would have saved in it. */
  ShapeProgress rested(ShapeView view) {
    List<Double> next = new ArrayList<>();
    for (int i = 0; i < view.options().size(); i++) {
      double missed = (view.now().cost() - view.options().get(i).cost()) * view.operations();
      double known = regrets.size() == view.options().size() ? regrets.get(i) : 0;
      next.add(Math.max(0, known + missed));
    }
    double saved =
        before.isEmpty() ? 0 : (view.named(before).cost() - view.now().cost()) * view.operations();
    return new ShapeProgress(
        stage,
        before,
        price,
        earned + saved,
        Math.max(most, earned + saved),
        next,
        trial,
        Math.max(0, barred - 1),
        barLength,
        patience);
  }

  /** A change is made. The one before it has earned its price by now, or did not. */
  ShapeProgress changed(ShapeView view, double newPrice) {
    double less = price > 0 ? Math.max(1, patience / 2) : patience;
    double next = most < price ? Math.min(MOST_PATIENCE, 2 * patience) : less;
    return new ShapeProgress(
        Stage.SETTLING,
        view.now().runs(),
        newPrice,
        0,
        0,
        none(view),
        Trial.NONE,
        0,
        barLength,
        next);
  }

  private static List<Double> none(ShapeView view) {
    return Collections.nCopies(view.options().size(), 0.0);
  }

  ShapeProgress at(Stage next, Trial seen) {
    return new ShapeProgress(
        next, before, price, earned, most, regrets, seen, barred, barLength, patience);
  }

  /** {@return the change has proved itself, or can't be judged any more} */
  public ShapeProgress kept() {
    double saved = trial.former - trial.found;
    return new ShapeProgress(
        Stage.RESTING,
        before,
        price,
        earned + saved,
        Math.max(most, earned + saved),
        regrets,
        Trial.NONE,
        0,
        Math.max(FIRST_BAR, barLength / 2),
        patience);
  }

  /** The change has failed. */
  ShapeProgress takenBack(ShapeView view) {
    return new ShapeProgress(
        Stage.RESTING,
        "",
        0,
        0,
        0,
        none(view),
        Trial.NONE,
        barLength,
        Math.min(LONGEST_BAR, 2 * barLength),
        patience);
  }
}
