package io.isobardb.lsm.wal;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.isobardb.lsm.commit.BatchFormat;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.schedule.Watched;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.repair.format.LogSalvage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;
import java.util.zip.CRC32C;

/** Segments and records that nobody ever wrote. */
class LogFuzzTest {
  private static final UUID STORE = new UUID(1, 2);
  private static final long SEGMENT = LogOptions.MIN_SEGMENT_BYTES;

  /** The stream as it comes. */
  @FuzzTest(maxDuration = "10m")
  void stream(byte[] stream) throws IOException {
    Watched.input("stream", stream, () -> streamOf(stream));
  }

  private void streamOf(byte[] stream) throws IOException {
    read(stream);
  }

  /** Records with right checksums: two bytes of length, eight of word 1, payload; and so on. */
  @FuzzTest(maxDuration = "10m")
  void records(byte[] data) throws IOException {
    Watched.input("records", data, () -> recordsOf(data));
  }

  private void recordsOf(byte[] data) throws IOException {
    ByteBuffer in = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
    ByteBuffer out = ByteBuffer.allocate((int) SEGMENT).order(ByteOrder.LITTLE_ENDIAN);
    while (in.remaining() >= 10) {
      int length = Math.min(in.getShort() & 0x3FFF, in.remaining() - 8);
      long word1 = in.getLong();
      if (out.remaining() < length + 64) {
        break;
      }
      long lsn = Lsn.FIRST + out.position();
      if (word1 == 0) {
        out.putLong(RecordLayout.markerWord(lsn, RecordLayout.seed(STORE)));
        continue;
      }
      int at = out.position();
      out.putLong(0).putLong(word1);
      out.put(data, in.position(), length);
      in.position(in.position() + length);
      out.position(at + (int) (RecordLayout.HEADER_BYTES + Lsn.align(length)));
      CRC32C crc = new CRC32C();
      crc.update(out.array(), at + 8, out.position() - at - 8);
      int sum = RecordLayout.sum((int) crc.getValue(), lsn, length, RecordLayout.seed(STORE));
      out.putLong(at, RecordLayout.word0(length, sum));
    }
    byte[] stream = new byte[out.position()];
    out.flip().get(stream);
    read(stream);
  }

  /** A header block. */
  @FuzzTest(maxDuration = "10m")
  void header(byte[] header) {
    Watched.input("header", header, () -> headerOf(header));
  }

  private void headerOf(byte[] header) {
    Memory block = new Memory(ByteBuffer.allocateDirect(SegmentLayout.HEADER_BYTES));
    int length = Math.min(header.length, SegmentLayout.HEADER_BYTES);
    block.put(0, header, 0, length);
    try {
      SegmentLayout layout =
          SegmentLayout.decode(block, 0, SegmentLayout.HEADER_BYTES, "0000000000.log", null);
      assertTrue(layout.segmentBytes() > 0);
    } catch (CorruptionException | FormatException e) {
      // Told of.
    }
  }

  private static void read(byte[] stream) throws IOException {
    SimulatedStorage disk = new SimulatedStorage();
    int most = (int) Math.min(stream.length, SEGMENT - Lsn.FIRST);
    try (DataFile file = disk.create(SegmentLayout.fileName(0), IoMode.BUFFERED)) {
      Memory memory =
          new Memory(ByteBuffer.allocateDirect((int) (SegmentLayout.HEADER_BYTES + SEGMENT)));
      new SegmentLayout(STORE, 0, SEGMENT, 0).encode(memory, 0);
      memory.put((int) (SegmentLayout.HEADER_BYTES + Lsn.FIRST), stream, 0, most);
      file.write(0, memory, 0, memory.size());
    }
    PagePool pool = new PagePool(8 << 20, 4096);
    LogHandler handler = new BatchFormat.Reader((lsn, tree, write) -> {});
    try {
      try {
        LogScan scan = LogScan.run(disk, pool, STORE, LogExtent.from(Lsn.FIRST), handler);
        assertTrue(scan.endLsn() <= SEGMENT);
      } catch (CorruptionException e) {
        assertTrue(e.offset() >= 0);
      }
      LogSalvage.run(disk, pool, STORE, LogExtent.from(Lsn.FIRST), handler);
      LogSalvage.run(disk, pool, STORE, new LogExtent(0, SEGMENT), handler);
    } finally {
      pool.close();
    }
  }
}
