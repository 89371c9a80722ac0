package io.isobardb.lsm.typed;

import java.nio.ByteBuffer;

/** Reads what {@link CodecOutput} wrote of values. */
final class ValueInput {
  private ValueInput() {}

  static long varint(ByteBuffer in) {
    long value = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 7) {
      byte next = in.get();
      value |= (next & 0x7FL) << shift;
      if (next >= 0) {
        return value;
      }
    }
    throw new UnreadableValueException("has a number of more than 64 bits");
  }

  static long signed(ByteBuffer in) {
    long value = varint(in);
    return value >>> 1 ^ -(value & 1);
  }

  /** A view of bytes that were put with their number. */
  static ByteBuffer sized(ByteBuffer in) {
    long size = varint(in);
    if (size < 0 || size > in.remaining()) {
      throw new UnreadableValueException(
          "should have " + size + " bytes, where " + in.remaining() + " are left");
    }
    ByteBuffer part = in.slice(in.position(), (int) size);
    in.position(in.position() + (int) size);
    return part;
  }

  static byte[] bytes(ByteBuffer in) {
    byte[] bytes = new byte[in.remaining()];
    in.get(bytes);
    return bytes;
  }
}
