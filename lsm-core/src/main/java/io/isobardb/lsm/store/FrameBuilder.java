package io.isobardb.lsm.store;

import java.io.IOException;
import java.io.OutputStream;

/**
 * A frame of a recording, while it is made; see {@link RecordingLayout}.
 *
 * <p>Thread rule: one thread at a time.
 */
final class FrameBuilder {
  private final byte[] bytes;
  private int length;

  /**
   * @param capacity bytes of payload that it takes
   */
  FrameBuilder(int capacity) {
    bytes = new byte[RecordingLayout.HEAD_BYTES + capacity + RecordingLayout.CHECKSUM_BYTES];
    length = RecordingLayout.HEAD_BYTES;
  }

  boolean isEmpty() {
    return length == RecordingLayout.HEAD_BYTES;
  }

  /** Whether it takes so many bytes more. */
  boolean hasRoom(int more) {
    return length + more + RecordingLayout.CHECKSUM_BYTES <= bytes.length;
  }

  /** Bytes that the frame takes in the file. */
  int frameBytes() {
    return length + RecordingLayout.CHECKSUM_BYTES;
  }

  FrameBuilder addByte(int value) {
    bytes[length++] = (byte) value;
    return this;
  }

  /** Adds a number of 0 or more; 10 bytes at most. */
  FrameBuilder addVarint(long value) {
    long left = value;
    while ((left & ~0x7FL) != 0) {
      addByte((int) left & 0x7F | 0x80);
      left >>>= 7;
    }
    return addByte((int) left);
  }

  FrameBuilder addLong(long value) {
    putFixed(length, value, Long.BYTES);
    length += Long.BYTES;
    return this;
  }

  private void putFixed(int at, long value, int count) {
    for (int i = 0; i < count; i++) {
      bytes[at + i] = (byte) (value >>> 8 * i);
    }
  }

  /**
   * Writes it, and is empty then.
   *
   * @param place in the file
   */
  void writeTo(OutputStream out, int kind, long place) throws IOException {
    bytes[0] = (byte) kind;
    putFixed(1, length - RecordingLayout.HEAD_BYTES, Integer.BYTES);
    addLong(RecordingLayout.checksum(bytes, 0, length, place));
    out.write(bytes, 0, length);
    length = RecordingLayout.HEAD_BYTES;
  }
}
