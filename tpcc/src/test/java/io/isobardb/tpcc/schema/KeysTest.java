package io.isobardb.tpcc.schema;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.tpcc.TestStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class KeysTest {
  private static final int CASES = 2000;

  private record Columns(int w, int d, int x, int y, String last, String first, long date) {}

  private static List<Columns> columns() {
    Values values = new Values(TestStore.seed());
    List<Columns> all = new ArrayList<>();
    for (int i = 0; i < CASES; i++) {
      all.add(
          new Columns(
              number(values, 100_000),
              values.uniform(1, 10),
              number(values, 10_000_000),
              number(values, 15),
              Row.string(Values.lastName(values.uniform(0, 999))),
              Row.string(values.text(8, 16)),
              values.uniform(0, Integer.MAX_VALUE - 1) * 1000L));
    }
    return all;
  }

  /** Small ones and large ones, so that all bytes matter. */
  private static int number(Values values, int max) {
    return values.uniform(1, values.chance(50) ? Math.min(3, max) : max);
  }

  private static void assertOrder(Function<Columns, byte[]> key, Comparator<Columns> order) {
    List<Columns> byColumns = columns();
    byColumns.sort(order);
    for (int i = 1; i < byColumns.size(); i++) {
      Columns a = byColumns.get(i - 1);
      Columns b = byColumns.get(i);
      assertEquals(
          Integer.signum(order.compare(a, b)),
          Integer.signum(Arrays.compareUnsigned(key.apply(a), key.apply(b))),
          () -> a + " and " + b);
    }
  }

  private static final Comparator<Columns> DISTRICT =
      Comparator.comparingInt(Columns::w).thenComparingInt(Columns::d);

  @Test
  void allKeysSortAsTheirColumns() {
    assertOrder(c -> Keys.warehouse(c.w()), Comparator.comparingInt(Columns::w));
    assertOrder(c -> Keys.district(c.w(), c.d()), DISTRICT);
    assertOrder(c -> Keys.customer(c.w(), c.d(), c.x()), DISTRICT.thenComparing(Columns::x));
    assertOrder(c -> Keys.order(c.w(), c.d(), c.x()), DISTRICT.thenComparing(Columns::x));
    assertOrder(
        c -> Keys.orderLine(c.w(), c.d(), c.x(), c.y()),
        DISTRICT.thenComparing(Columns::x).thenComparing(Columns::y));
    assertOrder(c -> Keys.item(c.x()), Comparator.comparingInt(Columns::x));
    assertOrder(
        c -> Keys.stock(c.w(), c.x()),
        Comparator.comparingInt(Columns::w).thenComparingInt(Columns::x));
    assertOrder(
        c -> Keys.history(c.w(), c.d(), c.date(), Keys.customer(c.y(), 1, c.x()), 1),
        DISTRICT.thenComparing(Columns::date).thenComparing(Columns::y).thenComparing(Columns::x));
  }

  @Test
  void theLatestOrderOfACustomerComesFirst() {
    assertOrder(
        c -> Keys.orderByCustomer(c.w(), c.d(), c.y(), c.x()),
        DISTRICT.thenComparing(Columns::y).thenComparing(Columns::x, Comparator.reverseOrder()));
  }

  @Test
  void namesSortAsTextEvenIfOneBeginsWithAnother() {
    assertOrder(
        c ->
            Keys.customerByName(
                c.w(), c.d(), Values.ascii(c.last()), Values.ascii(c.first()), c.x()),
        DISTRICT
            .thenComparing(Columns::last)
            .thenComparing(Columns::first)
            .thenComparing(Columns::x));
    byte[] shorter = Keys.customerByName(1, 1, Values.ascii("BAR"), Values.ascii("zz"), 1);
    byte[] longer = Keys.customerByName(1, 1, Values.ascii("BARBAR"), Values.ascii("a"), 1);
    assertTrue(Arrays.compareUnsigned(shorter, longer) < 0);
    byte[] prefix = Keys.customersNamed(1, 1, Values.ascii("BAR"));
    assertTrue(Arrays.compareUnsigned(longer, Keys.after(prefix)) > 0, "BARBAR is not named BAR");
    assertTrue(Arrays.compareUnsigned(shorter, Keys.after(prefix)) < 0);
    assertTrue(Arrays.compareUnsigned(shorter, prefix) > 0);
  }

  @Test
  void columnsAreReadBackFromKeys() {
    for (Columns c : columns()) {
      byte[] line = Keys.orderLine(c.w(), c.d(), c.x(), c.y());
      assertEquals(c.w(), Keys.warehouseOf(line));
      assertEquals(c.d(), Keys.districtOf(line));
      assertEquals(c.x(), Keys.orderOf(line));
      assertEquals(c.y(), Keys.lineOf(line));
      assertEquals(c.x(), Keys.itemOf(Keys.stock(c.w(), c.x())));
      assertEquals(c.x(), Keys.itemOf(Keys.item(c.x())));
      assertEquals(c.x(), Keys.orderOfCustomer(Keys.orderByCustomer(c.w(), c.d(), c.y(), c.x())));
      byte[] customer = Keys.customer(c.w(), c.d(), c.x());
      assertArrayEquals(
          customer, Keys.customerOfHistory(Keys.history(1, 1, c.date(), customer, 7)));
      assertEquals(
          c.x(),
          Keys.customerOfName(
              Keys.customerByName(
                  c.w(), c.d(), Values.ascii(c.last()), Values.ascii(c.first()), c.x())));
    }
  }

  @Test
  void theKeyAfterAPrefixIsTheLeastAboveAllThatStartWithIt() {
    assertArrayEquals(new byte[] {1, 3}, Keys.after(new byte[] {1, 2}));
    assertArrayEquals(new byte[] {2}, Keys.after(new byte[] {1, -1, -1}));
    assertArrayEquals(new byte[] {-128}, Keys.after(new byte[] {127}));
  }
}
