package io.isobardb.lsm.component;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.memory.pool.PagePool;

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

  /** Whether the key has so many operands now that they should be folded. */
  boolean deep;

  /** The first page of the value's chain, or {@link PagePool#NONE}. */
  int overflow = PagePool.NONE;

  /**
   * Begins another write, without a value.
   *
   * @param ofKind {@link Kind#PUT}, {@link Kind#DELETE} or {@link Kind#MERGE}
   */
  public Write of(int ofKind, byte[] bytes, int offset, int length) {
    kind = ofKind;
    key = bytes;
    keyOffset = offset;
    keyLength = length;
    overflow = PagePool.NONE;
    deep = false;
    return value(NOTHING, 0, 0);
  }

  /** Gives it a value. */
  public Write value(byte[] bytes, int offset, int length) {
    value = bytes;
    valueOffset = offset;
    valueLength = length;
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

  /** {@link Kind#PUT}, {@link Kind#DELETE} or {@link Kind#MERGE}. */
  public int kind() {
    return kind;
  }

  public boolean isDelete() {
    return kind == Kind.DELETE;
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

  public long lsn() {
    return lsn;
  }

  /** What an entry in a leaf is to be marked as. */
  int storedKind() {
    return overflow == PagePool.NONE ? kind : Kind.overflow(kind);
  }

  /** Bytes that the leaf holds of the value: all, or where it is. */
  int storedLength() {
    return overflow == PagePool.NONE ? valueLength : ActiveLayout.OVERFLOW_REF_BYTES;
  }

  /** Bytes that the entry takes of a leaf. */
  int entryBytes() {
    return ActiveLayout.entryBytes(keyLength, storedLength());
  }
}
