package io.isobardb.tpcc.drive;

import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.schema.Values;
import io.isobardb.tpcc.store.TpccTransaction;
import io.isobardb.tpcc.work.Delivery;
import io.isobardb.tpcc.work.Kind;

/** A thread that works off the queue of deliveries, to the last one when the run is over. */
final class DeliveryWorker implements Runnable {
  /**
   * A delivery that was asked for.
   *
   * @param w warehouse
   * @param carrier 1 to 10
   * @param dateMillis when it was asked for
   * @param queuedNanos the same
   */
  record Queued(int w, int carrier, long dateMillis, long queuedNanos) {}

  private final Run run;
  private final Values values;
  private final Tally tally = new Tally();

  DeliveryWorker(Run run, int number) {
    this.run = run;
    values = Values.part(run.spec().seed(), -2 - number);
  }

  Tally tally() {
    return tally;
  }

  @Override
  public void run() {
    try (TpccTransaction transaction = run.store().newTransaction()) {
      Attempts attempts = new Attempts(transaction, run.spec().isolation(), values);
      long putBefore = 0;
      for (Queued next = run.nextDelivery(); next != null; next = run.nextDelivery()) {
        boolean counted = one(attempts, next);
        if (counted) {
          tally.bytesPut += transaction.bytesPut() - putBefore;
        }
        putBefore = transaction.bytesPut();
      }
    } catch (RuntimeException | Error e) {
      run.fail(e);
    }
  }

  /** Delivers in all districts; returns whether it counts. */
  private boolean one(Attempts attempts, Queued queued) {
    int delivered = 0;
    int skipped = 0;
    int givenUp = 0;
    int[] orders = new int[Scale.DISTRICTS];
    for (int d = 1; d <= Scale.DISTRICTS; d++) {
      int w = queued.w();
      Delivery input =
          new Delivery(w, d, run.firstNewOrder(w, d), queued.carrier(), queued.dateMillis());
      Integer order = attempts.run(Kind.DELIVERY, input);
      orders[d - 1] = order == null ? DeliveryLog.FAILED : order;
      if (order == null) {
        givenUp++;
      } else if (order == 0) {
        skipped++;
      } else {
        delivered++;
        run.delivered(w, d, order);
      }
    }
    run.observer()
        .delivered(
            new Observer.Delivered(
                queued.dateMillis(), run.clock().millis(), queued.w(), queued.carrier(), orders));
    long retries = attempts.takeRetries();
    run.retried(retries);
    if (!run.measuring()) {
      return false;
    }
    tally.deferred(run.clock().nanos() - queued.queuedNanos());
    tally.districtsDelivered += delivered;
    tally.districtsSkipped += skipped;
    tally.retries(Kind.DELIVERY, retries);
    for (int i = 0; i < givenUp; i++) {
      tally.giveUp(Kind.DELIVERY);
    }
    return true;
  }
}
