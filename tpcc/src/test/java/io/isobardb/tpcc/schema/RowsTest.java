package io.isobardb.tpcc.schema;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.tpcc.TestStore;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class RowsTest {
  private final Values values = new Values(TestStore.seed());

  @Test
  void columnsKeepTheirValuesWhenOthersChange() {
    byte[] name = Values.ascii("Depot");
    DistrictRow district = DistrictRow.of(name, values.address(), 1234, 30_000_00, 3001);
    district.setYtdCents(Long.MAX_VALUE / 3);
    district.setNextOrder(77);
    DistrictRow read = new DistrictRow(district.bytes().clone());
    assertEquals(Long.MAX_VALUE / 3, read.ytdCents());
    assertEquals(77, read.nextOrder());
    assertEquals(1234, read.taxRate());
    assertArrayEquals(name, read.name());

    WarehouseRow warehouse = WarehouseRow.of(name, values.address(), 2000, 5);
    warehouse.setYtdCents(-6);
    assertEquals(-6, warehouse.ytdCents());
    assertEquals(2000, warehouse.taxRate());
    assertArrayEquals(name, warehouse.name());

    OrderRow order = OrderRow.of(2999, 5, 0, 15, false);
    order.setCarrier(10);
    assertEquals(2999, order.customer());
    assertEquals(10, order.carrier());
    assertEquals(15, order.lines());
    assertEquals(5, order.entryMillis());
    assertFalse(order.allLocal());

    OrderLineRow line = OrderLineRow.of(100_000, 9, 10, 99_999, values.text(24, 24));
    line.setDeliveryMillis(TestStore.NOW_MILLIS);
    assertEquals(TestStore.NOW_MILLIS, line.deliveryMillis());
    assertEquals(100_000, line.item());
    assertEquals(9, line.supplier());
    assertEquals(10, line.quantity());
    assertEquals(99_999, line.amountCents());
  }

  @Test
  void aCustomersDataGrowsAtItsFrontAndIsCutAt500() {
    CustomerRow row = customer(Values.ascii("x".repeat(490)));
    row.setBalanceCents(-10_00);
    row.setYtdPaymentCents(10_00);
    row.setPayments(1);
    row.setDeliveries(2);
    CustomerRow longer = row.withDataPrefix(Values.ascii("0123456789abcdef|"));
    String data = new String(longer.data(), StandardCharsets.ISO_8859_1);
    assertEquals("0123456789abcdef|" + "x".repeat(483), data);
    assertEquals(-10_00, longer.balanceCents());
    assertEquals(10_00, longer.ytdPaymentCents());
    assertEquals(1, longer.payments());
    assertEquals(2, longer.deliveries());
    assertArrayEquals(row.last(), longer.last());
    assertArrayEquals(row.first(), longer.first());
    assertEquals("ab" + "y".repeat(300), text(customer(Values.ascii("y".repeat(300))), "ab"));
  }

  private static String text(CustomerRow row, String prefix) {
    return new String(row.withDataPrefix(Values.ascii(prefix)).data(), StandardCharsets.ISO_8859_1);
  }

  private CustomerRow customer(byte[] data) {
    return CustomerRow.of(
        new CustomerRow.Person(
            Values.lastName(371), values.text(8, 16), values.address(), values.digits(16)),
        true,
        5000,
        1,
        data);
  }

  @Test
  void lastNamesAreThreeSyllables() {
    assertEquals("PRICALLYOUGHT", Row.string(Values.lastName(371)));
    assertEquals("BARBARBAR", Row.string(Values.lastName(0)));
    assertEquals("EINGEINGEING", Row.string(Values.lastName(999)));
  }

  @Test
  void aStockIsFilledUpWhenFewerThanTenWouldRemain() {
    StockRow stock = StockRow.of(20, values.text(240, 240), values.text(26, 50));
    stock.order(10, false);
    assertEquals(10, stock.quantity());
    stock.order(1, true);
    assertEquals(100, stock.quantity());
    assertEquals(11, stock.ytd());
    assertEquals(2, stock.orders());
    assertEquals(1, stock.remoteOrders());
    assertArrayEquals(
        java.util.Arrays.copyOfRange(stock.bytes(), 14 + 9 * 24, 14 + 240), stock.districtInfo(10));
  }

  @Test
  void originalIsFoundWhereverItStands() {
    for (String data : new String[] {"ORIGINAL", "xxORIGINAL", "ORIGINALxx", "OORIGINALL"}) {
      assertTrue(ItemRow.of(1, 1, values.text(14, 24), Values.ascii(data)).original(), data);
    }
    // The name does not count.
    assertFalse(ItemRow.of(1, 1, Values.ascii("ORIGINAL"), Values.ascii("ORIGINA")).original());
  }

  @Test
  void rowsAreAboutAsLargeAsTheSpecificationSays() {
    int rows = 2000;
    long customer = 0;
    long stock = 0;
    long item = 0;
    for (int i = 0; i < rows; i++) {
      customer += 9 + customer(values.text(300, 500)).bytes().length;
      stock += 8 + StockRow.of(10, values.text(240, 240), values.itemData()).bytes().length;
      item += 4 + ItemRow.of(1, 1, values.text(14, 24), values.itemData()).bytes().length;
    }
    assertAbout(655, customer / rows);
    assertAbout(306, stock / rows);
    assertAbout(82, item / rows);
    assertAbout(54, 10 + OrderLineRow.of(1, 1, 1, 1, values.text(24, 24)).bytes().length);
    assertAbout(24, 9 + OrderRow.of(1, 1, 0, 10, true).bytes().length);
    assertAbout(46, 26 - 8 + HistoryRow.of(1, values.text(12, 24)).bytes().length);
  }

  private static void assertAbout(long specified, long found) {
    assertTrue(
        found >= specified * 0.8 && found <= specified * 1.2, found + " is not about " + specified);
  }

  @Test
  void aMarkIsReadBackAndAnotherVersionIsRefused() {
    LoadMark mark = new LoadMark(TestStore.TINY, new NuRand(1, 2, 3), -4);
    assertEquals(mark, LoadMark.fromBytes(mark.toBytes()));
    assertNull(LoadMark.fromBytes(null));
    byte[] other = mark.toBytes();
    other[0] = 9;
    assertTrue(
        assertThrows(IllegalStateException.class, () -> LoadMark.fromBytes(other))
            .getMessage()
            .contains("version 9"));
  }

  @Test
  void aRowThatIsTooShortIsRefused() {
    assertTrue(
        assertThrows(IllegalArgumentException.class, () -> new OrderRow(new byte[3]))
            .getMessage()
            .startsWith("OrderRow: 3 bytes"));
  }
}
