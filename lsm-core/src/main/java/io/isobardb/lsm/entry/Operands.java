package io.isobardb.lsm.entry;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;

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
 * In a tree whose entries expire, 16 is added to the first byte, and eight bytes follow it: when
 * the oldest of the operands was written. What had expired by then is not what they are merged
 * with.
 *
 * <p>Several stand for all versions of their key from the lowest LSN up to that of their entry.
 * Where they were written by one batch, the lowest LSN is {@link Lsn#MAX}, which stands for the
 * entry's.
 *
 * @param form {@link #ON_OLDER}, {@link #ON_NOTHING} or {@link #ON_BASE}
 * @param lowestLsn of the versions it stands for
 * @param written when the oldest operand was written, or {@link #UNTIMED}
 * @param parts the operands; with {@link #ON_BASE} the value below them first
 */
public record Operands(int form, long lowestLsn, long written, List<byte[]> parts) {
  /** When it was written is not known, and does not matter: nothing had expired before. */
  public static final long UNTIMED = Long.MIN_VALUE;

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

  /** Added to the form if it is followed by when the oldest operand was written. */
  private static final int TIMED = 16;

  /** The value of an entry of one operand. */
  public static byte[] of(byte[] operand) {
    return of(operand, UNTIMED);
  }

  /**
   * The value of an entry of one operand.
   *
   * @param written when it is written; {@link #UNTIMED} if nothing in the tree expires
   */
  public static byte[] of(byte[] operand, long written) {
    int header = headerBytes(written);
    byte[] value = new byte[header + operand.length];
    putHeader(value, ONE, written);
    System.arraycopy(operand, 0, value, header, operand.length);
    return value;
  }

  private static int headerBytes(long written) {
    return written == UNTIMED ? 1 : 1 + Long.BYTES;
  }

  private static void putHeader(byte[] value, int form, long written) {
    value[0] = (byte) (written == UNTIMED ? form : form | TIMED);
    if (written != UNTIMED) {
      LONG.set(value, 1, written);
    }
  }

  /** The same value, as written now, if it says when that was. */
  public static byte[] written(byte[] value, LongSupplier now) {
    if (value.length < headerBytes(0) || (value[0] & TIMED) == 0) {
      return value;
    }
    byte[] copy = value.clone();
    LONG.set(copy, 1, now.getAsLong());
    return copy;
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
    boolean timed = (value[0] & TIMED) != 0;
    int form = value[0] & ~TIMED;
    int header = headerBytes(timed ? 0 : UNTIMED);
    int before = form == ONE ? header : header + Long.BYTES;
    if (form > ON_BASE || form < 0 || value.length < before) {
      throw new IllegalArgumentException("operands of form " + value[0]);
    }
    long written = timed ? (long) LONG.get(value, 1) : UNTIMED;
    if (form == ONE) {
      byte[] operand = Arrays.copyOfRange(value, header, value.length);
      return new Operands(ON_OLDER, Lsn.MAX, written, List.of(operand));
    }
    long lowestLsn = (long) LONG.get(value, header);
    List<byte[]> parts = new ArrayList<>();
    for (int at = before; at < value.length; ) {
      int length = value.length - at < Integer.BYTES ? -1 : (int) INT.get(value, at);
      at += Integer.BYTES;
      if (length < 0 || length > value.length - at) {
        throw new IllegalArgumentException("an operand reaches beyond its entry");
      }
      parts.add(Arrays.copyOfRange(value, at, at + length));
      at += length;
    }
    return new Operands(form, lowestLsn, written, parts);
  }

  /** The value of an entry of these. */
  public byte[] toValue() {
    if (form == ON_OLDER && parts.size() == 1 && lowestLsn == Lsn.MAX) {
      return of(parts.get(0), written);
    }
    int header = headerBytes(written);
    long length = header + (long) Long.BYTES;
    for (byte[] part : parts) {
      length += Integer.BYTES + part.length;
    }
    if (length > Integer.MAX_VALUE - 64) {
      throw new IllegalArgumentException("the operands of a key take " + length + " bytes");
    }
    byte[] value = new byte[(int) length];
    putHeader(value, form, written);
    LONG.set(value, header, lowestLsn);
    int at = header + Long.BYTES;
    for (byte[] part : parts) {
      INT.set(value, at, part.length);
      System.arraycopy(part, 0, value, at + Integer.BYTES, part.length);
      at += Integer.BYTES + part.length;
    }
    return value;
  }

  /**
   * What a batch or transaction is to write to a key to which it writes several times, the last of
   * them a merge. One thread at a time.
   */
  public static final class Gathered {
    private final List<byte[]> parts = new ArrayList<>();
    private int form = ON_NOTHING;
    private long written = UNTIMED;

    /**
     * Begins with the first write.
     *
     * @param kind {@link Kind#PUT}, {@link Kind#DELETE} or {@link Kind#MERGE}
     */
    public Gathered(int kind, byte[] value) {
      if (kind == Kind.MERGE) {
        begin(parse(value));
      } else if (kind == Kind.PUT) {
        form = ON_BASE;
        parts.add(value);
      }
    }

    private void begin(Operands first) {
      parts.clear();
      parts.addAll(first.parts());
      form = first.form();
      written = first.written();
    }

    /**
     * Adds a merge.
     *
     * @param value of an entry of kind {@link Kind#MERGE}
     */
    public void add(byte[] value) {
      Operands next = parse(value);
      if (next.form() == ON_OLDER) {
        parts.addAll(next.parts());
        written = Math.max(written, next.written());
      } else {
        begin(next);
      }
    }

    /** The value of an entry of kind {@link Kind#MERGE}. */
    public byte[] toValue() {
      return new Operands(form, Lsn.MAX, written, parts).toValue();
    }
  }
}
