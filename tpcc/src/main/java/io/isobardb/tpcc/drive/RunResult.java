package io.isobardb.tpcc.drive;

import io.isobardb.tpcc.work.Kind;

/**
 * What came out of a run.
 *
 * @param measuredNanos the time that counts
 * @param tally what was done in it
 * @param deviceBytesWritten bytes written to devices in it, -1 if not known
 */
public record RunResult(long measuredNanos, Tally tally, long deviceBytesWritten) {
  /** NewOrders per minute, rolled back ones included as the specification has it. */
  public double newOrdersPerMinute() {
    return tally.done(Kind.NEW_ORDER) * 60e9 / measuredNanos;
  }

  /** Transactions of all kinds per second. */
  public double transactionsPerSecond() {
    return tally.done() * 1e9 / measuredNanos;
  }

  /** Bytes written to devices per transaction, -1 if not known. */
  public double deviceBytesPerTransaction() {
    return deviceBytesWritten < 0 || tally.done() == 0
        ? -1
        : (double) deviceBytesWritten / tally.done();
  }

  /** Bytes written to devices per byte of key and value written, -1 if not known. */
  public double writeAmplification() {
    return deviceBytesWritten < 0 || tally.bytesPut() == 0
        ? -1
        : (double) deviceBytesWritten / tally.bytesPut();
  }
}
