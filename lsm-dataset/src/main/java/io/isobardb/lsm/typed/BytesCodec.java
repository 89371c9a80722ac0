package io.isobardb.lsm.typed;

import java.util.Arrays;

/** Byte arrays as keys. */
final class BytesCodec extends KeyCodec<byte[]> {
  @Override
  void write(byte[] key, CodecOutput out, boolean last) {
    for (byte value : key) {
      if (last) {
        out.put(value);
      } else {
        out.putEscaped(value);
      }
    }
    if (!last) {
      out.put(END);
      out.put(END);
    }
  }

  @Override
  byte[] read(KeyInput in, boolean last) {
    byte[] bytes = new byte[in.remaining()];
    int length = 0;
    for (int value; (value = in.getEscaped(last)) >= 0; length++) {
      bytes[length] = (byte) value;
    }
    return length == bytes.length ? bytes : Arrays.copyOf(bytes, length);
  }
}
