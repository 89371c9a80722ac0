package io.isobardb.lsm.sstable;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.PageCodec;
import io.isobardb.memory.page.Memory;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Compresses and decompresses the pages of one file; {@link FileLayout} has what is stored. The
 * checksums of pages cover the dictionary they were compressed with: by another one, a codec might
 * make something of them.
 *
 * <p>Thread rule: all methods but {@link #close} may be called by any thread.
 */
public final class PageCoder implements AutoCloseable {
  /** In bytes. The block of the file that has it fits into the memory that reads have at worst. */
  static final int LARGEST_DICTIONARY = PageCodec.LARGEST_DICTIONARY;

  /** What stands for the number of a page in the checksum of a dictionary. */
  private static final int DICTIONARY = Integer.MAX_VALUE;

  private final String codec;
  private final Codecs.Taken taken;
  private final PageCodec.Coder coder;
  private final int pageSize;
  private final long seed;

  /**
   * One for a file.
   *
   * @param fileSeed of the file's checksums
   * @throws io.isobardb.lsm.error.FormatException if there is no such codec
   */
  public PageCoder(String codec, byte @Nullable [] dictionary, int pageSize, long fileSeed) {
    this.codec = codec;
    this.pageSize = pageSize;
    this.seed = fileSeed ^ salt(dictionary);
    this.taken = Codecs.take(codec, dictionary);
    this.coder = taken.coder();
  }

  private static long salt(byte @Nullable [] dictionary) {
    if (dictionary == null) {
      return 0;
    }
    CRC32C crc = new CRC32C();
    crc.update(dictionary, 0, dictionary.length);
    return crc.getValue() << 1 | 1;
  }

  /** The largest dictionary of files with pages of this size, in bytes. */
  static int mostDictionaryBytes(int pageSize) {
    int space = (TableSpace.spareBytes(pageSize) & -DataFile.BLOCK) - FileLayout.STORED_HEADER;
    return Math.min(LARGEST_DICTIONARY, space);
  }

  /** Stores a page in {@code target}, compressed if that helps; gives the bytes it takes. */
  int pack(Memory source, int sourceBase, int pageNo, Memory target, int at) {
    int contents = at + FileLayout.STORED_HEADER;
    int room = pageSize - 1;
    int stored = coder.compress(source.slice(sourceBase, pageSize), target.slice(contents, room));
    if (stored > room) {
      throw new IllegalStateException(
          "the codec '" + codec + "' says that it wrote " + stored + " bytes to room for " + room);
    }
    if (stored < 0) {
      target.copyFrom(contents, source, sourceBase, pageSize);
      stored = pageSize;
      target.putInt(at + 4, stored | FileLayout.STORED_RAW);
    } else {
      target.putInt(at + 4, stored);
    }
    int end = contents + stored;
    int bytes =
        (end - at + FileLayout.STORED_UNIT - 1) / FileLayout.STORED_UNIT * FileLayout.STORED_UNIT;
    target.zero(end, at + bytes - end);
    PageLayout.seal(target, at, bytes, seed, pageNo);
    return bytes;
  }

  /**
   * Verifies and decompresses a stored page.
   *
   * @return what is wrong with it, or null
   */
  public @Nullable String unpack(
      int pageNo, int length, Memory stored, int at, Memory memory, int base) {
    if (length < FileLayout.STORED_UNIT
        || stored.getInt(at) != PageLayout.checksum(stored, at, length, seed, pageNo)) {
      return "page " + pageNo + " has a wrong checksum";
    }
    int word = stored.getInt(at + 4);
    int bytes = word & ~FileLayout.STORED_RAW;
    if (bytes > length - FileLayout.STORED_HEADER || (word < 0 && bytes != pageSize)) {
      return "page " + pageNo + " has a wrong length";
    }
    int contents = at + FileLayout.STORED_HEADER;
    if (word < 0) {
      memory.copyFrom(base, stored, contents, pageSize);
      return null;
    }
    try {
      int got = coder.decompress(stored.slice(contents, bytes), memory.slice(base, pageSize));
      return got == pageSize ? null : "page " + pageNo + " has " + got + " bytes";
    } catch (RuntimeException e) {
      return codec + ": " + e.getMessage();
    }
  }

  /** Which page is stored here, of those in a range, or -1. */
  public int pageNo(Memory stored, int at, int length, int from, int to) {
    return PageLayout.pageNo(stored, at, length, seed, from, to);
  }

  /** Lays a dictionary out as it is behind the header page. */
  static void writeDictionary(byte[] dictionary, Memory target, int at, long fileSeed) {
    int space = new Packing(Codecs.NONE, dictionary.length).dictionarySpace();
    target.zero(at, space);
    target.putInt(at + 4, dictionary.length);
    target.put(at + FileLayout.STORED_HEADER, dictionary, 0, dictionary.length);
    PageLayout.seal(target, at, space, fileSeed, DICTIONARY);
  }

  /** The dictionary that stands here; null if it is damaged, or of another file. */
  public static byte @Nullable [] readDictionary(
      Packing packing, Memory stored, int at, long fileSeed) {
    int space = packing.dictionarySpace();
    int length = packing.dictionaryBytes();
    if (stored.getInt(at) != PageLayout.checksum(stored, at, space, fileSeed, DICTIONARY)
        || stored.getInt(at + 4) != length) {
      return null;
    }
    byte[] dictionary = new byte[length];
    stored.get(at + FileLayout.STORED_HEADER, dictionary, 0, length);
    return dictionary;
  }

  @Override
  public void close() {
    Codecs.give(taken);
  }
}
