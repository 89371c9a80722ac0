package io.isobardb.lsm.wal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.commit.BatchFormat;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.wal.LogWorld.Entry;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.stats.Purpose;
import io.isobardb.repair.format.LogSalvage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LogTest {
  private static LogOptions options(boolean direct) {
    return direct ? LogWorld.SMALL : LogWorld.SMALL_BUFFERED;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatWasWrittenIsReplayedOverManyOpenings(boolean direct) throws IOException {
    for (long seed = 1; seed <= 8; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      LogWorld world = new LogWorld(options(direct), seed);
      List<Entry> written = new ArrayList<>();
      for (int session = 0; session < 5; session++) {
        Log log = world.open();
        assertEquals(written, world.replayed, "seed " + seed);
        assertEquals(0, log.droppedBytes());
        LogRecord record = log.newRecord();
        for (int i = random.nextInt(200); i > 0; i--) {
          if (random.nextInt(10) == 0) {
            written.add(LogWorld.marker(log));
          } else {
            byte[] payload = LogWorld.bytes(random, LogWorld.length(random));
            written.add(LogWorld.append(record, payload));
          }
          assertEquals(log.end() - 1, log.visible());
          if (random.nextInt(8) == 0) {
            log.awaitDurable(written.get(written.size() - 1).lsn());
            assertEquals(log.end(), log.durable());
          }
        }
        log.close();
      }
      world.close();
    }
  }

  @Test
  void theFirstRecordHasTheFirstLsnAndAnOldestReaderSeesNothing() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 1);
    Log log = world.open();
    assertEquals(Lsn.FIRST - 1, log.visible());
    assertEquals(Lsn.FIRST, log.durable());
    LogRecord record = log.newRecord();
    assertEquals(Lsn.FIRST, LogWorld.append(record, new byte[3]).lsn());
    assertEquals(Lsn.FIRST + 24, LogWorld.append(record, new byte[0]).lsn());
    log.close();
    world.close();
  }

  @Test
  void aRecordThatNoReplayWouldTakeIsRefused() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 1);
    Log log = world.open();
    LogRecord record = log.newRecord();
    for (int length : new int[] {LogRecord.MOST_BYTES + 1, Integer.MAX_VALUE - 64, -1}) {
      assertThrows(IllegalArgumentException.class, () -> record.begin(length));
    }
    assertEquals(Lsn.FIRST, LogWorld.append(record, new byte[3]).lsn());
    log.close();
    world.close();
  }

  @Test
  void allEncodersWriteWhatTheySayAcrossTheEndOfTheRing() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 1);
    Log log = world.open();
    LogRecord record = log.newRecord();
    byte[] heap = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    byte[] expected = {9, (byte) 0xAC, 2, 2, 3};
    int count = 2000;
    for (int i = 0; i < count; i++) {
      record.begin(expected.length);
      record.putByte(9);
      assertEquals(2, LogRecord.varintBytes(300));
      record.putVarint(300);
      record.put(heap, 1, 2);
      record.complete();
      record.publish();
    }
    log.close();
    log = world.open();
    assertEquals(count, world.replayed.size());
    for (Entry entry : world.replayed) {
      assertArrayEquals(expected, entry.payload());
    }
    log.close();
    world.close();
  }

  @Test
  void varintsTakeAsManyBytesAsAnnounced() {
    for (int shift = 0; shift < 32; shift++) {
      int value = 1 << shift;
      assertEquals(shift / 7 + 1, LogRecord.varintBytes(value));
      assertEquals(Math.max(1, (shift + 6) / 7), LogRecord.varintBytes(value - 1));
    }
    assertEquals(1, LogRecord.varintBytes(0));
    assertEquals(5, LogRecord.varintBytes(-1));
  }

  @Test
  void aPayloadThatIsNotAsLongAsAnnouncedIsRefused() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 1);
    Log log = world.open();
    LogRecord record = log.newRecord();
    record.begin(4);
    record.putByte(1);
    assertThrows(IllegalStateException.class, record::complete);
    assertThrows(IllegalStateException.class, record::publish);
    assertThrows(IllegalStateException.class, () -> record.begin(1));
    record.put(new byte[3], 0, 3);
    assertThrows(IllegalStateException.class, () -> record.putByte(1));
    assertTrue(record.abandon());
    assertTrue(record.abandon(), "nothing in hand");
    log.close();
    world.open().close();
    assertEquals(List.of(), world.replayed);
    world.close();
  }

  @Test
  void anAbandonedRecordHoldsNobodyUpAndIsNotReplayed() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 1);
    Log log = world.open();
    LogRecord first = log.newRecord();
    LogRecord second = log.newRecord();
    List<Entry> expected = new ArrayList<>();
    int[] lengths = {0, 10, 4080, 4081, 40_000};
    for (int length : lengths) {
      for (int put = 0; put <= length; put += Math.max(1, length / 3)) {
        first.begin(length);
        first.put(new byte[put], 0, put);
        assertTrue(first.abandon());
        expected.add(LogWorld.append(second, new byte[] {1, 2}));
      }
    }
    long lsn = first.begin(2);
    first.put(new byte[2], 0, 2);
    first.complete();
    assertFalse(first.abandon(), "it is complete, and may be written already");
    expected.add(new Entry(lsn, LogHandler.BATCH, new byte[2]));
    assertEquals(log.end() - 1, log.visible());
    log.close();
    world.open().close();
    assertEquals(expected, world.replayed);
    world.close();
  }

  @Test
  void nothingIsVisibleBeforeWhatIsBeforeIt() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 1);
    Log log = world.open();
    Ring ring = log.ring();
    LogRecord first = log.newRecord();
    long a = first.begin(1);
    long marker = log.reserveMarker();
    // The marker is applied, but the record before it is not.
    ring.markMarkerApplied(marker);
    assertFalse(ring.walk());
    assertEquals(a - 1, log.visible());
    first.putByte(1);
    first.complete();
    assertFalse(ring.walk());
    assertEquals(a - 1, log.visible());
    first.publish();
    assertEquals(marker + 7, log.visible());
    log.close();
    world.close();
  }

  @Test
  void aRecordInFragmentsBecomesVisibleAndDurableAsAWhole() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 1);
    Log log = world.open();
    LogRecord record = log.newRecord();
    LogWorld.append(record, new byte[100]);
    long lsn = record.begin(50_000);
    for (int i = 0; i < 50_000; i++) {
      record.putByte(i);
      if (i % 1000 == 0) {
        log.ring().walk();
        assertEquals(lsn - 1, log.visible());
        assertTrue(log.durable() <= lsn);
      }
    }
    record.complete();
    record.publish();
    assertEquals(log.end() - 1, log.visible());
    log.awaitDurable(lsn);
    assertEquals(log.end(), log.durable());
    log.close();
    world.close();
  }

  @Test
  void anUnsyncedRecordIsSyncedInTimeWithoutAnybodyWaiting() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 1);
    Log log = world.open();
    LogRecord record = log.newRecord();
    for (int i = 0; i < 5; i++) {
      LogWorld.append(record, new byte[100]);
      world.scheduler.runFor(LogWorld.SMALL.asyncSyncNanos() / 2);
      assertTrue(log.durable() < log.end());
      LogWorld.append(record, new byte[100]);
      world.scheduler.runFor(LogWorld.SMALL.asyncSyncNanos() / 2 + 10_000);
      assertEquals(log.end(), log.durable());
      assertEquals(i + 1, log.syncs());
      world.scheduler.runFor(3 * LogWorld.SMALL.asyncSyncNanos());
      assertEquals(i + 1, log.syncs(), "an idle log is not synced");
    }
    log.close();
    world.close();
  }

  @Test
  void droppedSegmentsAreReusedAndTheirOldRecordsAreNotFound() throws IOException {
    SplittableRandom random = new SplittableRandom(7);
    LogWorld world = new LogWorld(LogWorld.SMALL, 7);
    Log log = world.open();
    long start = Lsn.FIRST;
    List<Entry> written = new ArrayList<>();
    for (int session = 0; session < 20; session++) {
      LogRecord record = log.newRecord();
      for (int i = 0; i < 300; i++) {
        // Equal sizes: old headers stand where new ones could.
        written.add(LogWorld.append(record, LogWorld.bytes(random, 112)));
      }
      log.flush();
      start = written.get(written.size() - 40).lsn();
      log.truncateBefore(start);
      assertTrue(log.sizeBytes() <= 2 * world.options.segmentBytes());
      log.close();
      long from = start;
      List<Entry> kept = written.stream().filter(e -> e.lsn() >= from).toList();
      log = world.open(start);
      assertEquals(kept, world.replayed);
      assertEquals(0, log.droppedBytes());
      assertTrue(world.storage.list().size() <= 2 + 1 + world.options.spareSegments());
    }
    log.close();
    world.close();
  }

  @Test
  void whatTheFilesTakeOnTheDiskIsKnownButForTwoBlocksOfEach() throws IOException {
    SplittableRandom random = new SplittableRandom(3);
    LogWorld world = new LogWorld(new LogOptions(256 << 10, 64 << 10, true, 100_000_000L, 2), 3);
    Log log = world.open();
    LogRecord record = log.newRecord();
    for (int i = 0; i < 300; i++) {
      LogWorld.append(record, LogWorld.bytes(random, random.nextInt(9_000)));
      if (i % 60 == 59) {
        log.flush();
        log.truncateBefore(log.durable());
      }
      world.scheduler.runFor(1_000_000L);
      long wrong = world.storage.usedBytes() - log.allocatedBytes();
      long blocks = world.storage.list().size() * 2L * DataFile.BLOCK;
      assertTrue(Math.abs(wrong) <= blocks, wrong + " bytes beside it: " + world.storage.list());
    }
    log.close();
    world.close();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aQuietLogThatIsNotNeededGivesItsRoomBackAndGoesOn(boolean direct) throws IOException {
    LogWorld world = new LogWorld(new LogOptions(256 << 10, 64 << 10, direct, 100_000_000L, 2), 3);
    Log log = world.open();
    SplittableRandom random = new SplittableRandom(3);
    List<Entry> written = burst(log, random);
    log.flush();
    long start = written.get(written.size() - 1).lsn();
    log.truncateBefore(start);
    long taken = world.storage.usedBytes();
    assertTrue(taken > 512 << 10, taken + " bytes, two spares and the last segment");
    world.scheduler.runFor(LogWriter.QUIET_NANOS / 2);
    assertEquals(taken, world.storage.usedBytes());

    world.scheduler.runFor(LogWriter.QUIET_NANOS);
    assertEquals(List.of("RING"), others(world));
    taken = world.storage.usedBytes();
    assertTrue(taken <= (64 << 10) + 6 * DataFile.BLOCK, taken + " bytes, of them a ring of 64 KB");
    assertTrue(Math.abs(taken - log.allocatedBytes()) <= 4 * DataFile.BLOCK);

    written.addAll(burst(log, random));
    log.flush();
    SimulatedStorage crashed = world.storage.crash(random, CrashMode.ONLY_SYNCED);
    log.close();
    world.close();
    LogWorld after = new LogWorld(world.options, 4, crashed);
    after.open(start).close();
    assertEquals(written.stream().filter(entry -> entry.lsn() >= start).toList(), after.replayed);
    after.close();
  }

  private static long spares(LogWorld world) throws IOException {
    return world.storage.list().stream().filter(SegmentLayout::isSpare).count();
  }

  /** An opening deletes them in any case. */
  @Test
  void aLogThatIsClosedLeavesNoSpares() throws IOException {
    LogWorld world = new LogWorld(new LogOptions(256 << 10, 64 << 10, true, 100_000_000L, 2), 3);
    Log log = world.open();
    List<Entry> written = burst(log, new SplittableRandom(3));
    log.flush();
    long start = written.get(written.size() - 1).lsn();
    log.truncateBefore(start);
    assertTrue(spares(world) > 0, "a segment that is not needed becomes one");
    log.close();
    assertEquals(0, spares(world));
    world.open(start).close();
    assertEquals(written.subList(written.size() - 1, written.size()), world.replayed);
    world.close();
  }

  @Test
  void aQuietLogThatIsNeededKeepsNoSpares() throws IOException {
    LogWorld world = new LogWorld(new LogOptions(256 << 10, 64 << 10, true, 100_000_000L, 2), 3);
    Log log = world.open();
    SplittableRandom random = new SplittableRandom(3);
    List<Entry> written = burst(log, random);
    log.flush();
    long start = written.get(written.size() - 40).lsn();
    log.truncateBefore(start);
    world.scheduler.runFor(LogWriter.QUIET_NANOS / 2);
    assertTrue(spares(world) > 0, "it may soon be written again");
    long taken = world.storage.usedBytes();
    world.scheduler.runFor(LogWriter.QUIET_NANOS);
    assertEquals(0, spares(world));
    assertTrue(world.storage.usedBytes() <= taken - (256 << 10), "a segment's bytes at least");
    assertTrue(Math.abs(world.storage.usedBytes() - log.allocatedBytes()) <= 8 * DataFile.BLOCK);
    written.addAll(burst(log, random));
    log.close();
    world.open(start).close();
    assertEquals(written.stream().filter(entry -> entry.lsn() >= start).toList(), world.replayed);
    world.close();
  }

  @Test
  void aQuietLogThatIsNeededKeepsWhatItHas() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 3);
    Log log = world.open();
    List<Entry> written = burst(log, new SplittableRandom(3));
    log.flush();
    long start = written.get(written.size() - 40).lsn();
    log.truncateBefore(start);
    world.scheduler.runFor(2 * LogWriter.QUIET_NANOS);
    log.close();
    world.open(start).close();
    assertEquals(written.subList(written.size() - 40, written.size()), world.replayed);
    world.close();
  }

  @Test
  void aLogThatGaveItsRoomBackSaysSoIfTheDiskHasNone() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 3);
    Log log = world.open();
    SplittableRandom random = new SplittableRandom(3);
    burst(log, random);
    log.flush();
    log.truncateBefore(log.durable());
    world.scheduler.runFor(2 * LogWriter.QUIET_NANOS);
    long start = log.end();
    world.storage.capacityBytes(world.storage.usedBytes());
    LogRecord record = log.newRecord();
    List<Entry> written = new ArrayList<>();
    assertThrows(
        DiskFullException.class,
        () -> {
          while (written.size() < 1000) {
            log.checkWritable();
            written.add(LogWorld.append(record, new byte[100]));
          }
        });
    world.storage.capacityBytes(Long.MAX_VALUE);
    world.scheduler.runFor(1_000_000_000L);
    written.addAll(burst(log, random));
    log.close();
    world.open(start).close();
    assertEquals(written, world.replayed);
    world.close();
  }

  /** Some 800 KB. */
  private static List<Entry> burst(Log log, SplittableRandom random) {
    LogRecord record = log.newRecord();
    List<Entry> written = new ArrayList<>();
    for (int i = 0; i < 800; i++) {
      written.add(LogWorld.append(record, LogWorld.bytes(random, 1000)));
    }
    return written;
  }

  /** The files that are no segments. */
  private static List<String> others(LogWorld world) throws IOException {
    return world.storage.list().stream().filter(name -> SegmentLayout.indexOf(name) < 0).toList();
  }

  @Test
  void aLogCutAtItsVeryEndOpensEmpty() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 1);
    Log log = world.open();
    LogRecord record = log.newRecord();
    long boundary = 2 * world.options.segmentBytes();
    while (log.end() + 2 * 4096 < boundary) {
      LogWorld.append(record, new byte[1000]);
    }
    LogWorld.append(record, new byte[(int) (boundary - log.end()) - 16 - 4096]);
    LogWorld.append(record, new byte[4080]);
    log.flush();
    assertEquals(boundary, log.durable());
    log.truncateBefore(boundary);
    // As after a crash: closing would write one more record.
    LogWorld after = new LogWorld(world.options, 2, world.storage.copy());
    log.close();
    Log opened = after.open(boundary);
    assertEquals(List.of(), after.replayed);
    Entry entry = LogWorld.append(opened.newRecord(), new byte[5]);
    assertEquals(boundary, entry.lsn());
    opened.close();
    opened = after.open(boundary);
    assertEquals(List.of(entry), after.replayed);
    opened.close();
    after.close();
    world.close();
  }

  @Test
  void aMissingAForeignAndANewerSegmentAreToldApart() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 1);
    Log log = world.open();
    LogRecord record = log.newRecord();
    for (int i = 0; i < 300; i++) {
      LogWorld.append(record, new byte[1000]);
    }
    log.close();
    String second = SegmentLayout.fileName(1);
    var intact = world.storage.copy();

    world.storage.delete(second);
    CorruptionException missing = assertThrows(CorruptionException.class, world::open);
    assertEquals(second, missing.file());

    world.storage = intact.copy();
    assertThrows(
        CorruptionException.class,
        () ->
            new Log()
                .open(
                    new LogSite(world.environment(), world.pool, UUID.randomUUID(), LogWorld.QUIET),
                    world.options,
                    LogExtent.from(Lsn.FIRST),
                    (lsn, kind, payload, offset, length, rest) -> {}));

    world.storage = intact.copy();
    try (DataFile file = world.storage.open(second, IoMode.BUFFERED)) {
      Memory version = new Memory(ByteBuffer.allocateDirect(4));
      version.putInt(0, 2);
      file.write(8, version, 0, 4);
    }
    FormatException newer = assertThrows(FormatException.class, world::open);
    assertTrue(newer.getMessage().contains("version 2"));

    world.storage = intact.copy();
    assertThrows(CorruptionException.class, () -> world.open(1L << 30));
    assertEquals(0, world.pool.ledger().bytes(Purpose.LOG));
    world.close();
  }

  @Test
  void anOperationOfAKindThatIsNotKnownIsToldByFileAndOffset() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 31);
    BatchFormat.Builder batch = new BatchFormat.Builder();
    List<Long> lsns = new ArrayList<>();
    try (Log log = world.open()) {
      LogRecord record = log.newRecord();
      for (int key : new int[] {1, 3, 5}) {
        batch.clear();
        batch.add(key == 3 ? 77 : Kind.PUT, 1, new byte[] {(byte) key}, new byte[] {9});
        byte[] payload = Arrays.copyOf(batch.bytes(), batch.length());
        lsns.add(LogWorld.append(record, payload).lsn());
      }
      log.awaitDurable(lsns.get(2));
    }
    long at = SegmentLayout.HEADER_BYTES + lsns.get(1);
    List<Integer> keys = new ArrayList<>();
    BatchFormat.Reader reader =
        new BatchFormat.Reader(
            (lsn, tree, write) -> keys.add((int) write.key()[write.keyOffset()]));
    LogExtent extent = LogExtent.from(Lsn.FIRST);
    List<Executable> reads =
        List.of(
            () -> LogScan.run(world.storage, world.pool, LogWorld.STORE, extent, reader),
            () -> new Log().open(world.site(), world.options, extent, reader));
    for (Executable read : reads) {
      keys.clear();
      CorruptionException e = assertThrows(CorruptionException.class, read);
      assertEquals(SegmentLayout.fileName(0), e.file());
      assertEquals(at, e.offset());
      assertTrue(e.what().contains("kind 77, which this release does not know"), e::what);
      assertEquals(List.of(1), keys);
    }
    keys.clear();
    LogSalvage salvage = LogSalvage.run(world.storage, world.pool, LogWorld.STORE, extent, reader);
    assertEquals(List.of(1, 5), keys, "repair goes on behind it");
    assertEquals(1, salvage.lost().size());
    assertEquals(SegmentLayout.fileName(0), salvage.lost().get(0).file());
    assertEquals(at, salvage.lost().get(0).from());
    world.close();
  }
}
