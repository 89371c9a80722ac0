package io.isobardb.lsm.sstable;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.memory.page.Memory;
import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;

/**
 * LZ4 on pages. The implementation in plain Java: native code and {@code Unsafe} bring warnings on
 * new JDKs.
 */
final class Lz4 {
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

  /** Decompresses to exactly {@code toLength} bytes. */
  static void decompress(
      Memory from,
      int offset,
      int length,
      Memory to,
      int toOffset,
      int toLength,
      String file,
      long at) {
    int got;
    try {
      got =
          DECOMPRESSOR.decompress(
              from.slice(offset, length), 0, length, to.slice(toOffset, toLength), 0, toLength);
    } catch (LZ4Exception e) {
      throw new CorruptionException(file, at, "LZ4: " + e.getMessage());
    }
    if (got != toLength) {
      throw new CorruptionException(file, at, "a page of " + got + " bytes");
    }
  }
}
