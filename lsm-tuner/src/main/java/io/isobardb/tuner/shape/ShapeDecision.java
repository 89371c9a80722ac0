package io.isobardb.tuner.shape;

/**
 * What {@link RunsTuner} has decided for a tree. Costs are pages written and read per operation,
 * each with its weight; the price is pages. Immutable.
 *
 * @param window when
 * @param tree the tree's number
 * @param action what is done
 * @param from the runs that the tree has
 * @param to those that it is to have
 * @param modelled what the model says of those that it has
 * @param expected what it says of those that it is to have
 * @param found what an operation has cost, in this window or since the change that is judged
 * @param price what the change rewrites
 * @param reason why, in words
 * @param after what to keep in mind
 */
public record ShapeDecision(
    long window,
    int tree,
    Action action,
    String from,
    String to,
    double modelled,
    double expected,
    double found,
    double price,
    String reason,
    ShapeProgress after) {

  /** What is done. */
  public enum Action {
    /** Nothing. */
    WAIT,
    /** A tree that is flushed for the first time begins so. */
    BEGIN,
    /** The tree gets other runs. */
    CHANGE,
    /** It would get other runs if the store did not only observe. */
    WOULD_CHANGE,
    /** A change has proved itself. */
    KEEP,
    /** A change has cost more than what was before, and is taken back. */
    TAKE_BACK,
    /** What the tree is used for has changed before a change could be judged. */
    UNJUDGED
  }

  /**
   * {@return the same, if it is not carried out: the tree is looked at as if it were, and nothing
   * judged}
   */
  public ShapeDecision observed() {
    return action == Action.CHANGE || action == Action.BEGIN
        ? new ShapeDecision(
            window,
            tree,
            Action.WOULD_CHANGE,
            from,
            to,
            modelled,
            expected,
            found,
            price,
            reason,
            after.kept())
        : this;
  }
}
