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
 *       line through the last K samples. Without a line that rises, or where it falls far short of
 *       what the model says, it is 5 % of the budget. It ends in any case where the model has both
 *       pressures equal.
 *   <li>No region gives more than 10 % of its memory, more than doubles unless it is tiny, or falls
 *       below its floor. Steps are shorter after the direction has turned, and up to three times as
 *       long after some in one direction that each lowered the cost.
 *   <li>No step is made that is too short or promises too little, measured also against the noise.
 *       From rest, two cycles in a row must promise it.
 *   <li>If after a step the cost is higher than at the best point of its run, by more than the
 *       noise, the tuner looks again; if it still is, the step is taken back, and its direction
 *       barred for some cycles, longer each time.
 *   <li>When the workload, the budget or the options have changed, samples and lessons are dropped.
 * </ol>
 *
 * <p>Thread rule: immutable, may be used by any thread.
 */
public final class MemoryTuner {
  private final TunerOptions options;

  /**
   * A tuner with these aims.
   *
   * @param options weights, steps and floors, for all cycles
   */
  public MemoryTuner(TunerOptions options) {
    this.options = options;
  }

  /**
   * Decides on a cycle. Without a ghost cache nothing is changed, since what reads would gain is
   * not known then. The answer is the history with the decision as its {@link TunerHistory#last};
   * the write memory that it asks for lies within the floors of both regions.
   *
   * @param history empty in the first cycle
   * @param cycle what the store did since the decision before
   * @return the history with one decision more
   */
  public TunerHistory decide(TunerHistory history, StoreCycle cycle) {
    return history.and(new Deliberation(options, history.last(), cycle).decide());
  }
}
