package io.isobardb.zstd;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import com.github.luben.zstd.util.Native;
import io.isobardb.lsm.option.PageCodec;
import java.nio.ByteBuffer;

/**
 * Zstandard at level 3, by the native library that the artifact {@code zstd-jni} brings. A store
 * finds it by its name:
 *
 * <pre>{@code
 * TreeOptions.builder().compression(Compression.LZ4.last("ZSTD")).build();
 * }</pre>
 *
 * <p>Memory lies beside the store's budget: a few contexts of some 100 KB for the process, twice as
 * many as there are processors at most, and about 45 KB for each dictionary in use, with 200 KB
 * more once something is compressed with it.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class ZstdCodec implements PageCodec {
  /** The level that the library calls its default. */
  static final int LEVEL = 3;

  private static final int DICTIONARY_BYTES = 16 << 10;

  /**
   * Loads the native library.
   *
   * @throws LinkageError if there is none for this system, or it can't be unpacked; the store says
   *     then that it has no such codec
   */
  public ZstdCodec() {
    Native.load();
  }

  @Override
  public String name() {
    return "ZSTD";
  }

  @Override
  public Coder coder() {
    return new ZstdCoder();
  }

  @Override
  public int dictionaryBytes() {
    return DICTIONARY_BYTES;
  }

  /** By the library's "fast cover": about a tenth of a second for a megabyte. */
  @Override
  public byte[] train(ByteBuffer samples, int[] lengths, int most) {
    ByteBuffer dictionary = ByteBuffer.allocateDirect(most);
    long bytes;
    try {
      bytes = Zstd.trainFromBufferDirect(samples, lengths, dictionary);
    } catch (ZstdException e) {
      // They are too few, or have nothing in common.
      return new byte[0];
    }
    byte[] made = new byte[Zstd.isError(bytes) ? 0 : (int) bytes];
    dictionary.get(0, made);
    return made;
  }

  @Override
  public Coder coder(byte[] dictionary) {
    return new ZstdCoder(dictionary);
  }
}
