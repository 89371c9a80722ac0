package io.isobardb.lsm.wal;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.IoMode;

/**
 * How a log is laid out and when it is synced.
 *
 * @param segmentBytes bytes of the stream in one segment file; a multiple of 4096, at least 64 KB.
 *     Used for a new log; an existing one keeps what it was created with
 * @param ringBytes bytes of the buffer that writers encode into; a power of two from 16 KB to 1 GB
 * @param direct whether to write past the page cache where the storage can
 * @param asyncSyncNanos how long a published record that nobody waits for may stay unsynced, before
 *     its sync begins
 * @param spareSegments dropped segment files kept for reuse; overwriting an old file is synced in
 *     half the time that extending a new one takes
 */
public record LogOptions(
    long segmentBytes, int ringBytes, boolean direct, long asyncSyncNanos, int spareSegments) {

  /** 64 MB segments, a ring of 4 MB, direct, synced within 100 ms, two spare segments. */
  public static final LogOptions DEFAULT =
      new LogOptions(64L << 20, 4 << 20, true, 100_000_000L, 2);

  static final long MIN_SEGMENT_BYTES = 64 << 10;

  /** Dropped segments that a store keeps for reuse. */
  private static final int SPARE_SEGMENTS = 2;

  /** As a store's options ask for. */
  public static LogOptions of(StoreOptions options) {
    return new LogOptions(
        segmentBytes(options.logLimit()),
        ringBytes(options.memoryBudget()),
        options.ioMode() == IoMode.DIRECT,
        Math.max(1, options.asyncSyncInterval().toNanos()),
        SPARE_SEGMENTS);
  }

  /** The size of the ring in a store with this much memory, in bytes. */
  public static int ringBytes(long memoryBudget) {
    long wanted = Math.max(Math.min(memoryBudget / 32, 4 << 20), 64 << 10);
    return (int) Long.highestOneBit(wanted);
  }

  /** The size of a segment in a store with this limit of its log, in bytes. */
  static long segmentBytes(long logLimit) {
    long wanted = Math.max(Math.min(logLimit / 8, 64 << 20), 128 << 10);
    return wanted & -DataFile.BLOCK;
  }

  public LogOptions {
    if (segmentBytes < MIN_SEGMENT_BYTES || segmentBytes % DataFile.BLOCK != 0) {
      throw new IllegalArgumentException(
          "segmentBytes must be a multiple of 4096 and at least 65536, not " + segmentBytes);
    }
    if (Integer.bitCount(ringBytes) != 1 || ringBytes < 16 << 10 || ringBytes > 1 << 30) {
      throw new IllegalArgumentException(
          "ringBytes must be a power of two from 16 KB to 1 GB, not " + ringBytes);
    }
    if (asyncSyncNanos <= 0) {
      throw new IllegalArgumentException("asyncSyncNanos must be positive: " + asyncSyncNanos);
    }
    if (spareSegments < 0) {
      throw new IllegalArgumentException("spareSegments must not be negative: " + spareSegments);
    }
  }
}
