package io.isobardb.lsm.recovery;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Watched;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.repair.check.OfflineStore;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The process is killed, so that what was written and not synced can still be read; while the store
 * is opened again, the power fails.
 */
@Tag("any-jdk")
class KillThenPowerLossTest {
  private static final long SEED = Long.getLong("isobar.seed", 1);
  private static final StoreOptions OPTIONS =
      StoreOptions.builder()
          .memoryBudget(4 << 20)
          .logLimit(1 << 20)
          .pageSize(4096)
          .backgroundThreads(2)
          .build();

  private static final StoreOptions LONG_LOG =
      StoreOptions.builder().memoryBudget(16 << 20).logLimit(16 << 20).pageSize(4096).build();
  private static final StoreOptions NEVER_SYNCED =
      StoreOptions.builder()
          .memoryBudget(16 << 20)
          .logLimit(16 << 20)
          .pageSize(4096)
          .asyncSyncInterval(Duration.ofHours(1))
          .build();
  private static final StoreOptions SHORT_OF_MEMORY =
      StoreOptions.builder()
          .memoryBudget(4 << 20)
          .writeMemory(256 << 10)
          .logLimit(16 << 20)
          .pageSize(4096)
          .build();

  /** A disk as a kill left it, and the last batch that was acknowledged then. */
  private record Killed(SimulatedStorage disk, int acknowledged) {}

  private final SimulatedClock clock = new SimulatedClock();
  private int acknowledged;

  private Store open(SimulatedStorage storage, long seed) {
    return open(storage, seed, OPTIONS);
  }

  private Store open(SimulatedStorage storage, long seed, StoreOptions options) {
    SimulatedScheduler scheduler = new SimulatedScheduler(clock, seed);
    return Inside.open(
        new Environment(storage, clock, scheduler, new SplittableRandom(seed)), options);
  }

  private static byte[] bytes(String s) {
    return s.getBytes(UTF_8);
  }

  private List<Killed> live() {
    List<Killed> kills = new ArrayList<>();
    SimulatedStorage storage = new SimulatedStorage(clock);
    storage.onMutation(disk -> kills.add(new Killed(disk.copy(), acknowledged)));
    try (Store store = open(storage, SEED)) {
      Tree a = store.openTree("a");
      Tree b = store.openTree("b");
      for (int i = 1; i <= 17; i++) {
        WriteBatch batch = store.newBatch();
        batch.put(a, bytes("count"), bytes("" + i));
        batch.put(b, bytes("count"), bytes("" + i));
        batch.put(a, bytes("filler" + i % 10), new byte[3000]);
        boolean sync = i % 5 == 0;
        store.write(batch, sync ? Durability.SYNC : Durability.ASYNC);
        if (sync) {
          acknowledged = i;
        }
        if (i % 4 == 0) {
          store.flush();
        }
      }
      store.awaitQuiet();
    }
    return kills;
  }

  private static int count(Store store, String tree) {
    if (!store.treeNames().contains(tree)) {
      return 0;
    }
    byte[] value = store.tree(tree).get(bytes("count"));
    return value == null ? 0 : Integer.parseInt(new String(value, UTF_8));
  }

  @Test
  void nothingThatARecoveryDidIsMissedByTheNextOne() throws IOException {
    System.out.println("isobar.seed=" + SEED);
    List<Killed> kills = live();
    assertTrue(kills.size() > 20, "kills: " + kills.size());
    int checked = 0;
    for (int k = 0; k < kills.size(); k++) {
      Killed killed = kills.get(k);
      List<SimulatedStorage> failures = new ArrayList<>();
      SplittableRandom random = new SplittableRandom(SEED + k);
      killed
          .disk()
          .onMutation(
              disk -> {
                CrashMode mode = random.nextBoolean() ? CrashMode.ONLY_SYNCED : CrashMode.RANDOM;
                failures.add(disk.crash(random, mode));
              });
      open(killed.disk(), SEED + k).close();
      // Each operation of a recovery is met in one of three kills that follow each other.
      for (int i = (k + 2) % 3; i < failures.size(); i += 3) {
        check(failures.get(i), killed.acknowledged(), "kill " + k + ", power failure " + i);
        checked++;
      }
    }
    assertTrue(checked > 100, "checked: " + checked);
  }

  private void check(SimulatedStorage disk, int expected, String when) throws IOException {
    Watched.call(when + " of seed " + SEED, () -> checkLeft(disk, expected, when));
  }

  private void checkLeft(SimulatedStorage disk, int expected, String when) throws IOException {
    try (Store store = open(disk, SEED)) {
      int a = count(store, "a");
      assertEquals(a, count(store, "b"), when + ": a batch is there in part");
      assertTrue(a >= expected, when + ": batch " + expected + " was acknowledged, found " + a);
    } catch (RuntimeException e) {
      throw new AssertionError(when + ": " + e, e);
    }
    if (disk.mutations() % 4 != 0) {
      return; // Reading every page is dear.
    }
    check(disk);
  }

  /**
   * More than fits into the write memory, so that the replay has to flush, and much of it twice.
   */
  private SimulatedStorage longLog() {
    SimulatedStorage storage = new SimulatedStorage(clock);
    SimulatedStorage killed;
    try (Store store = open(storage, SEED, LONG_LOG)) {
      Tree tree = store.openTree("a");
      for (int i = 0; i < 600; i++) {
        tree.put(bytes("filler" + i % 200), new byte[1200]);
      }
      store.sync();
      killed = storage.copy();
    }
    return killed;
  }

  @Test
  void whatAReplayHasFlushedIsNotFlushedAgainByTheNextOne() throws IOException {
    SimulatedStorage disk = longLog();
    long before = sstables(disk);
    List<SimulatedStorage> replaying = new ArrayList<>();
    for (int round = 0; round < 12; round++) {
      replaying.clear();
      disk.onMutation(
          now -> {
            if (sstables(now) > 0) {
              replaying.add(now.crash(new SplittableRandom(SEED), CrashMode.ONLY_SYNCED));
            }
          });
      open(disk, SEED + round, SHORT_OF_MEMORY).close();
      // The power fails when the replay is half through, again and again.
      disk = replaying.isEmpty() ? disk : replaying.get(replaying.size() / 2);
    }
    long files = sstables(disk);
    assertTrue(files - before < 12, "SSTables: " + before + " before, " + files + " afterwards");
    check(disk);
  }

  @Test
  void whatAReplayFlushesIsSyncedInTheLogFirst() throws IOException {
    SimulatedStorage storage = new SimulatedStorage(clock);
    SimulatedStorage killed;
    try (Store store = open(storage, SEED, NEVER_SYNCED)) {
      Tree a = store.openTree("a");
      Tree b = store.openTree("b");
      for (int i = 1; i <= 800; i++) {
        WriteBatch batch = store.newBatch();
        batch.put(a, bytes("count"), bytes("" + i));
        batch.put(b, bytes("count"), bytes("" + i));
        batch.put(a, bytes("filler" + i % 300), new byte[1500]);
        store.write(batch, Durability.ASYNC);
      }
      killed = storage.copy();
    }
    List<SimulatedStorage> failures = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(SEED);
    killed.onMutation(disk -> failures.add(disk.crash(random, CrashMode.ONLY_SYNCED)));
    open(killed, SEED, SHORT_OF_MEMORY).close();
    assertTrue(sstables(killed) > 0, "the replay flushed nothing");
    for (int i = 0; i < failures.size(); i += 3) {
      check(failures.get(i), 0, "power failure " + i);
    }
  }

  private static long sstables(SimulatedStorage disk) {
    try {
      return disk.copy().list().stream().filter(name -> name.endsWith(".sst")).count();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static void check(SimulatedStorage disk) throws IOException {
    try (OfflineStore store =
        OfflineStore.open(disk.copy(), 4 << 20, Map.of("bytes", KeyOrder.BYTES))) {
      assertEquals(List.of(), store.check(CheckProgress.NONE).findings());
    }
  }

  /**
   * After a sync that failed, the system may show what it has not written, and say of a later sync
   * that all is well.
   */
  @Test
  void aSyncThatFailedIsMadeUpForBeforeItsWritesAreShownAgain() throws IOException {
    for (int writes : new int[] {1, 40, 2000}) {
      SimulatedStorage storage = new SimulatedStorage(clock);
      Store failing = open(storage, SEED, NEVER_SYNCED);
      Tree a = failing.openTree("a");
      for (int i = 1; i <= writes; i++) {
        a.put(bytes("count"), bytes("" + i), Durability.ASYNC);
        a.put(bytes("filler" + i % 300), new byte[500], Durability.ASYNC);
      }
      storage.faults(
          (operation, file, index) ->
              operation == Operation.SYNC && file.endsWith(".log") ? Fault.EIO : Fault.NONE);
      assertThrows(StoreFailedException.class, failing::sync);
      storage.faults((operation, file, index) -> Fault.NONE);
      failing.close();
      int shown;
      SimulatedStorage lost;
      try (Store again = open(storage, SEED, NEVER_SYNCED)) {
        shown = count(again, "a");
        lost = storage.crash(new SplittableRandom(SEED), CrashMode.ONLY_SYNCED);
      }
      assertEquals(writes, shown);
      try (Store afterwards = open(lost, SEED, NEVER_SYNCED)) {
        assertEquals(shown, count(afterwards, "a"));
      }
    }
  }

  /** Each sync of the manifest in turn: those of merges name SSTables that are deleted then. */
  @Test
  void norIsASyncOfTheManifestThatFailed() throws IOException {
    int failed = 0;
    for (int fails = 3; fails < 20; fails++) {
      SimulatedStorage storage = new SimulatedStorage(clock);
      Store failing = open(storage, SEED);
      Tree a = failing.openTree("a");
      AtomicInteger left = new AtomicInteger(fails);
      storage.faults(
          (operation, file, index) ->
              operation == Operation.SYNC
                      && file.startsWith("MANIFEST")
                      && left.decrementAndGet() == 0
                  ? Fault.EIO
                  : Fault.NONE);
      int synced = 0;
      try {
        for (int i = 1; i <= 1500; i++) {
          a.put(bytes("count"), bytes("" + i), Durability.ASYNC);
          a.put(bytes("filler" + i % 300), new byte[500], Durability.ASYNC);
          if (i % 100 == 0) {
            failing.sync();
            synced = i;
            failing.flush();
            failing.awaitQuiet();
          }
        }
      } catch (StoreFailedException e) {
        failed++;
      }
      storage.faults((operation, file, index) -> Fault.NONE);
      try {
        failing.close();
      } catch (StoreFailedException e) {
        failed++;
      }
      int shown;
      SimulatedStorage lost;
      try (Store again = open(storage, SEED)) {
        shown = count(again, "a");
        lost = storage.crash(new SplittableRandom(SEED), CrashMode.ONLY_SYNCED);
      }
      assertTrue(shown >= synced, "shown: " + shown + " of " + synced);
      try (Store afterwards = open(lost, SEED)) {
        assertEquals(shown, count(afterwards, "a"), "sync " + fails);
      }
    }
    assertTrue(failed > 10, "failed: " + failed);
  }
}
