package io.isobardb.repair.format;

import static io.isobardb.lsm.sstable.FileLayout.MAGIC;
import static io.isobardb.lsm.sstable.FileLayout.MAGIC_AT;
import static io.isobardb.lsm.sstable.FileLayout.VERSION;
import static io.isobardb.lsm.sstable.FileLayout.VERSION_AT;
import static io.isobardb.lsm.sstable.FileLayout.WITHOUT_FOOTER;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.option.PageCodec;
import io.isobardb.lsm.sstable.FileLayout;
import io.isobardb.lsm.sstable.Packing;
import io.isobardb.lsm.sstable.PageLayout;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.memory.page.Memory;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * What an SSTable's file says of itself, in its header page and its footer: see {@link FileLayout}.
 * A running store goes by its manifest.
 */
public final class FileMeta {
  private FileMeta() {}

  /** The size of pages that a header page claims. */
  static int pageSize(Memory memory, int base) {
    return memory.getInt(base + FileLayout.PAGE_SIZE);
  }

  /**
   * What a header page whose checksum is right says of a file.
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
      int version = memory.getInt(base + VERSION_AT);
      if (memory.getLong(base + MAGIC_AT) != MAGIC || version < 1 || version > VERSION) {
        return null;
      }
      byte[] description = new byte[FileLayout.descriptionLength(memory, base, pageSize)];
      memory.get(base + FileLayout.DESCRIPTION, description, 0, description.length);
      Packing packing = packingAt(memory, base + FileLayout.CODEC, base + pageSize);
      if (packing == null) {
        return null;
      }
      Header header =
          new Header(
              memory.getLong(base + FileLayout.STORE_ID_HIGH),
              memory.getLong(base + FileLayout.STORE_ID_LOW),
              memory.getLong(base + FileLayout.FILE_NUMBER),
              memory.getInt(base + FileLayout.TREE_ID),
              FileMeta.pageSize(memory, base),
              packing,
              description,
              version == WITHOUT_FOOTER);
      long seed = PageLayout.fileSeed(header.storeIdHigh, header.storeIdLow, header.fileNumber);
      boolean intact =
          header.pageSize == pageSize && PageLayout.isIntact(memory, base, pageSize, seed, 0);
      return intact ? header : null;
    }
  }

  /**
   * What a header or footer page says of how pages are stored.
   *
   * @param codec where the number of the codec is
   * @param end of the page
   * @return null if it can't be
   */
  private static @Nullable Packing packingAt(Memory memory, int codec, int end) {
    int number = memory.getInt(codec);
    if (number != Packing.NAMED) {
      return number == 0 ? Packing.NONE : number == 1 ? Packing.LZ4 : null;
    }
    byte[] name = new byte[PageCodec.LONGEST_NAME];
    int length = Math.min(memory.getByte(end + FileLayout.NAME_LENGTH) & 0xFF, name.length);
    memory.get(end + FileLayout.NAME, name, 0, length);
    String text = new String(name, 0, length, StandardCharsets.US_ASCII);
    Packing packing = new Packing(text, memory.getInt(end - FileLayout.NAME_BYTES));
    return packing.isValid() ? packing : null;
  }

  /** What the index root of a file without footer page says; all else is not known, and 0. */
  static SSTableMeta root(Memory memory, int base, long fileNumber, int pageNo) {
    byte[] noKey = {};
    return new SSTableMeta(
        fileNumber,
        memory.getInt(base + FileLayout.ROOT_TREE_ID),
        pageNo + 1,
        memory.getInt(base + FileLayout.ROOT_ENTRIES),
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

  /**
   * Reads a footer page whose checksum is right.
   *
   * @param offset where it is, for messages
   * @throws FormatException if a newer version wrote it
   */
  public static SSTableMeta footer(
      Memory memory, int base, int pageSize, String file, long offset) {
    if (memory.getByte(base + PageLayout.TYPE) != PageLayout.FOOTER
        || memory.getLong(base + MAGIC_AT) != MAGIC) {
      throw new CorruptionException(file, offset, "not a footer");
    }
    checkVersion(memory.getInt(base + VERSION_AT), file, offset);
    return fields(memory, base, base + pageSize, pageSize, file, offset);
  }

  /** As {@link #footer}, of a header page whose checksum is right. */
  public static SSTableMeta footerInHeader(Memory memory, int base, int pageSize, String file) {
    if (memory.getInt(base + VERSION_AT) != WITHOUT_FOOTER) {
      throw new CorruptionException(file, 0, "a header without what the footer says");
    }
    int at = FileLayout.footerInHeader(memory, base, pageSize);
    return fields(memory, at, base + pageSize, pageSize, file, 0);
  }

  private static SSTableMeta fields(
      Memory memory, int base, int end, int pageSize, String file, long offset) {
    int longest = PageLayout.maxKeyBytes(pageSize);
    int keys = base + FileLayout.KEYS;
    boolean fits = keys <= end;
    int minLength = fits ? memory.getInt(base + FileLayout.MIN_KEY_LENGTH) : -1;
    int maxLength = fits ? memory.getInt(base + FileLayout.MAX_KEY_LENGTH) : -1;
    if (minLength < 0
        || minLength > longest
        || maxLength < 0
        || maxLength > longest
        || keys + minLength + maxLength > end) {
      throw new CorruptionException(file, offset, "keys of impossible length");
    }
    Packing packing = packingAt(memory, base + FileLayout.FOOTER_CODEC, end);
    if (packing == null) {
      int number = memory.getInt(base + FileLayout.FOOTER_CODEC);
      throw new CorruptionException(file, offset, "codec " + number);
    }
    byte[] minKey = new byte[minLength];
    byte[] maxKey = new byte[maxLength];
    memory.get(keys, minKey, 0, minLength);
    memory.get(keys + minLength, maxKey, 0, maxLength);
    return new SSTableMeta(
        memory.getLong(base + FileLayout.FOOTER_FILE_NUMBER),
        memory.getInt(base + FileLayout.FOOTER_TREE_ID),
        memory.getInt(base + FileLayout.PAGE_COUNT),
        memory.getLong(base + FileLayout.ENTRIES),
        memory.getLong(base + FileLayout.DELETES),
        minKey,
        maxKey,
        memory.getLong(base + FileLayout.MIN_LSN),
        memory.getLong(base + FileLayout.MAX_LSN),
        memory.getInt(base + FileLayout.ROOT_PAGE),
        memory.getInt(base + FileLayout.INDEX_HEIGHT),
        memory.getInt(base + FileLayout.FILTER_PAGE),
        memory.getInt(base + FileLayout.FILTER_BLOCKS),
        memory.getLong(base + FileLayout.SIZE_BYTES),
        packing,
        memory.getInt(base + FileLayout.PAGE_MAP_PAGE),
        SSTableMeta.Expiring.NONE);
  }

  /** Checks a header page whose checksum is right against what is expected of the file. */
  public static void checkHeader(Memory memory, int base, TableSpace space, SSTableMeta meta) {
    if (memory.getByte(base + PageLayout.TYPE) != PageLayout.HEADER
        || memory.getLong(base + MAGIC_AT) != MAGIC) {
      throw space.corrupt(meta, 0, "not an SSTable");
    }
    checkVersion(memory.getInt(base + VERSION_AT), meta.fileName(), 0);
    if (memory.getLong(base + FileLayout.STORE_ID_HIGH) != space.storeIdHigh()
        || memory.getLong(base + FileLayout.STORE_ID_LOW) != space.storeIdLow()) {
      throw space.corrupt(meta, 0, "belongs to another store");
    }
    int end = base + space.pageSize();
    if (memory.getInt(base + FileLayout.TREE_ID) != meta.treeId()
        || memory.getLong(base + FileLayout.FILE_NUMBER) != meta.fileNumber()
        || pageSize(memory, base) != space.pageSize()
        || !meta.packing().equals(packingAt(memory, base + FileLayout.CODEC, end))) {
      throw space.corrupt(meta, 0, "the header disagrees with the manifest");
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
