package io.isobardb.lsm.sstable;

import io.isobardb.lsm.option.PageCodec;
import io.isobardb.memory.page.Memory;
import java.nio.ByteBuffer;

/**
 * LZ4's block format, in plain Java: native code and {@code Unsafe} bring warnings on new JDKs.
 *
 * <pre>
 * block     sequence*, the last one without what stands behind the literals
 * sequence  token: number of literals in the high four bits, length of the match less 4 in the low
 *           if the number is 15, bytes that are added to it, up to the first that is not 255
 *           the literals
 *           short: how far back the match begins, 1 to 65535
 *           if the length is 15, more bytes of it, likewise
 * </pre>
 *
 * No match begins within the last 12 bytes or reaches into the last 5. A compressor remembers by a
 * hash of four bytes where they stood last, and takes larger steps the longer it finds nothing.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class Lz4 implements PageCodec, PageCodec.Coder {
  static final PageCodec CODEC = new Lz4();

  private static final int LEAST_MATCH = 4;
  private static final int LAST_LITERALS = 5;
  private static final int LAST_MATCH = 12;

  /** What four bits can't say. */
  private static final int LONG = 15;

  private static final int HASH_BITS = 13;
  private static final int HASH_FACTOR = 0x9E3779B1;

  /** So many searches in vain make a step one byte longer. */
  private static final int PATIENCE_BITS = 6;

  private Lz4() {}

  @Override
  public String name() {
    return Codecs.LZ4;
  }

  @Override
  public PageCodec.Coder coder() {
    return this;
  }

  private static int hash(int word) {
    return (word * HASH_FACTOR) >>> (32 - HASH_BITS);
  }

  @Override
  public int compress(ByteBuffer from, ByteBuffer to) {
    Memory in = new Memory(from);
    Memory out = new Memory(to);
    int size = in.size();
    char[] places = new char[1 << HASH_BITS];
    int literals = 0;
    int written = 0;
    int at = 1;
    int misses = 1 << PATIENCE_BITS;
    while (at <= size - LAST_MATCH) {
      int word = in.getInt(at);
      int slot = hash(word);
      int match = places[slot];
      places[slot] = (char) at;
      if (match >= at || in.getInt(match) != word) {
        at += misses++ >>> PATIENCE_BITS;
        continue;
      }
      misses = 1 << PATIENCE_BITS;
      while (at > literals && match > 0 && in.getByte(at - 1) == in.getByte(match - 1)) {
        at--;
        match--;
      }
      int length = matchLength(in, match, at, size - LAST_LITERALS);
      written = writeLiterals(in, literals, at - literals, length, out, written);
      if (written < 0 || written + 3 + length / 255 > out.size()) {
        return -1;
      }
      out.putShort(written, at - match);
      written = writeRest(length - LEAST_MATCH, out, written + 2);
      at += length;
      literals = at;
      if (at <= size - LAST_MATCH) {
        places[hash(in.getInt(at - 2))] = (char) (at - 2);
      }
    }
    return writeLiterals(in, literals, size - literals, LEAST_MATCH, out, written);
  }

  private static int matchLength(Memory in, int match, int at, int end) {
    int same = LEAST_MATCH;
    while (at + same + Long.BYTES <= end) {
      long differ = in.getLong(match + same) ^ in.getLong(at + same);
      if (differ != 0) {
        return same + (Long.numberOfTrailingZeros(differ) >>> 3);
      }
      same += Long.BYTES;
    }
    while (at + same < end && in.getByte(match + same) == in.getByte(at + same)) {
      same++;
    }
    return same;
  }

  /** Writes a token and the literals; gives where they end, or -1 if there is no room for them. */
  private static int writeLiterals(
      Memory in, int from, int count, int matchLength, Memory out, int at) {
    int rest = count < LONG ? 0 : 1 + (count - LONG) / 255;
    if (at + 1 + rest + count > out.size()) {
      return -1;
    }
    int low = Math.min(matchLength - LEAST_MATCH, LONG);
    out.putByte(at, (byte) (Math.min(count, LONG) << 4 | low));
    int to = writeRest(count, out, at + 1);
    copy(in, from, out, to, count);
    return to + count;
  }

  /** Writes what a token can't say of a length. */
  private static int writeRest(int length, Memory out, int at) {
    int to = at;
    if (length >= LONG) {
      int rest = length - LONG;
      for (; rest >= 255; rest -= 255) {
        out.putByte(to++, (byte) 255);
      }
      out.putByte(to++, (byte) rest);
    }
    return to;
  }

  /** Copies bytes that are not these; up to seven more may be written, to be written again. */
  private static void copy(Memory in, int from, Memory out, int to, int count) {
    if (count > 64 || from + count + 7 > in.size() || to + count + 7 > out.size()) {
      out.copyFrom(to, in, from, count);
      return;
    }
    for (int i = 0; i < count; i += Long.BYTES) {
      out.putLong(to + i, in.getLong(from + i));
    }
  }

  @Override
  public int decompress(ByteBuffer from, ByteBuffer to) {
    Memory in = new Memory(from);
    Memory out = new Memory(to);
    int end = in.size();
    int room = out.size();
    int read = 0;
    int written = 0;
    while (true) {
      int token = in.getByte(read++) & 0xFF;
      int count = token >>> 4;
      if (count == LONG) {
        for (int more = 255; more == 255; count += more) {
          more = in.getByte(read++) & 0xFF;
        }
      }
      if (count > end - read || count > room - written) {
        throw new IllegalArgumentException("literals beyond the end");
      }
      copy(in, read, out, written, count);
      read += count;
      written += count;
      if (read == end) {
        return written;
      }
      int back = in.getUnsignedShort(read);
      read += 2;
      int length = token & LONG;
      if (length == LONG) {
        for (int more = 255; more == 255; length += more) {
          more = in.getByte(read++) & 0xFF;
        }
      }
      length += LEAST_MATCH;
      if (back == 0 || back > written || length > room - written) {
        throw new IllegalArgumentException("a match beyond the page");
      }
      repeat(out, written, back, length);
      written += length;
    }
  }

  /** Writes again what stands so far back, which may be less than is written. */
  private static void repeat(Memory out, int at, int back, int length) {
    if (back >= Long.BYTES && at + length + 7 <= out.size()) {
      for (int i = 0; i < length; i += Long.BYTES) {
        out.putLong(at + i, out.getLong(at - back + i));
      }
    } else {
      for (int i = 0; i < length; i++) {
        out.putByte(at + i, out.getByte(at - back + i));
      }
    }
  }
}
