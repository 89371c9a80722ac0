package io.isobardb.tpcc.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.tpcc.TestStore;
import io.isobardb.tpcc.check.ConsistencyCheck;
import io.isobardb.tpcc.check.Findings;
import io.isobardb.tpcc.load.Loader;
import io.isobardb.tpcc.schema.Keys;
import io.isobardb.tpcc.schema.LoadMark;
import io.isobardb.tpcc.schema.OrderRow;
import io.isobardb.tpcc.schema.Table;
import io.isobardb.tpcc.store.EngineKind;
import io.isobardb.tpcc.store.IsobarStore;
import io.isobardb.tpcc.store.Isolation;
import io.isobardb.tpcc.store.Locking;
import io.isobardb.tpcc.store.StoreSpec;
import io.isobardb.tpcc.store.TpccStore;
import io.isobardb.tpcc.store.TpccTransaction;
import io.isobardb.tpcc.work.Kind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("any-jdk")
class DriverTest {
  @TempDir Path dir;

  @ParameterizedTest
  @MethodSource("io.isobardb.tpcc.TestStore#enginesAndLocking")
  void allConditionsHoldAfterALoadAfterARunAndAfterReopening(EngineKind engine, Locking locking)
      throws InterruptedException {
    StoreSpec spec = TestStore.spec(engine, locking, dir);
    try (TpccStore store = EngineKind.openStore(spec)) {
      LoadMark mark = TestStore.load(store);
      assertClean(store, mark);
      for (Isolation isolation : new Isolation[] {Isolation.SNAPSHOT, Isolation.READ_COMMITTED}) {
        runUntilAllKindsWereDone(store, mark, isolation);
        assertClean(store, mark);
      }
    }
    try (TpccStore store = EngineKind.openStore(spec)) {
      LoadMark mark = Loader.loaded(store);
      assertNotNull(mark);
      assertClean(store, mark);
    }
  }

  /** Clause 3.3.3: a checkpoint while transactions run harms no condition. */
  @Test
  void allConditionsHoldAfterCheckpointsUnderLoad() throws InterruptedException {
    StoreOptions options = StoreOptions.builder().memoryBudget(16 << 20).build();
    Store opened = Store.open(dir, options);
    AtomicInteger checkpoints = new AtomicInteger();
    try (TpccStore store = new IsobarStore(opened, Locking.PESSIMISTIC)) {
      LoadMark mark = TestStore.load(store);
      Observer checkpointing =
          new Observer() {
            @Override
            public void progress(Progress progress) {
              opened.flush();
              opened.checkpoint();
              checkpoints.incrementAndGet();
            }
          };
      RunSpec run =
          new RunSpec(
              4, 2, 0, 3_000, Mix.SPECIFIED, Isolation.SNAPSHOT, false, true, TestStore.seed());
      new Driver(store, mark, run, DriverClock.SYSTEM, checkpointing).run();
      assertTrue(checkpoints.get() > 0);
      assertClean(store, mark);
    }
  }

  /** Clause 2.7.2.3: what became of each deferred delivery. */
  @Test
  void theResultFileTellsWhichOrdersWereDelivered() throws Exception {
    Path file = dir.resolve("deliveries.csv");
    try (TpccStore store =
        EngineKind.openStore(
            TestStore.spec(EngineKind.ISOBAR, Locking.PESSIMISTIC, dir.resolve("store")))) {
      LoadMark mark = TestStore.load(store);
      AtomicInteger delivered = new AtomicInteger();
      AtomicInteger skipped = new AtomicInteger();
      try (DeliveryLog log = new DeliveryLog(file)) {
        Observer observer =
            new Observer() {
              @Override
              public void delivered(Delivered delivery) {
                log.add(delivery);
                for (int order : delivery.orders()) {
                  (order == DeliveryLog.SKIPPED ? skipped : delivered).incrementAndGet();
                }
              }
            };
        for (int i = 0; i < 50 && delivered.get() == 0; i++) {
          RunSpec run =
              new RunSpec(
                  2, 1, 0, 300, Mix.SPECIFIED, Isolation.SNAPSHOT, false, true, TestStore.seed());
          new Driver(store, mark, run, DriverClock.SYSTEM, observer).run();
        }
      }
      Set<String> orders = new HashSet<>();
      List<String> lines = Files.readAllLines(file);
      assertEquals("queued,ended,warehouse,carrier,d1,d2,d3,d4,d5,d6,d7,d8,d9,d10", lines.get(0));
      int districtsSkipped = 0;
      for (String line : lines.subList(1, lines.size())) {
        String[] fields = line.split(",", -1);
        assertEquals(14, fields.length);
        assertTrue(Long.parseLong(fields[0]) <= Long.parseLong(fields[1]), line);
        int carrier = Integer.parseInt(fields[3]);
        assertTrue(carrier >= 1 && carrier <= 10, line);
        for (int d = 1; d <= 10; d++) {
          if (fields[3 + d].equals("skipped")) {
            districtsSkipped++;
            continue;
          }
          assertTrue(orders.add(fields[2] + "-" + d + "-" + fields[3 + d]), "twice: " + line);
          try (TpccTransaction transaction = store.newTransaction()) {
            transaction.begin(Isolation.READ_COMMITTED);
            int w = Integer.parseInt(fields[2]);
            byte[] key = Keys.order(w, d, Integer.parseInt(fields[3 + d]));
            assertNull(transaction.get(Table.NEW_ORDER, key), line);
            byte[] order = transaction.get(Table.ORDERS, key);
            assertNotNull(order);
            assertEquals(carrier, new OrderRow(order).carrier(), line);
            transaction.rollback();
          }
        }
      }
      assertEquals(delivered.get(), orders.size());
      assertEquals(skipped.get(), districtsSkipped);
      assertTrue(delivered.get() > 0);
    }
  }

  /** A busy machine may do little in one run. */
  private static void runUntilAllKindsWereDone(TpccStore store, LoadMark mark, Isolation isolation)
      throws InterruptedException {
    Set<Kind> missing = EnumSet.allOf(Kind.class);
    for (int i = 0; i < 50 && !missing.isEmpty(); i++) {
      RunSpec run =
          new RunSpec(
              4, 2, 0, 500, Mix.SPECIFIED, isolation, false, i % 2 == 0, TestStore.seed() + i);
      RunResult result = new Driver(store, mark, run, DriverClock.SYSTEM, new Observer() {}).run();
      for (Kind kind : Kind.values()) {
        assertEquals(0, result.tally().givenUp(kind));
        if (result.tally().done(kind) > 0) {
          missing.remove(kind);
        }
      }
    }
    assertEquals(Set.of(), missing);
  }

  private static void assertClean(TpccStore store, LoadMark mark) throws InterruptedException {
    Findings findings = ConsistencyCheck.run(store, mark.scale(), 2, done -> {});
    assertTrue(findings.clean(), findings::text);
  }
}
