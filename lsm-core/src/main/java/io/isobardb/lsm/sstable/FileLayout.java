package io.isobardb.lsm.sstable;

import io.isobardb.lsm.error.FormatException;
import io.isobardb.memory.page.Memory;
import java.nio.charset.StandardCharsets;

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
 *
 * <p>A running store goes by its manifest. What header and footer say is for checks and repairs:
 * {@code FileMeta} of lsm-repair reads it.
 */
public final class FileLayout {
  /** "ISOBARST", little-endian. */
  public static final long MAGIC = 0x54535241424F5349L;

  /** The newest version that this engine reads; that of files that have the name of their codec. */
  public static final int VERSION = 3;

  /** The version of files with a footer page. */
  private static final int WITH_FOOTER = 1;

  /** The version of files whose header holds the footer. */
  public static final int WITHOUT_FOOTER = 2;

  /** Where a compressed page's contents begin. */
  public static final int STORED_HEADER = 8;

  /** Compressed pages begin at multiples of this many bytes. */
  public static final int STORED_UNIT = 16;

  /** Bit of the length of a compressed page that did not shrink and is stored as it is. */
  public static final int STORED_RAW = 1 << 31;

  /** Of header and footer pages: the {@link #MAGIC}. */
  public static final int MAGIC_AT = 32;

  /** Of header and footer pages: which version wrote the file. */
  public static final int VERSION_AT = 40;

  /** Where magic and version of a header or footer page end. */
  static final int VERSION_END = 44;

  /** Of a header page, as the ones below. */
  public static final int TREE_ID = 44;

  public static final int STORE_ID_HIGH = 48;
  public static final int STORE_ID_LOW = 56;
  public static final int FILE_NUMBER = 64;
  public static final int PAGE_SIZE = 72;
  public static final int CODEC = 76;
  private static final int DESCRIPTION_LENGTH = 80;
  public static final int DESCRIPTION = 84;

  /** What a footer says of the SSTable is from here on. */
  private static final int FIELDS = VERSION_END;

  /** Of a footer page, as the ones below. */
  public static final int FOOTER_CODEC = FIELDS;

  public static final int FOOTER_FILE_NUMBER = 48;
  public static final int FOOTER_TREE_ID = 56;
  public static final int PAGE_COUNT = 60;
  public static final int ENTRIES = 64;
  public static final int DELETES = 72;
  public static final int MIN_LSN = 80;
  public static final int MAX_LSN = 88;
  public static final int ROOT_PAGE = 96;
  public static final int INDEX_HEIGHT = 100;
  public static final int FILTER_PAGE = 104;
  public static final int FILTER_BLOCKS = 108;
  public static final int SIZE_BYTES = 112;
  public static final int PAGE_MAP_PAGE = 120;
  public static final int MIN_KEY_LENGTH = 124;
  public static final int MAX_KEY_LENGTH = 128;
  public static final int KEYS = 132;

  /** Of the index root of a file without footer page: what {@link #writeRoot} says. */
  public static final int ROOT_TREE_ID = PageLayout.SPARE;

  public static final int ROOT_ENTRIES = PageLayout.SPARE + 4;

  /** What says of a codec how it is called is at the end of a page; first the dictionary's size. */
  public static final int NAME_BYTES = 24;

  public static final int NAME_LENGTH = -20;
  public static final int NAME = -19;

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
    memory.putLong(base + MAGIC_AT, MAGIC);
    memory.putInt(base + VERSION_AT, version(packing));
    memory.putInt(base + TREE_ID, treeId);
    memory.putLong(base + STORE_ID_HIGH, space.storeIdHigh());
    memory.putLong(base + STORE_ID_LOW, space.storeIdLow());
    memory.putLong(base + FILE_NUMBER, fileNumber);
    memory.putInt(base + PAGE_SIZE, space.pageSize());
    memory.putInt(base + CODEC, packing.number());
    writeName(memory, base + space.pageSize(), packing);
    byte[] description = space.trees().apply(treeId).description();
    if (description.length <= space.pageSize() - DESCRIPTION - NAME_BYTES) {
      memory.putInt(base + DESCRIPTION_LENGTH, description.length);
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

  /** How long the description in a header page is; 0 if what it says can't be. */
  public static int descriptionLength(Memory memory, int base, int pageSize) {
    int length = memory.getInt(base + DESCRIPTION_LENGTH);
    return length < 0 || length > pageSize - DESCRIPTION ? 0 : length;
  }

  /** Where a header page has what a footer says, as if it was a footer page that begins there. */
  public static int footerInHeader(Memory memory, int base, int pageSize) {
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
    memory.putInt(base + ROOT_TREE_ID, meta.treeId());
    memory.putInt(base + ROOT_ENTRIES, (int) meta.entries());
  }

  /** Adds to a header page what would be in a footer page. */
  static void addFooter(Memory memory, int base, int pageSize, SSTableMeta meta) {
    memory.putInt(base + VERSION_AT, WITHOUT_FOOTER);
    writeFields(memory, footerInHeader(memory, base, pageSize), meta);
  }

  static void writeFooter(Memory memory, int base, int pageSize, SSTableMeta meta) {
    memory.zero(base, pageSize);
    memory.putByte(base + PageLayout.TYPE, (byte) PageLayout.FOOTER);
    memory.putLong(base + MAGIC_AT, MAGIC);
    memory.putInt(base + VERSION_AT, version(meta.packing()));
    writeName(memory, base + pageSize, meta.packing());
    writeFields(memory, base, meta);
  }

  private static void writeFields(Memory memory, int base, SSTableMeta meta) {
    memory.putInt(base + FOOTER_CODEC, meta.packing().number());
    memory.putLong(base + FOOTER_FILE_NUMBER, meta.fileNumber());
    memory.putInt(base + FOOTER_TREE_ID, meta.treeId());
    memory.putInt(base + PAGE_COUNT, meta.pageCount());
    memory.putLong(base + ENTRIES, meta.entries());
    memory.putLong(base + DELETES, meta.deletes());
    memory.putLong(base + MIN_LSN, meta.minLsn());
    memory.putLong(base + MAX_LSN, meta.maxLsn());
    memory.putInt(base + ROOT_PAGE, meta.rootPage());
    memory.putInt(base + INDEX_HEIGHT, meta.indexHeight());
    memory.putInt(base + FILTER_PAGE, meta.filterPage());
    memory.putInt(base + FILTER_BLOCKS, meta.filterBlocks());
    memory.putLong(base + SIZE_BYTES, meta.sizeBytes());
    memory.putInt(base + PAGE_MAP_PAGE, meta.pageMapPage());
    memory.putInt(base + MIN_KEY_LENGTH, meta.minKey().length);
    memory.putInt(base + MAX_KEY_LENGTH, meta.maxKey().length);
    memory.put(base + KEYS, meta.minKey(), 0, meta.minKey().length);
    memory.put(base + KEYS + meta.minKey().length, meta.maxKey(), 0, meta.maxKey().length);
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
    if (memory.getLong(base + MAGIC_AT) == MAGIC) {
      int version = memory.getInt(base + VERSION_AT);
      if (version > VERSION) {
        throw FormatException.newer(file, version, VERSION);
      }
    }
  }
}
