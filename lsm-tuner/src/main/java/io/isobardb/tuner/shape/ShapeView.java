package io.isobardb.tuner.shape;

import java.util.List;

/**
 * What {@link RunsTuner} looks at: a tree at the end of a window. Costs are pages written and read,
 * each with its weight. Immutable.
 *
 * @param window its number, rising
 * @param tree the tree's number
 * @param operations in the window
 * @param phases of the tree, this window included
 * @param options what the tree may have, the same ones in the same order each time
 * @param current which of them it has
 * @param found what an operation of the window has cost
 * @param isSettled whether nothing is left to merge of the last change
 * @param isFree whether a change may begin: nothing else of the store is being changed, and it is
 *     known what the tree costs
 */
public record ShapeView(
    long window,
    int tree,
    double operations,
    Phases phases,
    List<Option> options,
    int current,
    double found,
    boolean isSettled,
    boolean isFree) {

  /**
   * What a tree may have.
   *
   * @param runs of its levels, in words
   * @param cost of an operation of the window, as a model says
   * @param price of what is rewritten to come there from what the tree has; 0 or more
   * @param isTried whether it was found beside the model what the tree costs with such runs
   */
  public record Option(String runs, double cost, double price, boolean isTried) {}

  /**
   * Checks the numbers.
   *
   * @param window rising
   * @param tree any number
   * @param operations above 0
   * @param phases this window included
   * @param options at least one
   * @param current which of them the tree has, from 0
   * @param found in pages, for each operation
   * @param isSettled whether nothing of the last change is left to merge
   * @param isFree whether a change may begin
   * @throws IllegalArgumentException if there is no such option, or no operation
   */
  public ShapeView {
    options = List.copyOf(options);
    if (current < 0 || current >= options.size() || !(operations > 0)) {
      throw new IllegalArgumentException(
          "option " + current + " of " + options + ", " + operations + " operations");
    }
  }

  /** {@return what the tree has} */
  public Option now() {
    return options.get(current);
  }

  /** Whether the tree may have runs of that name. */
  boolean has(String runs) {
    return options.stream().anyMatch(each -> each.runs.equals(runs));
  }

  /** The option of that name; what the tree has if there is none. */
  Option named(String runs) {
    return options.stream().filter(each -> each.runs.equals(runs)).findFirst().orElse(now());
  }
}
