package io.isobardb.lsm.schedule;

import io.isobardb.lsm.schedule.BandwidthRules.Pressure;

/**
 * How much processor time jobs get: a pure function of what clients use. Immutable.
 *
 * <p>They get the processors less what clients use and a reserve. Clients that want more are given
 * it by and by: with all processors in use, jobs get less by the reserve at each look. Flushes and
 * merges of L0 never wait, since writers would wait for them, so it is merges in memory and deeper
 * ones that give way. Not once writers are about to wait: a flush needs the tree that a merge in
 * memory has.
 *
 * @param leastNanos per second, which those get in any case
 */
public record ProcessorRules(long leastNanos) {
  /** The part of all processors that nobody is given. */
  private static final double RESERVE = 0.05;

  /**
   * What jobs get.
   *
   * @param processors how many there are; 0 if their use is not known
   * @param clientNanos per second that all but jobs use
   */
  ProcessorLimits next(int processors, long clientNanos, Pressure pressure) {
    if (processors == 0 || pressure.isUrgent()) {
      return ProcessorLimits.NONE;
    }
    long given = (long) (processors * 1e9 * (1 - RESERVE));
    return new ProcessorLimits(Math.max(0, given - clientNanos), leastNanos);
  }
}
