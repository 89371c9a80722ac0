package io.isobardb.lsm;

import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.read.TreeCursor;
import io.isobardb.lsm.state.TreeHandle;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A position among the entries of a tree, in key order, as of one moment.
 *
 * <p>It sees the tree as it was when the cursor was opened, or its snapshot was taken, whatever is
 * written since. Fresh cursors stand nowhere; move them first. Close them: an open cursor makes
 * merges keep what it sees.
 *
 * <p>Thread rule: one thread at a time. Closing the store closes it.
 */
public final class Cursor implements AutoCloseable {
  private final Store store;
  private final TreeHandle tree;
  private final TreeCursor cursor;
  private final long lsn;
  private boolean closed;

  Cursor(Store store, TreeHandle tree, TreeCursor cursor, long lsn) {
    this.store = store;
    this.tree = tree;
    this.cursor = cursor;
    this.lsn = lsn;
  }

  boolean isOver(TreeHandle of) {
    return tree == of;
  }

  /** Gives up what it holds of the tree as it was; the position stays. */
  synchronized void letGo() {
    if (!closed) {
      cursor.letGo();
    }
  }

  /** Moves to the first entry. Returns {@link #isValid}. */
  public synchronized boolean first() {
    check();
    return cursor.first();
  }

  /** Moves to the last entry. Returns {@link #isValid}. */
  public synchronized boolean last() {
    check();
    return cursor.last();
  }

  /** Moves to the first entry whose key is not before {@code key}. Returns {@link #isValid}. */
  public synchronized boolean seek(byte[] key) {
    check();
    return cursor.seek(key, 0, key.length);
  }

  /** Moves to the last entry whose key is before {@code key}. Returns {@link #isValid}. */
  public synchronized boolean seekBefore(byte[] key) {
    check();
    return cursor.seekBefore(key, 0, key.length);
  }

  /**
   * Moves to the next entry. Returns {@link #isValid}.
   *
   * @throws IllegalStateException if the cursor stands on none
   */
  public synchronized boolean next() {
    check();
    return cursor.next();
  }

  /**
   * Moves to the entry before. Returns {@link #isValid}.
   *
   * @throws IllegalStateException if the cursor stands on none
   */
  public synchronized boolean previous() {
    check();
    return cursor.previous();
  }

  /** Whether the cursor stands on an entry. */
  public synchronized boolean isValid() {
    check();
    return cursor.valid();
  }

  /** A copy of the current key. */
  public synchronized byte[] key() {
    check();
    return Arrays.copyOf(cursor.key(), cursor.keyLength());
  }

  /** Length of the current key in bytes. */
  public synchronized int keyLength() {
    check();
    return cursor.keyLength();
  }

  /**
   * Puts the current key into {@code target}, if it fits what remains there; its position then
   * advances.
   *
   * @return the key's length; nothing was copied if that is larger than what remains
   */
  public synchronized int key(ByteBuffer target) {
    check();
    int length = cursor.keyLength();
    if (length <= target.remaining()) {
      target.put(cursor.key(), 0, length);
    }
    return length;
  }

  /** A copy of the current value. */
  public synchronized byte[] value() {
    check();
    byte[] value = new byte[cursor.valueLength()];
    cursor.copyValue(value);
    return value;
  }

  /** Length of the current value in bytes. */
  public synchronized int valueLength() {
    check();
    return cursor.valueLength();
  }

  /**
   * Puts the current value into {@code target}, if it fits what remains there; its position then
   * advances.
   *
   * @return the value's length; nothing was copied if that is larger than what remains
   */
  public synchronized int value(ByteBuffer target) {
    check();
    int length = cursor.valueLength();
    if (length <= target.remaining()) {
      cursor.copyValue(target, target.position());
      target.position(target.position() + length);
    }
    return length;
  }

  private void check() {
    if (closed) {
      throw new StoreClosedException("the cursor, or its store, is closed");
    }
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      cursor.close();
      store.closed(this, lsn);
    }
  }
}
