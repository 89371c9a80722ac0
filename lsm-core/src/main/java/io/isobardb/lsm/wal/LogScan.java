package io.isobardb.lsm.wal;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.io.Storage;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Reads a log that is not open, and changes nothing.
 *
 * @param endLsn the end of the last whole record
 * @param droppedBytes bytes of a torn tail, which opening the log would cut off
 * @param files names of the segments that were read, in their order
 */
public record LogScan(long endLsn, long droppedBytes, List<String> files) {
  /**
   * Hands all records from the log's start on to {@code handler}.
   *
   * @param handler may throw {@code IllegalArgumentException} for a payload that is none
   * @throws CorruptionException if a record is damaged or no payload, or a segment is missing
   * @throws io.isobardb.lsm.error.FormatException if a segment is of a newer version or of another
   *     store
   */
  public static LogScan run(
      Storage storage, PagePool pool, UUID storeId, LogExtent extent, LogHandler handler)
      throws IOException {
    try (ScanMemory memory = ScanMemory.of(pool);
        Segments segments = memory.segments(storage, storeId);
        RingFile ring = RingFile.find(storage, storeId, memory.scratch().memory())) {
      List<SegmentLayout> headers = segments.find(extent);
      if (headers.isEmpty()) {
        return new LogScan(extent.startLsn(), 0, List.of());
      }
      Memory window = memory.window().memory();
      try (LogReplay replay =
          new LogReplay(segments, headers, window, ring, RecordLayout.seed(storeId))) {
        replay.run(extent, checked(segments, handler), LogReplay.RingPart.LEFT);
        List<String> files = new ArrayList<>();
        headers.forEach(header -> files.add(SegmentLayout.fileName(header.index())));
        return new LogScan(replay.end(), replay.droppedBytes(), List.copyOf(files));
      }
    }
  }

  /** Makes a payload that is none a damage of the log. */
  static LogHandler checked(Segments segments, LogHandler handler) {
    return (lsn, kind, payload, offset, length, rest) -> {
      try {
        handler.record(lsn, kind, payload, offset, length, rest);
      } catch (IllegalArgumentException e) {
        throw new CorruptionException(
            segments.nameAt(lsn), segments.offsetAt(lsn), "no batch: " + e.getMessage());
      }
    };
  }
}
