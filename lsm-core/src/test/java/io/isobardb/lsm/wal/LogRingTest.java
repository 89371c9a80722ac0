package io.isobardb.lsm.wal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.wal.LogWorld.Entry;
import io.isobardb.memory.page.Memory;
import io.isobardb.repair.format.LogSalvage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What the ring's file keeps of a log whose process has died, or whose disk is full. */
class LogRingTest {
  /** Nothing is synced unless somebody asks for it. */
  private static final LogOptions LAZY = new LogOptions(64 << 10, 16 << 10, true, 1L << 50, 2);

  private static final LogOptions LAZY_BUFFERED =
      new LogOptions(64 << 10, 16 << 10, false, 1L << 50, 2);

  private static final LogOptions LARGER_RING =
      new LogOptions(64 << 10, 64 << 10, true, 1L << 50, 2);

  /** The largest ring that stores have. */
  private static final LogOptions LARGEST_RING =
      new LogOptions(64 << 20, 4 << 20, true, 100_000_000L, 2);

  private final List<Entry> written = new ArrayList<>();

  private void append(Log log, LogRecord record, SplittableRandom random) {
    if (random.nextInt(8) == 0) {
      written.add(LogWorld.marker(log));
    } else {
      written.add(LogWorld.append(record, LogWorld.bytes(random, LogWorld.length(random))));
    }
  }

  private static List<Entry> replayed(LogOptions options, SimulatedStorage disk)
      throws IOException {
    LogWorld world = new LogWorld(options, 7, disk);
    world.open().close();
    world.close();
    return world.replayed;
  }

  /** What a look at the files finds, without opening the log. */
  private static List<Entry> scanned(SimulatedStorage disk) throws IOException {
    LogWorld world = new LogWorld(LAZY, 7, disk);
    List<Entry> found = new ArrayList<>();
    LogHandler handler =
        LogWorld.whole((lsn, kind, bytes) -> found.add(new Entry(lsn, kind, bytes)));
    LogScan.run(disk, world.pool, LogWorld.STORE, LogExtent.from(Lsn.FIRST), handler);
    List<Entry> scanned = List.copyOf(found);
    found.clear();
    LogSalvage.run(disk, world.pool, LogWorld.STORE, LogExtent.from(Lsn.FIRST), handler);
    assertEquals(scanned, found, "a repair finds as much as a check");
    world.close();
    return scanned;
  }

  @Test
  void aKillAfterAnyRecordLosesNone() throws IOException {
    for (long seed = 1; seed <= 6; seed++) {
      LogWorld world = new LogWorld(seed % 2 == 0 ? LAZY : LAZY_BUFFERED, seed);
      SplittableRandom random = new SplittableRandom(seed);
      written.clear();
      Log log = world.open();
      LogRecord record = log.newRecord();
      for (int i = 0; i < 150; i++) {
        append(log, record, random);
        if (random.nextInt(20) == 0) {
          log.flush();
        }
        LogOptions next = i % 3 == 0 ? LARGER_RING : world.options;
        String what = "seed " + seed + ", record " + i;
        assertEquals(written, scanned(world.storage.copy()), what);
        assertEquals(written, replayed(next, world.storage.copy()), what);
      }
      log.close();
      world.close();
    }
  }

  @Test
  void aKillAtAnyCallLosesNoRecord() throws IOException {
    for (long seed = 1; seed <= 4; seed++) {
      LogWorld world = new LogWorld(seed % 2 == 0 ? LAZY : LAZY_BUFFERED, seed);
      SplittableRandom random = new SplittableRandom(seed);
      written.clear();
      Log log = world.open();
      LogRecord record = log.newRecord();
      List<SimulatedStorage> disks = new ArrayList<>();
      List<Integer> sizes = new ArrayList<>();
      world.storage.onMutation(
          disk -> {
            disks.add(disk.copy());
            sizes.add(written.size());
          });
      for (int i = 0; i < 120; i++) {
        append(log, record, random);
      }
      log.close();
      for (int i = 0; i < disks.size(); i++) {
        List<Entry> found = replayed(world.options, disks.get(i));
        assertTrue(found.size() >= sizes.get(i), found.size() + " of " + sizes.get(i));
        assertEquals(written.subList(0, found.size()), found);
      }
      world.close();
    }
  }

  @Test
  void afterAPowerFailureTheRingGoesOnWithTheLogOrIsIgnored() throws IOException {
    int more = 0;
    for (long seed = 1; seed <= 4; seed++) {
      LogWorld world = new LogWorld(seed % 2 == 0 ? LAZY : LAZY_BUFFERED, seed);
      SplittableRandom random = new SplittableRandom(seed);
      written.clear();
      Log log = world.open();
      LogRecord record = log.newRecord();
      List<SimulatedStorage> disks = new ArrayList<>();
      List<Long> synced = new ArrayList<>();
      world.storage.onMutation(
          disk -> {
            for (CrashMode mode : CrashMode.values()) {
              disks.add(disk.crash(random.split(), mode));
              synced.add(log.durable());
            }
          });
      for (int i = 0; i < 80; i++) {
        append(log, record, random);
        if (random.nextInt(20) == 0) {
          log.flush();
        }
      }
      log.close();
      for (int i = 0; i < disks.size(); i++) {
        List<Entry> found = replayed(world.options, disks.get(i));
        assertEquals(written.subList(0, found.size()), found);
        long end = synced.get(i);
        long durable = written.stream().filter(entry -> entry.lsn() < end).count();
        assertTrue(found.size() >= durable, "synced up to " + end + ", found " + found.size());
        more += found.size() > durable ? 1 : 0;
      }
      world.close();
    }
    assertTrue(more > 0, "what was not synced is there at times");
  }

  /**
   * The same LSN is written twice, with a crash in between: what the ring holds of the first time
   * must be gone, even if the second record is lost with the machine.
   */
  @Test
  void whatTheRingHeldInAnEarlierLifeNeverComesBack() throws IOException {
    LogWorld world = new LogWorld(LAZY, 1);
    Log log = world.open();
    LogRecord record = log.newRecord();
    byte[] payload = new byte[512 - RecordLayout.HEADER_BYTES];
    List<Entry> first = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      Arrays.fill(payload, (byte) i);
      first.add(LogWorld.append(record, payload.clone()));
    }
    SimulatedStorage torn = world.storage.copy();
    log.close();
    world.close();
    try (DataFile file = torn.open(RingFile.NAME, IoMode.BUFFERED)) {
      Memory zeros = new Memory(ByteBuffer.allocateDirect(512));
      file.write(RingFile.HEADER_BYTES + first.get(5).lsn(), zeros, 0, 512);
      file.sync();
    }

    LogWorld next = new LogWorld(LAZY, 2, torn);
    Log cut = next.open();
    assertEquals(first.subList(0, 5), next.replayed);
    Arrays.fill(payload, (byte) 99);
    Entry rewritten = LogWorld.append(cut.newRecord(), payload);
    assertEquals(first.get(5).lsn(), rewritten.lsn());
    List<SimulatedStorage> disks = new ArrayList<>();
    for (int seed = 0; seed < 200; seed++) {
      disks.add(torn.crash(new SplittableRandom(seed), CrashMode.RANDOM));
    }
    disks.add(torn.copy());
    cut.close();
    next.close();
    List<Entry> without = first.subList(0, 5);
    List<Entry> with = new ArrayList<>(without);
    with.add(rewritten);
    int seen = 0;
    for (SimulatedStorage disk : disks) {
      List<Entry> found = replayed(LAZY, disk);
      boolean there = found.size() > 5;
      assertEquals(there ? with : without, found);
      seen += there ? 1 : 0;
    }
    assertTrue(seen > 1 && seen < disks.size(), seen + " of " + disks.size() + " saw the rewrite");
  }

  @Test
  void recordsOfTheRingThatSpanNewSegmentsAreTaken() throws IOException {
    LogOptions large = new LogOptions(64 << 10, 256 << 10, true, 1L << 50, 2);
    LogWorld world = new LogWorld(large, 1);
    Log log = world.open();
    LogRecord record = log.newRecord();
    for (int i = 0; i < 12; i++) {
      written.add(LogWorld.append(record, LogWorld.bytes(new SplittableRandom(i), 20_000)));
    }
    SimulatedStorage killed = world.storage.copy();
    assertFalse(
        killed.list().contains(SegmentLayout.fileName(3)), "the writer has not come so far");
    log.close();
    world.close();
    assertEquals(written, scanned(killed.copy()));
    assertEquals(written, replayed(LAZY, killed));
    assertTrue(killed.list().contains(SegmentLayout.fileName(3)));
  }

  @Test
  void anOpeningThatIsCutShortWhileItTakesOverTheRingCanBeRepeated() throws IOException {
    LogWorld world = new LogWorld(LAZY, 1);
    Log log = world.open();
    LogRecord record = log.newRecord();
    for (int i = 0; i < 60; i++) {
      written.add(LogWorld.append(record, LogWorld.bytes(new SplittableRandom(i), 230)));
    }
    SimulatedStorage killed = world.storage.copy();
    log.close();
    world.close();
    List<SimulatedStorage> disks = new ArrayList<>();
    killed.onMutation(disk -> disks.add(disk.copy()));
    assertEquals(written, replayed(LAZY, killed));
    assertTrue(disks.size() >= 10, disks.size() + " steps");
    for (SimulatedStorage disk : disks) {
      assertEquals(written, replayed(LAZY, disk));
    }
  }

  @Test
  void anOpeningWithoutRoomForWhatTheRingHoldsSaysSoAndLosesNothing() throws IOException {
    LogOptions large = new LogOptions(64 << 10, 256 << 10, true, 1L << 50, 2);
    LogWorld world = new LogWorld(large, 1);
    Log log = world.open();
    LogRecord record = log.newRecord();
    for (int i = 0; i < 12; i++) {
      written.add(LogWorld.append(record, new byte[20_000]));
    }
    SimulatedStorage killed = world.storage.copy();
    log.close();
    world.close();
    killed.capacityBytes(killed.usedBytes());
    LogWorld next = new LogWorld(large, 2, killed);
    DiskFullException full = assertThrows(DiskFullException.class, next::open);
    assertTrue(full.getMessage().contains("nothing is lost"), full.getMessage());
    next.close();
    killed.capacityBytes(Long.MAX_VALUE);
    assertEquals(written, replayed(large, killed));
  }

  /** A process that takes the directory reads the segments first, and the ring later. */
  @Test
  void onceTheLockIsLostTheRingKeepsWhatItHas() throws IOException {
    for (LogOptions options : List.of(LAZY, LAZY_BUFFERED, LogWorld.SMALL)) {
      LogWorld world = new LogWorld(options, 1);
      written.clear();
      Log log = world.open();
      LogRecord record = log.newRecord();
      for (int i = 0; i < 20; i++) {
        written.add(LogWorld.append(record, LogWorld.bytes(new SplittableRandom(i), 100)));
      }
      SimulatedStorage taken = world.storage.copy();
      world.storage.loseLock();
      assertThrows(
          StoreFailedException.class,
          () -> {
            for (int i = 0; i < 1000; i++) {
              LogWorld.append(record, LogWorld.bytes(new SplittableRandom(i), 500));
            }
          });
      copyFile(RingFile.NAME, world.storage, taken);
      List<Entry> found = replayed(options, taken);
      assertEquals(written, found.subList(0, Math.min(written.size(), found.size())));
      log.close();
      world.close();
    }
  }

  private static void copyFile(String name, SimulatedStorage from, SimulatedStorage to)
      throws IOException {
    try (DataFile source = from.open(name, IoMode.BUFFERED);
        DataFile target = to.open(name, IoMode.BUFFERED)) {
      int size = (int) source.size();
      Memory bytes = new Memory(ByteBuffer.allocateDirect(size));
      assertEquals(size, source.read(0, bytes, 0, size));
      target.write(0, bytes, 0, size);
    }
  }

  @Test
  void whatAFullDiskKeepsInTheRingSurvivesAnyCrashUntilTheSegmentsHaveIt() throws IOException {
    LogWorld world = new LogWorld(LAZY, 1);
    Log log = world.open();
    LogRecord record = log.newRecord();
    world.storage.capacityBytes(world.storage.usedBytes() + (20 << 10));
    assertThrows(
        DiskFullException.class,
        () -> {
          for (int i = 0; i < 1000; i++) {
            log.checkWritable();
            written.add(LogWorld.append(record, LogWorld.bytes(new SplittableRandom(i), 500)));
          }
        });
    log.awaitDurable(written.get(written.size() - 1).lsn());
    List<Entry> acknowledged = List.copyOf(written);
    List<SimulatedStorage> disks = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(3);
    world.storage.onMutation(
        disk -> {
          for (int i = 0; i < 20; i++) {
            disks.add(disk.crash(random.split(), CrashMode.RANDOM));
          }
        });
    world.storage.capacityBytes(Long.MAX_VALUE);
    world.scheduler.runFor(1_000_000_000L);
    for (int i = 0; i < 40; i++) {
      written.add(LogWorld.append(record, LogWorld.bytes(new SplittableRandom(i), 500)));
      world.scheduler.runFor(1_000_000L);
    }
    log.close();
    for (SimulatedStorage disk : disks) {
      List<Entry> found = replayed(LAZY, disk);
      assertTrue(found.size() >= acknowledged.size(), found.size() + " of " + acknowledged.size());
      assertEquals(written.subList(0, found.size()), found);
    }
    world.close();
  }

  /** The simulated disk fails the test if anything is stored where it has no block. */
  @Test
  void theRingTakesRoomOnTheDiskAsItIsWrittenTo() throws IOException {
    LogWorld world = new LogWorld(LARGEST_RING, 1);
    for (int session = 0; session < 2; session++) {
      Log log = world.open();
      List<Entry> before = world.replayed;
      assertEquals(written, before);
      LogRecord record = log.newRecord();
      long begin = log.end();
      long idle = ringBytes(world.storage);
      assertTrue(idle <= 520 << 10, "at first " + idle);
      for (int i = 0; log.end() < begin + (5 << 20); i++) {
        written.add(LogWorld.append(record, new byte[i % 50 == 0 ? 1_000_000 : 50_000]));
        long used = log.end() - begin;
        long has = ringBytes(world.storage);
        assertTrue(has <= Math.max(idle, 4 * used + (1 << 20)), "for " + used + ": " + has);
      }
      assertEquals(RingFile.HEADER_BYTES + (4 << 20), ringBytes(world.storage));
      log.close();
    }
    world.open().close();
    assertEquals(written, world.replayed);
    world.close();
  }

  /** Each time it is written, a thread takes a processor from those who write to the store. */
  @Test
  void aLargeRingIsWrittenAQuarterAtATimeAtLeast() throws IOException {
    LogWorld world = new LogWorld(LARGEST_RING, 1);
    Log log = world.open();
    LogRecord record = log.newRecord();
    long begin = log.end();
    int writes = 0;
    while (log.end() < begin + (16 << 20)) {
      long before = log.writtenBytes();
      LogWorld.append(record, new byte[10_000]);
      world.scheduler.runFor(1000);
      boolean whole = log.end() > begin + (8 << 20);
      writes += whole && log.writtenBytes() > before ? 1 : 0;
    }
    assertTrue(writes > 0 && writes <= 8, "8 MB by " + writes + " writes");
    log.close();
    world.close();
  }

  /** Blocks of the disk that a copy of it has free without the ring. */
  private static long ringBytes(SimulatedStorage disk) throws IOException {
    SimulatedStorage without = disk.copy();
    long all = without.usedBytes();
    without.delete(RingFile.NAME);
    return all - without.usedBytes();
  }

  @Test
  void aDiskThatIsFullWhenTheRingNeedsMoreRoomRefusesWritesUntilItHasSome() throws IOException {
    LogWorld world = new LogWorld(LARGEST_RING, 2);
    Log log = world.open();
    LogRecord record = log.newRecord();
    int steps = 0;
    while (ringBytes(world.storage) < RingFile.HEADER_BYTES + (4 << 20)) {
      steps++;
      long has = ringBytes(world.storage);
      world.storage.faults(
          (operation, file, index) ->
              operation == Operation.WRITE && file.equals(RingFile.NAME)
                  ? Fault.SHORT_THEN_ENOSPC
                  : Fault.NONE);
      assertThrows(
          DiskFullException.class,
          () -> {
            for (int i = 0; i < 1000; i++) {
              log.checkWritable();
              written.add(LogWorld.append(record, LogWorld.bytes(new SplittableRandom(i), 9_000)));
            }
          });
      assertThrows(DiskFullException.class, log::checkWritable);
      assertTrue(log.isDiskFull());
      log.awaitDurable(written.get(written.size() - 1).lsn());
      assertEquals(written, replayed(LARGEST_RING, crashed(world.storage, steps)));
      world.scheduler.runFor(1_000_000_000L);
      assertThrows(DiskFullException.class, log::checkWritable);

      world.storage.faults(FaultPlan.NONE);
      world.scheduler.runFor(1_000_000_000L);
      log.checkWritable();
      assertFalse(log.isDiskFull());
      written.add(LogWorld.append(record, new byte[9_000]));
      assertTrue(ringBytes(world.storage) >= has + (500 << 10), "step " + steps + " of its growth");
    }
    assertTrue(steps > 1, steps + " steps");
    log.close();
    world.open().close();
    assertEquals(written, world.replayed);
    world.close();
  }

  private static SimulatedStorage crashed(SimulatedStorage disk, long seed) {
    SimulatedStorage left = disk.crash(new SplittableRandom(seed), CrashMode.ONLY_SYNCED);
    left.faults(FaultPlan.NONE);
    return left;
  }

  @Test
  void aRecordLargerThanTheRingIsRefusedWhenTheDiskHasNoRoomForIt() throws IOException {
    LogWorld world = new LogWorld(LAZY, 1);
    Log log = world.open();
    LogRecord record = log.newRecord();
    written.add(LogWorld.append(record, new byte[1000]));
    long end = log.end();
    world.storage.capacityBytes(world.storage.usedBytes() + (40 << 10));
    assertThrows(DiskFullException.class, () -> record.begin(50_000));
    assertEquals(end, log.end(), "it has taken no place");
    world.storage.capacityBytes(Long.MAX_VALUE);
    written.add(LogWorld.append(record, new byte[50_000]));
    log.close();
    world.open().close();
    assertEquals(written, world.replayed);
    world.close();
  }

  @Test
  void aDamagedHeaderAndAForeignRingAreTold() throws IOException {
    LogWorld world = new LogWorld(LAZY, 1);
    world.open().close();
    for (int at = 0; at < 40; at++) {
      SimulatedStorage disk = world.storage.copy();
      try (DataFile file = disk.open(RingFile.NAME, IoMode.BUFFERED)) {
        Memory block = new Memory(ByteBuffer.allocateDirect(4096));
        file.read(0, block, 0, 4096);
        block.putByte(at, (byte) (block.getByte(at) ^ 0x10));
        file.write(0, block, 0, 4096);
      }
      LogWorld next = new LogWorld(LAZY, 2, disk);
      RuntimeException told = assertThrows(RuntimeException.class, next::open);
      assertTrue(
          told instanceof CorruptionException || told instanceof FormatException, told.toString());
      assertTrue(told.getMessage().contains(RingFile.NAME), told.getMessage());
      next.close();
    }
    Memory scratch = new Memory(ByteBuffer.allocateDirect(4096));
    assertThrows(
        CorruptionException.class,
        () -> RingFile.find(world.storage, new UUID(1, 2), scratch).close());
    world.close();
  }
}
