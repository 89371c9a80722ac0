package io.isobardb.lsm.operand;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.MergeException;
import io.isobardb.lsm.error.UserCode;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.option.MergeOperator;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The versions of one key that make up its value: operands, and what lies below them. Takes them
 * from the newest to the oldest, until one needs nothing older.
 *
 * <p>Made for reuse. Thread rule: one thread at a time.
 */
public final class OperandChain {
  /** The longest value that an operator may give, in bytes. */
  private static final int MAX_VALUE_BYTES = 1 << 30;

  /** From the newest to the oldest. */
  private final List<byte[]> operands = new ArrayList<>();

  private byte @Nullable [] base;
  private boolean complete;
  private long newestLsn = -1;
  private long lowestLsn = Lsn.MAX;
  private boolean empty = true;

  /** When the newest version expires. */
  private long expiry = Expiry.NEVER;

  /** When the oldest operand was written; what had expired by then does not count. */
  private long written = Operands.UNTIMED;

  /** Of the version taken last, and how many operands there were before it. */
  private long lastLsn;

  private int lastSize;

  /** Forgets all versions. */
  public void clear() {
    operands.clear();
    base = null;
    complete = false;
    newestLsn = -1;
    lowestLsn = Lsn.MAX;
    empty = true;
    expiry = Expiry.NEVER;
    written = Operands.UNTIMED;
  }

  /** When the value expires: with the newest version. */
  public long expiry() {
    return expiry;
  }

  /** Whether no version was taken. */
  public boolean isEmpty() {
    return empty;
  }

  /** Whether nothing older counts. */
  public boolean isComplete() {
    return complete;
  }

  /** Operands taken. */
  public int size() {
    return operands.size();
  }

  /** The LSN of the newest version, -1 if there is none. */
  public long newestLsn() {
    return newestLsn;
  }

  /** Takes the version that a cursor stands on, which is older than those before. */
  public boolean add(LeafCursor entry) {
    return add(entry, entry.lsn());
  }

  /** As {@link #add(LeafCursor)}, as if the version had another LSN. */
  public boolean add(LeafCursor entry, long lsn) {
    int kind = Kind.inline(entry.kind());
    return add(kind, lsn, Kind.isDelete(kind) ? null : value(entry), entry.expiry());
  }

  /** The value of the entry that a cursor stands on. */
  public static byte[] value(LeafCursor entry) {
    byte[] value = new byte[entry.valueLength()];
    entry.copyValue(0, value, 0, value.length);
    return value;
  }

  /**
   * Takes the next older version. One that was taken already, in a component that lies above or as
   * a part of several operands, is passed over.
   *
   * @param kind {@link Kind#PUT}, {@link Kind#DELETE} or {@link Kind#MERGE}
   * @param value null for a delete
   * @param expires when it does, or {@link Expiry#NEVER}
   * @return whether nothing older counts
   */
  public boolean add(int kind, long lsn, byte @Nullable [] value, long expires) {
    if (complete) {
      return true;
    }
    Operands taken = kind != Kind.MERGE || value == null ? null : Operands.parse(value);
    long lowest = taken == null ? -1 : Math.min(lsn, taken.lowestLsn());
    if (!empty && lsn == lastLsn && lowest < lowestLsn) {
      // The version taken last, folded with older ones.
      operands.subList(lastSize, operands.size()).clear();
    } else if (!empty && lsn >= lowestLsn) {
      return false;
    } else if (!empty && Expiry.isOver(expires, written)) {
      end();
      return true;
    }
    newestLsn = empty ? lsn : newestLsn;
    expiry = empty ? expires : expiry;
    written = taken == null ? Operands.UNTIMED : taken.written();
    empty = false;
    lastLsn = lsn;
    lastSize = operands.size();
    lowestLsn = Math.max(lowest, 0);
    if (taken == null) {
      lowestLsn = lsn;
      base = value;
      complete = true;
      return true;
    }
    int first = taken.form() == Operands.ON_BASE ? 1 : 0;
    for (int i = taken.parts().size() - 1; i >= first; i--) {
      operands.add(taken.parts().get(i));
    }
    if (taken.hasBase()) {
      base = taken.parts().get(0);
    }
    complete = taken.form() != Operands.ON_OLDER;
    return complete;
  }

  /** Nothing older counts: it is deleted. */
  public void end() {
    endAbove(lastLsn);
  }

  /** As {@link #end}, if a range delete with this LSN is what deletes it. */
  public void endAbove(long lsn) {
    if (!complete && !empty) {
      lowestLsn = Math.min(lowestLsn, lsn);
      complete = true;
    }
  }

  /**
   * The value: what is below, null if that is not known or nothing, merged with all operands.
   *
   * @return null if there is no such key
   * @throws MergeException if the operator throws, or gives too long a value
   */
  public byte @Nullable [] fold(MergeOperator operator, String tree, byte[] key) {
    byte[] value = base;
    for (int to = operands.size(); to > 0; to -= MergeOperator.MAX_OPERANDS) {
      List<byte[]> oldest =
          new ArrayList<>(operands.subList(Math.max(0, to - MergeOperator.MAX_OPERANDS), to));
      Collections.reverse(oldest);
      try {
        byte[] merged = operator.merge(key, value, oldest);
        // The operator may use its array again.
        value = merged == null || merged.length > MAX_VALUE_BYTES ? merged : merged.clone();
      } catch (Throwable e) {
        String what = "failed (" + UserCode.shown(UserCode.failure(e)) + ")";
        throw new MergeException(tree, key, operator.name(), what, e);
      }
      if (value != null && value.length > MAX_VALUE_BYTES) {
        String what = "gave a value of " + value.length + " bytes, more than 1 GiB,";
        throw new MergeException(tree, key, operator.name(), what, null);
      }
    }
    return value;
  }

  /**
   * All operands as the value of one entry, of kind {@link Kind#MERGE}.
   *
   * @param operator makes them fewer if it combines them; null if it is not known
   */
  public byte[] toValue(@Nullable MergeOperator operator) {
    List<byte[]> parts = new ArrayList<>();
    byte[] below = complete ? base : null;
    int form = Operands.ON_OLDER;
    if (complete) {
      form = below == null ? Operands.ON_NOTHING : Operands.ON_BASE;
    }
    for (int i = operands.size() - 1; i >= 0; i--) {
      byte[] next = operands.get(i);
      byte[] combined =
          operator == null || parts.isEmpty()
              ? null
              : combine(operator, parts.get(parts.size() - 1), next);
      if (combined == null) {
        parts.add(next);
      } else {
        parts.set(parts.size() - 1, combined);
      }
    }
    if (below != null) {
      parts.add(0, below);
    }
    long lowest = lowestLsn == newestLsn ? Lsn.MAX : lowestLsn;
    long time = complete ? Operands.UNTIMED : written;
    return new Operands(form, lowest, time, Expiry.NEVER, parts).toValue();
  }

  private static byte @Nullable [] combine(MergeOperator operator, byte[] older, byte[] newer) {
    try {
      byte[] combined = operator.combine(older, newer);
      return combined == null ? null : combined.clone();
    } catch (Throwable e) {
      // They stay two, and a reader is told.
      UserCode.failure(e);
      return null;
    }
  }
}
