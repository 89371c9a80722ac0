package io.isobardb.tpcc.work;

import io.isobardb.tpcc.schema.DistrictRow;
import io.isobardb.tpcc.schema.Keys;
import io.isobardb.tpcc.schema.OrderLineRow;
import io.isobardb.tpcc.schema.StockRow;
import io.isobardb.tpcc.schema.Table;
import io.isobardb.tpcc.store.TpccTransaction;
import java.util.TreeSet;

/**
 * Counts the items of a district's last 20 orders whose stock is below a threshold (clause 2.8).
 * Reads only.
 *
 * @param w the terminal's warehouse
 * @param d the terminal's district
 * @param threshold 10 to 20
 */
public record StockLevel(int w, int d, int threshold) implements Work<Integer> {
  private static final int ORDERS = 20;

  @Override
  public Integer run(TpccTransaction transaction) {
    byte[] districtKey = Keys.district(w, d);
    DistrictRow district =
        new DistrictRow(
            Rows.required(
                transaction.get(Table.DISTRICT, districtKey), Table.DISTRICT, districtKey));
    int next = district.nextOrder();
    // Sorted: neighbours in the stock are looked up one after the other.
    TreeSet<Integer> items = new TreeSet<>();
    transaction.scan(
        Table.ORDER_LINE,
        Keys.order(w, d, Math.max(1, next - ORDERS)),
        Keys.order(w, d, next),
        (key, value) -> {
          items.add(new OrderLineRow(value).item());
          return true;
        });
    int low = 0;
    for (int item : items) {
      byte[] key = Keys.stock(w, item);
      byte[] stock = Rows.required(transaction.get(Table.STOCK, key), Table.STOCK, key);
      low += new StockRow(stock).quantity() < threshold ? 1 : 0;
    }
    transaction.commit();
    return low;
  }
}
