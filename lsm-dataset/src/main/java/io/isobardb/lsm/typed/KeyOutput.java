package io.isobardb.lsm.typed;

import java.util.Arrays;

/** The bytes of a key while it is encoded. One thread. */
final class KeyOutput {
  private byte[] bytes = new byte[32];
  private int length;

  void put(int value) {
    if (length == bytes.length) {
      bytes = Arrays.copyOf(bytes, 2 * length);
    }
    bytes[length++] = (byte) value;
  }

  /** The lowest {@code count} bytes of a number, the highest of them first. */
  void putNumber(long value, int count) {
    for (int shift = 8 * (count - 1); shift >= 0; shift -= 8) {
      put((int) (value >>> shift));
    }
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
