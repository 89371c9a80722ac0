package io.isobardb.lsm.wal;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.FileNumber;
import io.isobardb.memory.page.Memory;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The first block of a segment file. Bytes {@code [index * segmentBytes, (index + 1) *
 * segmentBytes)} of the stream follow it; the file is never shorter than that.
 *
 * <pre>
 *   0  magic                   8
 *   8  format version          4
 *  12  checksum                4   masked CRC32C of the block with this field 0
 *  16  store id               16
 *  32  index                   8
 *  40  segmentBytes            8
 *  48  promise                 8   all of the stream below this was synced before the file was named
 *  56  0                    4040
 * </pre>
 *
 * @param promise the end of a record; at most the start of the segment
 */
public record SegmentLayout(UUID storeId, long index, long segmentBytes, long promise) {
  public static final int HEADER_BYTES = DataFile.BLOCK;

  private static final long MAGIC = 0x474F4C5241424F53L;
  private static final int VERSION = 1;
  private static final int VERSION_AT = 8;
  private static final int CHECKSUM_AT = 12;
  private static final int STORE_AT = 16;
  private static final int INDEX_AT = 32;
  private static final int SEGMENT_BYTES_AT = 40;
  private static final int PROMISE_AT = 48;

  private static final String SEGMENT_SUFFIX = ".log";
  private static final String SPARE_SUFFIX = ".spare";

  /** The name of a segment in use. */
  public static String fileName(long index) {
    return FileNumber.text(index, 10) + SEGMENT_SUFFIX;
  }

  /** The name of a file that waits to become a segment; the number only keeps names apart. */
  static String spareName(long index) {
    return FileNumber.text(index, 10) + SPARE_SUFFIX;
  }

  static boolean isSpare(String name) {
    return name.endsWith(SPARE_SUFFIX);
  }

  /** The index in a segment's name, or -1 if the file is no segment. */
  public static long indexOf(String name) {
    if (!name.endsWith(SEGMENT_SUFFIX)) {
      return -1;
    }
    String digits = name.substring(0, name.length() - SEGMENT_SUFFIX.length());
    if (digits.length() < 10 || digits.length() > 18) {
      return -1;
    }
    long index = 0;
    for (int i = 0; i < digits.length(); i++) {
      int digit = digits.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      index = index * 10 + digit;
    }
    return index;
  }

  /** Writes the block. */
  void encode(Memory block, int offset) {
    block.zero(offset, HEADER_BYTES);
    block.putLong(offset, MAGIC);
    block.putInt(offset + VERSION_AT, VERSION);
    block.putLong(offset + STORE_AT, storeId.getMostSignificantBits());
    block.putLong(offset + STORE_AT + 8, storeId.getLeastSignificantBits());
    block.putLong(offset + INDEX_AT, index);
    block.putLong(offset + SEGMENT_BYTES_AT, segmentBytes);
    block.putLong(offset + PROMISE_AT, promise);
    block.putInt(offset + CHECKSUM_AT, checksum(block, offset));
  }

  /**
   * Reads the block of a file.
   *
   * @param storeId of the store that it must belong to; null for any
   * @throws CorruptionException if it is not as it was written, or of another store
   * @throws FormatException if it is of a newer version
   */
  public static SegmentLayout decode(
      Memory block, int offset, int length, String file, @Nullable UUID storeId) {
    if (length < HEADER_BYTES) {
      throw new CorruptionException(file, 0, "the header ends after " + length + " bytes");
    }
    if (block.getLong(offset) != MAGIC) {
      throw new CorruptionException(file, 0, "no log segment: wrong magic");
    }
    int version = block.getInt(offset + VERSION_AT);
    if (version > VERSION) {
      throw FormatException.newer(file, version, VERSION);
    }
    int stored = block.getInt(offset + CHECKSUM_AT);
    block.putInt(offset + CHECKSUM_AT, 0);
    int computed = checksum(block, offset);
    if (version != VERSION || stored != computed) {
      throw new CorruptionException(file, 0, "wrong checksum of the header");
    }
    UUID store = new UUID(block.getLong(offset + STORE_AT), block.getLong(offset + STORE_AT + 8));
    if (storeId != null && !store.equals(storeId)) {
      throw new CorruptionException(
          file, STORE_AT, "it belongs to store " + store + ", not to " + storeId);
    }
    SegmentLayout header =
        new SegmentLayout(
            store,
            block.getLong(offset + INDEX_AT),
            block.getLong(offset + SEGMENT_BYTES_AT),
            block.getLong(offset + PROMISE_AT));
    if (header.segmentBytes < LogOptions.MIN_SEGMENT_BYTES
        || header.segmentBytes % DataFile.BLOCK != 0) {
      throw new CorruptionException(file, 0, "segments of " + header.segmentBytes + " bytes");
    }
    return header;
  }

  private static int checksum(Memory block, int offset) {
    CRC32C crc = new CRC32C();
    block.update(crc, offset, HEADER_BYTES);
    return RecordLayout.mask((int) crc.getValue());
  }
}
