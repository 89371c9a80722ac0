package io.isobardb.tpcc.work;

import io.isobardb.tpcc.schema.CustomerRow;
import io.isobardb.tpcc.schema.Keys;
import io.isobardb.tpcc.schema.OrderLineRow;
import io.isobardb.tpcc.schema.OrderRow;
import io.isobardb.tpcc.schema.Table;
import io.isobardb.tpcc.store.ConflictException;
import io.isobardb.tpcc.store.TpccTransaction;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Delivers the oldest new order of one district, in a transaction of its own, as clause 2.7.2.2
 * permits. Gives the order's number, or 0 if there was none.
 *
 * <p>New orders are deleted from the low end, so that a search from the district's first possible
 * key passes all that engines keep of deleted ones. New ones are numbered upwards: a search from
 * behind the last one known to be delivered finds the same.
 *
 * @param w warehouse
 * @param d district
 * @param first no order below it is new
 * @param carrier 1 to 10
 * @param dateMillis when
 */
public record Delivery(int w, int d, int first, int carrier, long dateMillis)
    implements Work<Integer> {
  @Override
  public Integer run(TpccTransaction transaction) {
    byte[] @Nullable [] oldest = {null};
    transaction.scan(
        Table.NEW_ORDER,
        Keys.order(w, d, first),
        Keys.after(Keys.district(w, d)),
        (key, value) -> {
          oldest[0] = key;
          return false;
        });
    byte[] orderKey = oldest[0];
    if (orderKey == null) {
      transaction.commit();
      return 0;
    }
    if (transaction.getForUpdate(Table.NEW_ORDER, orderKey) == null) {
      throw new ConflictException("the order was delivered by another meanwhile", null);
    }
    transaction.delete(Table.NEW_ORDER, orderKey);
    OrderRow order =
        new OrderRow(
            Rows.required(
                transaction.getForUpdate(Table.ORDERS, orderKey), Table.ORDERS, orderKey));
    order.setCarrier(carrier);
    transaction.put(Table.ORDERS, orderKey, order.bytes());

    List<byte[]> lineKeys = new ArrayList<>();
    List<OrderLineRow> lines = new ArrayList<>();
    transaction.scan(
        Table.ORDER_LINE,
        orderKey,
        Keys.after(orderKey),
        (key, value) -> lineKeys.add(key) && lines.add(new OrderLineRow(value)));
    long sum = 0;
    for (int i = 0; i < lines.size(); i++) {
      OrderLineRow line = lines.get(i);
      sum += line.amountCents();
      line.setDeliveryMillis(dateMillis);
      transaction.put(Table.ORDER_LINE, lineKeys.get(i), line.bytes());
    }
    byte[] customerKey = Keys.customer(w, d, order.customer());
    CustomerRow customer =
        new CustomerRow(
            Rows.required(
                transaction.getForUpdate(Table.CUSTOMER, customerKey),
                Table.CUSTOMER,
                customerKey));
    customer.setBalanceCents(customer.balanceCents() + sum);
    customer.setDeliveries(customer.deliveries() + 1);
    transaction.put(Table.CUSTOMER, customerKey, customer.bytes());
    transaction.commit();
    return Keys.orderOf(orderKey);
  }
}
