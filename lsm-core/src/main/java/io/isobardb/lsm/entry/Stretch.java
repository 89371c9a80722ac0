package io.isobardb.lsm.entry;

import io.isobardb.lsm.option.KeyOrder;
import org.jspecify.annotations.Nullable;

/**
 * How far a reader may go on in the leaves where its sources stand without asking what else there
 * is: a moment, and the first key at which something else comes in, be it an entry that is no plain
 * value, the end of a source, a bound, or the end of what range deletes say.
 *
 * <p>What a leaf comes to within a stretch ({@link LeafCursor#nextWithin}) needs no further look:
 * it is a value that the moment sees, and the newest version of its key in that leaf.
 *
 * <p>Made for reuse. Thread rule: one thread at a time.
 */
public final class Stretch {
  private static final byte[] NOTHING = {};

  private final KeyOrder order;
  private final boolean bytes;
  private final long lsn;
  private final Probe probe = new Probe(0);

  private byte[] end = NOTHING;
  private int endLength;
  private long endHead = -1;
  private boolean bounded;

  /** Grows with each {@link #begin}. */
  private int number;

  /**
   * @param at what is read at
   */
  public Stretch(KeyOrder order, Moment at) {
    this.order = order;
    this.bytes = order.isBytes();
    this.lsn = at.lsn();
    probe.at(lsn, at.clock());
  }

  /** Begins a stretch without an end. */
  public void begin() {
    number++;
    bounded = false;
    endHead = -1;
    probe.above(0);
  }

  /** Ends it before a key, if it does not end earlier. The array must not change meanwhile. */
  public void endBefore(byte[] key, int length, long head) {
    if (!bounded || isBeforeEnd(key, length, head)) {
      bounded = true;
      end = key;
      endLength = length;
      endHead = head;
    }
  }

  private boolean isBeforeEnd(byte[] key, int length, long head) {
    return bytes && head != endHead
        ? Long.compareUnsigned(head, endHead) < 0
        : order.compare(key, 0, length, end, 0, endLength) < 0;
  }

  /** Leaves versions with lower LSNs out: a range delete hides them. */
  public void above(long coveringLsn) {
    probe.above(coveringLsn);
  }

  /** Whether leaves can tell where it ends: they know no order but that of bytes. */
  public boolean isKnown() {
    return bytes || !bounded;
  }

  /** Whether the moment sees an LSN. */
  public boolean sees(long entryLsn) {
    return entryLsn <= lsn;
  }

  /**
   * Whether a value with this LSN is seen, not hidden, and lies before the end, as far as its key's
   * head tells.
   */
  public boolean has(long head, long entryLsn) {
    return entryLsn <= lsn
        && entryLsn >= probe.floor()
        && (Long.compareUnsigned(head, endHead) < 0 || !bounded);
  }

  /**
   * Whether an entry that the moment sees is a value that lies in its page.
   *
   * @param kind as it is stored
   */
  public boolean isPlain(int kind, long entryLsn, long expiry) {
    return Kind.isData(kind) && probe.judge(kind, entryLsn, expiry) == Probe.HERE;
  }

  /** Keys with lower heads, unsigned, lie before its end. */
  public long endHead() {
    return endHead;
  }

  /** The key that it ends before; null for none. */
  public byte @Nullable [] end() {
    return bounded ? end : null;
  }

  public int endLength() {
    return endLength;
  }

  /** Tells this stretch from those before. */
  public int number() {
    return number;
  }
}
