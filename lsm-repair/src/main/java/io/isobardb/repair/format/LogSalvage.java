package io.isobardb.repair.format;

import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.wal.LogExtent;
import io.isobardb.lsm.wal.LogHandler;
import io.isobardb.lsm.wal.LogScan;
import io.isobardb.lsm.wal.SegmentLayout;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What can still be read of a log that may be damaged anywhere: every record that is whole and
 * right, save those behind a torn tail.
 *
 * @param lost what was synced, and can't be read
 * @param headers files whose header or end is damaged, though their records may be right
 */
public record LogSalvage(List<Lost> lost, List<Finding> headers) {
  /**
   * A part of the log.
   *
   * @param file the segment that it begins in
   * @param from offset of its first byte in the file
   * @param bytes its length, which may reach into later segments; -1 if that is not known
   */
  public record Lost(String file, long from, long bytes) {
    /** Offset of the first byte behind it, as if the file went on; -1 if that is not known. */
    public long to() {
      return bytes < 0 ? -1 : from + bytes;
    }
  }

  /** The store that most segments say they are of; null if there is none that says so. */
  public static @Nullable UUID storeId(Storage storage, PagePool pool) throws IOException {
    Block scratch = pool.blocks().allocate(SegmentLayout.HEADER_BYTES, Purpose.LOG);
    Map<UUID, Integer> votes = new HashMap<>();
    try {
      for (String name : storage.list()) {
        if (SegmentLayout.indexOf(name) >= 0) {
          try (DataFile file = storage.open(name, IoMode.BUFFERED)) {
            int got = file.read(0, scratch.memory(), 0, SegmentLayout.HEADER_BYTES);
            votes.merge(
                SegmentLayout.decode(scratch.memory(), 0, got, name, null).storeId(),
                1,
                Integer::sum);
          } catch (IsobarException e) {
            // One that says nothing.
          }
        }
      }
    } finally {
      pool.release(scratch);
    }
    return votes.entrySet().stream()
        .max(Map.Entry.comparingByValue())
        .map(Map.Entry::getKey)
        .orElse(null);
  }

  /**
   * Hands all records to {@code handler}.
   *
   * @param extent of the log; a start of 0 if that is not known
   * @param handler may throw {@code IllegalArgumentException} for a payload that is none
   */
  public static LogSalvage run(
      Storage storage, PagePool pool, UUID storeId, LogExtent extent, LogHandler handler)
      throws IOException {
    List<Finding> bad = new ArrayList<>();
    List<Lost> lost = new ArrayList<>();
    LogScan.Damage damage =
        new LogScan.Damage() {
          @Override
          public void onFinding(Finding finding) {
            bad.add(finding);
            // Records of a segment are found without its header; what the ring had is not known.
            if (SegmentLayout.indexOf(finding.file()) < 0) {
              lost.add(new Lost(finding.file(), finding.offset(), -1));
            }
          }

          @Override
          public void onLost(String file, long from, long bytes) {
            lost.add(new Lost(file, from, bytes));
          }
        };
    List<SegmentLayout> headers = LogScan.salvage(storage, pool, storeId, extent, handler, damage);
    if (extent.startLsn() <= 0 && extent.syncedLsn() == 0) {
      findCut(storage, headers, bad, lost);
    }
    return new LogSalvage(List.copyOf(lost), List.copyOf(bad));
  }

  /**
   * Segments that are shorter than they were made. They get header and length before their name, so
   * this is told even if nobody knows how far the log was synced.
   */
  private static void findCut(
      Storage storage, List<SegmentLayout> headers, List<Finding> bad, List<Lost> lost)
      throws IOException {
    Map<String, Long> least = new TreeMap<>();
    for (Finding finding : bad) {
      if (SegmentLayout.indexOf(finding.file()) >= 0) {
        least.put(finding.file(), (long) SegmentLayout.HEADER_BYTES);
      }
    }
    for (SegmentLayout header : headers) {
      long length = SegmentLayout.HEADER_BYTES + header.segmentBytes();
      least.put(SegmentLayout.fileName(header.index()), length);
    }
    for (Map.Entry<String, Long> segment : least.entrySet()) {
      try (DataFile file = storage.open(segment.getKey(), IoMode.BUFFERED)) {
        if (file.size() < segment.getValue()) {
          lost.add(new Lost(segment.getKey(), file.size(), -1));
        }
      }
    }
  }
}
