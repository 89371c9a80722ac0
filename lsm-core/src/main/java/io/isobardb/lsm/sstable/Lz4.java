package io.isobardb.lsm.sstable;

import io.isobardb.memory.page.Memory;
import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;
import org.jspecify.annotations.Nullable;

/**
 * LZ4 on pages. The implementation in plain Java: native code and {@code Unsafe} bring warnings on
 * new JDKs.
 */
public final class Lz4 {
  private static final LZ4Compressor COMPRESSOR = LZ4Factory.safeInstance().fastCompressor();
  private static final LZ4SafeDecompressor DECOMPRESSOR =
      LZ4Factory.safeInstance().safeDecompressor();

  private Lz4() {}

  /** The most that so many bytes can be compressed to. */
  static int bound(int bytes) {
    return COMPRESSOR.maxCompressedLength(bytes);
  }

  /** Compresses, and gives the length of the result. */
  static int compress(Memory from, int offset, int length, Memory to, int toOffset) {
    int bound = bound(length);
    return COMPRESSOR.compress(
        from.slice(offset, length), 0, length, to.slice(toOffset, bound), 0, bound);
  }

  /**
   * Decompresses to exactly {@code toLength} bytes.
   *
   * @return what is wrong with the bytes, or null
   */
  public static @Nullable String decompress(
      Memory from, int offset, int length, Memory to, int toOffset, int toLength) {
    try {
      int got =
          DECOMPRESSOR.decompress(
              from.slice(offset, length), 0, length, to.slice(toOffset, toLength), 0, toLength);
      return got == toLength ? null : "a page of " + got + " bytes";
    } catch (LZ4Exception e) {
      return "LZ4: " + e.getMessage();
    }
  }
}
