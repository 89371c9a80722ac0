package io.isobardb.lsm;

import java.nio.ByteBuffer;
import java.util.Objects;

/** Keys and values that users give in buffers, whose positions stay. */
final class Keys {
  /** A target with room for no value but an empty one. */
  static final ByteBuffer NO_ROOM = ByteBuffer.allocate(0);

  private Keys() {}

  /** What remains in a key's buffer; its own array, if that is all there is in it. */
  static byte[] bytes(ByteBuffer key) {
    Objects.requireNonNull(key, "key");
    if (key.hasArray() && key.array().length == key.remaining()) {
      return key.array();
    }
    byte[] bytes = new byte[key.remaining()];
    key.get(key.position(), bytes);
    return bytes;
  }

  /** An array that holds what remains in a buffer, from {@link #start} on. */
  static byte[] array(ByteBuffer buffer) {
    if (buffer.hasArray()) {
      return buffer.array();
    }
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(buffer.position(), bytes);
    return bytes;
  }

  /** Where {@link #array} begins. */
  static int start(ByteBuffer buffer) {
    return buffer.hasArray() ? buffer.arrayOffset() + buffer.position() : 0;
  }
}
