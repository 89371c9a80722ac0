package io.isobardb.lsm.schedule;

/**
 * The processor time that jobs may use, in nanoseconds per second: 1e9 is one processor. Immutable.
 *
 * @param allNanos of all jobs; merges in memory and deeper ones get what the others leave of it;
 *     {@link Long#MAX_VALUE} for no limit
 * @param leastNanos that they get in any case
 */
public record ProcessorLimits(long allNanos, long leastNanos) {
  /** As if nobody else used processors. */
  public static final ProcessorLimits NONE = new ProcessorLimits(Long.MAX_VALUE, Long.MAX_VALUE);

  /** Whether all is the same, without what a record's own comparison takes the first time. */
  boolean isSame(ProcessorLimits other) {
    return allNanos == other.allNanos && leastNanos == other.leastNanos;
  }
}
