package io.isobardb.lsm.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class SimulatedFaultTest {
  private final SimulatedClock clock = new SimulatedClock();
  private final SimulatedStorage storage = new SimulatedStorage(clock);

  /** Eight operations, of which each may fail. */
  private static void script(SimulatedStorage storage) throws IOException {
    try (DataFile file = storage.create("a", IoMode.BUFFERED)) {
      Bytes.write(file, 0, 1, 100);
      file.sync();
      file.size();
    }
    storage.syncDirectory();
    storage.rename("a", "b");
    storage.delete("b");
  }

  @Test
  void everyOperationCanFailOnceAndLeavesNoFileOpen() {
    int failures = 0;
    for (long index = 0; index < 8; index++) {
      for (Fault fault : new Fault[] {Fault.EIO, Fault.ENOSPC, Fault.SHORT_THEN_ENOSPC}) {
        SimulatedStorage disk = new SimulatedStorage();
        disk.faults(FaultPlan.once(index, fault));
        assertThrows(Exception.class, () -> script(disk), "operation " + index);
        assertEquals(0, disk.openFiles());
        failures++;
      }
    }
    assertEquals(24, failures);
  }

  @Test
  void aFaultForEverGoesOnUntilThePlanChanges() throws IOException {
    storage.faults(FaultPlan.from(0, Fault.EIO));
    for (int i = 0; i < 3; i++) {
      assertThrows(IOException.class, () -> storage.create("a", IoMode.BUFFERED));
    }
    storage.faults(FaultPlan.NONE);
    script(storage);
  }

  @Test
  void aShortWriteLeavesAPartAndThenTheDiskIsFull() throws IOException {
    DataFile file = storage.create("a", IoMode.BUFFERED);
    storage.faults(FaultPlan.every(Operation.WRITE, Fault.SHORT_THEN_ENOSPC));
    assertThrows(DiskFullException.class, () -> Bytes.write(file, 0, 5, 100_000));
    byte[] left = Bytes.contents(file);
    assertTrue(left.length > 0 && left.length < 100_000, "left " + left.length);
    assertArrayEquals(Bytes.of(left.length, 5), left);
    storage.faults(FaultPlan.every(Operation.WRITE, Fault.SHORT_THEN_EIO));
    assertThrows(IOException.class, () -> Bytes.write(file, 0, 6, 100_000));
  }

  @Test
  void aShortReadGivesAPartInWholeBlocksIfItIsDirect() throws IOException {
    for (IoMode mode : IoMode.values()) {
      try (DataFile file = storage.create("a-" + mode, mode)) {
        Bytes.write(file, 0, 5, 8 * DataFile.BLOCK);
        storage.faults(FaultPlan.every(Operation.READ, Fault.SHORT_READ));
        for (int i = 0; i < 10; i++) {
          Memory memory = Bytes.filled(8 * DataFile.BLOCK, 1);
          int got = file.read(0, memory, 0, 8 * DataFile.BLOCK);
          assertTrue(got < 8 * DataFile.BLOCK, got + " bytes");
          assertEquals(0, mode == IoMode.DIRECT ? got % DataFile.BLOCK : 0);
          assertEquals(1, memory.getByte(got), "nothing of what was not given");
        }
        storage.faults(FaultPlan.NONE);
      }
    }
  }

  @Test
  void anInterruptedCallWorksAndTheFlagIsSet() throws IOException {
    for (long index = 0; index < 8; index++) {
      SimulatedStorage disk = new SimulatedStorage();
      disk.faults(FaultPlan.once(index, Fault.INTERRUPTED));
      script(disk);
      assertTrue(Thread.interrupted(), "operation " + index);
    }
  }

  @Test
  void aFailedSyncLosesItsDataForGoodButShowsIt() throws IOException {
    DataFile file = storage.create("a", IoMode.BUFFERED);
    storage.syncDirectory();
    Bytes.write(file, 0, 1, 4096);
    file.sync();
    Bytes.write(file, 0, 2, 4096);
    storage.faults(FaultPlan.every(Operation.SYNC, Fault.EIO));
    assertThrows(IOException.class, file::sync);
    storage.faults(FaultPlan.NONE);
    Bytes.write(file, 4096, 3, 4096);
    file.sync();
    assertEquals(2, Bytes.contents(file)[0], "visible");
    for (CrashMode mode : CrashMode.values()) {
      byte[] after = Bytes.contents(storage.crash(new SplittableRandom(1), mode), "a");
      assertEquals(1, after[0], "not durable");
      assertEquals(3, after[4096], "what was written later is");
    }
  }

  @Test
  void aFullDiskClearsWhenFilesAreDeletedOrItGrows() throws IOException {
    storage.capacityBytes(10 * 4096);
    DataFile a = storage.create("a", IoMode.BUFFERED);
    Bytes.write(a, 0, 1, 6 * 4096);
    assertEquals(4 * 4096, storage.usableBytes());
    DataFile b = storage.create("b", IoMode.BUFFERED);
    assertThrows(DiskFullException.class, () -> Bytes.write(b, 100, 2, 5 * 4096));
    assertEquals(4 * 4096, b.size(), "what fits is written");
    Bytes.write(a, 0, 3, 6 * 4096);
    storage.delete("a");
    assertEquals(0, storage.usableBytes(), "a deleted file takes room while it is open");
    a.close();
    Bytes.write(b, 100, 2, 5 * 4096);
    assertThrows(DiskFullException.class, () -> Bytes.write(b, 0, 2, 11 * 4096));
    storage.capacityBytes(11 * 4096);
    Bytes.write(b, 0, 2, 11 * 4096);
    b.truncate(4096);
    assertEquals(4096, storage.usedBytes());
  }

  @Test
  void aSlowOperationTakesSimulatedTime() throws IOException {
    storage.faults(FaultPlan.every(Operation.SYNC, Fault.slow(5_000_000)));
    script(storage);
    assertEquals(5_000_000, clock.nanos());
  }

  @Test
  void misalignedDirectIoIsFound() throws IOException {
    DataFile file = storage.create("a", IoMode.DIRECT);
    Memory memory = Bytes.filled(8192, 1);
    file.write(4096, memory, 0, 4096);
    assertThrows(IllegalArgumentException.class, () -> file.write(0, memory, 0, 100));
    assertThrows(IllegalArgumentException.class, () -> file.write(512, memory, 0, 4096));
    assertThrows(IllegalArgumentException.class, () -> file.read(0, memory, 0, 4095));
    storage.supportsDirect(false);
    assertThrows(IOException.class, () -> storage.open("a", IoMode.DIRECT));
  }

  @Test
  void equalRunsHaveEqualTraces() throws IOException {
    SimulatedStorage same = new SimulatedStorage();
    script(storage);
    script(same);
    assertEquals(storage.traceHash(), same.traceHash());
    SimulatedStorage other = new SimulatedStorage();
    try (DataFile file = other.create("a", IoMode.BUFFERED)) {
      Bytes.write(file, 0, 2, 100);
      file.sync();
      file.size();
    }
    other.syncDirectory();
    other.rename("a", "b");
    other.delete("b");
    assertEquals(storage.operations(), other.operations());
    assertNotEquals(storage.traceHash(), other.traceHash(), "other bytes, another trace");
  }

  @Test
  void theSimulatedClockMovesOnlyWhenTold() {
    long wall = clock.wallMillis();
    clock.advance(3_000_000);
    clock.advanceTo(2_000_000);
    assertEquals(3_000_000, clock.nanos());
    assertEquals(wall + 3, clock.wallMillis());
    clock.jumpWall(-1_000_000);
    assertEquals(3_000_000, clock.nanos());
    assertEquals(wall + 3 - 1_000_000, clock.wallMillis());
    assertThrows(IllegalArgumentException.class, () -> clock.advance(-1));
  }
}
