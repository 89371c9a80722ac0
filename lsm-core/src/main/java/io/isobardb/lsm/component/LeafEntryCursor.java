package io.isobardb.lsm.component;

import static io.isobardb.lsm.component.ActiveNodes.ENTRY_KEY;
import static io.isobardb.lsm.component.ActiveNodes.ENTRY_TAG;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.Stretch;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import java.nio.ByteBuffer;

/** A cursor over entries as the leaves of an {@link ActiveTree} hold them. */
abstract class LeafEntryCursor extends LeafCursor {
  /** How many entries are fetched at once, at first and at most. */
  private static final int AHEAD_ENTRIES = 8;

  private static final int MOST_AHEAD_ENTRIES = 64;

  static final int CACHE_LINE = 64;

  /** The entry is the current one. */
  static final int TAKEN = 0;

  /** It is an older version of the current key, or not seen. */
  static final int PASSED = 1;

  /** Others have to look at it. */
  static final int BEYOND = 2;

  final PagePool pool;

  /** Where in {@link #memory} the current entry starts. */
  int entry;

  /** How many entries are fetched next time: more, the longer it goes on. */
  private int ahead = AHEAD_ENTRIES;

  /** How many entries are going to be read, likely. */
  private int expected;

  LeafEntryCursor(PagePool pool) {
    this.pool = pool;
  }

  /** Where the current entry is read, be it a copy. */
  abstract Memory memory();

  /** The leaf that the current entry lies in. */
  abstract int page();

  /** Where in the leaf it starts. */
  abstract int offset();

  @Override
  public final void expect(int entries) {
    expected = entries;
  }

  /** Begins with few entries again. */
  final void beginFetching() {
    ahead = AHEAD_ENTRIES;
    expected = 0;
  }

  /** How many entries are to be fetched now. */
  final int toFetch() {
    int entries = Math.max(ahead, Math.min(expected, MOST_AHEAD_ENTRIES));
    ahead = Math.min(2 * ahead, MOST_AHEAD_ENTRIES);
    expected = Math.max(0, expected - entries);
    return entries;
  }

  /** Has the processor fetch the first lines of an entry: a page holds entries as they came. */
  final int fetch(Memory memory, int at) {
    int last = memory.size() - 1;
    return memory.getByte(at)
        + memory.getByte(Math.min(at + CACHE_LINE, last))
        + memory.getByte(Math.min(at + 2 * CACHE_LINE, last));
  }

  /** Takes up the entry at {@link #entry}. */
  final void load() {
    Memory memory = memory();
    int keyLength = ActiveNodes.keyLength(memory, entry);
    key = key.length >= keyLength ? key : new byte[2 * keyLength];
    memory.getWords(entry + ENTRY_KEY, key, 0, keyLength);
    entry(keyLength, ActiveNodes.lsn(memory, entry), ActiveNodes.kind(memory, entry));
  }

  /**
   * Takes up the entry at {@code next}, one of those that follow the current one, if a stretch has
   * it next.
   *
   * @return {@link #TAKEN}; {@link #PASSED} if it is to be passed over; else {@link #BEYOND}
   */
  final int take(Memory memory, int next, Stretch stretch) {
    long tag = memory.getLong(next + ENTRY_TAG);
    long lsn = tag >>> 8;
    if (!stretch.sees(lsn)) {
      return PASSED;
    }
    int length = ActiveNodes.keyLength(memory, next);
    int from = next + ENTRY_KEY;
    long head = head(memory, from, length);
    if (head == head()
        && length == keyLength()
        && memory.compare(from, length, key, 0, length) == 0) {
      return PASSED;
    }
    int kind = (byte) tag;
    if (kind != Kind.PUT || !stretch.has(head, lsn)) {
      int valueLength = ActiveNodes.valueLength(memory, next);
      long expiry = Kind.expiry(kind, memory, from + length + valueLength);
      byte[] end;
      if (!stretch.isPlain(kind, lsn, expiry)
          || Long.compareUnsigned(head, stretch.endHead()) >= 0
              && (end = stretch.end()) != null
              && (head != stretch.endHead()
                  || memory.compare(from, length, end, 0, stretch.endLength()) >= 0)) {
        return BEYOND;
      }
    }
    key = key.length >= length ? key : new byte[2 * length];
    memory.getWords(from, key, 0, length);
    entry = next;
    entry(length, head, lsn, kind);
    return TAKEN;
  }

  /** Whether an entry, one of those that follow the current one, is a version of its key. */
  final boolean isVersion(Memory memory, int next) {
    int length = ActiveNodes.keyLength(memory, next);
    int from = next + ENTRY_KEY;
    return length == keyLength()
        && head(memory, from, length) == head()
        && memory.compare(from, length, key, 0, length) == 0;
  }

  private static long head(Memory memory, int from, int length) {
    if (length >= 8) {
      return memory.getWord(from);
    }
    long head = 0;
    for (int i = 0; i < length; i++) {
      head |= (memory.getByte(from + i) & 0xFFL) << (56 - 8 * i);
    }
    return head;
  }

  @Override
  public final int valueLength() {
    if (Kind.isOverflow(kind())) {
      return memory().getInt(valueOffset() + 4);
    }
    return valueLength(ActiveNodes.valueLength(memory(), entry));
  }

  @Override
  protected final long storedExpiry() {
    int end = valueOffset() + ActiveNodes.valueLength(memory(), entry);
    return expiryBefore(memory(), end);
  }

  @Override
  public final Memory valueMemory() {
    return memory();
  }

  @Override
  public final int valueOffset() {
    return entry + ENTRY_KEY + keyLength();
  }

  @Override
  public final void copyValue(int from, Memory target, int targetOffset, int length) {
    if (Kind.isOverflow(kind())) {
      int first = memory().getInt(valueOffset());
      OverflowChain.copy(pool, first, from, target, targetOffset, length);
    } else {
      target.copyFrom(targetOffset, memory(), valueOffset() + from, length);
    }
  }

  @Override
  public final void copyValue(int from, ByteBuffer target, int targetOffset, int length) {
    if (Kind.isOverflow(kind())) {
      int first = memory().getInt(valueOffset());
      OverflowChain.copy(pool, first, from, target, targetOffset, length);
    } else {
      memory().get(valueOffset() + from, target, targetOffset, length);
    }
  }

  @Override
  public final void copyValue(int from, byte[] target, int targetOffset, int length) {
    if (Kind.isOverflow(kind())) {
      copyValue(from, ByteBuffer.wrap(target), targetOffset, length);
    } else {
      memory().get(valueOffset() + from, target, targetOffset, length);
    }
  }
}
