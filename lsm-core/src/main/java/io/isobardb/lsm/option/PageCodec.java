package io.isobardb.lsm.option;

import java.nio.ByteBuffer;

/**
 * How pages are compressed on disk: a service ({@link java.util.ServiceLoader}), found by its name
 * when a tree is made or opened that uses it. {@code NONE} and {@code LZ4} are built in; {@code
 * ZSTD} is in the artifact {@code lsm-zstd}.
 *
 * <pre>{@code
 * class Deflate implements PageCodec {
 *   public String name() {
 *     return "DEFLATE";
 *   }
 *
 *   public Coder coder() {
 *     return new Coder() {
 *       public int compress(ByteBuffer from, ByteBuffer to) {
 *         Deflater deflater = new Deflater();
 *         try {
 *           deflater.setInput(from);
 *           deflater.finish();
 *           int bytes = deflater.deflate(to);
 *           return deflater.finished() ? bytes : -1;
 *         } finally {
 *           deflater.end();
 *         }
 *       }
 *
 *       public int decompress(ByteBuffer from, ByteBuffer to) {
 *         Inflater inflater = new Inflater();
 *         try {
 *           inflater.setInput(from);
 *           return inflater.inflate(to);
 *         } catch (DataFormatException e) {
 *           throw new IllegalArgumentException(e);
 *         } finally {
 *           inflater.end();
 *         }
 *       }
 *     };
 *   }
 * }
 * }</pre>
 *
 * <p>Each SSTable names the codec that compressed it, so it must read for ever what it wrote under
 * its name. A store does not open without the codecs of its SSTables.
 *
 * <p>Thread rule: all methods may be called by many threads at once. None may use the store.
 */
public interface PageCodec {
  /** The longest name, in characters. */
  int LONGEST_NAME = 16;

  /** The largest dictionary, in bytes. A store may ask for less. */
  int LARGEST_DICTIONARY = 32 << 10;

  /**
   * {@return what options and files call it; always the same} A letter from A to Z, then up to 15
   * letters from A to Z, digits and hyphens. The names of built-in codecs can't be taken.
   */
  String name();

  /**
   * {@return whether a codec can have this name}
   *
   * @param name a candidate
   */
  static boolean isName(String name) {
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean follows = c >= '0' && c <= '9' || c == '-';
      if ((c < 'A' || c > 'Z') && (i == 0 || !follows)) {
        return false;
      }
    }
    return !name.isEmpty() && name.length() <= LONGEST_NAME;
  }

  /**
   * Asked once in a process, for pages without a dictionary.
   *
   * @return what compresses and decompresses them, for many threads
   */
  Coder coder();

  /**
   * {@return how many bytes a dictionary should have, at most {@link #LARGEST_DICTIONARY}; 0, as by
   * default, if the codec has no dictionaries}
   */
  default int dictionaryBytes() {
    return 0;
  }

  /**
   * Makes a dictionary of samples. Called by background threads, with a megabyte of samples at
   * most; it should take less than a second, since a merge waits for it. If it throws, there is no
   * dictionary.
   *
   * @param samples all samples one after another, from position to limit; a direct buffer
   * @param lengths of the samples, in bytes
   * @param most the largest dictionary that is wanted, in bytes
   * @return the dictionary; an empty array if the samples make none
   */
  default byte[] train(ByteBuffer samples, int[] lengths, int most) {
    return new byte[0];
  }

  /**
   * Compresses and decompresses with a dictionary. It is closed once no open SSTable has that
   * dictionary.
   *
   * @param dictionary what {@link #train} gave; not to be changed
   * @return what does so, for many threads; each call gives another
   * @throws RuntimeException if it is none; the store takes that for damage of the file
   */
  default Coder coder(byte[] dictionary) {
    throw new UnsupportedOperationException(name() + " has no dictionaries");
  }

  /**
   * Compresses and decompresses pages of 4 to 64 KB. Buffers are direct. A call reads from position
   * to limit of one and writes from the position of the other on; both may be moved.
   *
   * <p>Thread rule: used by many threads at once, until it is closed.
   */
  interface Coder extends AutoCloseable {
    /**
     * Compresses. If it throws, the flush or merge has failed, and the store takes no more writes.
     *
     * @param from a page, from position to limit; direct
     * @param to has less room than {@code from} has bytes
     * @return how many bytes were written; -1 if there is not enough room for them
     */
    int compress(ByteBuffer from, ByteBuffer to);

    /**
     * Decompresses. Whatever {@code from} holds, it must neither hang nor write beyond the limit.
     *
     * @param from what {@link #compress} wrote, from position to limit, if the file is sound;
     *     direct
     * @param to has room for what was compressed, and no more
     * @return how many bytes were written
     * @throws RuntimeException if the bytes are not what {@link #compress} wrote; the store takes
     *     that, and any other length, for damage of the file
     */
    int decompress(ByteBuffer from, ByteBuffer to);

    /** Gives memory back. By default there is none. */
    @Override
    default void close() {}
  }
}
