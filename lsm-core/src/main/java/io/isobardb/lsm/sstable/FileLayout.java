package io.isobardb.lsm.sstable;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.option.PageCodec;
import io.isobardb.memory.page.Memory;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The layout of an SSTable file: header page, the pages of the SSTable in the order of their
 * numbers, page-map pages if pages are compressed, footer page. Header, page map and footer are
 * never compressed. In a small file the header page holds footer and filter, too.
 *
 * <p>Which codec compressed pages is 0 for none, 1 for LZ4, and 2 if the page that says so ends
 * with its name.
 *
 * <pre>
 *  header, page 0: 32 bytes page header (type HEADER), then
 *   32 long magic | 40 int version | 44 int treeId | 48 long storeIdHigh | 56 long storeIdLow
 *   64 long fileNumber | 72 int pageSize | 76 int codec | 80 int length of the tree's description
 *   84 the description, for repair; see TreeDefinition | 0 to the end
 *  in a file of version 2, which is not compressed and has neither filter nor footer pages:
 *   at the next multiple of 8, a footer's bytes from 44 to the end of its keys
 *   0 | the filter's blocks, to the end of the page
 *   the last page is the index root; for repair it has: 24 int treeId | 28 int entries
 *
 *  footer, the last pageSize bytes: 32 bytes page header (type FOOTER), then
 *   32 long magic | 40 int version | 44 int codec | 48 long fileNumber | 56 int treeId
 *   60 int pageCount | 64 long entries | 72 long deletes | 80 long minLsn | 88 long maxLsn
 *   96 int rootPage | 100 int indexHeight | 104 int filterPage | 108 int filterBlocks
 *  112 long sizeBytes | 120 int pageMapPage | 124 int minKeyLength | 128 int maxKeyLength
 *  132 minKey, maxKey | 0 to the end
 *
 *  at the end of header and footer pages of version 3, whose codec is 2:
 *   -24 int length of the dictionary | -20 byte length of the name | -19 name, ASCII
 *
 *  dictionary, behind the header page if its length is not 0:
 *    0 int checksum of the rest, as of pages | 4 int length | 8 bytes | 0 to a multiple of 4096
 *
 *  compressed page: at a multiple of 16 bytes
 *    0 int checksum of the rest, as of pages | 4 int length, and bit 31 if stored as it is
 *    8 length bytes | 0 to a multiple of 16
 *
 *  page map: ints from offset 32 of each page, from page number 0 on: where the page begins, in
 *  units of 16 bytes; one more for the end of the last
 * </pre>
 *
 * <p>Without compression page n is at n * pageSize. With it zeros fill the space between the last
 * compressed page and the page map, which begins at a multiple of 4096.
 */
public final class FileLayout {
  /** "ISOBARST", little-endian. */
  public static final long MAGIC = 0x54535241424F5349L;

  /** The newest version that this engine reads; that of files that have the name of their codec. */
  public static final int VERSION = 3;

  /** The version of files with a footer page. */
  private static final int WITH_FOOTER = 1;

  /** The version of files whose header holds the footer. */
  private static final int WITHOUT_FOOTER = 2;

  /** Where a compressed page's contents begin. */
  public static final int STORED_HEADER = 8;

  /** Compressed pages begin at multiples of this many bytes. */
  public static final int STORED_UNIT = 16;

  /** Bit of the length of a compressed page that did not shrink and is stored as it is. */
  public static final int STORED_RAW = 1 << 31;

  /** Where magic and version of a header or footer page end. */
  static final int VERSION_END = 44;

  private static final int DESCRIPTION = 84;
  public static final int PAGE_COUNT = 60;

  /** What a footer says of the SSTable is from here on. */
  private static final int FIELDS = VERSION_END;

  private static final int KEYS = 132;

  /** What says of a codec how it is called is at the end of a page. */
  private static final int NAME_BYTES = 24;

  private static final int NAME_LENGTH = -20;
  private static final int NAME = -19;

  private FileLayout() {}

  /** Page-map pages for pages below {@code pages}. */
  static int pageMapPages(int pageSize, int pages) {
    int perPage = mapEntriesPerPage(pageSize);
    return (pages + 1 + perPage - 1) / perPage;
  }

  static int mapEntriesPerPage(int pageSize) {
    return (pageSize - PageLayout.HEADER_BYTES) / Integer.BYTES;
  }

  static void writeHeader(
      Memory memory, int base, TableSpace space, long fileNumber, int treeId, Packing packing) {
    memory.zero(base, space.pageSize());
    memory.putByte(base + PageLayout.TYPE, (byte) PageLayout.HEADER);
    memory.putLong(base + 32, MAGIC);
    memory.putInt(base + 40, version(packing));
    memory.putInt(base + 44, treeId);
    memory.putLong(base + 48, space.storeIdHigh());
    memory.putLong(base + 56, space.storeIdLow());
    memory.putLong(base + 64, fileNumber);
    memory.putInt(base + 72, space.pageSize());
    memory.putInt(base + 76, packing.number());
    writeName(memory, base + space.pageSize(), packing);
    byte[] description = space.trees().apply(treeId).description();
    if (description.length <= space.pageSize() - DESCRIPTION - NAME_BYTES) {
      memory.putInt(base + 80, description.length);
      memory.put(base + DESCRIPTION, description, 0, description.length);
    }
  }

  private static int version(Packing packing) {
    return packing.number() == Packing.NAMED ? VERSION : WITH_FOOTER;
  }

  private static void writeName(Memory memory, int end, Packing packing) {
    if (packing.number() == Packing.NAMED) {
      byte[] name = packing.codec().getBytes(StandardCharsets.US_ASCII);
      memory.putInt(end - NAME_BYTES, packing.dictionaryBytes());
      memory.putByte(end + NAME_LENGTH, (byte) name.length);
      memory.put(end + NAME, name, 0, name.length);
    }
  }

  /**
   * What a header or footer page says of how pages are stored.
   *
   * @param number of the codec
   * @param end of the page
   * @return null if it can't be
   */
  private static @Nullable Packing readPacking(Memory memory, int number, int end) {
    if (number != Packing.NAMED) {
      return number == 0 ? Packing.NONE : number == 1 ? Packing.LZ4 : null;
    }
    byte[] name = new byte[PageCodec.LONGEST_NAME];
    int length = Math.min(memory.getByte(end + NAME_LENGTH) & 0xFF, name.length);
    memory.get(end + NAME, name, 0, length);
    String codec = new String(name, 0, length, StandardCharsets.US_ASCII);
    Packing packing = new Packing(codec, memory.getInt(end - NAME_BYTES));
    return packing.isValid() ? packing : null;
  }

  /** The size of pages that a header page claims. */
  public static int pageSize(Memory memory, int base) {
    return memory.getInt(base + 72);
  }

  /**
   * What a header page whose checksum is right says of a file, for repair.
   *
   * @param description of the tree; empty if the file has none
   * @param hasFooter whether the page holds what would be in a footer page
   */
  public record Header(
      long storeIdHigh,
      long storeIdLow,
      long fileNumber,
      int treeId,
      int pageSize,
      Packing packing,
      byte[] description,
      boolean hasFooter) {
    /** Whether the page is a header that this engine can read, and where it belongs. */
    public static @Nullable Header read(Memory memory, int base, int pageSize) {
      int version = memory.getInt(base + 40);
      if (memory.getLong(base + 32) != MAGIC || version < 1 || version > VERSION) {
        return null;
      }
      byte[] description = new byte[descriptionLength(memory, base, pageSize)];
      memory.get(base + DESCRIPTION, description, 0, description.length);
      Packing packing = readPacking(memory, memory.getInt(base + 76), base + pageSize);
      if (packing == null) {
        return null;
      }
      Header header =
          new Header(
              memory.getLong(base + 48),
              memory.getLong(base + 56),
              memory.getLong(base + 64),
              memory.getInt(base + 44),
              memory.getInt(base + 72),
              packing,
              description,
              version == WITHOUT_FOOTER);
      long seed = PageLayout.fileSeed(header.storeIdHigh, header.storeIdLow, header.fileNumber);
      boolean intact =
          header.pageSize == pageSize && PageLayout.isIntact(memory, base, pageSize, seed, 0);
      return intact ? header : null;
    }
  }

  private static int descriptionLength(Memory memory, int base, int pageSize) {
    int length = memory.getInt(base + 80);
    return length < 0 || length > pageSize - DESCRIPTION ? 0 : length;
  }

  /** Where a header page has {@link #FIELDS}, as if it was a footer page that begins there. */
  private static int footerInHeader(Memory memory, int base, int pageSize) {
    int end = DESCRIPTION + descriptionLength(memory, base, pageSize);
    return base + ((end + 7) & -8) - FIELDS;
  }

  /**
   * Whether a header page has room for footer and filter.
   *
   * @param keyBytes length of the first and of the last key, together
   */
  static boolean hasRoom(Memory memory, int base, int pageSize, int keyBytes, int filterBlocks) {
    long end = footerInHeader(memory, base, pageSize) + KEYS + (long) keyBytes;
    return end <= base + Filter.first(pageSize, filterBlocks);
  }

  /**
   * Says in the last page of a file without footer page what repair needs if the header is damaged.
   */
  static void writeRoot(Memory memory, int base, SSTableMeta meta) {
    memory.putInt(base + PageLayout.SPARE, meta.treeId());
    memory.putInt(base + PageLayout.SPARE + 4, (int) meta.entries());
  }

  /** What {@link #writeRoot} said; all else is not known, and 0. */
  public static SSTableMeta readRoot(Memory memory, int base, long fileNumber, int pageNo) {
    int treeId = memory.getInt(base + PageLayout.SPARE);
    long entries = memory.getInt(base + PageLayout.SPARE + 4);
    byte[] noKey = {};
    return new SSTableMeta(
        fileNumber,
        treeId,
        pageNo + 1,
        entries,
        0,
        noKey,
        noKey,
        0,
        0,
        pageNo,
        1,
        0,
        0,
        0,
        Packing.NONE,
        0,
        SSTableMeta.Expiring.NONE);
  }

  /** Adds to a header page what would be in a footer page. */
  static void addFooter(Memory memory, int base, int pageSize, SSTableMeta meta) {
    memory.putInt(base + 40, WITHOUT_FOOTER);
    writeFields(memory, footerInHeader(memory, base, pageSize), meta);
  }

  static void writeFooter(Memory memory, int base, int pageSize, SSTableMeta meta) {
    memory.zero(base, pageSize);
    memory.putByte(base + PageLayout.TYPE, (byte) PageLayout.FOOTER);
    memory.putLong(base + 32, MAGIC);
    memory.putInt(base + 40, version(meta.packing()));
    writeName(memory, base + pageSize, meta.packing());
    writeFields(memory, base, meta);
  }

  private static void writeFields(Memory memory, int base, SSTableMeta meta) {
    memory.putInt(base + 44, meta.packing().number());
    memory.putLong(base + 48, meta.fileNumber());
    memory.putInt(base + 56, meta.treeId());
    memory.putInt(base + PAGE_COUNT, meta.pageCount());
    memory.putLong(base + 64, meta.entries());
    memory.putLong(base + 72, meta.deletes());
    memory.putLong(base + 80, meta.minLsn());
    memory.putLong(base + 88, meta.maxLsn());
    memory.putInt(base + 96, meta.rootPage());
    memory.putInt(base + 100, meta.indexHeight());
    memory.putInt(base + 104, meta.filterPage());
    memory.putInt(base + 108, meta.filterBlocks());
    memory.putLong(base + 112, meta.sizeBytes());
    memory.putInt(base + 120, meta.pageMapPage());
    memory.putInt(base + 124, meta.minKey().length);
    memory.putInt(base + 128, meta.maxKey().length);
    memory.put(base + KEYS, meta.minKey(), 0, meta.minKey().length);
    memory.put(base + KEYS + meta.minKey().length, meta.maxKey(), 0, meta.maxKey().length);
  }

  /**
   * Reads a footer page whose checksum is right.
   *
   * @param offset where it is, for messages
   * @throws FormatException if a newer version wrote it
   */
  public static SSTableMeta readFooter(
      Memory memory, int base, int pageSize, String file, long offset) {
    if (memory.getByte(base + PageLayout.TYPE) != PageLayout.FOOTER
        || memory.getLong(base + 32) != MAGIC) {
      throw new CorruptionException(file, offset, "not a footer");
    }
    checkVersion(memory.getInt(base + 40), file, offset);
    return readFields(memory, base, base + pageSize, pageSize, file, offset);
  }

  /** As {@link #readFooter}, of a header page whose checksum is right. */
  public static SSTableMeta readFooterInHeader(Memory memory, int base, int pageSize, String file) {
    if (memory.getInt(base + 40) != WITHOUT_FOOTER) {
      throw new CorruptionException(file, 0, "a header without what the footer says");
    }
    int at = footerInHeader(memory, base, pageSize);
    return readFields(memory, at, base + pageSize, pageSize, file, 0);
  }

  private static SSTableMeta readFields(
      Memory memory, int base, int end, int pageSize, String file, long offset) {
    int longest = PageLayout.maxKeyBytes(pageSize);
    boolean fits = base + KEYS <= end;
    int minLength = fits ? memory.getInt(base + 124) : -1;
    int maxLength = fits ? memory.getInt(base + 128) : -1;
    if (minLength < 0
        || minLength > longest
        || maxLength < 0
        || maxLength > longest
        || base + KEYS + minLength + maxLength > end) {
      throw new CorruptionException(file, offset, "keys of impossible length");
    }
    Packing packing = readPacking(memory, memory.getInt(base + 44), end);
    if (packing == null) {
      throw new CorruptionException(file, offset, "codec " + memory.getInt(base + 44));
    }
    byte[] minKey = new byte[minLength];
    byte[] maxKey = new byte[maxLength];
    memory.get(base + KEYS, minKey, 0, minLength);
    memory.get(base + KEYS + minLength, maxKey, 0, maxLength);
    return new SSTableMeta(
        memory.getLong(base + 48),
        memory.getInt(base + 56),
        memory.getInt(base + PAGE_COUNT),
        memory.getLong(base + 64),
        memory.getLong(base + 72),
        minKey,
        maxKey,
        memory.getLong(base + 80),
        memory.getLong(base + 88),
        memory.getInt(base + 96),
        memory.getInt(base + 100),
        memory.getInt(base + 104),
        memory.getInt(base + 108),
        memory.getLong(base + 112),
        packing,
        memory.getInt(base + 120),
        SSTableMeta.Expiring.NONE);
  }

  /** Checks a header page whose checksum is right against what is expected of the file. */
  public static void checkHeader(Memory memory, int base, TableSpace space, SSTableMeta meta) {
    String file = meta.fileName();
    if (memory.getByte(base + PageLayout.TYPE) != PageLayout.HEADER
        || memory.getLong(base + 32) != MAGIC) {
      throw space.corrupt(meta, 0, "not an SSTable");
    }
    checkVersion(memory.getInt(base + 40), file, 0);
    if (memory.getLong(base + 48) != space.storeIdHigh()
        || memory.getLong(base + 56) != space.storeIdLow()) {
      throw space.corrupt(meta, 0, "belongs to another store");
    }
    if (memory.getInt(base + 44) != meta.treeId()
        || memory.getLong(base + 64) != meta.fileNumber()
        || memory.getInt(base + 72) != space.pageSize()
        || !meta.packing()
            .equals(readPacking(memory, memory.getInt(base + 76), base + space.pageSize()))) {
      throw space.corrupt(meta, 0, "the header disagrees with the manifest");
    }
  }

  /**
   * Refuses a header or footer page of a newer version, by the fields that no version moves: magic
   * and version. A newer one may compute checksums in another way, so this comes before they are
   * looked at; what is damaged is left to them.
   *
   * @param base where at least {@link #VERSION_END} bytes of the page are
   * @throws FormatException if a newer version wrote it
   */
  static void refuseNewer(Memory memory, int base, String file) {
    if (memory.getLong(base + 32) == MAGIC) {
      int version = memory.getInt(base + 40);
      if (version > VERSION) {
        throw FormatException.newer(file, version, VERSION);
      }
    }
  }

  private static void checkVersion(int version, String file, long offset) {
    if (version > VERSION) {
      throw FormatException.newer(file, version, VERSION);
    }
    if (version < 1) {
      throw new CorruptionException(file, offset, "format version " + version);
    }
  }
}
