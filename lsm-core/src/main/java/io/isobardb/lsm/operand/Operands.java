package io.isobardb.lsm.operand;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.expiry.Expiry;
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
 * If 16 is added to the first byte, eight bytes follow it: when the oldest of the operands was
 * written. What had expired by then is not what they are merged with. Writes leave room for it, and
 * know the time only once they have their place in the order of writes: see {@link #stamp}.
 *
 * <p>A batch or transaction may merge with a value of its own that expires. The form then is 4, and
 * eight bytes that say when come behind the lowest LSN. The value counts if it had not expired when
 * the operands were written.
 *
 * <p>Several stand for all versions of their key from the lowest LSN up to that of their entry.
 * Where they were written by one batch, the lowest LSN is {@link Lsn#MAX}, which stands for the
 * entry's.
 *
 * @param form {@link #ON_OLDER}, {@link #ON_NOTHING} or {@link #ON_BASE}
 * @param lowestLsn of the versions it stands for
 * @param written when the oldest operand was written, or {@link #UNTIMED}
 * @param baseExpiry when the value below them expires; {@link Expiry#NEVER} if there is none
 * @param parts the operands; with {@link #ON_BASE} the value below them first
 */
public record Operands(
    int form, long lowestLsn, long written, long baseExpiry, List<byte[]> parts) {
  /** When it was written is not known yet, or does not matter: nothing had expired before. */
  public static final long UNTIMED = Long.MIN_VALUE;

  /** To be merged with what older versions give. */
  static final int ON_OLDER = 1;

  /** To be merged with nothing: older versions do not count. */
  static final int ON_NOTHING = 2;

  /** To be merged with the first part: older versions do not count. */
  static final int ON_BASE = 3;

  /** As {@link #ON_BASE}, where that part expires. Only as stored. */
  private static final int ON_EXPIRING_BASE = 4;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private static final int ONE = 0;

  /** Added to the form if it is followed by when the oldest operand was written. */
  private static final int TIMED = 16;

  /** Bytes of the form and the time. */
  private static final int STAMPED_BYTES = 1 + Long.BYTES;

  /** The value of an entry of one operand, which is going to be {@linkplain #stamp stamped}. */
  public static byte[] of(byte[] operand) {
    return of(operand, UNTIMED, STAMPED_BYTES);
  }

  private static byte[] of(byte[] operand, long written, int header) {
    byte[] value = new byte[header + operand.length];
    putHeader(value, ONE, written, header);
    System.arraycopy(operand, 0, value, header, operand.length);
    return value;
  }

  private static void putHeader(byte[] value, int form, long written, int header) {
    value[0] = (byte) (header == STAMPED_BYTES ? form | TIMED : form);
    if (header == STAMPED_BYTES) {
      LONG.set(value, 1, written);
    }
  }

  /**
   * Notes when the operands are written, in a value that has room for it.
   *
   * @param value has the value from {@code offset} on
   * @return the bytes of the value that say so, from its first on; 0 if it has no room
   */
  public static int stamp(byte[] value, int offset, long written) {
    if ((value[offset] & TIMED) == 0) {
      return 0;
    }
    LONG.set(value, offset + 1, written);
    return STAMPED_BYTES;
  }

  /** What a transaction merges, to be read at a time with what lies below. */
  public static byte[] readAt(byte[] value, long time) {
    byte[] copy = value;
    if ((value[0] & ~TIMED) <= ON_OLDER) {
      copy = value.clone();
      stamp(copy, 0, time);
    }
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
    int header = timed ? STAMPED_BYTES : 1;
    int before = header;
    if (form != ONE) {
      before += form == ON_EXPIRING_BASE ? 2 * Long.BYTES : Long.BYTES;
    }
    if (form > ON_EXPIRING_BASE || form < 0 || value.length < before) {
      throw new IllegalArgumentException("operands of form " + value[0]);
    }
    long written = timed ? (long) LONG.get(value, 1) : UNTIMED;
    if (form == ONE) {
      byte[] operand = Arrays.copyOfRange(value, header, value.length);
      return new Operands(ON_OLDER, Lsn.MAX, written, Expiry.NEVER, List.of(operand));
    }
    long lowestLsn = (long) LONG.get(value, header);
    long baseExpiry = Expiry.NEVER;
    if (form == ON_EXPIRING_BASE) {
      form = ON_BASE;
      baseExpiry = (long) LONG.get(value, header + Long.BYTES);
    }
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
    return new Operands(form, lowestLsn, written, baseExpiry, parts);
  }

  /** Whether the value below them had not expired when they were written. */
  boolean hasBase() {
    return form == ON_BASE && !Expiry.isOver(baseExpiry, written);
  }

  /** The value of an entry of these. */
  public byte[] toValue() {
    return toValue(written == UNTIMED ? 1 : STAMPED_BYTES);
  }

  private byte[] toValue(int header) {
    if (form == ON_OLDER && parts.size() == 1 && lowestLsn == Lsn.MAX) {
      return of(parts.get(0), written, header);
    }
    int before = header + Long.BYTES + Expiry.bytes(baseExpiry);
    long length = before;
    for (byte[] part : parts) {
      length += Integer.BYTES + part.length;
    }
    if (length > Integer.MAX_VALUE - 64) {
      throw new IllegalArgumentException("the operands of a key take " + length + " bytes");
    }
    byte[] value = new byte[(int) length];
    putHeader(value, baseExpiry == Expiry.NEVER ? form : ON_EXPIRING_BASE, written, header);
    LONG.set(value, header, lowestLsn);
    if (baseExpiry != Expiry.NEVER) {
      LONG.set(value, header + Long.BYTES, baseExpiry);
    }
    int at = before;
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
    private long baseExpiry = Expiry.NEVER;

    /**
     * Begins with the first write.
     *
     * @param kind {@link Kind#PUT}, {@link Kind#DELETE} or {@link Kind#MERGE}
     * @param value of a put or of a merge
     * @param expiry of a put
     */
    public Gathered(int kind, byte[] value, long expiry) {
      if (kind == Kind.MERGE) {
        begin(parse(value));
      } else if (Kind.isPut(kind)) {
        form = ON_BASE;
        baseExpiry = expiry;
        parts.add(value);
      }
    }

    private void begin(Operands first) {
      parts.clear();
      parts.addAll(first.parts());
      form = first.form();
      baseExpiry = first.baseExpiry();
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
      } else {
        begin(next);
      }
    }

    /**
     * The value of an entry of kind {@link Kind#MERGE}, which is going to be {@linkplain #stamp
     * stamped}.
     */
    public byte[] toValue() {
      return new Operands(form, Lsn.MAX, UNTIMED, baseExpiry, parts).toValue(STAMPED_BYTES);
    }
  }
}
