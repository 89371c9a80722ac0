package io.isobardb.lsm.schedule;

/**
 * What jobs have read and written and not paid for yet. They pay after a step, with time: jobs of a
 * class in debt are not stepped, and nobody waits within a step.
 *
 * <p>Flushes and merges of L0 are charged at one rate, for which merges of L0 wait. All jobs
 * together are charged at another one, for which deeper merges wait. Flushes never wait, as writers
 * would wait for them: what they write is no more than what writers do. Merges in memory read and
 * write nothing.
 *
 * <p>Thread rule: one thread at a time.
 */
final class IoDebts {
  private final Debt urgent = new Debt();
  private final Debt all = new Debt();

  /** Changes what may be read and written from now on. */
  void limit(IoLimits limits, long nanos) {
    urgent.limit(limits.urgentBytes(), nanos);
    all.limit(limits.allBytes(), nanos);
  }

  /** A job's step has read and written so many bytes. */
  void charge(Job.Priority priority, long bytes, long nanos) {
    if (priority.isUrgent()) {
      urgent.charge(bytes, nanos);
    }
    all.charge(bytes, nanos);
  }

  /** How long jobs of a priority have to wait. */
  long waitNanos(Job.Priority priority, long nanos) {
    if (priority == Job.Priority.MERGE_MEMORY || priority == Job.Priority.FLUSH) {
      return 0;
    }
    return (priority.isUrgent() ? urgent : all).waitNanos(nanos);
  }
}
