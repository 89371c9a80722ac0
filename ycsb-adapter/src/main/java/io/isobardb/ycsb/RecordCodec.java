package io.isobardb.ycsb;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;

/**
 * A YCSB record as one value, and back. Stateless, thread-safe.
 *
 * <pre>
 *   record = field*
 *   field  = name length value
 *   name   = n in 0..127           the field "field" + n, as YCSB names them
 *          | 0x80 length UTF-8     any other
 *   length = base 128, low bits first
 * </pre>
 *
 * Fields keep the order in which they were first written.
 */
final class RecordCodec {
  private static final int NAMED = 0x80;
  private static final String PREFIX = "field";
  private static final String[] NUMBERED = new String[NAMED];
  private static final Map<String, Integer> NUMBERS = new HashMap<>();

  static {
    for (int i = 0; i < NUMBERED.length; i++) {
      NUMBERED[i] = PREFIX + i;
      NUMBERS.put(NUMBERED[i], i);
    }
  }

  private RecordCodec() {}

  /** The record of these fields. */
  static byte[] encode(Map<String, ByteIterator> fields) {
    Output out = new Output(1200);
    fields.forEach((name, value) -> out.field(name, value.toArray()));
    return out.toArray();
  }

  /** {@code record[0, length)} with the fields of {@code changes} replaced, or added at the end. */
  static byte[] change(byte[] record, int length, Map<String, ByteIterator> changes) {
    Map<String, ByteIterator> left = new HashMap<>(changes);
    Output out = new Output(length + 128);
    Input in = new Input(record, 0, length);
    while (in.next()) {
      ByteIterator change = left.remove(in.name);
      if (change == null) {
        out.copy(record, in.start, in.at - in.start);
      } else {
        out.field(in.name, change.toArray());
      }
    }
    left.forEach((name, value) -> out.field(name, value.toArray()));
    return out.toArray();
  }

  /**
   * Puts the fields of {@code record[0, length)} that {@code wanted} names, or all if it is null,
   * into {@code out}, as views of the array.
   */
  static void decode(
      byte[] record, int length, @Nullable Set<String> wanted, Map<String, ByteIterator> out) {
    Input in = new Input(record, 0, length);
    while (in.next()) {
      if (wanted == null || wanted.contains(in.name)) {
        out.put(in.name, new ByteArrayByteIterator(record, in.valueAt, in.valueLength));
      }
    }
  }

  /** Walks the fields of a record. */
  private static final class Input {
    private final byte[] record;
    private final int end;
    private int at;
    private int start;
    private String name = "";
    private int valueAt;
    private int valueLength;

    Input(byte[] record, int from, int end) {
      this.record = record;
      this.at = from;
      this.end = end;
    }

    boolean next() {
      if (at == end) {
        return false;
      }
      start = at;
      int tag = record[at++] & 0xff;
      if (tag < NAMED) {
        name = NUMBERED[tag];
      } else {
        int nameLength = length();
        name = new String(record, at, nameLength, StandardCharsets.UTF_8);
        at += nameLength;
      }
      valueLength = length();
      valueAt = at;
      at += valueLength;
      if (at > end) {
        throw new IllegalStateException("a record of " + end + " bytes ends within a field");
      }
      return true;
    }

    private int length() {
      int length = 0;
      for (int shift = 0; ; shift += 7) {
        byte b = record[at++];
        length |= (b & 0x7f) << shift;
        if (b >= 0) {
          return length;
        }
      }
    }
  }

  /** Grows a record. */
  private static final class Output {
    private byte[] bytes;
    private int length;

    Output(int capacity) {
      bytes = new byte[capacity];
    }

    void field(String name, byte[] value) {
      Integer number = NUMBERS.get(name);
      if (number != null) {
        one(number);
      } else {
        byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
        one(NAMED);
        length(utf8.length);
        copy(utf8, 0, utf8.length);
      }
      length(value.length);
      copy(value, 0, value.length);
    }

    private void length(int value) {
      int rest = value;
      while (rest > 0x7f) {
        one(rest & 0x7f | 0x80);
        rest >>>= 7;
      }
      one(rest);
    }

    private void one(int value) {
      room(1);
      bytes[length++] = (byte) value;
    }

    void copy(byte[] from, int at, int count) {
      room(count);
      System.arraycopy(from, at, bytes, length, count);
      length += count;
    }

    private void room(int count) {
      if (bytes.length - length < count) {
        bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + count));
      }
    }

    byte[] toArray() {
      return length == bytes.length ? bytes : Arrays.copyOf(bytes, length);
    }
  }
}
