package io.isobardb.lsm.schedule;

/**
 * What was used and not paid for yet. It is paid with time, at a rate.
 *
 * <p>Thread rule: one thread at a time.
 */
final class Debt {
  /** Nobody waits longer than this after a step, however little is allowed. */
  private static final double MOST_SECONDS = 1;

  private long rate = Long.MAX_VALUE;
  private double owed;
  private long paidAt;

  /** Changes what may be used per second from now on; {@link Long#MAX_VALUE} for no limit. */
  void limit(long now, long nanos) {
    pay(nanos);
    rate = now;
    add(0);
  }

  /** Adds what was used. */
  void charge(long amount, long nanos) {
    pay(nanos);
    add(amount);
  }

  /** Adds what was used until now: the time since the last charge pays for it, too. */
  void chargePast(long amount, long nanos) {
    add(amount);
    pay(nanos);
  }

  /** How long until all is paid. */
  long waitNanos(long nanos) {
    double seconds = Math.min(MOST_SECONDS, left(nanos) / Math.max(1, rate));
    return (long) Math.ceil(seconds * 1e9);
  }

  private void add(long amount) {
    owed = rate == Long.MAX_VALUE ? 0 : owed + amount;
  }

  private void pay(long nanos) {
    owed = left(nanos);
    paidAt = nanos;
  }

  private double left(long nanos) {
    double seconds = Math.max(0, nanos - paidAt) / 1e9;
    double most = Math.max(1, rate) * MOST_SECONDS;
    return Math.max(0, Math.min(owed, most) - seconds * rate);
  }
}
