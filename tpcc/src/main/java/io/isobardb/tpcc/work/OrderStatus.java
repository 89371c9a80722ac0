package io.isobardb.tpcc.work;

import io.isobardb.tpcc.schema.CustomerRow;
import io.isobardb.tpcc.schema.Keys;
import io.isobardb.tpcc.schema.NuRand;
import io.isobardb.tpcc.schema.OrderLineRow;
import io.isobardb.tpcc.schema.OrderRow;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.schema.Table;
import io.isobardb.tpcc.schema.Values;
import io.isobardb.tpcc.store.TpccTransaction;
import java.util.ArrayList;
import java.util.List;

/**
 * Looks up a customer's latest order (clause 2.6). Reads only.
 *
 * @param choice the customer
 */
public record OrderStatus(CustomerChoice choice) implements Work<OrderStatus.Status> {

  /**
   * The output.
   *
   * @param customer whose
   * @param balanceCents the customer's balance
   * @param order the latest order's number, 0 if there is none
   * @param carrier its carrier, 0 if it is not delivered
   * @param lines its lines
   */
  public record Status(
      int customer, long balanceCents, int order, int carrier, List<OrderLineRow> lines) {}

  /** Input for a terminal of warehouse {@code w}. */
  public static OrderStatus draw(int w, Values values, NuRand constants, Scale scale) {
    int d = values.uniform(1, Scale.DISTRICTS);
    return new OrderStatus(CustomerChoice.draw(w, d, values, constants, scale));
  }

  @Override
  public Status run(TpccTransaction transaction) {
    int w = choice.w();
    int d = choice.d();
    int c = choice.find(transaction);
    byte[] customerKey = Keys.customer(w, d, c);
    CustomerRow customer =
        new CustomerRow(
            Rows.required(
                transaction.get(Table.CUSTOMER, customerKey), Table.CUSTOMER, customerKey));
    int[] latest = {0};
    transaction.scan(
        Table.ORDERS_BY_CUSTOMER,
        customerKey,
        Keys.after(customerKey),
        (key, value) -> {
          latest[0] = Keys.orderOfCustomer(key);
          return false;
        });
    int carrier = 0;
    List<OrderLineRow> lines = new ArrayList<>();
    if (latest[0] != 0) {
      byte[] orderKey = Keys.order(w, d, latest[0]);
      OrderRow order =
          new OrderRow(
              Rows.required(transaction.get(Table.ORDERS, orderKey), Table.ORDERS, orderKey));
      carrier = order.carrier();
      transaction.scan(
          Table.ORDER_LINE,
          orderKey,
          Keys.after(orderKey),
          (key, value) -> lines.add(new OrderLineRow(value)));
    }
    transaction.commit();
    return new Status(c, customer.balanceCents(), latest[0], carrier, lines);
  }
}
