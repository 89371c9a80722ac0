package io.isobardb.tpcc.schema;

import java.io.ByteArrayOutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A row over its bytes: columns of fixed length first, read and changed where they lie, then texts
 * of varying length, each behind one byte of length, the last one up to the end. Key columns are
 * not part of it. Numbers are little-endian, amounts of money are whole cents, rates are
 * ten-thousandths, points in time are milliseconds since 1970 (0 for none). Not thread-safe.
 */
abstract class Row {
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final byte[] bytes;

  Row(byte[] bytes, int fixedBytes) {
    if (bytes.length < fixedBytes) {
      throw new IllegalArgumentException(
          getClass().getSimpleName()
              + ": "
              + bytes.length
              + " bytes are fewer than the "
              + fixedBytes
              + " of its fixed columns");
    }
    this.bytes = bytes;
  }

  /** The row as it is stored; shared, not copied. */
  public final byte[] bytes() {
    return bytes;
  }

  final int shortAt(int offset) {
    return (short) SHORT.get(bytes, offset);
  }

  final void setShort(int offset, int value) {
    SHORT.set(bytes, offset, (short) value);
  }

  final int intAt(int offset) {
    return (int) INT.get(bytes, offset);
  }

  final void setInt(int offset, int value) {
    INT.set(bytes, offset, value);
  }

  final long longAt(int offset) {
    return (long) LONG.get(bytes, offset);
  }

  final void setLong(int offset, long value) {
    LONG.set(bytes, offset, value);
  }

  final byte[] part(int from, int to) {
    return Arrays.copyOfRange(bytes, from, to);
  }

  /** The offset of the length byte of the {@code index}th text that begins at {@code offset}. */
  final int textOffset(int offset, int index) {
    int at = offset;
    for (int i = 0; i < index; i++) {
      at += 1 + (bytes[at] & 0xff);
    }
    return at;
  }

  final byte[] text(int offset, int index) {
    int at = textOffset(offset, index);
    return part(at + 1, at + 1 + (bytes[at] & 0xff));
  }

  /** The fixed columns as zeros, then {@code texts}, then {@code tail} without a length. */
  static byte[] compose(int fixedBytes, byte[][] texts, byte[] tail) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(fixedBytes + 512);
    out.writeBytes(new byte[fixedBytes]);
    for (byte[] text : texts) {
      out.write(text.length);
      out.writeBytes(text);
    }
    out.writeBytes(tail);
    return out.toByteArray();
  }

  static String string(byte[] text) {
    return new String(text, StandardCharsets.ISO_8859_1);
  }

  /** Whether the text from {@code offset} to the end contains {@code word}. */
  final boolean contains(int offset, byte[] word) {
    for (int at = offset; at + word.length <= bytes.length; at++) {
      if (Arrays.equals(bytes, at, at + word.length, word, 0, word.length)) {
        return true;
      }
    }
    return false;
  }
}
