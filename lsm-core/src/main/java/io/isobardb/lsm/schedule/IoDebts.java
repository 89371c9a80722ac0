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
  /** Nobody waits longer than this after a step, however little is allowed. */
  private static final double MOST_SECONDS = 1;

  private IoLimits limits = IoLimits.NONE;
  private double urgent;
  private double all;
  private long paidAt;

  /** Changes what may be read and written from now on. */
  void limit(IoLimits now, long nanos) {
    pay(nanos);
    limits = now;
    urgent = owed(urgent, 0, now.urgentBytes());
    all = owed(all, 0, now.allBytes());
  }

  /** A job's step has read and written so many bytes. */
  void charge(Job.Priority priority, long bytes, long nanos) {
    pay(nanos);
    if (isUrgent(priority)) {
      urgent = owed(urgent, bytes, limits.urgentBytes());
    }
    all = owed(all, bytes, limits.allBytes());
  }

  private static double owed(double before, long bytes, long rate) {
    return rate == Long.MAX_VALUE ? 0 : before + bytes;
  }

  private void pay(long nanos) {
    double seconds = Math.max(0, nanos - paidAt) / 1e9;
    paidAt = nanos;
    urgent = paid(urgent, seconds, limits.urgentBytes());
    all = paid(all, seconds, limits.allBytes());
  }

  private static double paid(double owed, double seconds, long rate) {
    double most = Math.max(1, rate) * MOST_SECONDS;
    return Math.max(0, Math.min(owed, most) - seconds * rate);
  }

  /** How long jobs of a priority have to wait. */
  long waitNanos(Job.Priority priority, long nanos) {
    pay(nanos);
    if (priority == Job.Priority.MERGE_MEMORY || priority == Job.Priority.FLUSH) {
      return 0;
    }
    boolean first = isUrgent(priority);
    double owed = first ? urgent : all;
    long rate = first ? limits.urgentBytes() : limits.allBytes();
    return (long) Math.ceil(Math.min(MOST_SECONDS, owed / Math.max(1, rate)) * 1e9);
  }

  private static boolean isUrgent(Job.Priority priority) {
    return priority == Job.Priority.FLUSH || priority == Job.Priority.MERGE_L0;
  }
}
