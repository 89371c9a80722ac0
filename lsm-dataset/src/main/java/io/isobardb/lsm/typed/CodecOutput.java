package io.isobardb.lsm.typed;

import java.util.Arrays;

/** The bytes of a key or a value while it is encoded. One thread. */
final class CodecOutput {
  private byte[] bytes = new byte[32];
  private int length;

  void put(int value) {
    reserve(1);
    bytes[length++] = (byte) value;
  }

  void put(byte[] value) {
    reserve(value.length);
    System.arraycopy(value, 0, bytes, length, value.length);
    length += value.length;
  }

  private void reserve(int more) {
    if (more > bytes.length - length) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, Math.addExact(length, more)));
    }
  }

  /** The lowest {@code count} bytes of a number, the highest of them first. */
  void putNumber(long value, int count) {
    for (int shift = 8 * (count - 1); shift >= 0; shift -= 8) {
      put((int) (value >>> shift));
    }
  }

  /** A number that is mostly small and not negative: 7 bits a byte, the lowest first. */
  void putVarint(long value) {
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      put((int) (rest & 0x7F | 0x80));
      rest >>>= 7;
    }
    put((int) rest);
  }

  /** A number that is mostly near to zero, on either side. */
  void putSigned(long value) {
    putVarint(value << 1 ^ value >> 63);
  }

  /** Bytes, and how many there are in front of them. */
  void putSized(byte[] value) {
    putVarint(value.length);
    put(value);
  }

  /** A byte of a string of bytes whose end is marked. */
  void putEscaped(int value) {
    put(value);
    if ((byte) value == KeyCodec.END) {
      put(KeyCodec.ESCAPED);
    }
  }

  int length() {
    return length;
  }

  /** Turns the order of what was put from {@code from} on. */
  void invert(int from) {
    for (int i = from; i < length; i++) {
      bytes[i] = (byte) ~bytes[i];
    }
  }

  byte[] toBytes() {
    return Arrays.copyOf(bytes, length);
  }
}
