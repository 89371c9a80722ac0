package io.isobardb.bench.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.process.ChildJvm;
import io.isobardb.cli.console.Progress.Watcher;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
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
    KillCycles.Result result = KillCycles.run(SEED, CYCLES, null, temp, Watcher.NONE);
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
    try (Store store = created()) {
      for (int n = 0; n < 5; n++) {
        write(store, n);
        add(store, n);
      }
      assertEquals(5, new KillCheck(store, 0).next(0, 4, false));
      assertThrows(AssertionError.class, () -> new KillCheck(store, 0).next(0, 5, false));
      store.tree(KillWorkload.tree(1)).delete(KillWorkload.key(0, 0));
      assertThrows(AssertionError.class, () -> new KillCheck(store, 0).next(0, 4, false));
      assertThrows(AssertionError.class, () -> new KillCheck(store, 0).count(0));
    }
  }

  /** What operation 13 writes has expired: its keys can't tell whether it was done. */
  @Test
  void sumsTellWhereKeysHaveExpired() {
    try (Store store = created()) {
      for (int n = 0; n < 13; n++) {
        write(store, n);
        if (n < 12) {
          add(store, n);
        }
      }
      assertEquals(13, new KillCheck(store, 0).next(0, 11, false), "killed before it added");
      assertTrue(new KillCheck(store, 0).owes(0, 13));
      assertEquals(13, new KillCheck(store, 0).next(0, 12, true), "killed again before that");
      assertThrows(
          AssertionError.class,
          () -> new KillCheck(store, 0).next(0, 12, false),
          "it had returned, so it had added");
      add(store, 12);
      assertEquals(14, new KillCheck(store, 0).next(0, 12, false), "13 may have been done");
    }
  }

  private Store created() {
    Store store = Store.open(temp.resolve("store"));
    for (int i = 0; i < KillWorkload.TREES; i++) {
      store.createTree(KillWorkload.tree(i), KillWorkload.options(i));
    }
    store.createTree(KillWorkload.SUMS, KillWorkload.sumOptions());
    return store;
  }

  /** As thread 0 of a victim, but for its sum, in a store that was made in 1970. */
  private static void write(Store store, int n) {
    for (int i = 0; i < KillWorkload.TREES; i++) {
      Tree tree = store.tree(KillWorkload.tree(i));
      if (KillWorkload.isDelete(n)) {
        tree.delete(KillWorkload.key(0, KillWorkload.deleted(n)), Durability.ASYNC);
      } else if (KillWorkload.isIn(n, i)) {
        Instant expires =
            KillWorkload.expires(n, i)
                ? Instant.ofEpochMilli(KillWorkload.expiry(n, 0))
                : Instant.MAX;
        byte[] value = KillWorkload.value(0, n);
        tree.put(KillWorkload.key(0, n), value, expires, Durability.ASYNC);
      }
    }
  }

  private static void add(Store store, int n) {
    byte[] one = ByteBuffer.allocate(Long.BYTES).putLong(1).array();
    store.tree(KillWorkload.SUMS).merge(KillWorkload.sum(0, n), one, Durability.ASYNC);
  }

  /** Else a write that throws what it must not would go unnoticed: the kill comes anyhow. */
  @Test
  void aVictimWhoseThreadFailsEndsByItself() throws Exception {
    String store = temp.resolve("s").toString();
    String work = temp.resolve("w").toString();
    ChildJvm child = new ChildJvm(KillVictim.class);
    // Of operations below 0 some values have a length below 0.
    for (String argument :
        List.of(store, "4096", "1", "-1", "0", "0", work, "0", "-60", "0", "0", "0")) {
      child.argument(argument);
    }
    Process victim = child.start();
    try {
      assertTrue(victim.waitFor(1, TimeUnit.MINUTES), "it goes on");
      assertEquals(1, victim.exitValue());
    } finally {
      victim.destroyForcibly();
    }
  }
}
