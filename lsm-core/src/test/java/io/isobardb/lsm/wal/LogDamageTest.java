package io.isobardb.lsm.wal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.wal.LogWorld.Entry;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A log in one file of which every byte is damaged in turn. */
@Tag("any-jdk")
class LogDamageTest {
  private static final String FILE = SegmentLayout.fileName(0);
  private static final long SEED = 20_11;

  /** The file's header, and the part of the stream before the first record. */
  private static final int FIRST_BYTE = 2 * DataFile.BLOCK;

  private final Memory scratch = new Memory(ByteBuffer.allocateDirect(DataFile.BLOCK));
  private final SplittableRandom random = new SplittableRandom(SEED);

  private WrittenLog whole;
  private List<Entry> written;
  private long end;

  @BeforeEach
  void writeALog() throws IOException {
    whole =
        WrittenLog.write(
            SEED, 40, i -> LogWorld.bytes(random, i == 20 ? 4200 : random.nextInt(60)));
    written = whole.entries();
    end = whole.end();
  }

  @Test
  void everyChangedByteIsFoundOrCutsOffATornTail() throws IOException {
    int damaged = 0;
    for (int at = 0; at < FIRST_BYTE + end - 4096 + 100; at++) {
      if (at == DataFile.BLOCK) {
        at = FIRST_BYTE;
      }
      int change = 1 + random.nextInt(255);
      LogWorld world = new LogWorld(LogWorld.SMALL, at, whole.disk().copy());
      try (DataFile file = world.storage.open(FILE, IoMode.BUFFERED)) {
        file.read(at, scratch, 0, 1);
        scratch.putByte(0, (byte) (scratch.getByte(0) ^ change));
        file.write(at, scratch, 0, 1);
      }
      String what = "seed " + SEED + ", byte " + at + " ^ " + change;
      if (at < DataFile.BLOCK) {
        RuntimeException e = assertThrows(RuntimeException.class, world::open, what);
        assertTrue(e instanceof CorruptionException || e instanceof FormatException, what);
      } else {
        damaged += check(world, at - FIRST_BYTE + 4096, what) ? 1 : 0;
      }
      world.close();
    }
    assertTrue(damaged > 1000, "most records are behind a promise");
  }

  /** Returns whether the damage was seen to be none of a torn tail. */
  private boolean check(LogWorld world, long position, String what) throws IOException {
    int hit = 0;
    while (hit < written.size() && whole.endOf(hit) <= position) {
      hit++;
    }
    boolean promised = false;
    for (int j = hit + 1; j < written.size(); j++) {
      promised |= whole.promises().get(j) > written.get(hit).lsn();
    }
    if (promised) {
      CorruptionException e = assertThrows(CorruptionException.class, world::open, what);
      assertEquals(FILE, e.file());
      assertEquals(written.get(hit).lsn() + DataFile.BLOCK, e.offset(), what);
      return true;
    }
    Log log = world.open();
    assertEquals(written.subList(0, hit), world.replayed, what);
    assertTrue(log.droppedBytes() > 0 || hit == written.size(), what);
    assertWritable(world, log, hit, what);
    return false;
  }

  /** What is written behind a cut is all that is found there. */
  private void assertWritable(LogWorld world, Log log, int kept, String what) throws IOException {
    Entry entry = LogWorld.append(log.newRecord(), LogWorld.bytes(random, random.nextInt(40)));
    assertEquals(kept < written.size() ? written.get(kept).lsn() : end, entry.lsn(), what);
    log.close();
    List<Entry> expected = new ArrayList<>(written.subList(0, kept));
    expected.add(entry);
    log = world.open();
    assertEquals(expected, world.replayed, what);
    assertEquals(0, log.droppedBytes(), what);
    log.close();
  }

  @Test
  void aTornTailIsCutOffWhereverItWasTorn() throws IOException {
    for (long length = FIRST_BYTE; length <= FIRST_BYTE + end - 4096 + 16; ) {
      for (int tail = 0; tail < 2; tail++) {
        LogWorld world = new LogWorld(LogWorld.SMALL, length, whole.disk().copy());
        try (DataFile file = world.storage.open(FILE, IoMode.BUFFERED)) {
          file.truncate(length);
          if (tail == 1) {
            int garbage = 1 + random.nextInt(DataFile.BLOCK);
            byte[] bytes = new byte[garbage];
            random.nextBytes(bytes);
            scratch.put(0, bytes, 0, garbage);
            file.write(length, scratch, 0, garbage);
          }
        }
        String what = "seed " + SEED + ", length " + length + ", tail " + tail;
        Log log = world.open();
        int kept = world.replayed.size();
        assertEquals(written.subList(0, Math.min(kept, written.size())), world.replayed, what);
        if (kept < written.size()) {
          // Zeros at its end need not have been there.
          assertTrue(whole.endOf(kept) > length - DataFile.BLOCK, what);
        }
        if (length % 5 == 0) {
          assertWritable(world, log, kept, what);
        } else {
          log.close();
        }
        world.close();
      }
      length += 1 + random.nextInt(5);
    }
  }

  /** Else a record from before the cut could once stand where the log ends. */
  @Test
  void nothingIsLeftBehindACut() throws IOException {
    for (LogOptions options : List.of(LogWorld.SMALL, LogWorld.SMALL_BUFFERED)) {
      LogWorld world = new LogWorld(options, SEED, whole.disk().copy());
      int last = written.size() - 1;
      int hit = last;
      while (whole.promises().get(last) <= written.get(hit - 1).lsn()) {
        hit--;
      }
      try (DataFile file = world.storage.open(FILE, IoMode.BUFFERED)) {
        file.write(written.get(hit).lsn() + DataFile.BLOCK + 4, scratch, 0, 4);
      }
      Log log = world.open();
      assertEquals(hit, world.replayed.size());
      assertEquals(end - written.get(hit).lsn(), log.droppedBytes());
      Memory all = new Memory(ByteBuffer.allocateDirect(128 << 10));
      try (DataFile file = world.storage.open(FILE, IoMode.BUFFERED)) {
        assertEquals(file.size(), file.read(0, all, 0, all.size()));
        for (int at = (int) written.get(hit).lsn() + DataFile.BLOCK; at < file.size(); at++) {
          assertEquals(0, all.getByte(at), "byte " + at);
        }
      }
      log.close();
      world.close();
    }
  }

  @Test
  void aFileThatEndsInItsHeaderIsDamaged() throws IOException {
    for (int length = 0; length < DataFile.BLOCK; length += 1 + random.nextInt(40)) {
      LogWorld world = new LogWorld(LogWorld.SMALL, length, whole.disk().copy());
      try (DataFile file = world.storage.open(FILE, IoMode.BUFFERED)) {
        file.truncate(length);
      }
      assertThrows(CorruptionException.class, world::open, "length " + length);
      world.close();
    }
  }

  @Test
  void damageBeforeALaterSegmentIsNoTornTail() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, SEED);
    Log log = world.open();
    LogRecord record = log.newRecord();
    List<Entry> entries = new ArrayList<>();
    while (log.end() < world.options.segmentBytes() + 40) {
      // Nobody syncs: only the next segment's header promises anything.
      entries.add(LogWorld.append(record, new byte[1000]));
    }
    log.flush();
    SimulatedStorage disk = world.storage.copy();
    log.close();
    world.close();
    int straddling = entries.size() - 1;
    for (int hit : new int[] {0, straddling - 1, straddling}) {
      LogWorld damaged = new LogWorld(LogWorld.SMALL, hit, disk.copy());
      try (DataFile file = damaged.storage.open(FILE, IoMode.BUFFERED)) {
        scratch.putByte(0, (byte) 0x55);
        file.write(entries.get(hit).lsn() + DataFile.BLOCK + 16, scratch, 0, 1);
      }
      if (hit < straddling) {
        assertThrows(CorruptionException.class, damaged::open);
      } else {
        // The record that ends in the new segment may have been torn there.
        Log opened = damaged.open();
        assertEquals(entries.subList(0, straddling), damaged.replayed);
        assertEquals(entries.get(straddling).lsn(), opened.end());
        opened.close();
      }
      damaged.close();
    }
  }
}
