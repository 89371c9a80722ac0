package io.isobardb.zstd;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdDictCompress;
import com.github.luben.zstd.ZstdDictDecompress;
import com.github.luben.zstd.ZstdException;
import io.isobardb.lsm.option.PageCodec;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Compresses and decompresses, with a dictionary or without. A call takes a context of the process,
 * or makes one if all are in use.
 *
 * <p>Thread rule: all methods but {@link #close} may be called by any thread.
 */
final class ZstdCoder implements PageCodec.Coder {
  private static final Contexts<ZstdCompressCtx> COMPRESS =
      new Contexts<>(() -> new ZstdCompressCtx().setLevel(ZstdCodec.LEVEL));

  private static final Contexts<ZstdDecompressCtx> DECOMPRESS =
      new Contexts<>(ZstdDecompressCtx::new);

  /** Each call gives these a dictionary, which has the level, and takes it back. */
  private static final Contexts<ZstdCompressCtx> COMPRESS_BY = new Contexts<>(ZstdCompressCtx::new);

  private static final Contexts<ZstdDecompressCtx> DECOMPRESS_BY =
      new Contexts<>(ZstdDecompressCtx::new);

  private final byte @Nullable [] bytes;
  private final @Nullable ZstdDictDecompress decompressing;

  /** Made by the first page that is compressed: most dictionaries are only read with. */
  private @Nullable ZstdDictCompress compressing;

  ZstdCoder() {
    this.bytes = null;
    this.decompressing = null;
  }

  ZstdCoder(byte[] dictionary) {
    this.bytes = dictionary;
    this.decompressing = new ZstdDictDecompress(dictionary);
  }

  @Override
  public int compress(ByteBuffer from, ByteBuffer to) {
    ZstdDictCompress dictionary = compressing();
    Contexts<ZstdCompressCtx> contexts = dictionary == null ? COMPRESS : COMPRESS_BY;
    ZstdCompressCtx context = contexts.take();
    try {
      if (dictionary != null) {
        context.loadDict(dictionary);
      }
      return context.compressDirectByteBuffer(
          to, to.position(), to.remaining(), from, from.position(), from.remaining());
    } catch (ZstdException e) {
      if (e.getErrorCode() == Zstd.errDstSizeTooSmall()) {
        return -1;
      }
      throw e;
    } finally {
      if (dictionary != null) {
        context.reset();
      }
      contexts.give(context);
    }
  }

  private @Nullable ZstdDictCompress compressing() {
    if (bytes == null) {
      return null;
    }
    synchronized (this) {
      ZstdDictCompress made = compressing;
      if (made == null) {
        made = new ZstdDictCompress(bytes, ZstdCodec.LEVEL);
        compressing = made;
      }
      return made;
    }
  }

  @Override
  public int decompress(ByteBuffer from, ByteBuffer to) {
    Contexts<ZstdDecompressCtx> contexts = decompressing == null ? DECOMPRESS : DECOMPRESS_BY;
    ZstdDecompressCtx context = contexts.take();
    try {
      if (decompressing != null) {
        context.loadDict(decompressing);
      }
      return context.decompressDirectByteBuffer(
          to, to.position(), to.remaining(), from, from.position(), from.remaining());
    } finally {
      if (decompressing != null) {
        context.reset();
      }
      contexts.give(context);
    }
  }

  @Override
  public synchronized void close() {
    if (decompressing != null) {
      decompressing.close();
    }
    if (compressing != null) {
      compressing.close();
      compressing = null;
    }
  }
}
