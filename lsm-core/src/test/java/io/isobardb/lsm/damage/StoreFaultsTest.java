package io.isobardb.lsm.damage;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.HoldingScheduler;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.PrivateStorage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Watched;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.version.L0Limits;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Disks that are full or fail. */
@Tag("any-jdk")
class StoreFaultsTest {
  private static final long SEED = Long.getLong("isobar.seed", 4711L);
  private static final int VALUE = 400;

  private final SimulatedClock clock = new SimulatedClock();
  private final SimulatedStorage storage = new SimulatedStorage(clock);

  private SimulatedScheduler scheduler = new SimulatedScheduler(clock, SEED);

  private Store open(SimulatedStorage disk) {
    scheduler = new SimulatedScheduler(clock, SEED);
    return Inside.open(
        new Environment(disk, clock, scheduler, new SplittableRandom(SEED)), SimulatedStores.SMALL);
  }

  private static void check(Tree tree, int count) {
    for (int i = 0; i < count; i++) {
      assertArrayEquals(value(i, VALUE), tree.get(key(i)), "key " + i);
    }
  }

  /** Puts until that fails, and gives the number of puts that did not. */
  private static int putUntilFull(Tree tree, int from, Durability durability) {
    for (int i = from; i < from + 100_000; i++) {
      try {
        tree.put(key(i), value(i, VALUE), durability);
      } catch (DiskFullException e) {
        return i;
      }
    }
    throw new AssertionError("the disk is never full");
  }

  @ParameterizedTest
  @ValueSource(longs = {3, 4, 5, 7, 9})
  void aFullDiskStopsWritesButNotReadsAndPassesWhenThereIsRoom(long megabytes) {
    storage.capacityBytes(megabytes << 20);
    int count;
    try (Store store = open(storage)) {
      Tree tree = store.openTree("t");
      count = putUntilFull(tree, 0, Durability.ASYNC);
      assertTrue(count > 100);
      check(tree, count);
      assertThrows(DiskFullException.class, () -> putUntil(tree, 100_000, 100));
      storage.capacityBytes(Long.MAX_VALUE);
      scheduler.runFor(1_000_000_000L);
      putUntil(tree, count, 3000);
      count += 3000;
      store.flush();
      store.awaitQuiet();
      check(tree, count);
    }
    try (Store store = open(storage)) {
      check(store.tree("t"), count);
    }
  }

  private static void putUntil(Tree tree, int from, int count) {
    for (int i = 0; i < count; i++) {
      tree.put(key(from + i), value(from + i, VALUE), Durability.SYNC);
    }
  }

  @Test
  void aLogThatNeedsAFlushSaysSoIfTheDiskIsFull() throws IOException {
    StoreOptions large =
        SimulatedStores.SMALL.toBuilder()
            .memoryBudget(32 << 20)
            .writeMemory(16 << 20)
            .logLimit(64 << 20)
            .build();
    SimulatedStorage crashed;
    int count = 12_000;
    try (Store store =
        Inside.open(
            new Environment(storage, clock, scheduler, new SplittableRandom(SEED)), large)) {
      putUntil(store.openTree("t"), 0, count);
      crashed = storage.crash(new SplittableRandom(SEED), CrashMode.ONLY_SYNCED);
    }
    crashed.faults(
        (operation, file, index) ->
            operation == Operation.CREATE && file.endsWith(".sst") ? Fault.ENOSPC : Fault.NONE);
    DiskFullException e = assertThrows(DiskFullException.class, () -> open(crashed));
    assertTrue(e.getMessage().contains("with a larger memoryBudget"), e::getMessage);
    crashed.faults(FaultPlan.NONE);
    try (Store store = open(crashed)) {
      check(store.tree("t"), count);
    }
  }

  /** An opening writes new files. On a full disk it says so, and leaves the store as it was. */
  @Test
  void anOpeningWithoutRoomSaysSoAndLosesNothing() throws IOException {
    SimulatedStorage killed;
    int count = 250;
    try (Store store = open(storage)) {
      putUntil(store.openTree("t"), 0, count);
      killed = storage.copy();
    }
    for (String name : killed.list()) {
      if (name.endsWith(".spare")) {
        killed.delete(name); // It would be room enough.
      }
    }
    Set<String> lacking = new TreeSet<>();
    for (long more = 0; ; more += 4096) {
      SimulatedStorage disk = killed.copy();
      disk.capacityBytes(disk.usedBytes() + more);
      try (Store store = open(disk)) {
        check(store.tree("t"), count);
        break;
      } catch (DiskFullException e) {
        assertTrue(e.getMessage().contains("nothing is lost: make room, and open"), e::getMessage);
        lacking.add(e.getMessage().replaceAll(".*opening a store writes (.*) anew;.*", "$1"));
      }
      Environment environment =
          new Environment(
              new PrivateStorage(disk, 16 << 20),
              clock,
              new SimulatedScheduler(clock, SEED),
              new SplittableRandom(SEED));
      try (Store store = Inside.open(environment, SimulatedStores.SMALL)) {
        check(store.tree("t"), count);
      }
      disk.capacityBytes(Long.MAX_VALUE);
      try (Store store = open(disk)) {
        check(store.tree("t"), count);
      }
    }
    assertEquals(Set.of("its manifest", "the last segment of its log"), lacking);
  }

  @Test
  void aSpareIsRoomEnoughToOpenAStoreOnAFullDisk() throws IOException {
    int count = 300;
    SimulatedStorage killed;
    try (Store store = open(storage)) {
      putUntil(store.openTree("t"), 0, count);
      killed = storage.copy();
    }
    try (DataFile spare = killed.create("0000000009.spare", IoMode.BUFFERED)) {
      Memory block = new Memory(ByteBuffer.allocateDirect(64 << 10));
      for (int i = 0; i < 32; i++) {
        spare.write(i * (long) block.size(), block, 0, block.size());
      }
    }
    killed.capacityBytes(killed.usedBytes());
    try (Store store = open(killed)) {
      check(store.tree("t"), count);
    }
  }

  @Test
  void aStoreThatWasFlushedAndIsQuietTakesLittleOfTheDiskForItsLog() throws IOException {
    SimulatedStorage crashed;
    int count = 4000;
    try (Store store = open(storage)) {
      Tree tree = store.openTree("t");
      putUntil(tree, 0, count);
      store.flush();
      long before = store.stats().logAllocatedBytes();
      scheduler.runFor(11_000_000_000L);
      long after = store.stats().logAllocatedBytes();
      assertTrue(after <= (128 << 10) + (32 << 10) && after < before, before + ", then " + after);
      putUntil(tree, count, 500);
      crashed = storage.crash(new SplittableRandom(SEED), CrashMode.ONLY_SYNCED);
    }
    try (Store store = open(crashed)) {
      check(store.tree("t"), count + 500);
    }
  }

  @Test
  void acknowledgedWritesOutliveAFullDiskAndACrash() {
    storage.capacityBytes(4 << 20);
    SplittableRandom random = new SplittableRandom(SEED);
    SimulatedStorage crashed;
    int count;
    try (Store store = open(storage)) {
      Tree tree = store.openTree("t");
      count = putUntilFull(tree, 0, Durability.SYNC);
      crashed = storage.crash(random, CrashMode.ONLY_SYNCED);
      storage.capacityBytes(Long.MAX_VALUE);
    }
    crashed.capacityBytes(Long.MAX_VALUE);
    try (Store store = open(crashed)) {
      check(store.tree("t"), count);
    }
  }

  @Test
  void flushSaysThatTheDiskIsFullAndSucceedsLater() {
    try (Store store = open(storage)) {
      Tree tree = store.openTree("t");
      putUntil(tree, 0, 500);
      storage.capacityBytes(storage.usedBytes());
      assertThrows(DiskFullException.class, store::flush);
      check(tree, 500);
      storage.capacityBytes(Long.MAX_VALUE);
      scheduler.runFor(1_000_000_000L);
      putUntil(tree, 500, 10);
      store.flush();
      assertTrue(store.stats().flushes() > 0);
      check(tree, 510);
    }
  }

  private static final FaultPlan NO_ROOM_FOR_THE_MANIFEST =
      (operation, file, index) ->
          operation == Operation.WRITE && file.startsWith("MANIFEST") ? Fault.ENOSPC : Fault.NONE;

  @Test
  void aTreeThatCanNotBeDroppedForWantOfRoomGoesOn() {
    try (Store store = open(storage)) {
      Tree tree = store.openTree("t");
      putUntil(tree, 0, 10);
      storage.faults(NO_ROOM_FOR_THE_MANIFEST);
      storage.capacityBytes(storage.usedBytes());
      assertThrows(DiskFullException.class, () -> store.dropTree("t"));
      storage.faults(FaultPlan.NONE);
      storage.capacityBytes(Long.MAX_VALUE);
      check(store.tree("t"), 10);
      putUntil(tree, 10, 10);
      store.dropTree("t");
    }
  }

  @Test
  void theMergesOfATreeThatCanNotBeDroppedGoOn() {
    scheduler = new SimulatedScheduler(clock, SEED);
    scheduler.setStepLimit(1_000_000);
    HoldingScheduler holding = new HoldingScheduler(scheduler, HoldingScheduler.MERGES);
    Environment environment = new Environment(storage, clock, holding, new SplittableRandom(SEED));
    try (Store store = Inside.open(environment, SimulatedStores.SMALL)) {
      Tree tree = store.openTree("t");
      for (int round = 0; round < L0Limits.DEFAULT.stop(); round++) {
        putUntil(tree, 0, 10);
        store.flush();
      }
      assertTrue(groups(store) >= L0Limits.DEFAULT.stop(), "merges were not behind");
      assertTrue(holding.heldJobs() > 0);
      holding.letGo();
      storage.faults(NO_ROOM_FOR_THE_MANIFEST);
      assertThrows(DiskFullException.class, () -> store.dropTree("t"));
      storage.faults(FaultPlan.NONE);
      store.awaitQuiet();
      assertTrue(groups(store) < L0Limits.DEFAULT.stop(), groups(store) + " groups");
      putUntil(tree, 0, 5000);
      check(tree, 5000);
    }
  }

  private static int groups(Store store) {
    return store.stats().trees().get(0).l0Groups();
  }

  /** A script with flushes, merges, and log segments that come and go. */
  private static int script(Store store, int[] acknowledged) {
    Tree tree = store.openTree("t");
    for (int i = 0; i < 3000; i++) {
      tree.put(key(i), value(i, VALUE), i % 50 == 0 ? Durability.SYNC : Durability.ASYNC);
      if (i % 50 == 0) {
        acknowledged[0] = i + 1;
      }
      if (i % 600 == 599) {
        store.flush();
        store.awaitQuiet();
      }
    }
    return 3000;
  }

  private long operationsOfScript() {
    SimulatedStorage clean = new SimulatedStorage(clock);
    try (Store store = open(clean)) {
      script(store, new int[1]);
    }
    return clean.operations();
  }

  @Test
  void anErrorOfAnyOperationLosesNothingThatWasAcknowledged() {
    System.out.println("isobar.seed=" + SEED);
    long operations = operationsOfScript();
    SplittableRandom random = new SplittableRandom(SEED);
    int failures = 0;
    for (int trial = 0; trial < 60; trial++) {
      long index = random.nextLong(operations);
      Fault fault = trial % 3 == 0 ? Fault.SHORT_THEN_EIO : Fault.EIO;
      failures += runWithFault(FaultPlan.once(index, fault), index + " of seed " + SEED);
    }
    assertTrue(failures > 5, "stores that failed: " + failures);
  }

  @Test
  void wantOfRoomForAnyOperationIsOvercomeOrToldAndLosesNothing() {
    long operations = operationsOfScript();
    SplittableRandom random = new SplittableRandom(SEED + 1);
    for (int trial = 0; trial < 60; trial++) {
      long index = random.nextLong(operations);
      Fault fault = trial % 3 == 0 ? Fault.SHORT_THEN_ENOSPC : Fault.ENOSPC;
      runWithFault(FaultPlan.once(index, fault), index + " of seed " + (SEED + 1));
    }
  }

  /** Returns 1 if the store said that it had failed. */
  private int runWithFault(FaultPlan plan, String where) {
    int[] failed = new int[1];
    Watched.call("a fault of operation " + where, () -> failed[0] = faulted(plan, where));
    return failed[0];
  }

  private int faulted(FaultPlan plan, String where) {
    SimulatedStorage disk = new SimulatedStorage(clock);
    disk.faults(plan);
    int[] acknowledged = new int[1];
    int failed = 0;
    try (Store store = open(disk)) {
      try {
        script(store, acknowledged);
      } catch (IsobarException e) {
        failed = e instanceof StoreFailedException ? 1 : 0;
        disk.faults(FaultPlan.NONE);
        if (!store.treeNames().isEmpty()) {
          check(store.tree("t"), acknowledged[0]);
        }
      }
    } catch (IsobarException | UncheckedIOException e) {
      assertNotNull(e.getMessage(), where);
    }
    disk.faults(FaultPlan.NONE);
    assertEquals(0, disk.openFiles(), () -> "files left open after operation " + where);
    try (Store store = open(disk)) {
      if (acknowledged[0] > 0) {
        check(store.tree("t"), acknowledged[0]);
      }
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError("after a fault of operation " + where, e);
    }
    return failed;
  }

  @Test
  void aReadThatEndsEarlyWhileOpeningIsToldOrDoesNoHarm() {
    int count = 500;
    SimulatedStorage killed;
    try (Store store = open(storage)) {
      putUntil(store.openTree("t"), 0, 200);
      store.flush();
      putUntil(store.tree("t"), 200, count - 200);
      killed = storage.copy();
    }
    SimulatedStorage clean = killed.copy();
    open(clean).close();
    long operations = clean.operations();
    int told = 0;
    for (long index = 0; index < operations; index++) {
      SimulatedStorage disk = killed.copy();
      disk.faults(FaultPlan.once(index, Fault.SHORT_READ));
      try (Store store = open(disk)) {
        check(store.tree("t"), count);
      } catch (IsobarException | UncheckedIOException e) {
        told++;
      } catch (AssertionError e) {
        throw new AssertionError("operation " + index, e);
      }
      disk.faults(FaultPlan.NONE);
      try (Store store = open(disk)) {
        check(store.tree("t"), count);
      }
    }
    assertTrue(told > 3, told + " of " + operations + " told");
  }

  @Test
  void interruptsAndSlowCallsDoNoHarm() {
    for (Fault fault : List.of(Fault.INTERRUPTED, Fault.slow(20_000_000))) {
      SimulatedStorage disk = new SimulatedStorage(clock);
      disk.faults(FaultPlan.from(0, fault));
      try (Store store = open(disk)) {
        check(store.openTree("t"), script(store, new int[1]));
        assertEquals(
            fault.kind() == Fault.Kind.INTERRUPTED, Thread.currentThread().isInterrupted());
      }
      Thread.interrupted();
    }
  }

  private void assertFailsForGood(FaultPlan plan) {
    int count = 1000;
    try (Store store = open(storage)) {
      Tree tree = store.openTree("t");
      putUntil(tree, 0, count);
      storage.faults(plan);
      assertThrows(
          IsobarException.class,
          () -> {
            store.flush();
            putUntil(tree, count, 1);
          });
      storage.faults(FaultPlan.NONE);
      StoreFailedException e =
          assertThrows(StoreFailedException.class, () -> tree.put(bytes("k"), bytes("v")));
      assertNotNull(e.getCause());
      assertThrows(StoreFailedException.class, store::flush);
      assertThrows(StoreFailedException.class, store::checkpoint);
      check(tree, count);
    }
    try (Store store = open(storage)) {
      check(store.tree("t"), count);
      store.tree("t").put(bytes("k"), bytes("v"), Durability.SYNC);
    }
  }

  private static FaultPlan failing(Operation kind, String part) {
    return (operation, file, index) ->
        operation == kind && file.contains(part) ? Fault.EIO : Fault.NONE;
  }

  @Test
  void aFailedWriteOfAFlushStopsWritesUntilReopened() {
    assertFailsForGood(failing(Operation.WRITE, ".sst"));
  }

  @Test
  void aFailedSyncOfAFlushStopsWritesUntilReopened() {
    assertFailsForGood(failing(Operation.SYNC, ".sst"));
  }

  @Test
  void aFailedSyncOfTheManifestStopsWritesUntilReopened() {
    assertFailsForGood(failing(Operation.SYNC, "MANIFEST"));
  }

  @Test
  void aFailedSyncOfTheLogStopsWritesUntilReopened() {
    assertFailsForGood(failing(Operation.SYNC, ".log"));
  }

  @Test
  void aFailedSyncOfTheDirectoryStopsWritesUntilReopened() {
    assertFailsForGood(failing(Operation.SYNC_DIRECTORY, ""));
  }

  @Test
  void aFileThatCanNotBeClosedIsToldAndLockAndMemoryAreGivenBackNevertheless() {
    for (Fault fault : List.of(Fault.EIO, Fault.ENOSPC)) {
      for (String part : List.of("MANIFEST", ".log", ".sst")) {
        SimulatedStorage disk = new SimulatedStorage(clock);
        Store store = open(disk);
        putUntil(store.openTree("t"), 0, 1000);
        store.flush();
        check(store.tree("t"), 1000);
        disk.faults(
            (operation, file, index) ->
                operation == Operation.CLOSE && file.contains(part) ? fault : Fault.NONE);
        if (part.equals(".sst")) {
          store.close();
        } else {
          assertThrows(IsobarException.class, store::close);
        }
        disk.faults(FaultPlan.NONE);
        assertEquals(0, disk.openFiles());
        try (Store reopened = open(disk)) {
          check(reopened.tree("t"), 1000);
        }
      }
    }
  }

  @Test
  void aReadThatFailsIsToldAndTheNextOneSucceeds() {
    try (Store store = open(storage)) {
      putUntil(store.openTree("t"), 0, 1000);
      store.flush();
    }
    try (Store store = open(storage)) {
      Tree tree = store.tree("t");
      storage.faults(failing(Operation.READ, ".sst"));
      assertThrows(RuntimeException.class, () -> check(tree, 1000));
      storage.faults(FaultPlan.NONE);
      check(tree, 1000);
      putUntil(tree, 1000, 1);
    }
  }
}
