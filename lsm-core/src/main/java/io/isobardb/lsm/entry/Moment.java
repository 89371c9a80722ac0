package io.isobardb.lsm.entry;

import java.util.function.LongSupplier;

/**
 * What a reader reads at: it sees versions up to an LSN, and of those what has not expired.
 *
 * @param lsn registered as a snapshot, or a reader's constant for what is visible
 * @param clock the time to judge by; asked only of what expires
 */
public record Moment(long lsn, LongSupplier clock) {
  /** A moment whose time does not go on. */
  public static Moment at(long lsn, long millis) {
    return new Moment(lsn, () -> millis);
  }

  /** The time to judge by, in milliseconds. */
  public long millis() {
    return clock.getAsLong();
  }
}
