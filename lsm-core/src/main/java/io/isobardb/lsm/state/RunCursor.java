package io.isobardb.lsm.state;

import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.page.Words;
import java.util.Arrays;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a run: those of its tables, one after another, each within its range.
 *
 * <p>Opens a table's cursor when it is first reached, and closes it when the next one is.
 */
public final class RunCursor implements EntryCursor {
  private final KeyOrder order;
  private final boolean bytes;
  private final Run run;
  private final Function<Table, EntryCursor> opener;
  private final byte @Nullable [] end;

  private int at = -1;
  private @Nullable EntryCursor cursor;
  private boolean valid;

  /** Whether the current table holds keys beyond its range. */
  private boolean bounded;

  /** The head of where its range ends, if there is such an end. */
  private long highHead;

  /**
   * @param opener gives a fresh cursor over the whole content of a table
   */
  public RunCursor(KeyOrder order, Run run, Function<Table, EntryCursor> opener) {
    this(order, run, opener, null);
  }

  /**
   * As above, for a reader that stops at some key.
   *
   * @param end moves forward may find no entry from this key on; null for no end
   */
  public RunCursor(
      KeyOrder order, Run run, Function<Table, EntryCursor> opener, byte @Nullable [] end) {
    this.end = end;
    this.order = order;
    this.bytes = order.isBytes();
    this.run = run;
    this.opener = opener;
  }

  @Override
  public boolean valid() {
    return valid;
  }

  @Override
  public boolean first() {
    return firstFrom(0);
  }

  @Override
  public boolean last() {
    return lastFrom(run.size() - 1);
  }

  @Override
  public boolean seek(byte[] key, int offset, int length, long lsn) {
    int i = run.firstNotBefore(key, offset, length);
    if (i < run.size()) {
      Range range = run.get(i).range();
      if (range.above(order, key, offset, length)
          && open(i).seek(key, offset, length, lsn)
          && within(range)) {
        return valid = true;
      }
      // The key lies in the gap before the table, or behind the table's last entry.
      if (!range.above(order, key, offset, length)) {
        return firstFrom(i);
      }
    }
    return firstFrom(i + 1);
  }

  @Override
  public void approach(byte[] key, int offset, int length, long lsn) {
    int i = run.firstNotBefore(key, offset, length);
    if (i < run.size()
        && run.get(i).content() instanceof ActiveTree
        && run.get(i).range().above(order, key, offset, length)) {
      open(i).approach(key, offset, length, lsn);
    }
  }

  @Override
  public int fetch() {
    EntryCursor c = cursor;
    return c == null ? 0 : c.fetch();
  }

  @Override
  public boolean seekBefore(byte[] key, int offset, int length) {
    int i = Math.min(run.firstNotBefore(key, offset, length), run.size() - 1);
    if (i < 0) {
      return valid = false;
    }
    Range range = run.get(i).range();
    if (range.above(order, key, offset, length) && range.notBeyond(order, key, offset, length)) {
      EntryCursor c = open(i);
      if (c.seekBefore(key, offset, length) && aboveLow(range)) {
        return valid = true;
      }
      return lastFrom(i - 1);
    }
    return range.above(order, key, offset, length) ? lastFrom(i) : lastFrom(i - 1);
  }

  @Override
  public boolean next() {
    return cursor().next() && (!bounded || isWithin()) ? valid = true : firstFrom(at + 1);
  }

  @Override
  public boolean nextKey() {
    return cursor().nextKey() && (!bounded || isWithin()) ? valid = true : firstFrom(at + 1);
  }

  /** Whether the current table's range has the current entry, which lies above its lower bound. */
  private boolean isWithin() {
    if (bytes) {
      long head = cursor().leaf().head();
      if (head != highHead) {
        return Long.compareUnsigned(head, highHead) < 0;
      }
    }
    return within(run.get(at).range());
  }

  @Override
  public boolean previous() {
    if (cursor().previous() && aboveLow(run.get(at).range())) {
      return valid = true;
    }
    return lastFrom(at - 1);
  }

  @Override
  public boolean passForward(byte @Nullable [] to, long lsn) {
    int last = run.size() - 1;
    int end = to == null ? last : Math.min(run.firstNotBefore(to, 0, to.length), last);
    int i = at;
    while (i <= end && run.get(i).isOlder(lsn)) {
      i++;
    }
    if (i == at || (i > end && to != null && !isBefore(to))) {
      return false;
    }
    if (i > end && to != null) {
      seek(to, 0, to.length, Long.MAX_VALUE);
    } else {
      firstFrom(i);
    }
    return true;
  }

  @Override
  public boolean passBackward(byte @Nullable [] from, long lsn) {
    int end = from == null ? 0 : run.firstNotBefore(from, 0, from.length);
    int i = at;
    while (i >= end && run.get(i).isOlder(lsn)) {
      i--;
    }
    if (i == at || (i < end && from != null && isBefore(from))) {
      return false;
    }
    if (i < end && from != null) {
      seekBefore(from, 0, from.length);
    } else {
      lastFrom(i);
    }
    return true;
  }

  /** Whether the current key lies before another. */
  private boolean isBefore(byte[] other) {
    EntryCursor c = cursor();
    return order.compare(c.key(), 0, c.keyLength(), other, 0, other.length) < 0;
  }

  /** Moves to the first entry of the table at {@code from}, or of one behind it. */
  private boolean firstFrom(int from) {
    for (int i = from; i < run.size() && !endsBefore(i); i++) {
      Range range = run.get(i).range();
      EntryCursor c = open(i);
      byte[] low = range.low();
      // No LSN is below zero: this skips all versions of the bound itself.
      boolean found = low == null ? c.first() : c.seek(low, 0, low.length, -1);
      if (found && within(range)) {
        return valid = true;
      }
    }
    return valid = false;
  }

  /** Whether all of a table lies behind the end, as the range before it tells. */
  private boolean endsBefore(int table) {
    byte[] bound = end;
    if (bound == null || table == 0) {
      return false;
    }
    byte[] before = run.get(table - 1).range().high();
    return before != null && order.compare(before, 0, before.length, bound, 0, bound.length) >= 0;
  }

  private boolean lastFrom(int from) {
    for (int i = from; i >= 0; i--) {
      Range range = run.get(i).range();
      EntryCursor c = open(i);
      byte[] high = range.high();
      boolean found = bounded && high != null ? lastUpTo(c, high) : c.last();
      if (found && aboveLow(range)) {
        return valid = true;
      }
    }
    return valid = false;
  }

  /**
   * Moves a cursor, whose table holds keys beyond it, to the last entry up to a key. Where the
   * reader ends, a seek may find nothing though the table goes on: that must not count as its end.
   */
  private boolean lastUpTo(EntryCursor c, byte[] high) {
    if (bytes) {
      // No key lies between it and this one.
      byte[] behind = Arrays.copyOf(high, high.length + 1);
      return c.seekBefore(behind, 0, behind.length);
    }
    // Such a reader has no end. Stand behind the last version, then step back.
    return c.seek(high, 0, high.length, -1) ? c.previous() : c.last();
  }

  private boolean within(Range range) {
    EntryCursor c = cursor();
    return range.notBeyond(order, c.key(), 0, c.keyLength());
  }

  private boolean aboveLow(Range range) {
    EntryCursor c = cursor();
    return range.above(order, c.key(), 0, c.keyLength());
  }

  private EntryCursor open(int index) {
    if (index != at || cursor == null) {
      close();
      at = index;
      bounded = run.get(index).isBoundedAbove();
      byte[] high = run.get(index).range().high();
      highHead = high == null ? -1 : Words.head(high, 0, high.length);
      cursor = opener.apply(run.get(index));
    }
    return cursor;
  }

  private EntryCursor cursor() {
    EntryCursor c = cursor;
    if (c == null) {
      throw new IllegalStateException("the cursor stands nowhere");
    }
    return c;
  }

  @Override
  public byte @Nullable [] leafEnd() {
    return bounded ? run.get(at).range().high() : null;
  }

  @Override
  public LeafCursor leaf() {
    return cursor().leaf();
  }

  @Override
  public void close() {
    valid = false;
    if (cursor != null) {
      cursor.close();
      cursor = null;
    }
  }
}
