package io.isobardb.lsm.typed;

import java.nio.ByteBuffer;

/** The bytes of a key while it is decoded. One thread. */
final class KeyInput {
  private final ByteBuffer bytes;

  /** 0, or 0xFF where the order is turned. */
  private int mask;

  KeyInput(ByteBuffer bytes) {
    this.bytes = bytes;
  }

  int get() {
    if (!bytes.hasRemaining()) {
      throw malformed("ends too early");
    }
    return (bytes.get() ^ mask) & 0xFF;
  }

  long getNumber(int count) {
    long value = 0;
    for (int i = 0; i < count; i++) {
      value = value << 8 | get();
    }
    return value;
  }

  /**
   * The next byte of a string of bytes, or -1 at its end.
   *
   * @param last whether the string ends with the key, else its end is marked
   */
  int getEscaped(boolean last) {
    if (last) {
      return bytes.hasRemaining() ? get() : -1;
    }
    int value = get();
    if (value != KeyCodec.END) {
      return value;
    }
    int next = get();
    if (next == KeyCodec.END) {
      return -1;
    }
    if (next != KeyCodec.ESCAPED) {
      throw malformed("has " + next + " behind a zero byte");
    }
    return KeyCodec.END;
  }

  /** Turns the order of what follows. */
  void invert() {
    mask ^= 0xFF;
  }

  /** The most bytes that a string may still have. */
  int remaining() {
    return bytes.remaining();
  }

  void checkEnd() {
    if (bytes.hasRemaining()) {
      throw malformed("has " + bytes.remaining() + " bytes too many");
    }
  }

  IllegalArgumentException malformed(String how) {
    return new IllegalArgumentException(
        "a key was not written with this codec: it "
            + how
            + ", in "
            + bytes.limit()
            + " bytes; open the tree with the codec that it was written with");
  }
}
