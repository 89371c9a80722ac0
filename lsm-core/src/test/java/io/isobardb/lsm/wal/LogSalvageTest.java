package io.isobardb.lsm.wal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.wal.LogWorld.Entry;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.repair.format.LogSalvage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Logs of many segments that are damaged anywhere: what is whole is found, and what is not is told
 * of.
 */
class LogSalvageTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_261_121L);
  private static final int ROUNDS = Integer.getInteger("isobar.salvage.rounds", 300);
  private static final long SEGMENT = LogWorld.SMALL.segmentBytes();

  private final SplittableRandom random = new SplittableRandom(SEED);
  private final Memory block = new Memory(ByteBuffer.allocateDirect(DataFile.BLOCK));

  private WrittenLog whole;
  private List<Entry> written;
  private SimulatedStorage disk;
  private long end;

  /** What a salvage found. */
  private record Found(List<Entry> entries, LogSalvage report) {
    /** Whether it says that bytes between two positions are lost. */
    boolean tellsOf(long from, long to) {
      return report.lost().stream().anyMatch(l -> begin(l) < to && begin(l) + l.bytes() > from);
    }

    private static long begin(LogSalvage.Lost lost) {
      long index = SegmentLayout.indexOf(lost.file());
      return index * SEGMENT + lost.from() - SegmentLayout.HEADER_BYTES;
    }
  }

  @BeforeEach
  void writeALog() throws IOException {
    whole = WrittenLog.write(SEED, 200, i -> LogWorld.bytes(random, LogWorld.length(random)));
    written = whole.entries();
    end = whole.end();
    disk = whole.disk();
    assertTrue(end > 4 * SEGMENT, "only " + end + " bytes");
  }

  private Found salvage(LogExtent extent) throws IOException {
    List<Entry> entries = new ArrayList<>();
    PagePool pool = new PagePool(4 << 20, 4096);
    LogSalvage report =
        LogSalvage.run(
            disk,
            pool,
            LogWorld.STORE,
            extent,
            LogWorld.whole((lsn, kind, bytes) -> entries.add(new Entry(lsn, kind, bytes))));
    pool.close();
    assertEquals(0, disk.openFiles());
    return new Found(entries, report);
  }

  /** Checks that entries are found or told of, from a position on to where the log was synced. */
  private void check(Found found, long from, long synced, String what) {
    TreeSet<Long> lsns = new TreeSet<>();
    for (Entry entry : found.entries) {
      assertTrue(written.contains(entry), () -> what + ": never written: " + entry);
      assertTrue(lsns.isEmpty() || lsns.last() < entry.lsn(), () -> what + ": order at " + entry);
      lsns.add(entry.lsn());
    }
    for (int i = 0; i < written.size(); i++) {
      long lsn = written.get(i).lsn();
      boolean toldOf = found.tellsOf(lsn, whole.endOf(i));
      if (lsns.contains(lsn)) {
        assertTrue(!toldOf, what + ": called lost, but found: " + written.get(i));
      } else if (lsn >= from && whole.endOf(i) <= synced) {
        assertTrue(toldOf, what + ": neither found nor called lost: " + written.get(i));
      }
    }
  }

  private void write(String name, long at, int length) throws IOException {
    try (DataFile file = disk.open(name, IoMode.BUFFERED)) {
      file.write(at, block, 0, length);
    }
  }

  private long segments() throws IOException {
    return disk.list().stream().filter(name -> SegmentLayout.indexOf(name) >= 0).count();
  }

  private String segment(long index) {
    return SegmentLayout.fileName(index);
  }

  /** A part of the stream that was changed. */
  private record Damage(String what, long from, long to) {}

  private Damage damageSomething() throws IOException {
    long index = random.nextLong(end / SEGMENT + 1);
    String name = segment(index);
    long start = index * SEGMENT;
    int from = random.nextInt((int) SEGMENT / 8) * 8;
    for (int i = 0; i < DataFile.BLOCK; i++) {
      block.putByte(i, (byte) random.nextInt());
    }
    int kind = disk.exists(name) ? random.nextInt(5) : 0;
    if (kind == 0) {
      if (disk.exists(name)) {
        disk.delete(name);
      }
      return new Damage(name + " deleted", start, start + SEGMENT);
    } else if (kind == 1) {
      write(name, random.nextInt(48), 8);
      return new Damage(name + ": header", start, start);
    } else if (kind == 2) {
      from &= -DataFile.BLOCK;
      block.zero(0, DataFile.BLOCK);
      write(name, SegmentLayout.HEADER_BYTES + from, DataFile.BLOCK);
      return new Damage(name + ": zeros at " + from, start + from, start + from + DataFile.BLOCK);
    } else if (kind == 3) {
      try (DataFile file = disk.open(name, IoMode.BUFFERED)) {
        file.truncate(SegmentLayout.HEADER_BYTES + from);
      }
      return new Damage(name + ": cut at " + from, start + from, start + SEGMENT);
    } else {
      write(name, SegmentLayout.HEADER_BYTES + from, 8);
      return new Damage(name + ": garbage at " + from, start + from, start + from + 8);
    }
  }

  /** Checks that records are found that have no damage. */
  private void checkIntact(Found found, long from, List<Damage> damages, String what) {
    for (int i = 0; i < written.size(); i++) {
      Entry entry = written.get(i);
      long to = whole.endOf(i);
      boolean intact = damages.stream().allMatch(d -> d.from >= to || d.to <= entry.lsn());
      assertTrue(
          entry.lsn() < from || !intact || found.entries.contains(entry),
          () -> what + ": intact, but not found: " + entry);
    }
  }

  @Test
  void whateverIsDamagedTheRestIsFoundAndNothingIsLostInSilence() throws IOException {
    System.out.println("isobar.seed=" + SEED);
    SimulatedStorage intact = disk;
    int told = 0;
    for (int round = 0; round < ROUNDS; round++) {
      disk = intact.copy();
      List<Damage> damages = new ArrayList<>();
      for (int i = random.nextInt(4); i >= 0; i--) {
        damages.add(damageSomething());
      }
      String what = "seed " + SEED + ", round " + round + ": " + damages;
      boolean known = random.nextBoolean();
      Entry first = written.get(random.nextInt(20));
      Found found = salvage(new LogExtent(known ? first.lsn() : 0, end));
      // Where the log begins is not known then: what lies before the first right record may be old.
      long from = first.lsn();
      if (!known) {
        from = found.entries.isEmpty() ? end : found.entries.get(0).lsn();
      }
      check(found, from, end, what);
      if (found.report.headers().size() < segments()) {
        checkIntact(found, known ? from : Lsn.FIRST, damages, what);
      }
      told += found.report.lost().size();
    }
    assertTrue(told > ROUNDS / 4, "only " + told + " parts were lost in all");
  }

  @Test
  void aSoundLogIsFoundWhole() throws IOException {
    for (LogExtent extent :
        List.of(new LogExtent(0, 0), LogExtent.from(Lsn.FIRST), new LogExtent(Lsn.FIRST, end))) {
      Found found = salvage(extent);
      assertEquals(written, found.entries);
      assertEquals(List.of(), found.report.lost());
      assertEquals(List.of(), found.report.headers());
    }
  }

  @Test
  void aMissingSegmentIsLostWithWhatReachesIntoIt() throws IOException {
    disk.delete(segment(2));
    Found found = salvage(LogExtent.from(Lsn.FIRST));
    check(found, Lsn.FIRST, end, "segment 2 missing");
    assertTrue(found.tellsOf(2 * SEGMENT, 3 * SEGMENT));
    assertTrue(found.entries.stream().anyMatch(entry -> entry.lsn() > 3 * SEGMENT));
  }

  @Test
  void theEndIsMissedOnlyBySomebodyWhoKnowsOfIt() throws IOException {
    long last = (end - 1) / SEGMENT;
    disk.delete(segment(last));
    Found found = salvage(new LogExtent(Lsn.FIRST, end));
    assertTrue(found.tellsOf(last * SEGMENT, end));
    found = salvage(LogExtent.from(Lsn.FIRST));
    assertTrue(!found.tellsOf(last * SEGMENT, end));
    check(found, Lsn.FIRST, 0, "end missing");
  }

  @Test
  void ofALogWithoutSegmentsAllIsLost() throws IOException {
    for (long index = 0; disk.exists(segment(index)); index++) {
      disk.delete(segment(index));
    }
    Found found = salvage(new LogExtent(Lsn.FIRST, end));
    assertEquals(
        List.of(
            new LogSalvage.Lost(
                segment(0), SegmentLayout.HEADER_BYTES + Lsn.FIRST, end - Lsn.FIRST)),
        found.report.lost());
    found = salvage(new LogExtent(0, 0));
    assertEquals(List.of(), found.report.lost());
    assertEquals(List.of(), found.entries);
  }

  /** Files that are called segments but are none of this log's. */
  @Test
  void whatIsNoSegmentOfThisLogIsToldOfAndDoesNoHarm() throws IOException {
    String absurd = segment(999_999_999_999_999_999L);
    String foreign = segment(7_000);
    String odd = segment(8_000);
    for (String name : List.of(absurd, foreign, odd)) {
      disk.create(name, IoMode.BUFFERED).close();
    }
    new SegmentLayout(new UUID(1, 2), 7_000, SEGMENT, 0).encode(block, 0);
    write(foreign, 0, SegmentLayout.HEADER_BYTES);
    new SegmentLayout(LogWorld.STORE, 8_000, 4 * SEGMENT, 0).encode(block, 0);
    write(odd, 0, SegmentLayout.HEADER_BYTES);
    Found found = salvage(LogExtent.from(Lsn.FIRST));
    assertEquals(written, found.entries);
    assertEquals(
        List.of(foreign, absurd), found.report.headers().stream().map(Finding::file).toList());
    check(found, Lsn.FIRST, end, "files of others");
  }

  /** As one of a newer release would be: its checksum is right, and nobody knows what it says. */
  @Test
  void aWholeRecordThatIsNoBatchIsToldOfWhereverItStands() throws IOException {
    for (Entry none : written) {
      if (none.kind() != LogHandler.BATCH) {
        continue;
      }
      for (LogExtent extent : List.of(LogExtent.from(Lsn.FIRST), new LogExtent(0, 0))) {
        List<Entry> entries = new ArrayList<>();
        LogHandler handler =
            LogWorld.whole((lsn, kind, bytes) -> entries.add(new Entry(lsn, kind, bytes)));
        PagePool pool = new PagePool(4 << 20, 4096);
        LogSalvage report =
            LogSalvage.run(
                disk,
                pool,
                LogWorld.STORE,
                extent,
                (lsn, kind, payload, offset, length, rest) -> {
                  if (lsn == none.lsn()) {
                    throw new IllegalArgumentException("no batch");
                  }
                  handler.record(lsn, kind, payload, offset, length, rest);
                });
        pool.close();
        List<Entry> others = new ArrayList<>(written);
        others.remove(none);
        assertEquals(others, entries, "without that at " + none.lsn());
        assertTrue(
            new Found(entries, report).tellsOf(none.lsn(), none.lsn() + 8),
            "not told of: " + none.lsn());
      }
    }
  }

  @Test
  void theStoreIsTheOneThatMostSegmentsName() throws IOException {
    PagePool pool = new PagePool(1 << 20, 4096);
    assertEquals(LogWorld.STORE, LogSalvage.storeId(disk, pool));
    String foreign = segment(7_000);
    disk.create(foreign, IoMode.BUFFERED).close();
    new SegmentLayout(new UUID(1, 2), 7_000, SEGMENT, 0).encode(block, 0);
    write(foreign, 0, SegmentLayout.HEADER_BYTES);
    assertEquals(LogWorld.STORE, LogSalvage.storeId(disk, pool));
    for (long index = 0; disk.exists(segment(index)); index++) {
      disk.delete(segment(index));
    }
    assertEquals(new UUID(1, 2), LogSalvage.storeId(disk, pool));
    disk.delete(foreign);
    assertNull(LogSalvage.storeId(disk, pool));
    pool.close();
  }
}
