package io.isobardb.lsm.entry;

import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.memory.page.Memory;

/**
 * The kinds of entries, as stored; never renumber them. Zero is no kind, so that zeroed bytes never
 * parse.
 */
public final class Kind {
  /** A key with its value, stored in the page. */
  public static final int PUT = 1;

  /** A delete marker. */
  public static final int DELETE = 2;

  /** A key whose value lies in overflow pages; the page holds {@code OverflowRef}. */
  public static final int PUT_OVERFLOW = 3;

  /** A separator of an index page; its value is the child's page number. */
  public static final int CHILD = 4;

  /**
   * A delete of a range of keys, in the log; its key is the first one, its value says the rest (see
   * {@code RangeDelete}). It is no entry: pages never hold it.
   */
  public static final int DELETE_RANGE = 5;

  /** An operand of the tree's merge operator, or several; see {@code Operands}. */
  public static final int MERGE = 7;

  /** As {@link #MERGE}, in overflow pages. */
  public static final int MERGE_OVERFLOW = 8;

  /**
   * Added to the kind of an entry with a value: it expires. What is stored of its value is followed
   * by eight bytes that say when; see {@link Expiry}.
   */
  public static final int EXPIRES = 16;

  private Kind() {}

  /** What to say of a kind that is none of these: where it stands is told by who says it. */
  public static String unknown(int kind) {
    return "an entry of kind " + kind + ", which this release does not know";
  }

  /** Whether the kind is one that a data page may hold. */
  public static boolean isData(int kind) {
    int plain = plain(kind);
    return plain >= PUT && plain <= PUT_OVERFLOW && kind != (DELETE | EXPIRES) || isOperand(kind);
  }

  /** Whether the entry expires. */
  public static boolean expires(int kind) {
    return (kind & EXPIRES) != 0;
  }

  /**
   * Bytes of an entry's value.
   *
   * @param storedLength what is stored of the value, and of when it expires
   * @return negative if that is too little, as it may be in what is torn or damaged
   */
  public static int valueLength(int kind, int storedLength) {
    return expires(kind) ? storedLength - Expiry.BYTES : storedLength;
  }

  /**
   * When an entry expires, or {@link Expiry#NEVER}.
   *
   * @param end behind what is stored of its value
   */
  public static long expiry(int kind, Memory memory, int end) {
    return expires(kind) ? memory.getLong(end - Expiry.BYTES) : Expiry.NEVER;
  }

  /** The kind without {@link #EXPIRES}. */
  public static int plain(int kind) {
    return kind & ~EXPIRES;
  }

  /** Whether the entry's value is to be merged with what lies below it. */
  public static boolean isOperand(int kind) {
    int plain = plain(kind);
    return plain == MERGE || plain == MERGE_OVERFLOW;
  }

  /** Whether the key's value is what the entry stores. */
  public static boolean isPut(int kind) {
    return plain(kind) == PUT;
  }

  /** Whether the entry says that there is no such key, to whoever reads. It has no value. */
  public static boolean isDelete(int kind) {
    return kind == DELETE;
  }

  /** Whether the value lies in overflow pages. */
  public static boolean isOverflow(int kind) {
    int plain = plain(kind);
    return plain == PUT_OVERFLOW || plain == MERGE_OVERFLOW;
  }

  /** The kind to store of an entry that expires, or does not, with {@link Expiry#NEVER}. */
  public static int stored(int plain, long expiry) {
    return expiry == Expiry.NEVER ? plain : plain | EXPIRES;
  }

  /** The kind of an entry whose value moves to overflow pages; whether it expires stays. */
  public static int overflow(int kind) {
    return (isOperand(kind) ? MERGE_OVERFLOW : PUT_OVERFLOW) | kind & EXPIRES;
  }

  /** The kind of an entry whose value is at hand, wherever it is stored. */
  public static int inline(int kind) {
    return switch (kind) {
      case PUT_OVERFLOW -> PUT;
      case MERGE_OVERFLOW -> MERGE;
      default -> kind;
    };
  }
}
