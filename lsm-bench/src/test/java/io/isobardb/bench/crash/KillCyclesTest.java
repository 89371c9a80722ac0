package io.isobardb.bench.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.cli.console.Progress.Watcher;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The short form of {@code crash-test --cycles}. {@code -Disobar.seed=S} sets the seed, {@code
 * -Disobar.kill.cycles=N} asks for more cycles.
 */
class KillCyclesTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_240_613L);
  private static final long CYCLES = Long.getLong("isobar.kill.cycles", 3);

  @TempDir Path temp;

  @Test
  void noAcknowledgedWriteIsLostAndNoBatchTornHoweverOftenTheProcessIsKilled() throws Exception {
    System.out.println("isobar.seed=" + SEED + " isobar.kill.cycles=" + CYCLES);
    KillCycles.Result result = KillCycles.run(SEED, CYCLES, temp, Watcher.NONE);
    assertEquals(null, result.wrong(), () -> CrashReport.text(result));
    assertEquals(CYCLES, result.cycles());
    assertFalse(Files.exists(result.directory()), "the store is still there");
    assertTrue(result.operations() > 0, "the victims never wrote");
  }

  @Test
  void countersThatThreadsShareAreExactAfterEachKill() throws Exception {
    System.out.println("isobar.seed=" + SEED + " isobar.kill.cycles=" + CYCLES);
    KillCycles.Result result = CounterKills.run(SEED, CYCLES, 3000, temp, Watcher.NONE);
    assertEquals(null, result.wrong(), () -> CrashReport.text(result));
    assertTrue(result.operations() >= 2000, result.operations() + " additions");
  }

  @Test
  void aWriteThatIsMissingAndABatchThatIsTornAreFound() {
    try (Store store = Store.open(temp.resolve("store"))) {
      for (int i = 0; i < KillWorkload.TREES; i++) {
        store.createTree(KillWorkload.tree(i), KillWorkload.options(i));
      }
      for (int n = 0; n < 5; n++) {
        for (int i = 0; i < KillWorkload.TREES; i++) {
          if (KillWorkload.isIn(n, i)) {
            store
                .tree(KillWorkload.tree(i))
                .put(KillWorkload.key(0, n), KillWorkload.value(0, n), Durability.ASYNC);
          }
        }
      }
      assertEquals(5, new KillCheck(store, 0).next(0, 4));
      assertThrows(AssertionError.class, () -> new KillCheck(store, 0).next(0, 5));
      store.tree(KillWorkload.tree(1)).delete(KillWorkload.key(0, 0));
      assertThrows(AssertionError.class, () -> new KillCheck(store, 0).next(0, 4));
      assertThrows(AssertionError.class, () -> new KillCheck(store, 0).count(0));
    }
  }
}
