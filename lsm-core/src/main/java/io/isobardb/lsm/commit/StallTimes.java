package io.isobardb.lsm.commit;

import io.isobardb.lsm.io.Clock;

/**
 * How often and how long writers have waited for one reason. A wait counts from its beginning, with
 * what has passed of it: else nobody would see one that does not end.
 *
 * <p>Thread rule: any thread. The clock is read under the monitor, so that times never fall.
 */
final class StallTimes {
  private final Clock clock;
  private long count;
  private long waiting;

  /** Of the waits that have ended, less the beginnings of the others. */
  private long nanos;

  StallTimes(Clock clock) {
    this.clock = clock;
  }

  /** A wait begins; when. */
  synchronized long begin() {
    long now = clock.nanos();
    count++;
    waiting++;
    nanos -= now;
    return now;
  }

  /** A wait ends; when. */
  synchronized long end() {
    long now = clock.nanos();
    waiting--;
    nanos += now;
    return now;
  }

  synchronized long count() {
    return count;
  }

  /** All waits together. */
  synchronized long nanos() {
    return nanos + waiting * clock.nanos();
  }
}
