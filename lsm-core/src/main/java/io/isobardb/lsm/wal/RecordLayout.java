package io.isobardb.lsm.wal;

import io.isobardb.lsm.entry.Lsn;
import java.util.UUID;

/**
 * The bytes of a log record. Records are aligned to 8 bytes; a payload is padded with zeros.
 *
 * <pre>
 *  0        4        8           12     13        14     15      16
 *  +--------+--------+-----------+------+---------+------+-------+---------------+
 *  | length |  sum   |   delta   | kind | fragment| 0    | state | payload, 0 .. |
 *  +--------+--------+-----------+------+---------+------+-------+---------------+
 *  |      word 0     |             word 1                        |
 *
 *  marker:  | tag | sum |   (8 bytes, word 0 alone)
 * </pre>
 *
 * <ul>
 *   <li>{@code length}: bytes of payload, without padding; never negative, as the tag of a marker
 *       is
 *   <li>{@code sum}: never 0, so that word 0 of a finished record is not 0; see {@link #sum}
 *   <li>{@code delta}: the record promises that everything below {@code LSN - 8 * delta} was synced
 *       when it was written; {@link #NO_PROMISE} if that is too far away to say
 *   <li>{@code kind}: {@link #BATCH}, {@link #VOID} or {@link #FENCE}; of a record in fragments,
 *       the last one's counts
 *   <li>{@code fragment}: {@link #FULL}, or a part of a record larger than a quarter of the ring
 *   <li>{@code state}: 0 in the file; in the ring, 1 when the record is applied. A marker has this
 *       bit in its tag
 * </ul>
 */
final class RecordLayout {
  static final int HEADER_BYTES = 16;
  static final int MARKER_BYTES = 8;

  /** A batch of entries. Stored; never renumber the kinds. */
  static final byte BATCH = 1;

  /** A record without effect: its writer failed, or its promise is all it is for. */
  static final byte VOID = 2;

  /** How a handler is told of a marker; not stored. */
  static final byte MARKER = 3;

  /**
   * The log goes on here only if the manifest has as many changes of trees as the payload says, 8
   * bytes. Never in fragments.
   */
  static final byte FENCE = 4;

  static final int FENCE_BYTES = 8;

  static final int FULL = 1;
  static final int FIRST = 2;
  static final int MIDDLE = 3;
  static final int LAST = 4;

  static final int NO_PROMISE = -1;

  /** Negative, so that it is no length, and even: the lowest bit is the state. */
  static final int MARKER_TAG = 0x8D4B_5204;

  static final long APPLIED = 1L << 56;
  static final long MARKER_APPLIED = 1;

  private RecordLayout() {}

  static long word0(int length, int sum) {
    return (length & 0xFFFFFFFFL) | (long) sum << 32;
  }

  static long word1(int delta, int kind, int fragment) {
    return (delta & 0xFFFFFFFFL) | (long) kind << 32 | (long) fragment << 40;
  }

  static int length(long word0) {
    return (int) word0;
  }

  static int sum(long word0) {
    return (int) (word0 >>> 32);
  }

  static int delta(long word1) {
    return (int) word1;
  }

  static byte kind(long word1) {
    return (byte) (word1 >>> 32);
  }

  static int fragment(long word1) {
    return (int) (word1 >>> 40) & 0xFF;
  }

  /** Whether word 1, as read from a file, is one that is ever written. */
  static boolean isSane(long word1) {
    int kind = kind(word1);
    int fragment = fragment(word1);
    return word1 >>> 48 == 0
        && (kind == BATCH || kind == VOID || kind == FENCE)
        && fragment >= FULL
        && fragment <= LAST;
  }

  static boolean isMarker(long word0) {
    return ((int) word0 & -2) == MARKER_TAG;
  }

  /** Bytes of the record that begins with this word, in the file as in the ring. */
  static long sizeBytes(long word0) {
    return isMarker(word0) ? MARKER_BYTES : HEADER_BYTES + Lsn.align(length(word0));
  }

  /** What {@code delta} says at {@code lsn} when all below {@code durable} is synced. */
  static int promise(long lsn, long durable) {
    long units = (lsn - durable) >>> 3;
    return units < 0xFFFFFFFFL ? (int) units : NO_PROMISE;
  }

  /** The position below which a record with this {@code delta} says that all was synced. */
  static long promised(long lsn, int delta) {
    return delta == NO_PROMISE ? 0 : lsn - ((delta & 0xFFFFFFFFL) << 3);
  }

  /**
   * A record's checksum: the CRC32C of word 1 (with state 0) and the padded payload, bound to the
   * LSN, the length and the store, so that what an earlier user of the file left never fits.
   */
  static int sum(int crc, long lsn, int length, long storeSeed) {
    long h = (lsn ^ storeSeed) * 0x9E3779B97F4A7C15L;
    h = ((h ^ (h >>> 32)) + length) * 0xD6E8FEB86659FD93L;
    int sum = mask(crc) ^ (int) (h >>> 32);
    return sum == 0 ? 1 : sum;
  }

  static long markerWord(long lsn, long storeSeed) {
    return word0(MARKER_TAG, sum(0, lsn, MARKER_TAG, storeSeed));
  }

  /** Keeps a CRC apart from a CRC over bytes that hold CRCs. */
  static int mask(int crc) {
    return Integer.rotateRight(crc, 15) + 0xA282EAD8;
  }

  /** What {@link #sum} knows a store by. */
  static long seed(UUID storeId) {
    long h = storeId.getMostSignificantBits() * 0x9E3779B97F4A7C15L;
    h = (h ^ (h >>> 29)) + storeId.getLeastSignificantBits();
    h *= 0xBF58476D1CE4E5B9L;
    return h ^ (h >>> 32);
  }
}
