package io.isobardb.tpcc.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.tpcc.TestStore;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.store.EngineKind;
import io.isobardb.tpcc.store.Isolation;
import io.isobardb.tpcc.store.Locking;
import io.isobardb.tpcc.work.Kind;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class RulesTest {
  private static final Scale SCALE = Scale.of(4, 1);

  private final RunSpec spec =
      new RunSpec(4, 2, 0, 60_000, Mix.SPECIFIED, Isolation.SNAPSHOT, false, true, 1);

  /** A run of {@code passes} decks that keeps all rules. */
  private static Tally good(int passes) {
    Tally tally = new Tally();
    for (Kind kind : Kind.values()) {
      for (int i = 0; i < passes * kind.cards(); i++) {
        tally.response(kind, 1_000_000);
      }
    }
    tally.deferred(5_000_000);
    long newOrders = 10L * passes;
    tally.rolledBack = newOrders / 100;
    tally.lines = newOrders * 10;
    tally.remoteLines = newOrders / 10;
    tally.remotePayments = newOrders * 15 / 100;
    tally.paymentsByName = newOrders * 60 / 100;
    tally.statusesByName = passes * 60L / 100;
    tally.districtsDelivered = passes * 10L;
    return tally;
  }

  private List<Rule> rules(Tally tally) {
    return Rules.of(
        new RunResult(60_000_000_000L, tally, Usage.UNKNOWN, Usage.UNKNOWN), spec, SCALE);
  }

  private void assertBroken(String name, Consumer<Tally> change) {
    Tally tally = good(20_000);
    change.accept(tally);
    List<String> broken =
        rules(tally).stream().filter(rule -> !rule.holds()).map(Rule::name).toList();
    assertEquals(List.of(name), broken);
  }

  @Test
  void aGoodRunKeepsAllRulesHoweverShort() {
    for (int passes : new int[] {100, 1000, 20_000}) {
      rules(good(passes)).forEach(rule -> assertTrue(rule.holds(), rule::toString));
    }
  }

  @Test
  void eachRuleCanBeBroken() {
    assertBroken("NewOrder: rolled back", tally -> tally.rolledBack = 2_300);
    assertBroken("NewOrder: rolled back", tally -> tally.rolledBack = 1_700);
    assertBroken(
        "NewOrder: lines",
        tally -> {
          tally.lines = 2_120_000;
          tally.remoteLines = 21_200;
        });
    assertBroken("NewOrder: remote lines", tally -> tally.remoteLines = 21_500);
    assertBroken("NewOrder: remote lines", tally -> tally.remoteLines = 0);
    assertBroken("Payment: remote customers", tally -> tally.remotePayments = 33_000);
    assertBroken("Payment: customers by name", tally -> tally.paymentsByName = 100_000);
    assertBroken("OrderStatus: customers by name", tally -> tally.statusesByName = 13_000);
    assertBroken("Delivery: districts without new orders", tally -> tally.districtsSkipped = 3_000);
    assertBroken("transactions given up", tally -> tally.giveUp(Kind.PAYMENT));
    assertBroken(
        "response time: StockLevel",
        tally -> {
          for (int i = 0; i < 2_500; i++) {
            tally.response(Kind.STOCK_LEVEL, 25_000_000_000L);
          }
        });
    assertBroken("response time: Delivery, executed", tally -> tally.deferred(81_000_000_000L));
    assertBroken(
        "mix: Payment",
        tally -> {
          for (int i = 0; i < 20_000; i++) {
            tally.response(Kind.ORDER_STATUS, 1);
            tally.response(Kind.DELIVERY, 1);
          }
          tally.statusesByName += 12_000;
        });
  }

  @Test
  void aShortRunIsJudgedByWhatChanceAllows() {
    Tally tally = good(100);
    // 1000 orders: 10 rolled back are meant, 15 may be, 27 may not.
    tally.rolledBack = 15;
    assertTrue(rules(tally).stream().allMatch(Rule::holds));
    tally.rolledBack = 27;
    assertFalse(rules(tally).stream().allMatch(Rule::holds));
  }

  @Test
  void aSingleWarehouseHasNothingRemote() {
    Tally tally = good(1000);
    tally.remoteLines = 0;
    tally.remotePayments = 0;
    List<Rule> one =
        Rules.of(
            new RunResult(60_000_000_000L, tally, Usage.UNKNOWN, Usage.UNKNOWN),
            spec,
            Scale.of(1, 1));
    assertTrue(one.stream().allMatch(Rule::holds));
    assertFalse(one.stream().anyMatch(rule -> rule.name().contains("remote")));
  }

  @Test
  void withWaitsTheRateIsJudgedToo() {
    RunSpec waits =
        new RunSpec(40, 20, 0, 60_000, Mix.SPECIFIED, Isolation.SNAPSHOT, true, true, 1);
    Tally tally = good(5);
    // 50 in a minute with 4 warehouses: 12.5.
    RunResult result = new RunResult(60_000_000_000L, tally, Usage.UNKNOWN, Usage.UNKNOWN);
    assertTrue(rate(Rules.of(result, waits, SCALE)).holds());
    RunResult fast = new RunResult(15_000_000_000L, tally, Usage.UNKNOWN, Usage.UNKNOWN);
    assertFalse(rate(Rules.of(fast, waits, SCALE)).holds());
  }

  private static Rule rate(List<Rule> rules) {
    return rules.stream()
        .filter(rule -> rule.name().equals("NewOrders per minute and warehouse"))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void theReportSaysThatItIsNotAuditedAndWhatWasFound() {
    RunResult result =
        new RunResult(
            60_000_000_000L,
            good(1000),
            new Usage(46_000_000, 23_000_000),
            new Usage(92_000_000, -1));
    Report report =
        new Report(
            TestStore.spec(EngineKind.ROCKSDB, Locking.PESSIMISTIC, Path.of("x")),
            spec,
            SCALE,
            result,
            "settings");
    String text = report.text();
    assertTrue(text.startsWith("TPC-C-derived load: not audited"), text);
    assertTrue(text.contains("10,000 NewOrders per minute"), text);
    assertTrue(text.contains("2,000 bytes written to devices per transaction, 4,000 with"), text);
    assertTrue(
        text.contains("process ends or is killed: loses nothing; machine fails: may lose what"),
        text);
    assertTrue(text.contains("[OK] mix: Payment"), text);
    Map<String, Object> map = report.toMap();
    assertEquals(10_000.0, map.get("newOrdersPerMinute"));
    assertEquals(2_000.0, map.get("deviceBytesPerTransaction"));
    assertEquals(4_000.0, map.get("deviceBytesPerTransactionSettled"));
    assertEquals(1_000.0, map.get("cpuNanosPerTransaction"));
    assertEquals(true, map.get("holds"));
  }
}
