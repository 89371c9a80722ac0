package io.isobardb.tpcc.kill;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.tpcc.TestStore;
import io.isobardb.tpcc.schema.Keys;
import io.isobardb.tpcc.schema.OrderRow;
import io.isobardb.tpcc.schema.Table;
import io.isobardb.tpcc.store.EngineKind;
import io.isobardb.tpcc.store.Isolation;
import io.isobardb.tpcc.store.Locking;
import io.isobardb.tpcc.store.Loss;
import io.isobardb.tpcc.store.StoreSpec;
import io.isobardb.tpcc.store.TpccStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("any-jdk")
class KillTestTest {
  @TempDir Path dir;

  /** Synced commits of each engine, and unsynced ones where they are to survive the process. */
  static List<Arguments> promises() {
    List<Arguments> promises = new ArrayList<>();
    TestStore.ENGINES.forEach(engine -> promises.add(Arguments.of(engine, true)));
    for (EngineKind engine : EngineKind.values()) {
      if (engine.survival(false).processEnd() == Loss.NOTHING) {
        promises.add(Arguments.of(engine, false));
      }
    }
    return promises;
  }

  @ParameterizedTest
  @MethodSource("promises")
  void whatWasAcknowledgedIsThereAfterEachKill(EngineKind engine, boolean sync)
      throws InterruptedException {
    StoreSpec spec = new StoreSpec(engine, dir, 16 << 20, sync, Locking.PESSIMISTIC, false);
    try (TpccStore store = EngineKind.openStore(spec)) {
      TestStore.load(store);
    }
    KillTest.Result result =
        new KillTest(
                new KillSpec(spec, Isolation.SNAPSHOT, 4, 2, 300, TestStore.seed()),
                System.out::println)
            .run();
    assertEquals(List.of(), result.failures());
    assertEquals(2, result.cycles());
    assertTrue(result.orders() > 0, "no order was acknowledged");
  }

  @ParameterizedTest
  @EnumSource(names = {"ISOBAR", "ROCKSDB"})
  void anAcknowledgedOrderThatIsNotThereIsTold(EngineKind engine) throws InterruptedException {
    StoreSpec spec = new StoreSpec(engine, dir, 16 << 20, true, Locking.PESSIMISTIC, false);
    try (TpccStore store = EngineKind.openStore(spec)) {
      TestStore.load(store);
      String lost = new Acknowledged(1, 2, 31, 1, 5, 100).missing(store);
      assertEquals("order 31 of district 2 of warehouse 1 was acknowledged and is lost", lost);
      int lines = new OrderRow(store.get(Table.ORDERS, Keys.order(1, 2, 3))).lines();
      String different = new Acknowledged(1, 2, 3, 1, lines + 1, 100).missing(store);
      assertTrue(different != null && different.contains("there are"), different);
    }
  }

  @Test
  void aTestOfCommitsThatMayBeLostIsRefused() {
    StoreSpec spec =
        new StoreSpec(
            EngineKind.ROCKSDB_BUFFERED, dir, 16 << 20, false, Locking.PESSIMISTIC, false);
    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class,
            () -> new KillSpec(spec, Isolation.SNAPSHOT, 4, 2, 600, 1));
    assertTrue(refused.getMessage().contains("may lose the last 100 ms"), refused.getMessage());
  }

  @Test
  void halfALineIsNoAcknowledgement() {
    String line = new Acknowledged(1, 2, 3, 4, 5, 678).line();
    assertEquals(new Acknowledged(1, 2, 3, 4, 5, 678), Acknowledged.parse(line));
    for (int end = 0; end < line.length(); end++) {
      assertNull(Acknowledged.parse(line.substring(0, end)));
    }
  }

  /** Such as one whose JVM has crashed: 134 is not the code of a process that was killed. */
  @Test
  void aProcessThatEndsByItselfIsAFailureWhateverItsCode() throws Exception {
    StoreSpec spec =
        new StoreSpec(
            EngineKind.ISOBAR, dir.resolve("s"), 16 << 20, true, Locking.PESSIMISTIC, false);
    try (TpccStore store = EngineKind.openStore(spec)) {
      TestStore.load(store);
    }
    Path java = Files.createDirectories(dir.resolve("jdk/bin")).resolve("java");
    Files.writeString(java, "#!/bin/sh\nexit 134\n");
    assertTrue(java.toFile().setExecutable(true));
    String home = System.setProperty("java.home", java.getParent().getParent().toString());
    try {
      KillTest.Result result =
          new KillTest(new KillSpec(spec, Isolation.SNAPSHOT, 1, 2, 60_000, 1), System.out::println)
              .run();
      assertEquals(1, result.cycles());
      assertEquals(1, result.failures().size());
      assertTrue(result.failures().get(0).contains("ended by itself"), result.failures()::toString);
    } finally {
      System.setProperty("java.home", home);
    }
  }
}
