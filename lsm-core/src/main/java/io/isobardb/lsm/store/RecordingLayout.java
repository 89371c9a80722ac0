package io.isobardb.lsm.store;

import com.dynatrace.hash4j.hashing.Hashing;

/**
 * The file of a recording: the magic number, and then frames.
 *
 * <pre>
 *   +-------+---------------+-----------------------+----------+
 *   | magic | frame: HEADER | frames: OPERATIONS .. | frame: END |
 *   +-------+---------------+-----------------------+----------+
 *     8 bytes
 *
 *   frame:       kind (1 byte), length of the payload (4), payload, checksum (8)
 *   HEADER:      version, oneKeyIn, time (ms), page size, budget, write memory, what waited for
 *                merges (bytes), number of trees, and for each its id, entries and bytes on disk
 *   OPERATIONS:  operations, each: kind (1 byte), tree, nanoseconds since the one before or since
 *                the begin of the recording, hash of the key (8 bytes), length of the key, size
 *   END:         operations recorded, nanoseconds, gets, writes, scans, bytes flushed, bytes merged,
 *                pages found, pages missed: all of them of the whole store while it was recorded;
 *                what waited for merges then (bytes)
 * </pre>
 *
 * Numbers without a size are varints of 7 bits, the lowest first; all others are little-endian. The
 * checksum is XXH3 of the frame before it, mixed with the frame's place in the file. A file without
 * END was not closed, and what follows its last whole frame is torn.
 */
public final class RecordingLayout {
  /** How a file begins. */
  public static final long MAGIC = 0x4345_5241_424F_5349L; // "ISOBAREC"

  /** Version 1 does not say what waited for merges. */
  public static final int VERSION = 2;

  /** Before the first frame. */
  public static final int MAGIC_BYTES = 8;

  /** Before a payload, and behind it. */
  public static final int HEAD_BYTES = 5;

  public static final int CHECKSUM_BYTES = 8;

  /** What a payload takes at most. */
  public static final int MOST_PAYLOAD_BYTES = 1 << 20;

  // Kinds of frames.
  public static final int HEADER = 1;
  public static final int OPERATIONS = 2;
  public static final int END = 3;

  // Kinds of operations; what their size is.

  /** Bytes of the value. */
  public static final int PUT = 1;

  /** 0. */
  public static final int DELETE = 2;

  /** Bytes of the operand, as it is stored. */
  public static final int MERGE = 3;

  /** 0 if there was no such key, else 1 and the bytes of the value. */
  public static final int GET = 4;

  /** Entries that a cursor came to from a key on; the hash is 0 if it had no key. */
  public static final int SCAN = 5;

  /** 0; the hash is that of the first key. */
  public static final int DELETE_RANGE = 6;

  private static final long PLACE = 0x9E3779B97F4A7C15L;

  private RecordingLayout() {}

  /**
   * The checksum of a frame.
   *
   * @param length of the frame without it
   * @param place of the frame in the file
   */
  public static long checksum(byte[] bytes, int offset, int length, long place) {
    return Hashing.xxh3_64().hashBytesToLong(bytes, offset, length) ^ (place + 1) * PLACE;
  }
}
