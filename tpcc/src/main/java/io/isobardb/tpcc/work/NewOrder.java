package io.isobardb.tpcc.work;

import io.isobardb.tpcc.schema.CustomerRow;
import io.isobardb.tpcc.schema.DistrictRow;
import io.isobardb.tpcc.schema.ItemRow;
import io.isobardb.tpcc.schema.Keys;
import io.isobardb.tpcc.schema.NuRand;
import io.isobardb.tpcc.schema.OrderLineRow;
import io.isobardb.tpcc.schema.OrderRow;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.schema.StockRow;
import io.isobardb.tpcc.schema.Table;
import io.isobardb.tpcc.schema.Values;
import io.isobardb.tpcc.schema.WarehouseRow;
import io.isobardb.tpcc.store.TpccTransaction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Enters an order (clause 2.4).
 *
 * <p>The district's row is read first, for update: the transaction that has it numbers the order,
 * and the snapshot is as new as the number. Stock is read for update in the order of its keys, so
 * that orders never wait for each other in a circle.
 *
 * @param w warehouse
 * @param d district
 * @param customer of the district
 * @param lines 5 to 15; the last one's item is unused in 1 % of cases, which rolls the order back
 * @param entryMillis when
 */
public record NewOrder(int w, int d, int customer, List<Line> lines, long entryMillis)
    implements Work<NewOrder.Placed> {

  /**
   * One line of input.
   *
   * @param number from 1
   * @param item which may be unused
   * @param supplier warehouse
   * @param quantity 1 to 10
   */
  public record Line(int number, int item, int supplier, int quantity) {}

  /**
   * The output.
   *
   * @param order the order's number, 0 if it was rolled back
   * @param linesCents the sum of its lines
   * @param totalCents the same after discount and taxes
   * @param brands lines whose item and stock are both original: B as brand-generic, others are G
   */
  public record Placed(int order, long linesCents, long totalCents, int brands) {
    /** Whether an unused item rolled it back. */
    public boolean rolledBack() {
      return order == 0;
    }
  }

  private static final Comparator<Line> BY_STOCK_KEY =
      Comparator.comparingInt(Line::supplier).thenComparingInt(Line::item);

  /** Input for a terminal of warehouse {@code w}. */
  public static NewOrder draw(int w, Values values, NuRand constants, Scale scale, long nowMillis) {
    int d = values.uniform(1, Scale.DISTRICTS);
    int customer = constants.customer(values, scale);
    int count = values.uniform(5, 15);
    boolean rollback = values.chance(1);
    List<Line> lines = new ArrayList<>(count);
    for (int n = 1; n <= count; n++) {
      boolean unused = rollback && n == count;
      int item = unused ? scale.items() + 1 : constants.item(values, scale);
      int supplier = values.chance(1) ? Payment.otherWarehouse(w, values, scale) : w;
      lines.add(new Line(n, item, supplier, values.uniform(1, 10)));
    }
    return new NewOrder(w, d, customer, List.copyOf(lines), nowMillis);
  }

  /** How many lines another warehouse supplies. */
  public int remoteLines() {
    int remote = 0;
    for (Line line : lines) {
      remote += line.supplier == w ? 0 : 1;
    }
    return remote;
  }

  @Override
  public Placed run(TpccTransaction transaction) {
    byte[] districtKey = Keys.district(w, d);
    DistrictRow district =
        new DistrictRow(
            Rows.required(
                transaction.getForUpdate(Table.DISTRICT, districtKey),
                Table.DISTRICT,
                districtKey));
    int order = district.nextOrder();
    district.setNextOrder(order + 1);
    transaction.put(Table.DISTRICT, districtKey, district.bytes());
    byte[] warehouseKey = Keys.warehouse(w);
    WarehouseRow warehouse =
        new WarehouseRow(
            Rows.required(
                transaction.get(Table.WAREHOUSE, warehouseKey), Table.WAREHOUSE, warehouseKey));
    byte[] customerKey = Keys.customer(w, d, customer);
    CustomerRow buyer =
        new CustomerRow(
            Rows.required(
                transaction.get(Table.CUSTOMER, customerKey), Table.CUSTOMER, customerKey));

    OrderRow row = OrderRow.of(customer, entryMillis, 0, lines.size(), remoteLines() == 0);
    transaction.put(Table.ORDERS, Keys.order(w, d, order), row.bytes());
    transaction.put(Table.NEW_ORDER, Keys.order(w, d, order), new byte[0]);
    transaction.put(
        Table.ORDERS_BY_CUSTOMER, Keys.orderByCustomer(w, d, customer, order), new byte[0]);

    // An unused item is in the last line: all others are worked on before it is looked for.
    List<Line> sorted = new ArrayList<>(lines.subList(0, lines.size() - 1));
    Line last = lines.get(lines.size() - 1);
    byte @Nullable [] lastItem = transaction.get(Table.ITEM, Keys.item(last.item));
    if (lastItem != null) {
      sorted.add(last);
    }
    sorted.sort(BY_STOCK_KEY);
    long sum = 0;
    int brands = 0;
    for (Line line : sorted) {
      Entered entered = enter(transaction, order, line);
      sum += entered.cents;
      brands += entered.isBrand ? 1 : 0;
    }
    if (lastItem == null) {
      transaction.rollback();
      return new Placed(0, sum, 0, brands);
    }
    transaction.commit();
    double total =
        sum
            * (1 - buyer.discountRate() / 10_000.0)
            * (1 + (warehouse.taxRate() + district.taxRate()) / 10_000.0);
    return new Placed(order, sum, Math.round(total), brands);
  }

  /** What is shown of a line. */
  private record Entered(long cents, boolean isBrand) {}

  /** Takes one line out of the stock and writes it. */
  private Entered enter(TpccTransaction transaction, int order, Line line) {
    byte[] itemKey = Keys.item(line.item);
    ItemRow item =
        new ItemRow(Rows.required(transaction.get(Table.ITEM, itemKey), Table.ITEM, itemKey));
    byte[] stockKey = Keys.stock(line.supplier, line.item);
    StockRow stock =
        new StockRow(
            Rows.required(transaction.getForUpdate(Table.STOCK, stockKey), Table.STOCK, stockKey));
    stock.order(line.quantity, line.supplier != w);
    transaction.put(Table.STOCK, stockKey, stock.bytes());
    long amount = (long) line.quantity * item.priceCents();
    OrderLineRow row =
        OrderLineRow.of(line.item, line.supplier, line.quantity, amount, stock.districtInfo(d));
    transaction.put(Table.ORDER_LINE, Keys.orderLine(w, d, order, line.number), row.bytes());
    return new Entered(amount, item.original() && stock.original());
  }
}
