package io.isobardb.tpcc.drive;

import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.work.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/**
 * The rules of clauses 5.2 and 5.5.1 that a run can be judged by.
 *
 * <p>The specification's ranges are for runs of two hours. A short run has fewer cases than they
 * ask for: a range is widened to what chance alone makes of the number of cases, five standard
 * deviations, and the widened range is what is shown. By three, one run in a hundred would be
 * judged wrongly, as several rules are asked.
 */
public final class Rules {
  private static final double DEVIATIONS = 5;
  private static final int PERCENTILE_SLACK_MILLIS = 100;

  private final RunResult result;
  private final RunSpec spec;
  private final Scale scale;
  private final List<Rule> rules = new ArrayList<>();

  private Rules(RunResult result, RunSpec spec, Scale scale) {
    this.result = result;
    this.spec = spec;
    this.scale = scale;
  }

  /** Judges a run. */
  public static List<Rule> of(RunResult result, RunSpec spec, Scale scale) {
    Rules rules = new Rules(result, spec, scale);
    rules.mix();
    rules.inputs();
    rules.responses();
    rules.pace();
    return List.copyOf(rules.rules);
  }

  private void mix() {
    Tally tally = result.tally();
    for (Kind kind : Kind.values()) {
      double share = percent(tally.done(kind), tally.done());
      // Decks are dealt to their ends, but for those the time cut at both ends, and what waits.
      double slack =
          100.0 * 2 * spec.threads() * spec.mix().cards(kind) / Math.max(1, tally.done());
      double least = Math.max(0, kind.minimumPercent() - slack);
      if (spec.mix() == Mix.SPECIFIED && kind.minimumPercent() > 0) {
        add(
            "mix: " + kind.label(),
            String.format(Locale.ROOT, "%.2f %%", share),
            String.format(Locale.ROOT, "at least %.2f %%", least),
            share >= least);
      }
    }
  }

  private void inputs() {
    Tally tally = result.tally();
    long newOrders = tally.done(Kind.NEW_ORDER);
    long payments = tally.done(Kind.PAYMENT);
    share("NewOrder: rolled back", tally.rolledBack(), newOrders, 1, 0.9, 1.1);
    double lines = newOrders == 0 ? 0 : (double) tally.lines() / newOrders;
    // 5 to 15 lines: a standard deviation of the square root of 10.
    double slack = newOrders == 0 ? 0 : DEVIATIONS * Math.sqrt(10.0 / newOrders);
    double low = Math.min(9.5, 10 - slack);
    double high = Math.max(10.5, 10 + slack);
    add(
        "NewOrder: lines",
        String.format(Locale.ROOT, "%.2f", lines),
        String.format(Locale.ROOT, "%.2f to %.2f", low, high),
        lines >= low && lines <= high);
    if (scale.warehouses() > 1) {
      share("NewOrder: remote lines", tally.remoteLines(), tally.lines(), 1, 0.95, 1.05);
      share("Payment: remote customers", tally.remotePayments(), payments, 15, 14, 16);
    }
    share("Payment: customers by name", tally.paymentsByName(), payments, 60, 57, 63);
    share(
        "OrderStatus: customers by name",
        tally.statusesByName(),
        tally.done(Kind.ORDER_STATUS),
        60,
        57,
        63);
    long districts = tally.districtsDelivered() + tally.districtsSkipped();
    double skipped = percent(tally.districtsSkipped(), districts);
    add(
        "Delivery: districts without new orders",
        String.format(Locale.ROOT, "%.2f %%", skipped),
        "at most 1 %",
        skipped <= 1);
    long givenUp = 0;
    for (Kind kind : Kind.values()) {
      givenUp += tally.givenUp(kind);
    }
    add(
        "transactions given up",
        String.valueOf(givenUp),
        "none after " + Attempts.MOST + " tries",
        givenUp == 0);
  }

  private void responses() {
    Tally tally = result.tally();
    for (Kind kind : Kind.values()) {
      limit(
          "response time: " + kind.label(),
          tally.responses(kind).getValueAtPercentile(90) / 1e6,
          kind.limitMillis());
      percentile(kind);
    }
    limit(
        "response time: Delivery, executed",
        tally.deferred().getValueAtPercentile(90) / 1e6,
        Kind.DEFERRED_LIMIT_MILLIS);
  }

  /** Clause 5.2.5.7's check of the measuring itself: no 90th percentile is below the mean. */
  private void percentile(Kind kind) {
    Histogram responses = result.tally().responses(kind);
    double percentile = responses.getValueAtPercentile(90) / 1e6;
    double mean = responses.getTotalCount() == 0 ? 0 : responses.getMean() / 1e6;
    add(
        "90th percentile and mean: " + kind.label(),
        String.format(Locale.ROOT, "%.3f and %.3f ms", percentile, mean),
        "at most " + PERCENTILE_SLACK_MILLIS + " ms below the mean",
        percentile >= mean - PERCENTILE_SLACK_MILLIS);
  }

  private void pace() {
    if (spec.waits()) {
      long orders = result.tally().done(Kind.NEW_ORDER);
      double each = 60e9 / result.measuredNanos() / scale.warehouses();
      double slack = DEVIATIONS * Math.sqrt(orders) * each;
      // Orders come at 9 to 12.86 per minute; a short run has more or fewer of them by chance.
      double low = Math.max(0, 9 - slack);
      double high = 12.86 + slack;
      add(
          "NewOrders per minute and warehouse",
          String.format(Locale.ROOT, "%.2f", orders * each),
          String.format(Locale.ROOT, "%.2f to %.2f", low, high),
          orders * each >= low && orders * each <= high);
    }
  }

  private void limit(String name, double millis, int limitMillis) {
    add(
        name,
        String.format(Locale.ROOT, "%.3f ms", millis),
        String.format(Locale.ROOT, "90 %% within %,d ms", limitMillis),
        millis <= limitMillis);
  }

  /** A share that is meant to be {@code meant} percent, and may be {@code low} to {@code high}. */
  private void share(String name, long cases, long of, double meant, double low, double high) {
    double share = percent(cases, of);
    double slack = 100 * DEVIATIONS * deviation(meant / 100, of);
    double least = Math.min(low, meant - slack);
    double most = Math.max(high, meant + slack);
    add(
        name,
        String.format(Locale.ROOT, "%.2f %%", share),
        String.format(Locale.ROOT, "%.2f to %.2f %%", Math.max(0, least), Math.min(100, most)),
        of > 0 && share >= least && share <= most);
  }

  private static double percent(long cases, long of) {
    return of == 0 ? 0 : 100.0 * cases / of;
  }

  private static double deviation(double p, long n) {
    return n == 0 ? 0 : Math.sqrt(p * (1 - p) / n);
  }

  private void add(String name, String value, String limits, boolean holds) {
    rules.add(new Rule(name, value, limits, holds));
  }
}
