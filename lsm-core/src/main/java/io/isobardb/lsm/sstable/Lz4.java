package io.isobardb.lsm.sstable;

import io.isobardb.lsm.option.Codec;
import java.nio.ByteBuffer;
import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;

/**
 * LZ4 on pages. The implementation in plain Java: native code and {@code Unsafe} bring warnings on
 * new JDKs.
 */
final class Lz4 implements Codec, Codec.Coder {
  static final Codec CODEC = new Lz4();

  private final LZ4Compressor compressor = LZ4Factory.safeInstance().fastCompressor();
  private final LZ4SafeDecompressor decompressor = LZ4Factory.safeInstance().safeDecompressor();

  private Lz4() {}

  @Override
  public String name() {
    return Codecs.LZ4;
  }

  @Override
  public Codec.Coder coder() {
    return this;
  }

  @Override
  public int compress(ByteBuffer from, ByteBuffer to) {
    try {
      return compressor.compress(
          from, from.position(), from.remaining(), to, to.position(), to.remaining());
    } catch (LZ4Exception e) {
      return -1;
    }
  }

  @Override
  public int decompress(ByteBuffer from, ByteBuffer to) {
    return decompressor.decompress(
        from, from.position(), from.remaining(), to, to.position(), to.remaining());
  }
}
