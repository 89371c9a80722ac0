package io.isobardb.tpcc.load;

import io.isobardb.tpcc.schema.CustomerRow;
import io.isobardb.tpcc.schema.DistrictRow;
import io.isobardb.tpcc.schema.HistoryRow;
import io.isobardb.tpcc.schema.ItemRow;
import io.isobardb.tpcc.schema.Keys;
import io.isobardb.tpcc.schema.LoadMark;
import io.isobardb.tpcc.schema.NuRand;
import io.isobardb.tpcc.schema.OrderLineRow;
import io.isobardb.tpcc.schema.OrderRow;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.schema.StockRow;
import io.isobardb.tpcc.schema.Table;
import io.isobardb.tpcc.schema.Values;
import io.isobardb.tpcc.schema.WarehouseRow;
import io.isobardb.tpcc.store.Put;
import io.isobardb.tpcc.store.TpccStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes the initial population (clause 4.3.3.1) into an empty store: the items, then the
 * warehouses, several at a time. A warehouse's rows depend on the seed and its number alone.
 */
public final class Loader {
  private static final int BATCH_ROWS = 500;
  private static final int ITEMS_PART = 0;
  private static final int CONSTANTS_PART = -1;

  private final TpccStore store;
  private final Scale scale;
  private final long seed;
  private final long nowMillis;
  private final NuRand constants;
  private final AtomicLong rows = new AtomicLong();
  private final LongConsumer progress;

  /**
   * A load of {@code scale}; {@code nowMillis} becomes every date. {@code progress} is told now and
   * then how many rows are written, by any thread.
   */
  public Loader(TpccStore store, Scale scale, long seed, long nowMillis, LongConsumer progress) {
    this.store = store;
    this.scale = scale;
    this.seed = seed;
    this.nowMillis = nowMillis;
    this.progress = progress;
    constants = NuRand.forLoad(Values.part(seed, CONSTANTS_PART));
  }

  /** What is loaded in {@code store}; null if nothing is, or not all of it. */
  public static @Nullable LoadMark loaded(TpccStore store) {
    return LoadMark.fromBytes(store.get(Table.META, Keys.meta()));
  }

  /** How many rows a load of {@code scale} writes, index entries included; orders have 10 lines. */
  public static long expectedRows(Scale scale) {
    long customers = (long) scale.warehouses() * Scale.DISTRICTS * scale.customers();
    return scale.items()
        + (long) scale.warehouses() * (1 + Scale.DISTRICTS + scale.items())
        + customers * 5
        + customers * 10
        + customers * scale.newOrders() / scale.customers();
  }

  /**
   * Loads with {@code threads} threads; durable on return. Fails if anything is there already: what
   * an interrupted load left behind is for the caller to remove.
   */
  public LoadMark load(int threads) throws InterruptedException {
    store.scan(
        Table.ITEM,
        Keys.item(0),
        Keys.item(Integer.MAX_VALUE),
        (key, value) -> {
          throw new IllegalStateException(
              "the store holds rows already, but no complete load: remove its directory");
        });
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      List<Future<?>> parts = new ArrayList<>();
      parts.add(executor.submit(this::items));
      for (int w = 1; w <= scale.warehouses(); w++) {
        int warehouse = w;
        parts.add(executor.submit(() -> warehouse(warehouse)));
      }
      for (Future<?> part : parts) {
        part.get();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("the load failed: " + e.getCause(), e);
    } finally {
      executor.shutdownNow();
    }
    LoadMark mark = new LoadMark(scale, constants, seed);
    store.load(List.of(new Put(Table.META, Keys.meta(), mark.toBytes())));
    store.sync();
    return mark;
  }

  private void items() {
    Values values = Values.part(seed, ITEMS_PART);
    Batch batch = new Batch();
    for (int i = 1; i <= scale.items(); i++) {
      ItemRow row =
          ItemRow.of(
              values.uniform(1, 10_000),
              values.uniform(1_00, 100_00),
              values.text(14, 24),
              values.itemData());
      batch.put(Table.ITEM, Keys.item(i), row.bytes());
    }
    batch.write();
  }

  private void warehouse(int w) {
    Values values = Values.part(seed, w);
    Batch batch = new Batch();
    // As many payments of 10.00 as there are customers: 30000.00 per district as specified.
    long districtYtdCents = scale.customers() * 10_00L;
    WarehouseRow warehouse =
        WarehouseRow.of(
            values.text(6, 10),
            values.address(),
            values.uniform(0, 2000),
            Scale.DISTRICTS * districtYtdCents);
    batch.put(Table.WAREHOUSE, Keys.warehouse(w), warehouse.bytes());
    byte[] infos = new byte[Scale.DISTRICTS * StockRow.INFO_BYTES];
    for (int i = 1; i <= scale.items(); i++) {
      int quantity = values.uniform(10, 100);
      System.arraycopy(values.text(infos.length, infos.length), 0, infos, 0, infos.length);
      StockRow stock = StockRow.of(quantity, infos, values.itemData());
      batch.put(Table.STOCK, Keys.stock(w, i), stock.bytes());
    }
    for (int d = 1; d <= Scale.DISTRICTS; d++) {
      DistrictRow district =
          DistrictRow.of(
              values.text(6, 10),
              values.address(),
              values.uniform(0, 2000),
              districtYtdCents,
              scale.customers() + 1);
      batch.put(Table.DISTRICT, Keys.district(w, d), district.bytes());
      customers(w, d, values, batch);
      orders(w, d, values, batch);
    }
    batch.write();
  }

  private void customers(int w, int d, Values values, Batch batch) {
    for (int c = 1; c <= scale.customers(); c++) {
      int name = c <= scale.lastNames() ? c - 1 : constants.lastName(values, scale);
      CustomerRow.Person person =
          new CustomerRow.Person(
              Values.lastName(name), values.text(8, 16), values.address(), values.digits(16));
      CustomerRow customer =
          CustomerRow.of(
              person,
              values.chance(10),
              values.uniform(0, 5000),
              nowMillis,
              values.text(300, CustomerRow.MAX_DATA_BYTES));
      customer.setBalanceCents(-10_00);
      customer.setYtdPaymentCents(10_00);
      customer.setPayments(1);
      byte[] key = Keys.customer(w, d, c);
      batch.put(Table.CUSTOMER, key, customer.bytes());
      batch.put(
          Table.CUSTOMER_BY_NAME,
          Keys.customerByName(w, d, person.last(), person.first(), c),
          new byte[0]);
      batch.put(
          Table.HISTORY,
          Keys.history(w, d, nowMillis, key, 1),
          HistoryRow.of(10_00, values.text(12, 24)).bytes());
    }
  }

  private void orders(int w, int d, Values values, Batch batch) {
    int[] customers = values.permutation(scale.customers());
    for (int o = 1; o <= scale.customers(); o++) {
      boolean delivered = o < scale.firstNewOrder();
      int customer = customers[o - 1];
      int lines = values.uniform(5, 15);
      int carrier = delivered ? values.uniform(1, 10) : 0;
      batch.put(
          Table.ORDERS,
          Keys.order(w, d, o),
          OrderRow.of(customer, nowMillis, carrier, lines, true).bytes());
      batch.put(Table.ORDERS_BY_CUSTOMER, Keys.orderByCustomer(w, d, customer, o), new byte[0]);
      if (!delivered) {
        batch.put(Table.NEW_ORDER, Keys.order(w, d, o), new byte[0]);
      }
      for (int n = 1; n <= lines; n++) {
        OrderLineRow line =
            OrderLineRow.of(
                values.uniform(1, scale.items()),
                w,
                5,
                delivered ? 0 : values.uniform(1, 9999_99),
                values.text(StockRow.INFO_BYTES, StockRow.INFO_BYTES));
        line.setDeliveryMillis(delivered ? nowMillis : 0);
        batch.put(Table.ORDER_LINE, Keys.orderLine(w, d, o, n), line.bytes());
      }
    }
  }

  /** Rows on their way to the store; one thread's. */
  private final class Batch {
    private final List<Put> pending = new ArrayList<>(BATCH_ROWS);

    void put(Table table, byte[] key, byte[] value) {
      pending.add(new Put(table, key, value));
      if (pending.size() == BATCH_ROWS) {
        write();
      }
    }

    void write() {
      store.load(pending);
      progress.accept(rows.addAndGet(pending.size()));
      pending.clear();
    }
  }
}
