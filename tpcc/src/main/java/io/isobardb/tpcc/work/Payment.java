package io.isobardb.tpcc.work;

import io.isobardb.tpcc.schema.CustomerRow;
import io.isobardb.tpcc.schema.DistrictRow;
import io.isobardb.tpcc.schema.HistoryRow;
import io.isobardb.tpcc.schema.Keys;
import io.isobardb.tpcc.schema.NuRand;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.schema.Table;
import io.isobardb.tpcc.schema.Values;
import io.isobardb.tpcc.schema.WarehouseRow;
import io.isobardb.tpcc.store.TpccTransaction;

/**
 * Takes a payment (clause 2.5). Rows are read for update from the most wanted to the least:
 * warehouse, district, customer.
 *
 * @param w warehouse
 * @param d district
 * @param choice the customer, of another warehouse in 15 % of cases
 * @param amountCents 1.00 to 5000.00
 * @param dateMillis when
 */
public record Payment(int w, int d, CustomerChoice choice, long amountCents, long dateMillis)
    implements Work<Payment.Paid> {

  /**
   * The output.
   *
   * @param customer who paid
   * @param balanceCents what remains
   */
  public record Paid(int customer, long balanceCents) {}

  /** Input for a terminal of warehouse {@code w}. */
  public static Payment draw(int w, Values values, NuRand constants, Scale scale, long nowMillis) {
    int d = values.uniform(1, Scale.DISTRICTS);
    boolean home = !values.chance(15);
    int customerW = home ? w : otherWarehouse(w, values, scale);
    int customerD = home ? d : values.uniform(1, Scale.DISTRICTS);
    return new Payment(
        w,
        d,
        CustomerChoice.draw(customerW, customerD, values, constants, scale),
        values.uniform(1_00, 5000_00),
        nowMillis);
  }

  /** A warehouse other than {@code w}; {@code w} if it is the only one. */
  static int otherWarehouse(int w, Values values, Scale scale) {
    if (scale.warehouses() == 1) {
      return w;
    }
    int other = values.uniform(1, scale.warehouses() - 1);
    return other < w ? other : other + 1;
  }

  @Override
  public Paid run(TpccTransaction transaction) {
    byte[] warehouseKey = Keys.warehouse(w);
    WarehouseRow warehouse =
        new WarehouseRow(
            Rows.required(
                transaction.getForUpdate(Table.WAREHOUSE, warehouseKey),
                Table.WAREHOUSE,
                warehouseKey));
    warehouse.setYtdCents(warehouse.ytdCents() + amountCents);
    transaction.put(Table.WAREHOUSE, warehouseKey, warehouse.bytes());
    byte[] districtKey = Keys.district(w, d);
    DistrictRow district =
        new DistrictRow(
            Rows.required(
                transaction.getForUpdate(Table.DISTRICT, districtKey),
                Table.DISTRICT,
                districtKey));
    district.setYtdCents(district.ytdCents() + amountCents);
    transaction.put(Table.DISTRICT, districtKey, district.bytes());

    int c = choice.find(transaction);
    byte[] customerKey = Keys.customer(choice.w(), choice.d(), c);
    CustomerRow customer =
        new CustomerRow(
            Rows.required(
                transaction.getForUpdate(Table.CUSTOMER, customerKey),
                Table.CUSTOMER,
                customerKey));
    customer.setBalanceCents(customer.balanceCents() - amountCents);
    customer.setYtdPaymentCents(customer.ytdPaymentCents() + amountCents);
    customer.setPayments(customer.payments() + 1);
    if (customer.badCredit()) {
      String note =
          c + " " + choice.d() + " " + choice.w() + " " + d + " " + w + " " + amountCents + "|";
      customer = customer.withDataPrefix(Values.ascii(note));
    }
    transaction.put(Table.CUSTOMER, customerKey, customer.bytes());
    HistoryRow history = HistoryRow.of(amountCents, data(warehouse.name(), district.name()));
    transaction.put(
        Table.HISTORY,
        Keys.history(w, d, dateMillis, customerKey, customer.payments()),
        history.bytes());
    transaction.commit();
    return new Paid(c, customer.balanceCents());
  }

  /** H_DATA: both names, four spaces between them. */
  private static byte[] data(byte[] warehouse, byte[] district) {
    byte[] data = new byte[warehouse.length + 4 + district.length];
    java.util.Arrays.fill(data, (byte) ' ');
    System.arraycopy(warehouse, 0, data, 0, warehouse.length);
    System.arraycopy(district, 0, data, warehouse.length + 4, district.length);
    return data;
  }
}
