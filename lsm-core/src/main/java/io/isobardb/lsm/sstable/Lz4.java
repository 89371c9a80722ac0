package io.isobardb.lsm.sstable;

import io.isobardb.lsm.option.PageCodec;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;

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
 * <p>Works on arrays: an access to a direct buffer is checked more, so copying there and back costs
 * less than half of what it saves.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class Lz4 implements PageCodec, PageCodec.Coder {
  static final PageCodec CODEC = new Lz4();

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

  private static final int LEAST_MATCH = 4;
  private static final int LAST_LITERALS = 5;
  private static final int LAST_MATCH = 12;

  /** What four bits can't say. */
  private static final int LONG = 15;

  private static final int HASH_BITS = 13;
  private static final int HASH_FACTOR = 0x9E3779B1;

  /** So many searches in vain make a step one byte longer. */
  private static final int PATIENCE_BITS = 6;

  /** Bytes that may be copied at once, whatever of them is meant, so arrays have as many more. */
  private static final int COPIED = 16;

  /** Arrays that nobody uses now: enough for those who can work at once. */
  private final ArrayBlockingQueue<Room> spare =
      new ArrayBlockingQueue<>(2 * Runtime.getRuntime().availableProcessors());

  private Lz4() {}

  /** The arrays of one call. */
  private static final class Room {
    private byte[] in = new byte[0];
    private byte[] out = new byte[0];

    /** Where each hash stood last. */
    private final char[] places = new char[1 << HASH_BITS];

    /** Takes the input, and makes room for the output. */
    void take(ByteBuffer from, int outBytes) {
      int bytes = from.remaining();
      if (in.length < bytes + COPIED) {
        in = new byte[bytes + COPIED];
      }
      if (out.length < outBytes + COPIED) {
        out = new byte[outBytes + COPIED];
      }
      from.get(from.position(), in, 0, bytes);
    }
  }

  @Override
  public String name() {
    return Codecs.LZ4;
  }

  @Override
  public PageCodec.Coder coder() {
    return this;
  }

  @Override
  public int compress(ByteBuffer from, ByteBuffer to) {
    Room room = room(from, to);
    Arrays.fill(room.places, (char) 0);
    int written = compress(room.in, from.remaining(), room.out, to.remaining(), room.places);
    if (written > 0) {
      to.put(to.position(), room.out, 0, written);
    }
    spare.offer(room);
    return written;
  }

  @Override
  public int decompress(ByteBuffer from, ByteBuffer to) {
    Room room = room(from, to);
    int written = decompress(room.in, from.remaining(), room.out, to.remaining());
    to.put(to.position(), room.out, 0, written);
    spare.offer(room);
    return written;
  }

  private Room room(ByteBuffer from, ByteBuffer to) {
    Room kept = spare.poll();
    Room room = kept == null ? new Room() : kept;
    room.take(from, to.remaining());
    return room;
  }

  private static int hash(int word) {
    return (word * HASH_FACTOR) >>> (32 - HASH_BITS);
  }

  private static int compress(byte[] in, int size, byte[] out, int room, char[] places) {
    int literals = 0;
    int written = 0;
    int at = 1;
    int misses = 1 << PATIENCE_BITS;
    while (at <= size - LAST_MATCH) {
      int word = (int) INTS.get(in, at);
      int slot = hash(word);
      int match = places[slot];
      places[slot] = (char) at;
      if (match >= at || (int) INTS.get(in, match) != word) {
        at += misses++ >>> PATIENCE_BITS;
        continue;
      }
      misses = 1 << PATIENCE_BITS;
      while (at > literals && match > 0 && in[at - 1] == in[match - 1]) {
        at--;
        match--;
      }
      int length = matchLength(in, match, at, size - LAST_LITERALS);
      int count = at - literals;
      if (written + literalsBytes(count) + 3 + length / 255 > room) {
        return -1;
      }
      written = writeLiterals(in, literals, count, length, out, written);
      SHORTS.set(out, written, (short) (at - match));
      written = writeRest(length - LEAST_MATCH, out, written + 2);
      at += length;
      literals = at;
      if (at <= size - LAST_MATCH) {
        places[hash((int) INTS.get(in, at - 2))] = (char) (at - 2);
      }
    }
    int count = size - literals;
    return written + literalsBytes(count) > room
        ? -1
        : writeLiterals(in, literals, count, LEAST_MATCH, out, written);
  }

  private static int matchLength(byte[] in, int match, int at, int end) {
    int same = LEAST_MATCH;
    while (at + same + Long.BYTES <= end) {
      long differ = (long) LONGS.get(in, match + same) ^ (long) LONGS.get(in, at + same);
      if (differ != 0) {
        return same + (Long.numberOfTrailingZeros(differ) >>> 3);
      }
      same += Long.BYTES;
    }
    while (at + same < end && in[match + same] == in[at + same]) {
      same++;
    }
    return same;
  }

  /** What so many literals take, with their token. */
  private static int literalsBytes(int count) {
    return 1 + count + (count < LONG ? 0 : 1 + (count - LONG) / 255);
  }

  /** Writes a token and the literals; gives where they end. */
  private static int writeLiterals(
      byte[] in, int from, int count, int matchLength, byte[] out, int at) {
    int low = Math.min(matchLength - LEAST_MATCH, LONG);
    out[at] = (byte) (Math.min(count, LONG) << 4 | low);
    int to = writeRest(count, out, at + 1);
    copy(in, from, out, to, count);
    return to + count;
  }

  /** Writes what a token can't say of a length. */
  private static int writeRest(int length, byte[] out, int at) {
    int to = at;
    if (length >= LONG) {
      int rest = length - LONG;
      for (; rest >= 255; rest -= 255) {
        out[to++] = (byte) 255;
      }
      out[to++] = (byte) rest;
    }
    return to;
  }

  /** Copies bytes; if these are few, more may be written behind them, to be written again. */
  private static void copy(byte[] in, int from, byte[] out, int to, int count) {
    if (count > COPIED) {
      System.arraycopy(in, from, out, to, count);
    } else {
      LONGS.set(out, to, (long) LONGS.get(in, from));
      LONGS.set(out, to + Long.BYTES, (long) LONGS.get(in, from + Long.BYTES));
    }
  }

  /** What lies behind the input is never taken for a part of it: that ends with literals. */
  private static int decompress(byte[] in, int end, byte[] out, int room) {
    int read = 0;
    int written = 0;
    while (true) {
      int token = in[read++] & 0xFF;
      int count = token >>> 4;
      if (count == LONG) {
        for (int more = 255; more == 255; count += more) {
          more = in[read++] & 0xFF;
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
      int back = (short) SHORTS.get(in, read) & 0xFFFF;
      read += 2;
      int length = token & LONG;
      if (length == LONG) {
        for (int more = 255; more == 255; length += more) {
          more = in[read++] & 0xFF;
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
  private static void repeat(byte[] out, int at, int back, int length) {
    int from = at - back;
    if (back >= Long.BYTES) {
      copy(out, from, out, at, COPIED);
      for (int i = COPIED; i < length; i += Long.BYTES) {
        LONGS.set(out, at + i, (long) LONGS.get(out, from + i));
      }
    } else if (back == 1) {
      Arrays.fill(out, at, at + length, out[from]);
    } else {
      for (int i = 0; i < length; i++) {
        out[at + i] = out[from + i];
      }
    }
  }
}
