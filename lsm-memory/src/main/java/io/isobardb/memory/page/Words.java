package io.isobardb.memory.page;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Big-endian words of byte arrays: unsigned comparison of words is comparison of bytes. */
public final class Words {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  private Words() {}

  /** The eight bytes at {@code offset}, which must all lie in the array. */
  public static long get(byte[] bytes, int offset) {
    return (long) LONGS.get(bytes, offset);
  }

  /** Puts eight bytes at {@code offset}, where there must be room for all. */
  static void put(byte[] bytes, int offset, long word) {
    LONGS.set(bytes, offset, word);
  }

  /**
   * The head of a key: its first eight bytes, padded with zeros at the end. Heads that differ order
   * their keys; equal heads leave it open.
   */
  public static long head(byte[] bytes, int offset, int length) {
    if (length >= 8) {
      return (long) LONGS.get(bytes, offset);
    }
    long word = 0;
    for (int i = 0; i < length; i++) {
      word |= (bytes[offset + i] & 0xFFL) << (56 - 8 * i);
    }
    return word;
  }

  /** The first four bytes as {@link #head}, for the heads of page slots. */
  public static int head4(byte[] bytes, int offset, int length) {
    if (length >= 4) {
      return (int) INTS.get(bytes, offset);
    }
    int word = 0;
    for (int i = 0; i < length; i++) {
      word |= (bytes[offset + i] & 0xFF) << (24 - 8 * i);
    }
    return word;
  }
}
