package io.isobardb.tpcc.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.tpcc.TestStore;
import io.isobardb.tpcc.check.ConsistencyCheck;
import io.isobardb.tpcc.check.Findings;
import io.isobardb.tpcc.load.Loader;
import io.isobardb.tpcc.schema.LoadMark;
import io.isobardb.tpcc.store.EngineKind;
import io.isobardb.tpcc.store.IsobarStore;
import io.isobardb.tpcc.store.Isolation;
import io.isobardb.tpcc.store.Locking;
import io.isobardb.tpcc.store.StoreSpec;
import io.isobardb.tpcc.store.TpccStore;
import io.isobardb.tpcc.work.Kind;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

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
