package io.isobardb.tpcc.drive;

import io.isobardb.tpcc.work.CustomerChoice;
import io.isobardb.tpcc.work.Kind;
import io.isobardb.tpcc.work.NewOrder;
import io.isobardb.tpcc.work.Payment;
import org.HdrHistogram.Histogram;

/** What a thread has done in the time that counts. Written by its thread, read after its end. */
public final class Tally {
  private static final long LONGEST_NANOS = 3_600_000_000_000L;
  // To 1 %: thousands of terminals have a tally each.
  private static final int DIGITS = 2;

  private final Histogram[] responses = new Histogram[Kind.values().length];
  private final long[] retries = new long[Kind.values().length];
  private final long[] givenUp = new long[Kind.values().length];
  private final Histogram deferred = new Histogram(DIGITS);
  long rolledBack;
  long lines;
  long remoteLines;
  long remotePayments;
  long paymentsByName;
  long statusesByName;
  long districtsDelivered;
  long districtsSkipped;
  long bytesPut;

  Tally() {
    for (int i = 0; i < responses.length; i++) {
      responses[i] = new Histogram(DIGITS);
    }
  }

  void response(Kind kind, long nanos) {
    responses[kind.ordinal()].recordValue(Math.min(nanos, LONGEST_NANOS));
  }

  void deferred(long nanos) {
    deferred.recordValue(Math.min(nanos, LONGEST_NANOS));
  }

  void retries(Kind kind, long times) {
    retries[kind.ordinal()] += times;
  }

  void giveUp(Kind kind) {
    givenUp[kind.ordinal()]++;
  }

  void newOrder(NewOrder input, NewOrder.Placed output) {
    rolledBack += output.rolledBack() ? 1 : 0;
    lines += input.lines().size();
    remoteLines += input.remoteLines();
  }

  void payment(Payment input) {
    remotePayments += input.choice().w() == input.w() ? 0 : 1;
    paymentsByName += input.choice().byName() ? 1 : 0;
  }

  void status(CustomerChoice choice) {
    statusesByName += choice.byName() ? 1 : 0;
  }

  /** Takes over all that {@code other} has counted. */
  void add(Tally other) {
    for (int i = 0; i < responses.length; i++) {
      responses[i].add(other.responses[i]);
      retries[i] += other.retries[i];
      givenUp[i] += other.givenUp[i];
    }
    deferred.add(other.deferred);
    rolledBack += other.rolledBack;
    lines += other.lines;
    remoteLines += other.remoteLines;
    remotePayments += other.remotePayments;
    paymentsByName += other.paymentsByName;
    statusesByName += other.statusesByName;
    districtsDelivered += other.districtsDelivered;
    districtsSkipped += other.districtsSkipped;
    bytesPut += other.bytesPut;
  }

  /** Response times in nanoseconds; one value per transaction done. */
  public Histogram responses(Kind kind) {
    return responses[kind.ordinal()];
  }

  /** Nanoseconds from a delivery's entry into the queue to its end. */
  public Histogram deferred() {
    return deferred;
  }

  /** Transactions of the kind that were done; for deliveries, put into the queue. */
  public long done(Kind kind) {
    return responses(kind).getTotalCount();
  }

  /** Transactions of all kinds. */
  public long done() {
    long sum = 0;
    for (Kind kind : Kind.values()) {
      sum += done(kind);
    }
    return sum;
  }

  /** How often a transaction of the kind was tried again. */
  public long retries(Kind kind) {
    return retries[kind.ordinal()];
  }

  /** Transactions of the kind that were tried too often. */
  public long givenUp(Kind kind) {
    return givenUp[kind.ordinal()];
  }

  /** Orders that an unused item rolled back. */
  public long rolledBack() {
    return rolledBack;
  }

  /** Order lines entered. */
  public long lines() {
    return lines;
  }

  /** Order lines that another warehouse supplied. */
  public long remoteLines() {
    return remoteLines;
  }

  /** Payments by customers of another warehouse. */
  public long remotePayments() {
    return remotePayments;
  }

  /** Payments by customers looked up by name. */
  public long paymentsByName() {
    return paymentsByName;
  }

  /** Order statuses of customers looked up by name. */
  public long statusesByName() {
    return statusesByName;
  }

  /** Orders delivered. */
  public long districtsDelivered() {
    return districtsDelivered;
  }

  /** Districts that had no order to deliver. */
  public long districtsSkipped() {
    return districtsSkipped;
  }

  /** Bytes of keys and values written by transactions, those rolled back included. */
  public long bytesPut() {
    return bytesPut;
  }
}
