package io.isobardb.tpcc.check;

import io.isobardb.tpcc.schema.CustomerRow;
import io.isobardb.tpcc.schema.HistoryRow;
import io.isobardb.tpcc.schema.Keys;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.schema.Table;
import io.isobardb.tpcc.schema.WarehouseRow;
import io.isobardb.tpcc.store.TpccStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntConsumer;

/**
 * Checks all conditions of a store at rest, by one scan of every table. Sums of customers are held
 * in memory: 8 bytes each.
 */
public final class ConsistencyCheck {
  private final TpccStore store;
  private final Scale scale;
  private final Findings findings = new Findings();
  private final AtomicLongArray paidByCustomer;
  private final AtomicLongArray paidToDistrict;

  private ConsistencyCheck(TpccStore store, Scale scale) {
    this.store = store;
    this.scale = scale;
    int districts = Math.multiplyExact(scale.warehouses(), Scale.DISTRICTS);
    paidToDistrict = new AtomicLongArray(districts);
    paidByCustomer = new AtomicLongArray(Math.multiplyExact(districts, scale.customers()));
  }

  /**
   * Checks the store with {@code threads} threads; {@code progress} is told how many warehouses are
   * done, by any of them.
   */
  public static Findings run(TpccStore store, Scale scale, int threads, IntConsumer progress)
      throws InterruptedException {
    ConsistencyCheck check = new ConsistencyCheck(store, scale);
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      List<Callable<Void>> histories = new ArrayList<>();
      List<Callable<Void>> warehouses = new ArrayList<>();
      AtomicInteger done = new AtomicInteger();
      for (int i = 1; i <= scale.warehouses(); i++) {
        int w = i;
        histories.add(
            () -> {
              check.history(w);
              return null;
            });
        warehouses.add(
            () -> {
              check.warehouse(w);
              progress.accept(done.incrementAndGet());
              return null;
            });
      }
      // Customers pay to other warehouses, too: all of history comes first.
      finish(executor.invokeAll(histories));
      finish(executor.invokeAll(warehouses));
      check.items();
    } finally {
      executor.shutdownNow();
    }
    return check.findings;
  }

  private static void finish(List<Future<Void>> parts) throws InterruptedException {
    for (Future<Void> part : parts) {
      try {
        part.get();
      } catch (ExecutionException e) {
        throw new IllegalStateException("the check failed: " + e.getCause(), e);
      }
    }
  }

  private int district(int w, int d) {
    return (w - 1) * Scale.DISTRICTS + d - 1;
  }

  private void history(int w) {
    byte[] from = Keys.warehouse(w);
    store.scan(
        Table.HISTORY,
        from,
        Keys.after(from),
        (key, value) -> {
          long amount = new HistoryRow(value).amountCents();
          paidToDistrict.addAndGet(district(w, Keys.districtOf(key)), amount);
          byte[] customer = Keys.customerOfHistory(key);
          int customerW = Keys.warehouseOf(customer);
          int customerD = Keys.districtOf(customer);
          int c = Keys.orderOf(customer);
          if (customerW < 1
              || customerW > scale.warehouses()
              || customerD < 1
              || customerD > Scale.DISTRICTS
              || c < 1
              || c > scale.customers()) {
            findings.add(Condition.BALANCE, "warehouse " + w + ": a payment of nobody");
          } else {
            paidByCustomer.addAndGet(
                district(customerW, customerD) * scale.customers() + c - 1, amount);
          }
          return true;
        });
  }

  private void warehouse(int w) {
    long ytd = 0;
    long paid = 0;
    for (int d = 1; d <= Scale.DISTRICTS; d++) {
      DistrictCheck check = new DistrictCheck(store, scale, w, d, findings);
      ytd += check.run(paidToDistrict.get(district(w, d)), this::customerPaid);
      paid += paidToDistrict.get(district(w, d));
    }
    byte[] row = store.get(Table.WAREHOUSE, Keys.warehouse(w));
    String where = "warehouse " + w;
    if (row == null) {
      findings.add(Condition.WAREHOUSE_YTD, where + " has no row");
    } else {
      long own = new WarehouseRow(row).ytdCents();
      findings.expect(Condition.WAREHOUSE_YTD, where, ytd, own);
      findings.expect(Condition.WAREHOUSE_HISTORY, where, paid, own);
    }
    byte[] from = Keys.warehouse(w);
    findings.expect(
        Condition.ROWS,
        "stock of " + where,
        scale.items(),
        count(Table.STOCK, from, Keys.after(from)));
  }

  private long customerPaid(int w, int d, int c) {
    return paidByCustomer.get(district(w, d) * scale.customers() + c - 1);
  }

  private void items() {
    long items = count(Table.ITEM, Keys.item(0), Keys.item(Integer.MAX_VALUE));
    findings.expect(Condition.ROWS, "items", scale.items(), items);
  }

  private long count(Table table, byte[] from, byte[] to) {
    long[] count = {0};
    store.scan(table, from, to, (key, value) -> ++count[0] > 0);
    return count[0];
  }

  /** What a customer has paid according to HISTORY. */
  interface Paid {
    long cents(int w, int d, int c);
  }

  /** The conditions on one customer. */
  static void customer(
      Findings findings, String where, CustomerRow row, long delivered, long paid) {
    findings.expect(Condition.BALANCE, where, delivered - paid, row.balanceCents());
    findings.expect(
        Condition.PAYMENTS, where, delivered, row.balanceCents() + row.ytdPaymentCents());
  }
}
