package io.isobardb.lsm.wal;

import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.io.Storage;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

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
   * @throws CorruptionException if a record is damaged or no payload, a segment is missing, or one
   *     is of another store
   * @throws FormatException if a segment is of a newer version
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

  /** Is told what {@link #salvage} can't read. */
  public interface Damage {
    /** The header or the end of a file is damaged, though its records may be right. */
    void onFinding(Finding finding);

    /**
     * Something was synced, and can't be read.
     *
     * @param file the segment that it begins in
     * @param from offset of its first byte in the file
     * @param bytes its length, which may reach into later segments
     */
    void onLost(String file, long from, long bytes);
  }

  /**
   * Hands all records to {@code handler} that are whole and right, whatever else is damaged.
   *
   * @param extent of the log; a start of 0 if that is not known
   * @param handler may throw {@code IllegalArgumentException} for a payload that is none
   * @return the headers of segments that can be read
   */
  public static List<SegmentLayout> salvage(
      Storage storage,
      PagePool pool,
      UUID storeId,
      LogExtent extent,
      LogHandler handler,
      Damage damage)
      throws IOException {
    try (ScanMemory memory = ScanMemory.of(pool);
        Segments segments = memory.segments(storage, storeId);
        RingFile ring = ring(storage, storeId, memory, damage)) {
      boolean known = extent.startLsn() > 0;
      List<SegmentLayout> headers =
          segments.findRemains(
              extent.startLsn(),
              e -> damage.onFinding(new Finding(e.file(), e.offset(), e.what())));
      long start = known ? extent.startLsn() : Math.max(segments.startPosition(), Lsn.FIRST);
      LogReplay.LostPart part =
          (from, to) -> damage.onLost(segments.nameAt(from), segments.offsetAt(from), to - from);
      Memory window = memory.window().memory();
      try (LogReplay replay =
          new LogReplay(segments, headers, window, ring, RecordLayout.seed(storeId))) {
        replay.salvage(start, known, extent.syncedLsn(), checked(segments, handler), part);
      }
      if (extent.syncedLsn() > segments.endPosition()) {
        part.onLost(Math.max(start, segments.endPosition()), extent.syncedLsn());
      }
      return List.copyOf(headers);
    }
  }

  private static @Nullable RingFile ring(
      Storage storage, UUID storeId, ScanMemory memory, Damage damage) throws IOException {
    try {
      RingFile found = RingFile.find(storage, storeId, memory.scratch().memory());
      long end = found == null ? -1 : found.salvage();
      if (end >= 0) {
        damage.onFinding(new Finding(RingFile.NAME, end, "the file ends here"));
      }
      return found;
    } catch (CorruptionException e) {
      damage.onFinding(new Finding(e.file(), e.offset(), e.what()));
    } catch (FormatException e) {
      damage.onFinding(new Finding(RingFile.NAME, 0, e.getMessage()));
    }
    return null;
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
