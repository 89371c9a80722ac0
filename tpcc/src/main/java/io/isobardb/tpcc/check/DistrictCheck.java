package io.isobardb.tpcc.check;

import io.isobardb.tpcc.schema.CustomerRow;
import io.isobardb.tpcc.schema.DistrictRow;
import io.isobardb.tpcc.schema.Keys;
import io.isobardb.tpcc.schema.OrderLineRow;
import io.isobardb.tpcc.schema.OrderRow;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.schema.Table;
import io.isobardb.tpcc.store.TpccStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Checks one district; what it needs of each order stays in memory. Not thread-safe. */
final class DistrictCheck {
  private final TpccStore store;
  private final Scale scale;
  private final int w;
  private final int d;
  private final Findings findings;
  private final String where;
  private final byte[] from;
  private final byte[] to;
  private final long[] deliveredCents;
  private @Nullable Order[] orders = new @Nullable Order[1024];
  private long orderRows;
  private int maxOrder;
  private long newOrderRows;
  private int minNewOrder;
  private int maxNewOrder;
  private long declaredLines;
  private long foundLines;
  private long deliveries;
  private final List<byte[]> nameIndex = new ArrayList<>();
  private final List<byte[]> orderIndex = new ArrayList<>();

  /** What an order says of itself, and what is found of it elsewhere. */
  private static final class Order {
    final int customer;
    final boolean delivered;
    final int declared;
    boolean isNew;
    int lines;

    Order(OrderRow row) {
      customer = row.customer();
      delivered = row.carrier() != 0;
      declared = row.lines();
    }
  }

  DistrictCheck(TpccStore store, Scale scale, int w, int d, Findings findings) {
    this.store = store;
    this.scale = scale;
    this.w = w;
    this.d = d;
    this.findings = findings;
    where = "district " + d + " of warehouse " + w;
    from = Keys.district(w, d);
    to = Keys.after(from);
    deliveredCents = new long[scale.customers() + 1];
  }

  /** Checks all; returns D_YTD. */
  long run(long paidCents, ConsistencyCheck.Paid customersPaid) {
    store.scan(Table.ORDERS, from, to, this::order);
    store.scan(Table.NEW_ORDER, from, to, this::newOrder);
    store.scan(Table.ORDER_LINE, from, to, this::line);
    orders();
    long[] customers = {0};
    store.scan(
        Table.CUSTOMER,
        from,
        to,
        (key, value) -> {
          customers[0]++;
          customer(key, new CustomerRow(value), customersPaid);
          return true;
        });
    findings.expect(Condition.ROWS, "customers of " + where, scale.customers(), customers[0]);
    findings.expect(Condition.LINES_OF_DISTRICT, where, declaredLines, foundLines);
    findings.expect(
        Condition.DELIVERED,
        where,
        scale.firstNewOrder() - 1 + deliveries,
        orderRows - newOrderRows);
    index(Condition.NAME_INDEX, Table.CUSTOMER_BY_NAME, nameIndex);
    index(Condition.ORDER_INDEX, Table.ORDERS_BY_CUSTOMER, orderIndex);
    return district(paidCents);
  }

  private long district(long paidCents) {
    byte[] value = store.get(Table.DISTRICT, from);
    if (value == null) {
      findings.add(Condition.NEXT_ORDER, where + " has no row");
      return 0;
    }
    DistrictRow row = new DistrictRow(value);
    findings.expect(Condition.DISTRICT_HISTORY, where, paidCents, row.ytdCents());
    findings.expect(
        Condition.NEXT_ORDER, where + ", the last order", row.nextOrder() - 1, maxOrder);
    if (newOrderRows > 0) {
      findings.expect(
          Condition.NEXT_ORDER, where + ", the last new order", row.nextOrder() - 1, maxNewOrder);
      findings.expect(
          Condition.NEW_ORDERS_DENSE, where, maxNewOrder - minNewOrder + 1L, newOrderRows);
    }
    return row.ytdCents();
  }

  private boolean order(byte[] key, byte[] value) {
    int o = Keys.orderOf(key);
    if (o >= orders.length) {
      orders = Arrays.copyOf(orders, Math.max(o + 1, 2 * orders.length));
    }
    Order order = new Order(new OrderRow(value));
    orders[o] = order;
    orderRows++;
    declaredLines += order.declared;
    maxOrder = o;
    orderIndex.add(Keys.orderByCustomer(w, d, order.customer, o));
    return true;
  }

  private @Nullable Order find(int o) {
    return o > 0 && o < orders.length ? orders[o] : null;
  }

  private boolean newOrder(byte[] key, byte[] value) {
    int o = Keys.orderOf(key);
    minNewOrder = newOrderRows == 0 ? o : minNewOrder;
    maxNewOrder = o;
    newOrderRows++;
    Order order = find(o);
    if (order == null) {
      findings.add(Condition.CARRIER, where + ": new order " + o + " has no row in ORDERS");
    } else {
      order.isNew = true;
    }
    return true;
  }

  private boolean line(byte[] key, byte[] value) {
    int o = Keys.orderOf(key);
    foundLines++;
    Order order = find(o);
    if (order == null) {
      findings.add(
          Condition.LINES_OF_ORDER, where + ": a line of order " + o + ", which has no row");
      return true;
    }
    order.lines++;
    OrderLineRow line = new OrderLineRow(value);
    boolean delivered = line.deliveryMillis() != 0;
    if (delivered != order.delivered) {
      findings.add(
          Condition.DELIVERY_DATE,
          where
              + ": line "
              + Keys.lineOf(key)
              + " of order "
              + o
              + (delivered
                  ? " is delivered, its order is not"
                  : " is not delivered, its order is"));
    }
    if (delivered && order.customer > 0 && order.customer <= scale.customers()) {
      deliveredCents[order.customer] += line.amountCents();
    }
    return true;
  }

  private void orders() {
    for (int o = 1; o <= maxOrder; o++) {
      Order order = find(o);
      if (order != null) {
        findings.expect(
            Condition.LINES_OF_ORDER, where + ", order " + o, order.declared, order.lines);
        if (order.delivered == order.isNew) {
          findings.add(
              Condition.CARRIER,
              where
                  + ": order "
                  + o
                  + (order.isNew ? " has a carrier and is new" : " has no carrier and is not new"));
        }
      }
    }
  }

  private void customer(byte[] key, CustomerRow row, ConsistencyCheck.Paid paid) {
    int c = Keys.orderOf(key);
    if (c < 1 || c > scale.customers()) {
      findings.add(Condition.ROWS, where + ": there is a customer " + c);
      return;
    }
    deliveries += row.deliveries();
    nameIndex.add(Keys.customerByName(w, d, row.last(), row.first(), c));
    ConsistencyCheck.customer(
        findings, "customer " + c + " of " + where, row, deliveredCents[c], paid.cents(w, d, c));
  }

  /** Compares the keys an index should have with those it has. */
  private void index(Condition condition, Table table, List<byte[]> expected) {
    expected.sort(Arrays::compareUnsigned);
    int[] next = {0};
    store.scan(
        table,
        from,
        to,
        (key, value) -> {
          int order = -1;
          while (next[0] < expected.size()
              && (order = Arrays.compareUnsigned(expected.get(next[0]), key)) < 0) {
            findings.add(condition, where + ": no entry " + hex(expected.get(next[0]++)));
          }
          if (next[0] < expected.size() && order == 0) {
            next[0]++;
          } else {
            findings.add(condition, where + ": no row for the entry " + hex(key));
          }
          return true;
        });
    while (next[0] < expected.size()) {
      findings.add(condition, where + ": no entry " + hex(expected.get(next[0]++)));
    }
  }

  private static String hex(byte[] key) {
    return "0x" + HexFormat.of().formatHex(key);
  }
}
