package io.isobardb.bench.record;

import io.isobardb.lsm.store.RecordingLayout;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;

/**
 * The frames of a recording, one after the other.
 *
 * <p>Thread rule: one thread.
 */
final class Frame {
  private final Path file;
  private final InputStream in;
  private byte[] bytes = {};
  private int at;
  private int end;
  private long place = RecordingLayout.MAGIC_BYTES;
  private long next = RecordingLayout.MAGIC_BYTES;

  /**
   * @param in behind the magic number
   */
  Frame(Path file, InputStream in) {
    this.file = file;
    this.in = in;
  }

  /**
   * Goes to the next frame.
   *
   * @return false if there is none, or the file ends within it, as it does if its process was
   *     killed
   */
  boolean next() throws IOException {
    place = next;
    byte[] head = in.readNBytes(RecordingLayout.HEAD_BYTES);
    if (head.length < RecordingLayout.HEAD_BYTES) {
      return false;
    }
    long payload = number(head, 1, Integer.BYTES);
    if (payload > RecordingLayout.MOST_PAYLOAD_BYTES) {
      throw RecordedRun.damaged(file, place, "a frame can't have " + payload + " bytes");
    }
    int length = RecordingLayout.HEAD_BYTES + (int) payload;
    byte[] rest = in.readNBytes((int) payload + RecordingLayout.CHECKSUM_BYTES);
    if (rest.length < payload + RecordingLayout.CHECKSUM_BYTES) {
      return false;
    }
    bytes = new byte[length + RecordingLayout.CHECKSUM_BYTES];
    System.arraycopy(head, 0, bytes, 0, head.length);
    System.arraycopy(rest, 0, bytes, head.length, rest.length);
    if (number(bytes, length, RecordingLayout.CHECKSUM_BYTES)
        != RecordingLayout.checksum(bytes, 0, length, place)) {
      throw RecordedRun.damaged(file, place, "its checksum is wrong");
    }
    at = RecordingLayout.HEAD_BYTES;
    end = length;
    next = place + bytes.length;
    return true;
  }

  /** Where the frame is in the file. */
  long place() {
    return place;
  }

  int kind() {
    return bytes[0];
  }

  /** Whether there is more in its payload. */
  boolean hasMore() {
    return at < end;
  }

  /** The next number of so many bytes. */
  long fixed(int count) {
    check(count);
    at += count;
    return number(bytes, at - count, count);
  }

  /** The next varint. */
  long varint() {
    long value = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 7) {
      check(1);
      byte each = bytes[at++];
      value |= (each & 0x7FL) << shift;
      if (each >= 0) {
        return value;
      }
    }
    throw RecordedRun.damaged(file, place, "a number does not end");
  }

  private void check(int count) {
    if (at + count > end) {
      throw RecordedRun.damaged(file, place, "the frame ends within an operation");
    }
  }

  /** A number, the lowest byte first. */
  static long number(byte[] from, int offset, int count) {
    long value = 0;
    for (int i = count - 1; i >= 0; i--) {
      value = value << 8 | from[offset + i] & 0xFF;
    }
    return value;
  }
}
