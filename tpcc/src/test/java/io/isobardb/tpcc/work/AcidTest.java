package io.isobardb.tpcc.work;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.tpcc.TestStore;
import io.isobardb.tpcc.check.ConsistencyCheck;
import io.isobardb.tpcc.check.Findings;
import io.isobardb.tpcc.schema.CustomerRow;
import io.isobardb.tpcc.schema.DistrictRow;
import io.isobardb.tpcc.schema.ItemRow;
import io.isobardb.tpcc.schema.Keys;
import io.isobardb.tpcc.schema.OrderRow;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.schema.StockRow;
import io.isobardb.tpcc.schema.Table;
import io.isobardb.tpcc.schema.Values;
import io.isobardb.tpcc.schema.WarehouseRow;
import io.isobardb.tpcc.store.ConflictException;
import io.isobardb.tpcc.store.EngineKind;
import io.isobardb.tpcc.store.Isolation;
import io.isobardb.tpcc.store.Locking;
import io.isobardb.tpcc.store.Put;
import io.isobardb.tpcc.store.TpccStore;
import io.isobardb.tpcc.store.TpccTransaction;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The tests of clauses 3.2 (atomicity) and 3.4 (isolation) as far as they apply to a library. Where
 * the specification has a transaction wait, one that reads a snapshot or conflicts instead is
 * accepted, as clause 3.4.2 permits: what counts is what it sees and what remains.
 */
@Tag("any-jdk")
class AcidTest {
  private static final int W = 1;
  private static final int D = 3;
  private static final int NEXT = 31;
  private static final long LOOK_MILLIS = 100;

  @TempDir Path dir;
  private TpccStore store;
  private Isolation isolation;

  static Stream<Arguments> modes() {
    List<Arguments> modes = new ArrayList<>();
    for (EngineKind engine : TestStore.ENGINES) {
      for (Locking locking : Locking.values()) {
        for (Isolation isolation : List.of(Isolation.SNAPSHOT, Isolation.SERIALIZABLE)) {
          if (engine != EngineKind.ROCKSDB || isolation != Isolation.SERIALIZABLE) {
            modes.add(Arguments.of(engine, locking, isolation));
          }
        }
      }
    }
    return modes.stream();
  }

  private void open(EngineKind engine, Locking locking, Isolation level)
      throws InterruptedException {
    store = EngineKind.openStore(TestStore.spec(engine, locking, dir));
    isolation = level;
    TestStore.load(store);
  }

  @AfterEach
  void allConditionsHold() throws InterruptedException {
    try (TpccStore closing = store) {
      Findings findings = ConsistencyCheck.run(closing, TestStore.TINY, 1, done -> {});
      assertTrue(findings.clean(), findings::text);
    }
  }

  private static NewOrder order(int customer, int... items) {
    List<NewOrder.Line> lines = new ArrayList<>();
    for (int item : items) {
      lines.add(new NewOrder.Line(lines.size() + 1, item, W, 1));
    }
    return new NewOrder(W, D, customer, lines, TestStore.NOW_MILLIS);
  }

  private static Payment payment(int customer, long cents) {
    CustomerChoice choice = new CustomerChoice(W, D, customer, 0);
    return new Payment(W, D, choice, cents, TestStore.NOW_MILLIS + 1);
  }

  private static OrderStatus status(int customer) {
    return new OrderStatus(new CustomerChoice(W, D, customer, 0));
  }

  /** Runs until it is through. */
  private <R> R run(Work<R> work) {
    return run(work, () -> {}, false);
  }

  private <R> R run(Work<R> work, Runnable beforeCommit, boolean rollBack) {
    try (TpccTransaction transaction =
        new Intercepted(store.newTransaction(), beforeCommit, rollBack)) {
      while (true) {
        transaction.begin(isolation);
        try {
          return work.run(transaction);
        } catch (ConflictException e) {
          transaction.rollback();
        }
      }
    }
  }

  /** Starts the other transaction once, while the first one is about to commit. */
  private final class Other<R> implements Runnable {
    private final Work<R> work;
    private CompletableFuture<R> result;

    Other(Work<R> work) {
      this.work = work;
    }

    @Override
    public void run() {
      if (result == null) {
        result = CompletableFuture.supplyAsync(() -> AcidTest.this.run(work));
        try {
          // It may be done by now, or wait for what is about to be committed.
          result.get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
          // It waits.
        } catch (InterruptedException | ExecutionException e) {
          throw new AssertionError(e);
        }
      }
    }

    R result() throws InterruptedException, ExecutionException {
      return result.get();
    }
  }

  private CustomerRow customer(int c) {
    return new CustomerRow(store.get(Table.CUSTOMER, Keys.customer(W, D, c)));
  }

  private DistrictRow district() {
    return new DistrictRow(store.get(Table.DISTRICT, Keys.district(W, D)));
  }

  private long warehouseYtd() {
    return new WarehouseRow(store.get(Table.WAREHOUSE, Keys.warehouse(W))).ytdCents();
  }

  private int rows(Table table) {
    int[] count = {0};
    store.scan(table, Keys.warehouse(1), Keys.warehouse(9), (key, value) -> ++count[0] > 0);
    return count[0];
  }

  /** The customer of the oldest new order, the one to be delivered. */
  private int customerToDeliver() {
    byte[] key = Keys.order(W, D, TestStore.TINY.firstNewOrder());
    return new OrderRow(store.get(Table.ORDERS, key)).customer();
  }

  @ParameterizedTest
  @MethodSource("modes")
  void atomicityAPaymentIsThereInAllRowsOrInNone(
      EngineKind engine, Locking locking, Isolation level) throws InterruptedException {
    open(engine, locking, level);
    long balance = customer(5).balanceCents();
    long ytd = warehouseYtd();
    int payments = rows(Table.HISTORY);
    run(payment(5, 123_45));
    assertEquals(balance - 123_45, customer(5).balanceCents());
    assertEquals(ytd + 123_45, warehouseYtd());
    assertEquals(payments + 1, rows(Table.HISTORY));
    byte[] warehouse = store.get(Table.WAREHOUSE, Keys.warehouse(W));
    byte[] district = district().bytes();
    byte[] customer = customer(5).bytes();
    run(payment(5, 678_90), () -> {}, true);
    assertArrayEquals(warehouse, store.get(Table.WAREHOUSE, Keys.warehouse(W)));
    assertArrayEquals(district, district().bytes());
    assertArrayEquals(customer, customer(5).bytes());
    assertEquals(payments + 1, rows(Table.HISTORY));
  }

  @ParameterizedTest
  @MethodSource("modes")
  void atomicityAnOrderOfAnUnusedItemLeavesNothing(
      EngineKind engine, Locking locking, Isolation level) throws InterruptedException {
    open(engine, locking, level);
    byte[] stock = store.get(Table.STOCK, Keys.stock(W, 7));
    int lines = rows(Table.ORDER_LINE);
    NewOrder.Placed placed = run(order(5, 7, 8, 9, 10, TestStore.TINY.items() + 1));
    assertTrue(placed.rolledBack());
    assertTrue(placed.linesCents() > 0, "the other lines were worked on");
    assertEquals(NEXT, district().nextOrder());
    assertArrayEquals(stock, store.get(Table.STOCK, Keys.stock(W, 7)));
    assertNull(store.get(Table.ORDERS, Keys.order(W, D, NEXT)));
    assertEquals(lines, rows(Table.ORDER_LINE));
  }

  /** Clause 2.4.2.2: what I_DATA and S_DATA say decides what is shown of a line. */
  @ParameterizedTest
  @EnumSource(names = "ISOBAR")
  void aLineIsOfABrandIfItsItemAndItsStockAreOriginal(EngineKind engine)
      throws InterruptedException {
    open(engine, Locking.PESSIMISTIC, Isolation.SNAPSHOT);
    byte[] name = Values.ascii("a name of an item");
    byte[] plain = Values.ascii("nothing that is looked for");
    byte[] original = Values.ascii("an ORIGINAL among other words");
    byte[] infos = new byte[Scale.DISTRICTS * StockRow.INFO_BYTES];
    for (int item = 1; item <= 4; item++) {
      byte[] ofItem = item % 2 == 0 ? original : plain;
      byte[] ofStock = item > 2 ? original : plain;
      store.load(
          List.of(
              new Put(Table.ITEM, Keys.item(item), ItemRow.of(1, 100, name, ofItem).bytes()),
              new Put(Table.STOCK, Keys.stock(W, item), StockRow.of(50, infos, ofStock).bytes())));
    }
    assertEquals(1, run(order(5, 1, 2, 3, 4)).brands());
    assertEquals(0, run(order(5, 1, 2, 3)).brands());
  }

  @ParameterizedTest
  @MethodSource("modes")
  void isolation1And2AnOrderIsSeenWhenItIsCommittedAndNotBefore(
      EngineKind engine, Locking locking, Isolation level) throws Exception {
    open(engine, locking, level);
    int before = run(status(5)).order();
    for (boolean rollBack : new boolean[] {true, false}) {
      Other<OrderStatus.Status> other = new Other<>(status(5));
      run(order(5, 1, 2, 3, 4, 6), other, rollBack);
      int seen = other.result().order();
      // One that waited may see the order if it was committed.
      assertTrue(seen == before || !rollBack && seen == NEXT, "saw " + seen);
      OrderStatus.Status after = run(status(5));
      assertEquals(rollBack ? before : NEXT, after.order());
      assertTrue(rollBack || after.lines().size() == 5);
    }
  }

  @ParameterizedTest
  @MethodSource("modes")
  void isolation3And4OrdersOfADistrictAreNumberedOneByOne(
      EngineKind engine, Locking locking, Isolation level) throws Exception {
    open(engine, locking, level);
    Other<NewOrder.Placed> other = new Other<>(order(6, 1, 2, 3, 4, 6));
    NewOrder.Placed first = run(order(5, 6, 4, 3, 2, 1), other, false);
    Set<Integer> orders = new TreeSet<>(List.of(first.order(), other.result().order()));
    assertEquals(Set.of(NEXT, NEXT + 1), orders);
    assertEquals(NEXT + 2, district().nextOrder());
    Other<NewOrder.Placed> third = new Other<>(order(6, 1, 2, 3, 4, 6));
    run(order(5, 6, 4, 3, 2, 1), third, true);
    assertEquals(NEXT + 2, third.result().order());
    assertEquals(NEXT + 3, district().nextOrder());
  }

  @ParameterizedTest
  @MethodSource("modes")
  void isolation5And6ABalanceHasBothAPaymentAndADelivery(
      EngineKind engine, Locking locking, Isolation level) throws Exception {
    open(engine, locking, level);
    int c = customerToDeliver();
    long balance = customer(c).balanceCents();
    Delivery delivery = new Delivery(W, D, 1, 4, TestStore.NOW_MILLIS + 1);
    Other<Payment.Paid> rolledBackOther = new Other<>(payment(c, 10_00));
    run(delivery, rolledBackOther, true);
    rolledBackOther.result();
    assertEquals(balance - 10_00, customer(c).balanceCents());
    assertEquals(0, customer(c).deliveries());
    Other<Payment.Paid> other = new Other<>(payment(c, 20_00));
    int delivered = run(delivery, other, false);
    other.result();
    assertEquals(TestStore.TINY.firstNewOrder(), delivered);
    long sum = run(status(c)).lines().stream().mapToLong(line -> line.amountCents()).sum();
    assertEquals(balance - 30_00 + sum, customer(c).balanceCents());
    assertEquals(1, customer(c).deliveries());
  }

  @ParameterizedTest
  @MethodSource("modes")
  void isolation7PricesDoNotChangeWithinATransaction(
      EngineKind engine, Locking locking, Isolation level) throws InterruptedException {
    open(engine, locking, level);
    byte[] x = Keys.item(11);
    byte[] y = Keys.item(12);
    byte[] oldX = store.get(Table.ITEM, x);
    byte[] oldY = store.get(Table.ITEM, y);
    try (TpccTransaction reader = store.newTransaction();
        TpccTransaction writer = store.newTransaction()) {
      reader.begin(isolation);
      assertArrayEquals(oldX, reader.get(Table.ITEM, x));
      writer.begin(isolation);
      for (byte[] key : List.of(x, y)) {
        ItemRow row = new ItemRow(writer.getForUpdate(Table.ITEM, key));
        ItemRow dearer =
            ItemRow.of(1, row.priceCents() + 10_00, Values.ascii("dear item 1234"), new byte[26]);
        writer.put(Table.ITEM, key, dearer.bytes());
      }
      writer.commit();
      // Outcome D of clause 3.4.2.7: the prices are those of before, both of them.
      assertArrayEquals(oldX, reader.get(Table.ITEM, x));
      assertArrayEquals(oldY, reader.get(Table.ITEM, y));
      reader.rollback();
    }
    int newX = new ItemRow(store.get(Table.ITEM, x)).priceCents();
    int newY = new ItemRow(store.get(Table.ITEM, y)).priceCents();
    assertEquals(new ItemRow(oldX).priceCents() + 10_00, newX);
    assertEquals(newX + newY, run(order(5, 11, 12)).linesCents());
  }

  @ParameterizedTest
  @MethodSource("modes")
  void isolation8ADistrictWithoutNewOrdersStaysSoWithinATransaction(
      EngineKind engine, Locking locking, Isolation level) throws InterruptedException {
    open(engine, locking, level);
    Delivery delivery = new Delivery(W, D, 1, 4, TestStore.NOW_MILLIS + 1);
    for (int o = TestStore.TINY.firstNewOrder(); o < NEXT; o++) {
      assertEquals(o, run(delivery));
    }
    assertEquals(0, run(delivery));
    byte[] district = Keys.district(W, D);
    try (TpccTransaction reader = store.newTransaction()) {
      reader.begin(isolation);
      assertNull(first(reader, Table.NEW_ORDER, district));
      assertEquals(NEXT, run(order(5, 1, 2, 3, 4, 6)).order());
      assertNull(first(reader, Table.NEW_ORDER, district), "a phantom");
      reader.rollback();
    }
    assertEquals(NEXT, run(delivery));
  }

  @ParameterizedTest
  @MethodSource("modes")
  void isolation9ACustomersLatestOrderStaysSoWithinATransaction(
      EngineKind engine, Locking locking, Isolation level) throws InterruptedException {
    open(engine, locking, level);
    byte[] customer = Keys.customer(W, D, 5);
    try (TpccTransaction reader = store.newTransaction()) {
      reader.begin(isolation);
      byte[] latest = first(reader, Table.ORDERS_BY_CUSTOMER, customer);
      assertNotNull(latest);
      assertEquals(NEXT, run(order(5, 1, 2, 3, 4, 6)).order());
      assertArrayEquals(latest, first(reader, Table.ORDERS_BY_CUSTOMER, customer), "a phantom");
      reader.rollback();
    }
    assertEquals(NEXT, run(status(5)).order());
  }

  private static byte[] first(TpccTransaction transaction, Table table, byte[] prefix) {
    byte[][] first = {null};
    transaction.scan(
        table,
        prefix,
        Keys.after(prefix),
        (key, value) -> {
          first[0] = key;
          return false;
        });
    return first[0];
  }
}
