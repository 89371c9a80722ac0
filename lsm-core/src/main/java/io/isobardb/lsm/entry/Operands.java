package io.isobardb.lsm.entry;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
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

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

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
    int form = value[0];
    if (form > ON_BASE || form < 0 || value.length < HEADER_BYTES) {
      throw new IllegalArgumentException("operands of form " + form);
    }
    long lowestLsn = (long) LONG.get(value, 1);
    List<byte[]> parts = new ArrayList<>();
    for (int at = HEADER_BYTES; at < value.length; ) {
      int length = value.length - at < Integer.BYTES ? -1 : (int) INT.get(value, at);
      at += Integer.BYTES;
      if (length < 0 || length > value.length - at) {
        throw new IllegalArgumentException("an operand reaches beyond its entry");
      }
      parts.add(Arrays.copyOfRange(value, at, at + length));
      at += length;
    }
    return new Operands(form, lowestLsn, parts);
  }

  private static byte[] rest(byte[] value) {
    byte[] operand = new byte[value.length - 1];
    System.arraycopy(value, 1, operand, 0, operand.length);
    return operand;
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
    byte[] value = new byte[(int) length];
    value[0] = (byte) form;
    LONG.set(value, 1, lowestLsn);
    int at = HEADER_BYTES;
    for (byte[] part : parts) {
      INT.set(value, at, part.length);
      System.arraycopy(part, 0, value, at + Integer.BYTES, part.length);
      at += Integer.BYTES + part.length;
    }
    return value;
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
