package io.isobardb.tpcc.drive;

import io.isobardb.tpcc.work.Kind;

/**
 * What came out of a run.
 *
 * @param measuredNanos the time that counts
 * @param tally what was done in it
 * @param usage what the process used in it
 * @param settledUsage the same, with the flushes and merges that were left to do at its end
 */
public record RunResult(long measuredNanos, Tally tally, Usage usage, Usage settledUsage) {
  /** NewOrders per minute, rolled back ones included as the specification has it. */
  public double newOrdersPerMinute() {
    return tally.done(Kind.NEW_ORDER) * 60e9 / measuredNanos;
  }

  /** Transactions of all kinds per second. */
  public double transactionsPerSecond() {
    return tally.done() * 1e9 / measuredNanos;
  }

  /** An amount per transaction, -1 if it is not known. */
  double perTransaction(long amount) {
    return amount < 0 || tally.done() == 0 ? -1 : (double) amount / tally.done();
  }

  /** Bytes written to devices per byte of key and value written, -1 if not known. */
  public double writeAmplification() {
    long written = settledUsage.deviceBytesWritten();
    return written < 0 || tally.bytesPut() == 0 ? -1 : (double) written / tally.bytesPut();
  }
}
