package io.isobardb.lsm.entry;

import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.page.Words;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A cursor over one SSTable, active or immutable: it holds the current entry itself. Cursors over
 * several of them hand it out ({@link EntryCursor#leaf}), so that a loop over many entries reads
 * them from fields, whatever stands between.
 *
 * <p>Thread rule: one thread at a time.
 */
public abstract class LeafCursor implements EntryCursor {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0).asReadOnlyBuffer();

  /** Entries from this key on are not wanted; null for no end. Only if the order is of bytes. */
  protected byte @Nullable [] end;

  /** Holds the current key from index 0 on. */
  protected byte[] key = new byte[64];

  private byte @Nullable [] keyViewed;
  private ByteBuffer keyView = NOTHING;
  private @Nullable Memory valueViewed;
  private ByteBuffer valueView = NOTHING;

  private int keyLength;
  private long head;
  private long lsn;
  private int kind;

  /** Takes up the current entry, as it is stored, whose key is in {@link #key} already. */
  protected final void entry(int keyLength, long lsn, int kind) {
    entry(keyLength, Words.head(key, 0, keyLength), lsn, kind);
  }

  /** The same, where the key's head is known. */
  protected final void entry(int keyLength, long head, long lsn, int kind) {
    this.keyLength = keyLength;
    this.head = head;
    this.lsn = lsn;
    this.kind = kind;
  }

  /**
   * Says from which key on entries are not wanted. A seek that would come to one may find none
   * then, which saves a look at it. Other moves are as before.
   *
   * @param key null for no end; keys are in the order of bytes. Must not change.
   */
  public final void endBefore(byte @Nullable [] key) {
    end = key;
  }

  /**
   * Whether a slot of a page has an entry that is not wanted, as far as its head tells.
   *
   * @param head of the slot: the four bytes behind the prefix, sign-flipped
   * @param prefixed begins with the prefix of all keys of the page
   * @param from where that starts
   */
  protected final boolean isPastEnd(int head, int prefix, byte[] prefixed, int from) {
    byte[] bound = end;
    if (bound == null || bound.length < prefix) {
      return false;
    }
    int c = Arrays.compareUnsigned(bound, 0, prefix, prefixed, from, from + prefix);
    return c == 0
        ? head > (Words.head4(bound, prefix, bound.length - prefix) ^ Integer.MIN_VALUE)
        : c < 0;
  }

  /**
   * Says how many entries from here on are going to be read, likely: so many may be fetched at
   * once. Without it the cursor begins with few, and fetches more, the longer it goes on.
   */
  public void expect(int entries) {}

  /**
   * From the newest version of a key that a moment sees: moves on within the page to the next key
   * that has a plain value, if that lies within a stretch of that moment, and all in between are
   * older versions or not seen. Else it stays where it is.
   *
   * @param stretch begun where it stands, or where it stood before it moved by this method alone
   * @return whether it moved
   */
  public boolean nextWithin(Stretch stretch) {
    return false;
  }

  /**
   * Whether {@link #nextWithin} could come to the current entry in a stretch, as far as its version
   * and kind say.
   */
  public boolean isPlain(Stretch stretch) {
    return stretch.sees(lsn) && stretch.isPlain(kind, lsn, expiry());
  }

  /** The current key, read-only and big-endian, until the cursor moves. */
  public final ByteBuffer keyView() {
    if (keyViewed != key) {
      keyViewed = key;
      keyView = ByteBuffer.wrap(key).asReadOnlyBuffer();
    }
    return keyView.limit(keyLength).position(0).order(ByteOrder.BIG_ENDIAN);
  }

  /** As {@link #keyView}: the current value, which is no overflow value. */
  public ByteBuffer valueView() {
    Memory memory = valueMemory();
    if (valueViewed != memory) {
      valueViewed = memory;
      valueView = memory.view(0, memory.size());
    }
    int from = valueOffset();
    return valueView.limit(from + valueLength()).position(from).order(ByteOrder.BIG_ENDIAN);
  }

  /** Empties the views of keys and values: what they showed may go. */
  public void endViews() {
    keyView.limit(0);
    valueView.limit(0);
  }

  /** When the current entry expires, or {@link Expiry#NEVER}. */
  public final long expiry() {
    return Kind.expires(kind) ? storedExpiry() : Expiry.NEVER;
  }

  /** Whether the current entry has expired by then. */
  public final boolean isExpired(long nowMillis) {
    return Kind.expires(kind) && Expiry.isOver(storedExpiry(), nowMillis);
  }

  /** What the current entry says to a probe. */
  public final int answer(Probe probe) {
    return probe.judge(kind, lsn, expiry());
  }

  /** As {@link #answer}, whatever the time: whether it has expired is told by others. */
  public final int answerAtAnyTime(Probe probe) {
    return probe.judge(kind, lsn, Expiry.NEVER);
  }

  /** As {@link #answer}, of an entry that nothing hides and that has not expired. */
  public final int answerAsOwn(Probe probe) {
    return probe.judge(kind, Lsn.MAX, Expiry.NEVER);
  }

  /** When the current entry expires, which it does; see {@link #expiryBefore}. */
  protected abstract long storedExpiry();

  /** When the current entry expires, if what is stored of its value ends here. */
  protected final long expiryBefore(Memory memory, int end) {
    return Kind.expiry(kind, memory, end);
  }

  /** Bytes of the current entry's value, of those that are stored. */
  protected final int valueLength(int storedLength) {
    return Kind.valueLength(kind, storedLength);
  }

  @Override
  public final LeafCursor leaf() {
    return this;
  }

  /** The current key's first eight bytes as an unsigned word; see {@code Words.head}. */
  public final long head() {
    return head;
  }

  @Override
  public final byte[] key() {
    return key;
  }

  @Override
  public final int keyLength() {
    return keyLength;
  }

  @Override
  public final long lsn() {
    return lsn;
  }

  @Override
  public final int kind() {
    return Kind.plain(kind);
  }

  @Override
  public abstract int valueLength();

  /** The region that an inline value lies in; not for {@link Kind#PUT_OVERFLOW}. */
  public abstract Memory valueMemory();

  /** Where in {@link #valueMemory} an inline value starts. */
  public abstract int valueOffset();

  /** Copies a part of the value, inline or overflow. */
  public abstract void copyValue(int from, Memory target, int targetOffset, int length);

  @Override
  public abstract void copyValue(int from, ByteBuffer target, int targetOffset, int length);

  /** Copies a part of the value to {@code target} from the index {@code targetOffset} on. */
  public abstract void copyValue(int from, byte[] target, int targetOffset, int length);

  /** Whether the current entry lies in a page on disk that clients read lately: it is cached. */
  public boolean isHot() {
    return false;
  }
}
