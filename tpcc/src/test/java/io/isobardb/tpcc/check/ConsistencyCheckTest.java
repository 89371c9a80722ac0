package io.isobardb.tpcc.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.tpcc.MapStore;
import io.isobardb.tpcc.TestStore;
import io.isobardb.tpcc.load.Loader;
import io.isobardb.tpcc.schema.CustomerRow;
import io.isobardb.tpcc.schema.DistrictRow;
import io.isobardb.tpcc.schema.HistoryRow;
import io.isobardb.tpcc.schema.Keys;
import io.isobardb.tpcc.schema.OrderLineRow;
import io.isobardb.tpcc.schema.OrderRow;
import io.isobardb.tpcc.schema.Table;
import io.isobardb.tpcc.schema.Values;
import io.isobardb.tpcc.schema.WarehouseRow;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each condition is violated once, and found; others are not accused. */
class ConsistencyCheckTest {
  private static final int W = 2;
  private static final int D = 7;

  /** Orders up to 21 are delivered, 22 to 30 are new. */
  private static final int DELIVERED = 20;

  private static final int NEW = 25;
  private static final int LAST = 30;

  private final MapStore store = new MapStore();

  @BeforeEach
  void load() throws InterruptedException {
    new Loader(store, TestStore.TINY, TestStore.seed(), TestStore.NOW_MILLIS, rows -> {}).load(2);
  }

  private void assertViolated(Condition... expected) throws InterruptedException {
    Findings findings = ConsistencyCheck.run(store, TestStore.TINY, 2, done -> {});
    Set<Condition> found = EnumSet.noneOf(Condition.class);
    for (Condition condition : Condition.values()) {
      if (findings.count(condition) > 0) {
        found.add(condition);
        assertFalse(findings.examples(condition).isEmpty());
      }
    }
    assertEquals(Set.of(expected), found, findings::text);
    assertEquals(expected.length == 0, findings.clean());
    assertEquals(expected.length > 0, findings.text().contains("[NG]"));
  }

  private byte[] row(Table table, byte[] key) {
    return store.rowsOf(table).get(key);
  }

  private void remove(Table table, byte[] key) {
    assertTrue(store.rowsOf(table).remove(key) != null, "nothing was removed");
  }

  @Test
  void aLoadViolatesNothing() throws InterruptedException {
    assertViolated();
  }

  @Test
  void condition1And8AWarehousesYearToDate() throws InterruptedException {
    WarehouseRow row = new WarehouseRow(row(Table.WAREHOUSE, Keys.warehouse(W)));
    row.setYtdCents(row.ytdCents() + 1);
    assertViolated(Condition.WAREHOUSE_YTD, Condition.WAREHOUSE_HISTORY);
  }

  @Test
  void condition1And9ADistrictsYearToDate() throws InterruptedException {
    DistrictRow row = new DistrictRow(row(Table.DISTRICT, Keys.district(W, D)));
    row.setYtdCents(row.ytdCents() - 1);
    assertViolated(Condition.WAREHOUSE_YTD, Condition.DISTRICT_HISTORY);
  }

  @Test
  void condition2ANextOrderThatIsNotTheNext() throws InterruptedException {
    DistrictRow row = new DistrictRow(row(Table.DISTRICT, Keys.district(W, D)));
    row.setNextOrder(row.nextOrder() + 1);
    assertViolated(Condition.NEXT_ORDER);
  }

  @Test
  void condition2AndOthersALastOrderThatIsLost() throws InterruptedException {
    remove(Table.ORDERS, Keys.order(W, D, LAST));
    assertViolated(
        Condition.NEXT_ORDER,
        Condition.LINES_OF_DISTRICT,
        Condition.CARRIER,
        Condition.LINES_OF_ORDER,
        Condition.DELIVERED,
        Condition.ORDER_INDEX);
  }

  @Test
  void condition3And5And11AGapInTheNewOrders() throws InterruptedException {
    remove(Table.NEW_ORDER, Keys.order(W, D, NEW));
    assertViolated(Condition.NEW_ORDERS_DENSE, Condition.CARRIER, Condition.DELIVERED);
  }

  @Test
  void condition4And6ALineThatIsLost() throws InterruptedException {
    remove(Table.ORDER_LINE, Keys.orderLine(W, D, NEW, 1));
    assertViolated(Condition.LINES_OF_DISTRICT, Condition.LINES_OF_ORDER);
  }

  @Test
  void condition6ALineThatIsInTheWrongOrder() throws InterruptedException {
    byte[] line = row(Table.ORDER_LINE, Keys.orderLine(W, D, NEW, 1));
    remove(Table.ORDER_LINE, Keys.orderLine(W, D, NEW, 1));
    store.rowsOf(Table.ORDER_LINE).put(Keys.orderLine(W, D, NEW + 1, 99), line);
    assertViolated(Condition.LINES_OF_ORDER);
  }

  @Test
  void condition5And7ACarrierWithoutADelivery() throws InterruptedException {
    new OrderRow(row(Table.ORDERS, Keys.order(W, D, NEW))).setCarrier(3);
    assertViolated(Condition.CARRIER, Condition.DELIVERY_DATE);
  }

  @Test
  void condition7ALineThatIsNotDeliveredWithItsOrder() throws InterruptedException {
    OrderLineRow line = new OrderLineRow(row(Table.ORDER_LINE, Keys.orderLine(W, D, DELIVERED, 2)));
    line.setDeliveryMillis(0);
    // The amounts of the first orders are 0: no balance tells.
    assertViolated(Condition.DELIVERY_DATE);
  }

  @Test
  void condition8To10APaymentThatIsLost() throws InterruptedException {
    byte[] customer = Keys.customer(W, D, 3);
    remove(Table.HISTORY, Keys.history(W, D, TestStore.NOW_MILLIS, customer, 1));
    assertViolated(Condition.WAREHOUSE_HISTORY, Condition.DISTRICT_HISTORY, Condition.BALANCE);
  }

  @Test
  void condition10APaymentOfNobody() throws InterruptedException {
    byte[] nobody = Keys.customer(W, D, 31);
    store
        .rowsOf(Table.HISTORY)
        .put(Keys.history(W, D, 1, nobody, 1), HistoryRow.of(0, new byte[12]).bytes());
    assertViolated(Condition.BALANCE);
  }

  @Test
  void condition10And12ABalance() throws InterruptedException {
    CustomerRow row = new CustomerRow(row(Table.CUSTOMER, Keys.customer(W, D, 3)));
    row.setBalanceCents(row.balanceCents() + 1);
    assertViolated(Condition.BALANCE, Condition.PAYMENTS);
  }

  @Test
  void condition12AYearToDatePayment() throws InterruptedException {
    CustomerRow row = new CustomerRow(row(Table.CUSTOMER, Keys.customer(W, D, 3)));
    row.setYtdPaymentCents(row.ytdPaymentCents() + 1);
    assertViolated(Condition.PAYMENTS);
  }

  @Test
  void condition11ADeliveryThatWasNotCounted() throws InterruptedException {
    CustomerRow row = new CustomerRow(row(Table.CUSTOMER, Keys.customer(W, D, 3)));
    row.setDeliveries(1);
    assertViolated(Condition.DELIVERED);
  }

  @Test
  void anIndexEntryThatIsMissing() throws InterruptedException {
    CustomerRow row = new CustomerRow(row(Table.CUSTOMER, Keys.customer(W, D, 3)));
    remove(Table.CUSTOMER_BY_NAME, Keys.customerByName(W, D, row.last(), row.first(), 3));
    assertViolated(Condition.NAME_INDEX);
  }

  @Test
  void anIndexEntryThatIsTooMuch() throws InterruptedException {
    store
        .rowsOf(Table.CUSTOMER_BY_NAME)
        .put(
            Keys.customerByName(W, D, Values.ascii("ZZZ"), Values.ascii("last of all"), 3),
            new byte[0]);
    store.rowsOf(Table.ORDERS_BY_CUSTOMER).put(Keys.orderByCustomer(W, D, 1, 99), new byte[0]);
    assertViolated(Condition.NAME_INDEX, Condition.ORDER_INDEX);
  }

  @Test
  void anOrderThatIsMissingInTheIndex() throws InterruptedException {
    OrderRow row = new OrderRow(row(Table.ORDERS, Keys.order(W, D, LAST)));
    remove(Table.ORDERS_BY_CUSTOMER, Keys.orderByCustomer(W, D, row.customer(), LAST));
    assertViolated(Condition.ORDER_INDEX);
  }

  @Test
  void rowsThatAreLostFromTablesThatOnlyTheLoadFills() throws InterruptedException {
    remove(Table.ITEM, Keys.item(5));
    remove(Table.STOCK, Keys.stock(W, 5));
    assertViolated(Condition.ROWS);
  }
}
