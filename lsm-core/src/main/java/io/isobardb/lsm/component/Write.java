package io.isobardb.lsm.component;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.memory.pool.PagePool;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One put, delete or merge on its way into a tree: what is to be written, and what it has been
 * given so far, which is an LSN, and the pages of a value that does not fit into a leaf.
 *
 * <p>Made for reuse: {@link #of} begins the next one. Arrays are not copied; {@link #clear} lets go
 * of them.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class Write {
  /** What an entry costs in a page besides its key and value, in bytes, about. */
  public static final int OVERHEAD = 32;

  private static final byte[] NOTHING = new byte[0];

  int kind;
  byte[] key = NOTHING;
  int keyOffset;
  int keyLength;
  byte[] value = NOTHING;
  int valueOffset;
  int valueLength;
  long hash;
  long lsn;

  /** When what is written expires. */
  long expiry = Expiry.NEVER;

  /** Bytes that are stored behind the value, to say so. */
  private int expiryBytes;

  /** Whether the key has so many operands now that they should be folded. */
  boolean deep;

  /** The first page of the value's chain, or {@link PagePool#NONE}. */
  int overflow = PagePool.NONE;

  /**
   * Begins another write, without a value.
   *
   * @param ofKind {@link Kind#PUT}, {@code DELETE}, {@code MERGE} or {@code DELETE_RANGE}
   */
  public Write of(int ofKind, byte[] bytes, int offset, int length) {
    kind = ofKind;
    key = bytes;
    keyOffset = offset;
    keyLength = length;
    overflow = PagePool.NONE;
    deep = false;
    expiry = Expiry.NEVER;
    expiryBytes = 0;
    return value(NOTHING, 0, 0);
  }

  /**
   * Begins a delete of a range: its key is the first one, for its value see {@link RangeDelete}.
   */
  public Write ofRange(byte @Nullable [] from, byte @Nullable [] to) {
    byte[] first = from == null ? NOTHING : from;
    byte[] rest = RangeDelete.value(from, to);
    return of(Kind.DELETE_RANGE, first, 0, first.length).value(rest, 0, rest.length);
  }

  /** Whether it is a delete of a range. */
  public boolean isRange() {
    return kind == Kind.DELETE_RANGE;
  }

  /**
   * The range that it deletes.
   *
   * @throws IllegalArgumentException if its value is none of {@link #ofRange}
   */
  public RangeDelete range() {
    return RangeDelete.of(
        Arrays.copyOfRange(key, keyOffset, keyOffset + keyLength),
        Arrays.copyOfRange(value, valueOffset, valueOffset + valueLength),
        lsn);
  }

  /** Gives it a value. */
  public Write value(byte[] bytes, int offset, int length) {
    value = bytes;
    valueOffset = offset;
    valueLength = length;
    return this;
  }

  /** Has the value expire, or not, with {@link Expiry#NEVER}. */
  public Write expiring(long atMillis) {
    expiry = atMillis;
    expiryBytes = Expiry.bytes(atMillis);
    return this;
  }

  /** Gives it its LSN. */
  public Write at(long at) {
    lsn = at;
    return this;
  }

  /** Works the key's hash out, which the tree needs. */
  public Write hashed() {
    hash = KeyHash.hash(key, keyOffset, keyLength);
    return this;
  }

  /** Gives it the chain of pages that its value was written to; see {@link #takeOverflow}. */
  public Write overflow(int firstPage) {
    overflow = firstPage;
    return this;
  }

  /** Takes the chain of pages away; {@link PagePool#NONE} if it has none. */
  public int takeOverflow() {
    int first = overflow;
    overflow = PagePool.NONE;
    return first;
  }

  /** Lets go of the arrays. */
  public void clear() {
    of(kind, NOTHING, 0, 0);
  }

  /** {@link Kind#PUT}, {@code DELETE}, {@code MERGE} or {@code DELETE_RANGE}. */
  public int kind() {
    return kind;
  }

  public boolean isDelete() {
    return Kind.isDelete(kind);
  }

  /**
   * Whether the key has so many operands in the active SSTable that they should be folded. Known
   * once the write is in.
   */
  public boolean isDeep() {
    return deep;
  }

  /** The array that the key lies in. */
  public byte[] key() {
    return key;
  }

  public int keyOffset() {
    return keyOffset;
  }

  public int keyLength() {
    return keyLength;
  }

  /** The array that the value lies in. */
  public byte[] value() {
    return value;
  }

  public int valueOffset() {
    return valueOffset;
  }

  public int valueLength() {
    return valueLength;
  }

  /** About what it takes of the write memory, in bytes. */
  public long roomBytes() {
    return (long) keyLength + valueLength + OVERHEAD;
  }

  /** Bytes of the value and of when it expires, as a record of the log or a leaf holds them. */
  public int valueBytes() {
    return valueLength + expiryBytes;
  }

  public long lsn() {
    return lsn;
  }

  /** The key's hash, once {@link #hashed} has worked it out. */
  public long hash() {
    return hash;
  }

  /** When the value expires, or {@link Expiry#NEVER}. */
  public long expiry() {
    return expiry;
  }

  /** What an entry in a leaf is to be marked as. */
  int storedKind() {
    return Kind.stored(overflow == PagePool.NONE ? kind : Kind.overflow(kind), expiry);
  }

  /** Bytes that the leaf holds of the value, all or where it is, and of when it expires. */
  int storedLength() {
    return overflow == PagePool.NONE ? valueBytes() : ActiveNodes.OVERFLOW_REF_BYTES + expiryBytes;
  }

  /** Bytes that the entry takes of a leaf. */
  int entryBytes() {
    return ActiveNodes.entryBytes(keyLength, storedLength());
  }
}
