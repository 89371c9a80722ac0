package io.isobardb.lsm;

import io.isobardb.lsm.option.PageCodec;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * A codec of the JDK, for tests of what the engine does with one that it does not have. Without the
 * sums of zlib: it makes something of what was compressed with another dictionary.
 */
public final class DeflateCodec implements PageCodec {
  public static final String NAME = "DEFLATE";

  /** Coders with dictionaries that are not closed. */
  public static final AtomicInteger OPEN = new AtomicInteger();

  /** A dictionary of this length. */
  public static byte[] dictionary(int bytes) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; text.length() < bytes; i++) {
      text.append("user0").append(i).append(" value of ");
    }
    return text.substring(0, bytes).getBytes(StandardCharsets.US_ASCII);
  }

  /** This one, LZ4, both or mostly none; draws one number. */
  public static Compression any(SplittableRandom random) {
    return switch (random.nextInt(12)) {
      case 0, 1 -> Compression.LZ4;
      case 2 -> Compression.of(NAME);
      case 3 -> Compression.LZ4.last(NAME);
      case 4 -> Compression.NONE.last(NAME);
      default -> Compression.NONE;
    };
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Coder coder() {
    return new DeflateCoder(new byte[0]);
  }

  @Override
  public int dictionaryBytes() {
    return 2000;
  }

  @Override
  public byte[] train(ByteBuffer samples, int[] lengths, int most) {
    int bytes = Math.min(most, samples.remaining());
    byte[] last = new byte[bytes];
    samples.get(samples.limit() - bytes, last);
    return last;
  }

  @Override
  public Coder coder(byte[] dictionary) {
    OPEN.incrementAndGet();
    return new DeflateCoder(dictionary);
  }

  private record DeflateCoder(byte[] dictionary) implements Coder {
    @Override
    public int compress(ByteBuffer from, ByteBuffer to) {
      Deflater deflater = new Deflater(1, true);
      try {
        deflater.setDictionary(dictionary);
        deflater.setInput(from);
        deflater.finish();
        int bytes = deflater.deflate(to);
        return deflater.finished() ? bytes : -1;
      } finally {
        deflater.end();
      }
    }

    @Override
    public int decompress(ByteBuffer from, ByteBuffer to) {
      Inflater inflater = new Inflater(true);
      try {
        inflater.setDictionary(dictionary);
        inflater.setInput(from);
        return inflater.inflate(to);
      } catch (DataFormatException e) {
        throw new IllegalArgumentException(e.getMessage(), e);
      } finally {
        inflater.end();
      }
    }

    @Override
    public void close() {
      if (dictionary.length > 0) {
        OPEN.decrementAndGet();
      }
    }
  }
}
