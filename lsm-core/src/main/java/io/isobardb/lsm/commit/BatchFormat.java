package io.isobardb.lsm.commit;

import io.isobardb.lsm.component.Write;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.operand.Operands;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.wal.LogHandler;
import io.isobardb.lsm.wal.LogRecord;
import io.isobardb.memory.page.Memory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The payload of a log record: one operation after another, without padding.
 *
 * <pre>
 *   +------+----------------+-------------------+---------------------+-----+-------+
 *   | kind | tree id varint | key length varint | value length varint | key | value |
 *   +------+----------------+-------------------+---------------------+-----+-------+
 *    1 byte                                       not for DELETE              not for DELETE
 * </pre>
 *
 * The value of a MERGE is that of {@link Operands}. A batch for a tree with a merge operator has
 * one operation for each key. A value that expires is followed by eight bytes that say when, which
 * count as bytes of it; the kind then has {@link Kind#EXPIRES}. The value of a DELETE_RANGE is a
 * byte that says which bounds there are, and the end; its key is the first key that goes.
 */
public final class BatchFormat {
  /** The most that comes before a key: its operation's kind, and three numbers. */
  private static final int MAX_HEADER_BYTES = 1 + 3 * 5;

  private static final byte[] NO_KEY = {};

  private BatchFormat() {}

  /** Bytes that an operation takes. */
  public static int operationBytes(int kind, int treeId, int keyLength, int valueLength) {
    int fixed = 1 + LogRecord.varintBytes(treeId) + LogRecord.varintBytes(keyLength) + keyLength;
    return kind == Kind.DELETE ? fixed : fixed + LogRecord.varintBytes(valueLength) + valueLength;
  }

  /** Bytes that an operation takes. */
  static int operationBytes(int treeId, Write write) {
    return operationBytes(write.kind(), treeId, write.keyLength(), write.valueBytes());
  }

  /** Puts an operation into a record. */
  static void encode(LogRecord record, int treeId, Write write) {
    record.putByte(Kind.stored(write.kind(), write.expiry()));
    record.putVarint(treeId);
    record.putVarint(write.keyLength());
    if (write.isDelete()) {
      record.put(write.key(), write.keyOffset(), write.keyLength());
      return;
    }
    record.putVarint(write.valueBytes());
    record.put(write.key(), write.keyOffset(), write.keyLength());
    record.put(write.value(), write.valueOffset(), write.valueLength());
    if (write.expiry() != Expiry.NEVER) {
      for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
        record.putByte((byte) (write.expiry() >>> shift));
      }
    }
  }

  /** Receives the operations of a payload, in order. */
  @FunctionalInterface
  public interface Handler {
    /**
     * An operation.
     *
     * @param write valid during the call
     */
    void operation(int treeId, Write write);
  }

  private record Place(int treeId, ByteBuffer key) {}

  /** What is written to a key, by one operation or several. One thread at a time. */
  private static final class Operation {
    private final int kind;
    private final byte[] value;
    private long expiry;

    /** It and the merges that follow it; null if none does. */
    private Operands.@Nullable Gathered merged;

    Operation(int kind, byte[] value, long expiry) {
      this.kind = kind;
      this.value = value;
      this.expiry = expiry;
    }

    /** What both do, one after the other; this is not used any more. */
    Operation then(Operation next) {
      if (next.kind != Kind.MERGE) {
        return next;
      }
      if (merged == null) {
        merged = new Operands.Gathered(kind, value, expiry);
      }
      merged.add(next.value);
      expiry = next.expiry;
      return this;
    }

    void addTo(Builder batch, Place at) {
      batch.add(
          merged == null ? kind : Kind.MERGE,
          at.treeId(),
          at.key().array(),
          merged == null ? value : merged.toValue(),
          expiry);
    }
  }

  /** Builds a payload on the heap; grows as needed. One thread at a time. */
  public static final class Builder {
    private byte[] bytes = new byte[256];
    private int length;
    private int count;
    private int largest;
    private long rangeBytes;

    /** Whether a range delete came behind other operations. */
    private boolean hides;

    /** Whether a tree has a merge operator. */
    private boolean merges;

    /** Whether there are operands. */
    private boolean operands;

    /** Appends a range delete. */
    public void deleteRange(int treeId, byte @Nullable [] from, byte @Nullable [] to) {
      boolean behind = count > 0;
      byte[] first = from == null ? NO_KEY : from;
      add(Kind.DELETE_RANGE, treeId, first, RangeDelete.value(from, to));
      hides |= behind;
    }

    /**
     * What is to be written for these operations: all of a record have one LSN, so those that a
     * later range delete among them hides can't be told from those behind it, and are left out. Nor
     * can those of one key, of which trees with a merge operator get one.
     *
     * @param orders of keys, by tree
     */
    public Builder resolved(IntFunction<KeyOrder> orders) {
      Builder left = hides ? BatchRanges.resolve(this, orders) : this;
      return merges ? left.withOneOperationEach() : left;
    }

    /** A tree of these operations has a merge operator. */
    public void mergesKeys() {
      merges = true;
    }

    /**
     * Appends an operation.
     *
     * @throws IllegalArgumentException if the payload would be longer than a record's may be
     */
    public void add(int kind, int treeId, byte[] key, byte[] value) {
      add(kind, treeId, key, value, Expiry.NEVER);
    }

    /**
     * As {@link #add(int, int, byte[], byte[])}.
     *
     * @param expiry when the value expires, or {@link Expiry#NEVER}
     */
    public void add(int kind, int treeId, byte[] key, byte[] value, long expiry) {
      int valueLength = value.length + Expiry.bytes(expiry);
      long needed = (long) length + operationBytes(kind, treeId, key.length, valueLength);
      if (needed > LogRecord.MOST_BYTES) {
        throw new IllegalArgumentException("a batch can't be larger than 2 GiB");
      }
      if (needed > bytes.length) {
        bytes =
            Arrays.copyOf(
                bytes, (int) Math.min(Math.max(needed, 2L * bytes.length), LogRecord.MOST_BYTES));
      }
      int begun = length;
      bytes[length++] = (byte) Kind.stored(kind, expiry);
      varint(treeId);
      varint(key.length);
      if (kind != Kind.DELETE) {
        varint(valueLength);
      }
      System.arraycopy(key, 0, bytes, length, key.length);
      length += key.length;
      if (kind != Kind.DELETE) {
        System.arraycopy(value, 0, bytes, length, value.length);
        length += value.length;
      }
      if (expiry != Expiry.NEVER) {
        Expiry.put(bytes, length, expiry);
        length += Expiry.BYTES;
      }
      count++;
      operands |= kind == Kind.MERGE;
      rangeBytes += kind == Kind.DELETE_RANGE ? WriteRoom.ofRange(key.length, value.length) : 0;
      largest = Math.max(largest, length - begun);
    }

    private void varint(int value) {
      int rest = value;
      while ((rest & ~0x7F) != 0) {
        bytes[length++] = (byte) (rest | 0x80);
        rest >>>= 7;
      }
      bytes[length++] = (byte) rest;
    }

    public byte[] bytes() {
      return bytes;
    }

    public int length() {
      return length;
    }

    /** Operations appended. */
    public int count() {
      return count;
    }

    /** Whether there are operands among them, which are to know when they are written. */
    boolean hasOperands() {
      return operands;
    }

    /** About what the range deletes among them take on the heap. */
    long rangeBytes() {
      return rangeBytes;
    }

    /** Bytes of the largest of them. */
    int largestBytes() {
      return largest;
    }

    /**
     * The same with one operation for each key, besides range deletes, as trees with a merge
     * operator need it: entries of a batch have one LSN, which tells neither their order nor which
     * of them SSTables have. Nothing comes before a range delete that hides it any more.
     */
    private Builder withOneOperationEach() {
      Map<Place, Operation> last = new LinkedHashMap<>();
      Builder result = new Builder();
      decode(bytes, 0, length, (treeId, write) -> result.add(last, treeId, write));
      last.forEach((at, done) -> done.addTo(result, at));
      return result;
    }

    /** Takes an operation up: at once if it is a range delete, else among the last of each key. */
    private void add(Map<Place, Operation> last, int treeId, Write write) {
      int from = write.keyOffset();
      byte[] key = Arrays.copyOfRange(write.key(), from, from + write.keyLength());
      int at = write.valueOffset();
      byte[] value = Arrays.copyOfRange(write.value(), at, at + write.valueLength());
      if (write.isRange()) {
        add(Kind.DELETE_RANGE, treeId, key, value);
        return;
      }
      Operation added = new Operation(write.kind(), value, write.expiry());
      last.merge(new Place(treeId, ByteBuffer.wrap(key)), added, Operation::then);
    }

    public void clear() {
      length = 0;
      count = 0;
      largest = 0;
      rangeBytes = 0;
      hides = false;
      merges = false;
      operands = false;
    }
  }

  /**
   * Walks over a payload.
   *
   * @throws IllegalArgumentException if it is not one; what was handed over before that was right
   */
  public static void decode(byte[] bytes, int offset, int length, Handler handler) {
    decode(bytes, offset, length, new Write(), handler);
  }

  /** As {@link #decode(byte[], int, int, Handler)}, of a batch, with a write to be reused. */
  public static void decode(Builder batch, Write write, Handler handler) {
    decode(batch.bytes(), 0, batch.length(), write, handler);
  }

  private static void decode(byte[] bytes, int offset, int length, Write write, Handler handler) {
    Decoder decoder = new Decoder(bytes, offset, offset + length, write);
    while (decoder.at < decoder.end) {
      decoder.next(0, handler);
    }
  }

  /** Receives the operations of a log, in order. */
  @FunctionalInterface
  public interface OperationVisitor {
    /**
     * An operation.
     *
     * @param lsn of its record
     * @param write valid during the call
     */
    void operation(long lsn, int treeId, Write write);
  }

  /**
   * Tells the operations of a log's records. Payloads may lie off the heap and come in parts. On
   * the heap it holds a part and one operation at most. One thread at a time.
   */
  public static final class Reader implements LogHandler {
    private final Handler handler;
    private byte[] bytes = new byte[256];
    private final Write write = new Write();

    /** The record that is being read. */
    private long lsn = -1;

    /** Bytes of an operation of that record that has begun and not ended. */
    private int held;

    /** Bytes of all of that operation; 0 while that is not known. */
    private int whole;

    /** A reader that hands operations over as soon as all of them is there. */
    public Reader(OperationVisitor visitor) {
      this.handler = (treeId, write) -> visitor.operation(lsn, treeId, write);
    }

    /**
     * Takes a record, or the next part of one.
     *
     * @throws IllegalArgumentException if it is no payload; what was handed over before was right
     */
    @Override
    public void record(long record, byte kind, Memory payload, int offset, int length, int rest) {
      if (kind != LogHandler.BATCH) {
        return;
      }
      if (record != lsn) {
        lsn = record;
        held = 0;
        whole = 0;
      }
      int end = held + length;
      if (end > bytes.length) {
        // A large operation comes in many parts: room for all of it is made once.
        long room = Math.min((long) whole + length, Integer.MAX_VALUE - 64);
        room = Math.max(room, Math.min(2L * bytes.length, 1 << 20));
        bytes = Arrays.copyOf(bytes, (int) Math.max(end, room));
      }
      payload.get(offset, bytes, held, length);
      if (end < whole) {
        held = end;
        return;
      }
      Decoder decoder = new Decoder(bytes, 0, end, write);
      held = 0;
      whole = 0;
      while (decoder.at < end) {
        int begun = decoder.at;
        if (!decoder.next(rest, handler)) {
          held = end - begun;
          whole = decoder.whole;
          System.arraycopy(bytes, begun, bytes, 0, held);
          return;
        }
      }
    }
  }

  private static final class Decoder {
    private final byte[] bytes;
    private final int end;
    private final Write write;
    private int at;

    /** Bytes of the operation that ends among those to come; 0 if that is not known. */
    private int whole;

    Decoder(byte[] bytes, int start, int end, Write write) {
      this.bytes = bytes;
      this.at = start;
      this.end = end;
      this.write = write;
    }

    /**
     * Hands an operation over.
     *
     * @param rest bytes that follow those at hand
     * @return false if it ends among those
     */
    boolean next(int rest, Handler handler) {
      if (end - at < MAX_HEADER_BYTES && rest > 0) {
        return false;
      }
      int begun = at;
      int kind = bytes[at++];
      if (!isOperation(kind)) {
        throw new IllegalArgumentException(Kind.unknown(kind));
      }
      int treeId = varint();
      int keyLength = varint();
      int valueLength = kind == Kind.DELETE ? 0 : varint();
      long length = (long) keyLength + valueLength;
      if (treeId <= 0 || keyLength < 0 || valueLength < 0 || length > (long) end - at + rest) {
        throw new IllegalArgumentException("an operation reaches beyond its record");
      }
      if (length > end - at) {
        whole = (int) Math.min(at - begun + length, Integer.MAX_VALUE);
        return false;
      }
      int keyOffset = at;
      at += keyLength + valueLength;
      int valueOffset = keyOffset + keyLength;
      write.of(Kind.plain(kind), bytes, keyOffset, keyLength);
      if (Kind.expires(kind)) {
        valueLength -= Expiry.BYTES;
        if (valueLength < 0) {
          throw new IllegalArgumentException("a value that expires, without when");
        }
        write.expiring(Expiry.get(bytes, valueOffset + valueLength));
      }
      write.value(bytes, valueOffset, valueLength);
      handler.operation(treeId, write);
      return true;
    }

    private static boolean isOperation(int kind) {
      return switch (Kind.plain(kind)) {
        case Kind.PUT, Kind.MERGE -> true;
        case Kind.DELETE, Kind.DELETE_RANGE -> !Kind.expires(kind);
        default -> false;
      };
    }

    private int varint() {
      int value = 0;
      for (int shift = 0; shift < 35; shift += 7) {
        if (at >= end) {
          throw new IllegalArgumentException("a number reaches beyond its record");
        }
        int b = bytes[at++];
        value |= (b & 0x7F) << shift;
        if (b >= 0) {
          return value;
        }
      }
      throw new IllegalArgumentException("a number has more than five bytes");
    }
  }
}
