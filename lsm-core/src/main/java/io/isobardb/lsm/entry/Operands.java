package io.isobardb.lsm.entry;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * The value of an entry of kind {@link Kind#MERGE}: one operand, or several that were put together,
 * from the oldest to the newest, perhaps with what lay below them. Little-endian.
 *
 * <pre>
 *   one operand         several
 *   +---+---------+     +------+--------------+--------------------------+-----+
 *   | 0 | operand |     | form | lowest LSN   | length | operand         | ... |
 *   +---+---------+     +------+--------------+--------------------------+-----+
 *                        1 byte  8 bytes        4 bytes
 * </pre>
 *
 * Several stand for all versions of their key from the lowest LSN up to that of their entry. Where
 * they were written by one batch, the lowest LSN is {@link Lsn#MAX}, which stands for the entry's.
 *
 * @param form {@link #ON_OLDER}, {@link #ON_NOTHING} or {@link #ON_BASE}
 * @param lowestLsn of the versions it stands for
 * @param parts the operands; with {@link #ON_BASE} the value below them first
 */
public record Operands(int form, long lowestLsn, List<byte[]> parts) {
  /** To be merged with what older versions give. */
  static final int ON_OLDER = 1;

  /** To be merged with nothing: older versions do not count. */
  static final int ON_NOTHING = 2;

  /** To be merged with the first part: older versions do not count. */
  static final int ON_BASE = 3;

  private static final int ONE = 0;
  private static final int HEADER_BYTES = 1 + Long.BYTES;

  /** The value of an entry of one operand. */
  public static byte[] of(byte[] operand) {
    byte[] value = new byte[1 + operand.length];
    System.arraycopy(operand, 0, value, 1, operand.length);
    return value;
  }

  /**
   * Takes a value apart.
   *
   * @throws IllegalArgumentException if it is none of operands
   */
  public static Operands parse(byte[] value) {
    if (value.length == 0) {
      throw new IllegalArgumentException("an operand without a form");
    }
    if (value[0] == ONE) {
      return new Operands(ON_OLDER, Lsn.MAX, List.of(rest(value)));
    }
    ByteBuffer in = littleEndian(ByteBuffer.wrap(value));
    int form = in.get();
    if (form > ON_BASE || form < 0 || value.length < HEADER_BYTES) {
      throw new IllegalArgumentException("operands of form " + form);
    }
    long lowestLsn = in.getLong();
    List<byte[]> parts = new ArrayList<>();
    while (in.hasRemaining()) {
      int length = in.remaining() < Integer.BYTES ? -1 : in.getInt();
      if (length < 0 || length > in.remaining()) {
        throw new IllegalArgumentException("an operand reaches beyond its entry");
      }
      byte[] part = new byte[length];
      in.get(part);
      parts.add(part);
    }
    return new Operands(form, lowestLsn, parts);
  }

  private static byte[] rest(byte[] value) {
    byte[] operand = new byte[value.length - 1];
    System.arraycopy(value, 1, operand, 0, operand.length);
    return operand;
  }

  private static ByteBuffer littleEndian(ByteBuffer buffer) {
    return buffer.order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The value of an entry of these. */
  public byte[] toValue() {
    if (form == ON_OLDER && parts.size() == 1 && lowestLsn == Lsn.MAX) {
      return of(parts.get(0));
    }
    long length = HEADER_BYTES;
    for (byte[] part : parts) {
      length += Integer.BYTES + part.length;
    }
    if (length > Integer.MAX_VALUE - 64) {
      throw new IllegalArgumentException("the operands of a key take " + length + " bytes");
    }
    ByteBuffer out = littleEndian(ByteBuffer.allocate((int) length));
    out.put((byte) form).putLong(lowestLsn);
    for (byte[] part : parts) {
      out.putInt(part.length).put(part);
    }
    return out.array();
  }

  /**
   * What a batch or transaction is to write to a key to which it wrote before, and to which it now
   * merges an operand.
   *
   * @param kind of what it wrote before
   * @param value of what it wrote before
   * @param next the value of an entry of kind {@link Kind#MERGE}
   * @return the value of an entry of kind {@link Kind#MERGE}
   */
  public static byte[] append(int kind, byte[] value, byte[] next) {
    Operands newer = parse(next);
    if (newer.form() != ON_OLDER) {
      return next;
    }
    List<byte[]> parts = new ArrayList<>();
    int form = ON_NOTHING;
    if (kind == Kind.MERGE) {
      Operands before = parse(value);
      form = before.form();
      parts.addAll(before.parts());
    } else if (kind == Kind.PUT) {
      form = ON_BASE;
      parts.add(value);
    }
    parts.addAll(newer.parts());
    return new Operands(form, Lsn.MAX, parts).toValue();
  }
}
