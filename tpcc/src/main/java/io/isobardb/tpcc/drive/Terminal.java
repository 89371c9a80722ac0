package io.isobardb.tpcc.drive;

import io.isobardb.tpcc.schema.NuRand;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.schema.Values;
import io.isobardb.tpcc.store.TpccTransaction;
import io.isobardb.tpcc.work.Kind;
import io.isobardb.tpcc.work.NewOrder;
import io.isobardb.tpcc.work.OrderStatus;
import io.isobardb.tpcc.work.Payment;
import io.isobardb.tpcc.work.StockLevel;
import java.util.concurrent.TimeUnit;

/** A thread that works for terminals: keys, asks, thinks, until the run is over. */
final class Terminal implements Runnable {
  private final Run run;
  private final int number;
  private final NuRand constants;
  private final Scale scale;
  private final Values values;
  private final Deck deck;
  private final Tally tally = new Tally();

  Terminal(Run run, int number, NuRand constants, Scale scale) {
    this.run = run;
    this.number = number;
    this.constants = constants;
    this.scale = scale;
    values = Values.part(run.spec().seed(), number);
    deck = new Deck(run.spec().mix(), values);
  }

  Tally tally() {
    return tally;
  }

  @Override
  public void run() {
    try (TpccTransaction transaction = run.store().newTransaction()) {
      Attempts attempts = new Attempts(transaction, run.spec().isolation(), values);
      int terminals = scale.warehouses() * Scale.DISTRICTS;
      int threads = run.spec().threads();
      int mine = number % terminals;
      int others = Math.max(1, (terminals - mine + threads - 1) / threads);
      long putBefore = 0;
      while (!run.stopping()) {
        int terminal = mine + threads * values.uniform(0, others - 1);
        int w = terminal / Scale.DISTRICTS + 1;
        int d = terminal % Scale.DISTRICTS + 1;
        Kind kind = deck.next();
        if (run.spec().waits() && run.pause(TimeUnit.SECONDS.toNanos(kind.keyingSeconds()))) {
          break;
        }
        one(attempts, kind, w, d);
        if (run.measuring()) {
          tally.bytesPut += transaction.bytesPut() - putBefore;
        }
        putBefore = transaction.bytesPut();
        if (run.spec().waits() && run.pause(thinkNanos(kind.thinkSeconds(), values))) {
          break;
        }
      }
    } catch (RuntimeException | Error e) {
      run.fail(e);
    }
  }

  /** A think time: exponential, at most ten times its mean (clause 5.2.5.4). */
  static long thinkNanos(int meanSeconds, Values values) {
    double seconds = Math.min(-Math.log(values.fraction()), 10) * meanSeconds;
    return (long) (seconds * 1e9);
  }

  private void one(Attempts attempts, Kind kind, int w, int d) {
    long start = run.clock().nanos();
    long now = run.clock().millis();
    boolean done =
        switch (kind) {
          case NEW_ORDER -> newOrder(attempts, w, now);
          case PAYMENT -> payment(attempts, w, now);
          case ORDER_STATUS -> status(attempts, w);
          case DELIVERY -> run.deliver(w, values.uniform(1, 10));
          case STOCK_LEVEL ->
              attempts.run(kind, new StockLevel(w, d, values.uniform(10, 20))) != null;
        };
    long retries = attempts.takeRetries();
    run.retried(retries);
    if (!run.measuring()) {
      return;
    }
    if (done) {
      tally.response(kind, run.clock().nanos() - start);
    } else if (kind != Kind.DELIVERY) {
      tally.giveUp(kind);
    }
    tally.retries(kind, retries);
  }

  private boolean newOrder(Attempts attempts, int w, long now) {
    NewOrder input = NewOrder.draw(w, values, constants, scale, now);
    NewOrder.Placed output = attempts.run(Kind.NEW_ORDER, input);
    if (output == null) {
      return false;
    }
    if (!output.rolledBack()) {
      run.observer().placed(input, output);
    }
    run.entered();
    if (run.measuring()) {
      tally.newOrder(input, output);
    }
    return true;
  }

  private boolean payment(Attempts attempts, int w, long now) {
    Payment input = Payment.draw(w, values, constants, scale, now);
    boolean done = attempts.run(Kind.PAYMENT, input) != null;
    if (done && run.measuring()) {
      tally.payment(input);
    }
    return done;
  }

  private boolean status(Attempts attempts, int w) {
    OrderStatus input = OrderStatus.draw(w, values, constants, scale);
    boolean done = attempts.run(Kind.ORDER_STATUS, input) != null;
    if (done && run.measuring()) {
      tally.status(input.choice());
    }
    return done;
  }
}
