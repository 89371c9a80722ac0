package io.isobardb.lsm.version;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.io.FileNumber;
import io.isobardb.lsm.io.NewDirectory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of the manifest's files. All numbers little-endian.
 *
 * <pre>
 * MANIFEST-NNNNNN: a header page, then records without gaps
 *
 *   header (4096 bytes)                record
 *    0  long  magic                     0  int   checksum, see below
 *    8  int   checksum of the page      4  int   payload length
 *   12  int   format version            8  byte  kind, never 0
 *   16  long  store ID, high            9  payload: edits, see EditCodec
 *   24  long  store ID, low
 *   32  long  number of this file
 *   40  zeros
 *
 * CURRENT (64 bytes)
 *    0  long  magic
 *    8  int   checksum of the file
 *   12  int   format version
 *   16  long  store ID, high
 *   24  long  store ID, low
 *   32  long  number of the manifest in force
 *   40  long  number of the one before it, 0 if there is none
 *   48  long  bytes of the manifest in force that are known to be synced, 0 if unknown
 *   56  long  the LSN up to which the log is known to be synced, 0 if unknown
 * </pre>
 *
 * The checksum of a record is a masked CRC32C over store ID, file number, the record's offset, and
 * all its bytes behind the checksum: a record that stands elsewhere, or in another file, is none.
 *
 * <p>A file begins with {@link #SNAPSHOT} records and one {@link #SNAPSHOT_END}; only then is it
 * named in CURRENT. {@link #EDITS} records are synced before a {@link #SYNCED} record behind them
 * is written. So a bad record with a SYNCED record anywhere behind it was once good: damage. So is
 * one within the bytes that CURRENT says are synced. Any other was never acknowledged, or nobody
 * can tell: a torn tail.
 */
public final class ManifestLayout {
  /**
   * What a store may hold; the manifest's own bytes are the same in all versions.
   *
   * <ul>
   *   <li>1: the first.
   *   <li>2: the end of the log may be in the file RING.
   *   <li>3: log and SSTables may hold kinds of entries beyond put and delete, and entries that
   *       expire.
   *   <li>4: the header page of an SSTable may hold what its footer and its filter say.
   *   <li>5: SSTables may stand in tiers, and the log may hold fences, which ask for changes of
   *       trees in the manifest.
   *   <li>6: SSTables and trees may name a codec other than LZ4, and SSTables have dictionaries.
   *   <li>7: a value may begin within an overflow page of an SSTable, behind other values.
   * </ul>
   *
   * <p>A release refuses a store above the version it knows. It would lose what it does not know.
   */
  static final int FORMAT_VERSION = 7;

  public static final int HEADER_BYTES = 4096;
  static final int CURRENT_BYTES = 64;
  private static final long MANIFEST_MAGIC = 0x464D_5241_424F_5349L; // "ISOBARMF"
  private static final long CURRENT_MAGIC = NewDirectory.STORE_MAGIC;
  private static final int CHECKSUM = 8;
  private static final int VERSION = 12;
  private static final int STORE_ID_HIGH = 16;
  private static final int STORE_ID_LOW = 24;
  private static final int NUMBER = 32;
  private static final int PREVIOUS = 40;
  private static final int SYNCED_BYTES = 48;
  private static final int SYNCED_LSN = 56;

  static final int RECORD_LENGTH = 4;
  static final int RECORD_KIND = 8;
  static final int RECORD_PAYLOAD = 9;

  /** Edits that hold all at once or not at all. */
  static final byte EDITS = 1;

  /** Edits that make up, with the other records of this kind, the state when the file began. */
  static final byte SNAPSHOT = 2;

  /** The snapshot is complete; no payload. */
  static final byte SNAPSHOT_END = 3;

  /** All that stands before this record was synced before it was written; no payload. */
  static final byte SYNCED = 4;

  public static final String CURRENT = "CURRENT";
  static final String CURRENT_TEMPORARY = "CURRENT.tmp";
  private static final String MANIFEST_PREFIX = "MANIFEST-";

  private ManifestLayout() {}

  /** What identifies a manifest file. */
  public record Identity(long storeIdHigh, long storeIdLow, long number) {
    public String fileName() {
      return ManifestLayout.fileName(number);
    }

    /** As {@code equals}, whose first call for any record of the process takes 10 ms. */
    boolean is(Identity other) {
      return isOfStore(other) && number == other.number;
    }

    /** Whether both are of one store. */
    public boolean isOfStore(Identity other) {
      return storeIdHigh == other.storeIdHigh && storeIdLow == other.storeIdLow;
    }

    String text() {
      return "manifest " + number + " of store " + new UUID(storeIdHigh, storeIdLow);
    }
  }

  /**
   * What is known to be synced; fewer bytes than that are damage.
   *
   * @param manifestBytes of the manifest in force, the end of a record
   * @param logLsn of the log, the end of a record
   */
  record Synced(long manifestBytes, long logLsn) {
    static final Synced UNKNOWN = new Synced(0, 0);

    /** As {@code equals}; see {@link Identity#is}. */
    boolean is(Synced other) {
      return manifestBytes == other.manifestBytes && logLsn == other.logLsn;
    }
  }

  static String fileName(long number) {
    return MANIFEST_PREFIX + FileNumber.text(number, 6);
  }

  /** The number in a manifest's file name, or -1 if it is none. */
  public static long number(String fileName) {
    if (!fileName.startsWith(MANIFEST_PREFIX)) {
      return -1;
    }
    String digits = fileName.substring(MANIFEST_PREFIX.length());
    return digits.length() < 6 || digits.length() > 18 || !isDigits(digits)
        ? -1
        : Long.parseLong(digits);
  }

  static boolean isDigits(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) < '0' || text.charAt(i) > '9') {
        return false;
      }
    }
    return !text.isEmpty();
  }

  static byte[] header(Identity identity) {
    return page(HEADER_BYTES, MANIFEST_MAGIC, identity, 0, Synced.UNKNOWN);
  }

  static byte[] current(Identity identity, long previous, Synced synced) {
    return page(CURRENT_BYTES, CURRENT_MAGIC, identity, previous, synced);
  }

  /** Checks a manifest's header against what CURRENT says. */
  static void checkHeader(byte[] file, Identity identity) {
    String name = identity.fileName();
    refuseNewer(file, MANIFEST_MAGIC, name);
    if (file.length < HEADER_BYTES) {
      throw new CorruptionException(name, file.length, "the header is cut off");
    }
    checkPage(file, HEADER_BYTES, MANIFEST_MAGIC, name);
    if (!parse(file).is(identity)) {
      throw new CorruptionException(
          name,
          STORE_ID_HIGH,
          "it is " + parse(file).text() + "; CURRENT names " + identity.text());
    }
  }

  /** What a manifest's header says it is; null if the header is damaged, or of a newer version. */
  public static @Nullable Identity identity(byte[] file, String name) {
    try {
      refuseNewer(file, MANIFEST_MAGIC, name);
      if (file.length < HEADER_BYTES) {
        return null;
      }
      checkPage(file, HEADER_BYTES, MANIFEST_MAGIC, name);
      return parse(file);
    } catch (IsobarException e) {
      return null;
    }
  }

  /**
   * What CURRENT names.
   *
   * @param directory its path, for messages
   */
  public static Identity checkCurrent(byte[] file, String directory) {
    if (file.length < 8 || buffer(file).getLong(0) != CURRENT_MAGIC) {
      throw new FormatException(
          directory
              + " is not a store: its file CURRENT is none of a store; give a store's directory, or"
              + " one that is empty or does not exist");
    }
    refuseNewer(file, CURRENT_MAGIC, directory + "/" + CURRENT);
    if (file.length != CURRENT_BYTES) {
      throw new CorruptionException(CURRENT, 0, file.length + " bytes, not " + CURRENT_BYTES);
    }
    checkPage(file, CURRENT_BYTES, CURRENT_MAGIC, CURRENT);
    return parse(file);
  }

  /** The number of the manifest before the one in force. */
  static long previous(byte[] current) {
    return buffer(current).getLong(PREVIOUS);
  }

  /** The format version of CURRENT, whose bytes were checked. */
  static int version(byte[] current) {
    return buffer(current).getInt(VERSION);
  }

  /** What the bytes of CURRENT, which were checked, say is synced. */
  static Synced synced(byte[] current) {
    ByteBuffer fields = buffer(current);
    return new Synced(fields.getLong(SYNCED_BYTES), fields.getLong(SYNCED_LSN));
  }

  static int recordChecksum(Identity identity, long offset, byte[] bytes, int start, int end) {
    CRC32C crc = new CRC32C();
    ByteBuffer place = buffer(new byte[32]);
    place.putLong(identity.storeIdHigh()).putLong(identity.storeIdLow());
    place.putLong(identity.number()).putLong(offset);
    crc.update(place.array());
    crc.update(bytes, start, end - start);
    return mask((int) crc.getValue());
  }

  static ByteBuffer buffer(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static byte[] page(
      int size, long magic, Identity identity, long previous, Synced synced) {
    byte[] bytes = new byte[size];
    ByteBuffer page = buffer(bytes);
    page.putLong(0, magic);
    page.putInt(VERSION, FORMAT_VERSION);
    page.putLong(STORE_ID_HIGH, identity.storeIdHigh());
    page.putLong(STORE_ID_LOW, identity.storeIdLow());
    page.putLong(NUMBER, identity.number());
    page.putLong(PREVIOUS, previous);
    page.putLong(SYNCED_BYTES, synced.manifestBytes());
    page.putLong(SYNCED_LSN, synced.logLsn());
    page.putInt(CHECKSUM, pageChecksum(bytes, size));
    return bytes;
  }

  private static Identity parse(byte[] page) {
    ByteBuffer fields = buffer(page);
    return new Identity(
        fields.getLong(STORE_ID_HIGH), fields.getLong(STORE_ID_LOW), fields.getLong(NUMBER));
  }

  /** Comes first: a newer version may have other lengths, and checksums. */
  private static void refuseNewer(byte[] file, long magic, String name) {
    if (file.length >= VERSION + 4 && buffer(file).getLong(0) == magic) {
      int version = buffer(file).getInt(VERSION);
      if (version > FORMAT_VERSION) {
        throw FormatException.newer(name, version, FORMAT_VERSION);
      }
    }
  }

  private static void checkPage(byte[] page, int size, long magic, String name) {
    ByteBuffer fields = buffer(page);
    if (fields.getLong(0) != magic) {
      throw new CorruptionException(name, 0, "wrong magic");
    }
    if (fields.getInt(CHECKSUM) != pageChecksum(page, size)) {
      throw new CorruptionException(name, CHECKSUM, "wrong checksum of the header");
    }
    int version = fields.getInt(VERSION);
    if (version < 1) {
      throw new CorruptionException(name, VERSION, "format version " + version);
    }
  }

  private static int pageChecksum(byte[] page, int size) {
    CRC32C crc = new CRC32C();
    crc.update(page, 0, CHECKSUM);
    crc.update(page, CHECKSUM + 4, size - CHECKSUM - 4);
    return mask((int) crc.getValue());
  }

  /** Keeps a checksum of bytes that hold checksums from being weak, and zeros from parsing. */
  private static int mask(int crc) {
    return Integer.rotateRight(crc, 15) + 0xA282EAD8;
  }
}
