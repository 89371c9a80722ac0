package io.isobardb.lsm.entry;

import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.page.Words;
import java.nio.ByteBuffer;

/**
 * A cursor over one SSTable, active or immutable: it holds the current entry itself. Cursors over
 * several of them hand it out ({@link EntryCursor#leaf}), so that a loop over many entries reads
 * them from fields, whatever stands between.
 *
 * <p>Thread rule: one thread at a time.
 */
public abstract class LeafCursor implements EntryCursor {
  /** Holds the current key from index 0 on. */
  protected byte[] key = new byte[64];

  private int keyLength;
  private long head;
  private long lsn;
  private int kind;

  /** Takes up the current entry, as it is stored, whose key is in {@link #key} already. */
  protected final void entry(int keyLength, long lsn, int kind) {
    this.keyLength = keyLength;
    this.head = Words.head(key, 0, keyLength);
    this.lsn = lsn;
    this.kind = kind;
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

  @Override
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

  @Override
  public abstract Memory valueMemory();

  @Override
  public abstract int valueOffset();

  @Override
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
