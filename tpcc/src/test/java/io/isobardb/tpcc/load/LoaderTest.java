package io.isobardb.tpcc.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.tpcc.MapStore;
import io.isobardb.tpcc.TestStore;
import io.isobardb.tpcc.schema.CustomerRow;
import io.isobardb.tpcc.schema.DistrictRow;
import io.isobardb.tpcc.schema.ItemRow;
import io.isobardb.tpcc.schema.Keys;
import io.isobardb.tpcc.schema.OrderLineRow;
import io.isobardb.tpcc.schema.OrderRow;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.schema.StockRow;
import io.isobardb.tpcc.schema.Table;
import io.isobardb.tpcc.schema.WarehouseRow;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LoaderTest {
  private static MapStore load(Scale scale, long seed, int threads) throws InterruptedException {
    MapStore maps = new MapStore();
    new Loader(maps, scale, seed, TestStore.NOW_MILLIS, rows -> {}).load(threads);
    return maps;
  }

  @Test
  void aWarehouseOfFullSizeHasAllCardinalities() throws InterruptedException {
    MapStore maps = load(Scale.of(1, 1), TestStore.seed(), 1);
    assertEquals(1, maps.rows(Table.WAREHOUSE));
    assertEquals(10, maps.rows(Table.DISTRICT));
    assertEquals(30_000, maps.rows(Table.CUSTOMER));
    assertEquals(30_000, maps.rows(Table.CUSTOMER_BY_NAME));
    assertEquals(30_000, maps.rows(Table.HISTORY));
    assertEquals(30_000, maps.rows(Table.ORDERS));
    assertEquals(30_000, maps.rows(Table.ORDERS_BY_CUSTOMER));
    assertEquals(9_000, maps.rows(Table.NEW_ORDER));
    assertEquals(100_000, maps.rows(Table.ITEM));
    assertEquals(100_000, maps.rows(Table.STOCK));
    int lines = maps.rows(Table.ORDER_LINE);
    assertTrue(lines > 297_000 && lines < 303_000, "order lines: " + lines);
    assertEquals(
        300_000_00, new WarehouseRow(maps.get(Table.WAREHOUSE, Keys.warehouse(1))).ytdCents());
    customers(maps);
    orders(maps);
    items(maps);
  }

  private static void customers(MapStore maps) {
    Set<String> first1000 = new HashSet<>();
    int badCredit = 0;
    for (Map.Entry<byte[], byte[]> entry : maps.rowsOf(Table.CUSTOMER).entrySet()) {
      CustomerRow row = new CustomerRow(entry.getValue());
      assertEquals(-10_00, row.balanceCents());
      assertEquals(10_00, row.ytdPaymentCents());
      assertEquals(1, row.payments());
      assertEquals(0, row.deliveries());
      assertTrue(row.discountRate() >= 0 && row.discountRate() <= 5000);
      assertTrue(row.data().length >= 300 && row.data().length <= 500);
      assertTrue(row.first().length >= 8 && row.first().length <= 16);
      badCredit += row.badCredit() ? 1 : 0;
      if (Keys.districtOf(entry.getKey()) == 1 && Keys.orderOf(entry.getKey()) <= 1000) {
        first1000.add(new String(row.last(), java.nio.charset.StandardCharsets.ISO_8859_1));
      }
    }
    assertEquals(1000, first1000.size(), "names of the first 1000 customers of a district");
    assertTrue(badCredit > 2800 && badCredit < 3200, "bad credit: " + badCredit);
    maps.rowsOf(Table.DISTRICT)
        .values()
        .forEach(
            bytes -> {
              DistrictRow row = new DistrictRow(bytes);
              assertEquals(30_000_00, row.ytdCents());
              assertEquals(3001, row.nextOrder());
              assertTrue(row.taxRate() >= 0 && row.taxRate() <= 2000);
            });
  }

  private static void orders(MapStore maps) {
    Set<Integer> customers = new HashSet<>();
    maps.scan(
        Table.ORDERS,
        Keys.district(1, 4),
        Keys.district(1, 5),
        (key, value) -> {
          OrderRow row = new OrderRow(value);
          customers.add(row.customer());
          boolean delivered = Keys.orderOf(key) < 2101;
          assertEquals(delivered, row.carrier() != 0);
          assertTrue(row.allLocal());
          assertEquals(delivered, maps.get(Table.NEW_ORDER, key) == null);
          int[] lines = {0};
          maps.scan(
              Table.ORDER_LINE,
              key,
              Keys.after(key),
              (lineKey, line) -> {
                OrderLineRow lineRow = new OrderLineRow(line);
                assertEquals(++lines[0], Keys.lineOf(lineKey));
                assertEquals(delivered, lineRow.deliveryMillis() != 0);
                assertEquals(delivered, lineRow.amountCents() == 0);
                assertEquals(5, lineRow.quantity());
                assertEquals(1, lineRow.supplier());
                return true;
              });
          assertEquals(row.lines(), lines[0]);
          return true;
        });
    assertEquals(3000, customers.size(), "each customer has one order");
  }

  private static void items(MapStore maps) {
    int[] originals = {0, 0};
    maps.rowsOf(Table.ITEM)
        .values()
        .forEach(
            bytes -> {
              ItemRow row = new ItemRow(bytes);
              assertTrue(row.priceCents() >= 1_00 && row.priceCents() <= 100_00);
              originals[0] += row.original() ? 1 : 0;
            });
    maps.rowsOf(Table.STOCK)
        .values()
        .forEach(
            bytes -> {
              StockRow row = new StockRow(bytes);
              assertTrue(row.quantity() >= 10 && row.quantity() <= 100);
              assertEquals(0, row.ytd() + row.orders() + row.remoteOrders());
              originals[1] += row.original() ? 1 : 0;
            });
    assertTrue(originals[0] > 9_600 && originals[0] < 10_400, "items: " + originals[0]);
    assertTrue(originals[1] > 9_600 && originals[1] < 10_400, "stock: " + originals[1]);
  }

  @Test
  void theSameSeedGivesTheSameRowsHoweverManyThreadsThereAre() throws InterruptedException {
    Scale scale = new Scale(5, 50, 20, 6);
    int one = load(scale, 7, 1).contents();
    assertEquals(one, load(scale, 7, 4).contents());
    assertNotEquals(one, load(scale, 8, 4).contents());
  }

  @Test
  void theNumberOfRowsIsForetold() throws InterruptedException {
    Scale scale = new Scale(3, 500, 100, 30);
    int rows = load(scale, TestStore.seed(), 2).rows();
    double error = Math.abs(rows - Loader.expectedRows(scale)) / (double) rows;
    assertTrue(error < 0.02, rows + " rows, foretold " + Loader.expectedRows(scale));
  }

  @Test
  void warehousesDiffer() throws InterruptedException {
    MapStore maps = load(TestStore.TINY, TestStore.seed(), 2);
    assertTrue(
        Collections.disjoint(
            List.of(Arrays.hashCode(maps.get(Table.STOCK, Keys.stock(1, 1)))),
            List.of(Arrays.hashCode(maps.get(Table.STOCK, Keys.stock(2, 1))))));
  }

  @Test
  void whatAnInterruptedLoadLeftBehindIsNotLoadedOver() throws InterruptedException {
    MapStore maps = load(TestStore.TINY, TestStore.seed(), 2);
    maps.rowsOf(Table.META).clear();
    assertNull(Loader.loaded(maps));
    Loader again = new Loader(maps, TestStore.TINY, 1, TestStore.NOW_MILLIS, rows -> {});
    assertTrue(
        assertThrows(IllegalStateException.class, () -> again.load(1))
            .getMessage()
            .contains("remove its directory"));
  }
}
