package io.isobardb.tuner.memory;

/**
 * The memory tuner of section 5 of the paper: a pure function from a cycle's statistics and the
 * history to a decision, where the wall between write memory and buffer cache should stand next.
 *
 * <ol>
 *   <li>From the statistics it estimates the cost per operation and cost′(x), its slope ({@link
 *       Pressure}; equations 4 to 6).
 *   <li>The <i>direction</i> is that of the slope's sign alone.
 *   <li>The <i>length</i> is that of the Newton-Raphson step: cost′(x) divided by the rise of the
 *       line through the last K samples; without a line that rises, 5 % of the budget. It ends in
 *       any case where the model has both pressures equal.
 *   <li>No region gives more than 10 % of its memory, nor more than doubles, nor falls below its
 *       floor; less still after the direction has turned.
 *   <li>No step is made that is too short or promises too little.
 *   <li>A step after which the cost is higher than at the best point of its run, by more than the
 *       noise, is taken back, and its direction is barred for a while, longer each time.
 * </ol>
 *
 * <p>Thread rule: immutable, may be used by any thread.
 */
public final class MemoryTuner {
  private final TunerOptions options;

  /** A tuner with these aims. */
  public MemoryTuner(TunerOptions options) {
    this.options = options;
  }

  /**
   * Decides on a cycle. The answer is the history with the decision as its {@link
   * TunerHistory#last}; the write memory that it asks for lies within the floors of both regions.
   */
  public TunerHistory decide(TunerHistory history, StoreCycle cycle) {
    return history.and(new Deliberation(options, history.last(), cycle).decide());
  }
}
