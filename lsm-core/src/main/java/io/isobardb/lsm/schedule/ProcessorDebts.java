package io.isobardb.lsm.schedule;

/**
 * The processor time that jobs have used and not paid for yet. Merges in memory and deeper ones
 * wait until it is paid, as they do for {@link IoDebts}; flushes and merges of L0 never do.
 *
 * <p>All jobs are charged at one rate. Those that wait are charged at another one, too: what they
 * get in any case. They go on once either is paid.
 *
 * <p>Thread rule: one thread at a time.
 */
final class ProcessorDebts {
  private final Debt all = new Debt();
  private final Debt least = new Debt();

  /** Changes what may be used from now on. */
  void limit(ProcessorLimits limits, long nanos) {
    all.limit(limits.allNanos(), nanos);
    least.limit(limits.leastNanos(), nanos);
  }

  /** A job's step has used so much. */
  void charge(Job.Priority priority, long used, long nanos) {
    if (!priority.isUrgent()) {
      least.chargePast(used, nanos);
    }
    all.chargePast(used, nanos);
  }

  /** How long jobs of a priority have to wait. */
  long waitNanos(Job.Priority priority, long nanos) {
    return priority.isUrgent() ? 0 : Math.min(all.waitNanos(nanos), least.waitNanos(nanos));
  }
}
