package io.isobardb.lsm;

import io.isobardb.lsm.read.TreeCursor;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.transaction.KeyRange;
import io.isobardb.memory.pool.Backoff;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A position among the entries of a tree, in key order, as of one moment.
 *
 * <p>It sees the tree as it was when the cursor was opened, or its snapshot was taken, whatever is
 * written since. Fresh cursors stand nowhere; move them first. Close them: an open cursor makes
 * merges keep what it sees.
 *
 * <p>Thread rule: one thread at a time, save {@link #close}, which any thread may call: it waits
 * for the call under way. Two threads that move a cursor do no harm to the store, but the key that
 * one of them reads may be a mixture. Closing the store or dropping the tree closes it.
 */
public final class Cursor implements AutoCloseable {
  private static final VarHandle BUSY;

  static {
    try {
      BUSY = MethodHandles.lookup().findVarHandle(Cursor.class, "busy", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final OpenCursors owner;
  private final TreeHandle tree;
  private final long number;
  private final TreeCursor cursor;
  private final long lsn;

  private final LeakWatch.@Nullable Origin origin;

  /** What was passed, for a transaction that has to know. */
  private final @Nullable KeyRange passed;

  /** 1 while a call is under way. A monitor would cost three times as much per entry. */
  private int busy;

  private volatile boolean closed;

  /**
   * @param number its owner's name for it
   * @param origin where it was opened, if that is remembered
   */
  Cursor(
      OpenCursors owner,
      TreeHandle tree,
      long number,
      TreeCursor cursor,
      long lsn,
      LeakWatch.@Nullable Origin origin,
      @Nullable KeyRange passed) {
    this.owner = owner;
    this.tree = tree;
    this.number = number;
    this.cursor = cursor;
    this.lsn = lsn;
    this.origin = origin;
    this.passed = passed;
  }

  boolean isClosed() {
    return closed;
  }

  boolean isOver(TreeHandle of) {
    return tree == of;
  }

  /**
   * Gives up what it holds, unless it is in use now; the position stays.
   *
   * @param pages also if that is what everybody sees now, which costs nothing but pages in the
   *     cache
   */
  void letGo(boolean pages) {
    if (BUSY.compareAndSet(this, 0, 1)) {
      try {
        if (!closed) {
          cursor.letGo(pages);
        }
      } finally {
        exit();
      }
    }
  }

  /** Moves to the first entry. Returns {@link #isValid}. */
  public boolean first() {
    enter();
    try {
      return forward(null, cursor.first());
    } finally {
      exit();
    }
  }

  /** Moves to the last entry. Returns {@link #isValid}. */
  public boolean last() {
    enter();
    try {
      return backward(null, cursor.last());
    } finally {
      exit();
    }
  }

  /** Moves to the first entry whose key is not before {@code key}. Returns {@link #isValid}. */
  public boolean seek(byte[] key) {
    Objects.requireNonNull(key, "key");
    enter();
    try {
      return forward(key, cursor.seek(key, 0, key.length));
    } finally {
      exit();
    }
  }

  /** Moves to the last entry whose key is before {@code key}. Returns {@link #isValid}. */
  public boolean seekBefore(byte[] key) {
    Objects.requireNonNull(key, "key");
    enter();
    try {
      return backward(key, cursor.seekBefore(key, 0, key.length));
    } finally {
      exit();
    }
  }

  /**
   * Moves to the next entry. Returns {@link #isValid}.
   *
   * @throws IllegalStateException if the cursor stands on none
   */
  public boolean next() {
    enter();
    try {
      byte[] from = passed == null ? null : currentKey();
      return forward(from, cursor.next());
    } finally {
      exit();
    }
  }

  /**
   * Moves to the entry before. Returns {@link #isValid}.
   *
   * @throws IllegalStateException if the cursor stands on none
   */
  public boolean previous() {
    enter();
    try {
      byte[] from = passed == null ? null : currentKey();
      return backward(from, cursor.previous());
    } finally {
      exit();
    }
  }

  private byte[] currentKey() {
    return Arrays.copyOf(cursor.key(), cursor.keyLength());
  }

  /** Notes a move forward from {@code start}, or from the first key. */
  private boolean forward(byte @Nullable [] start, boolean on) {
    if (passed != null) {
      passed.addForward(start, on ? cursor.key() : null, on ? cursor.keyLength() : 0);
    }
    return on;
  }

  /** Notes a move back from {@code start}, or from the end. */
  private boolean backward(byte @Nullable [] start, boolean on) {
    if (passed != null) {
      passed.addBackward(start, on ? cursor.key() : null, on ? cursor.keyLength() : 0);
    }
    return on;
  }

  /** Whether the cursor stands on an entry. */
  public boolean isValid() {
    checkOpen();
    return cursor.valid();
  }

  /** A copy of the current key. */
  public byte[] key() {
    checkOpen();
    return currentKey();
  }

  /** Length of the current key in bytes. */
  public int keyLength() {
    checkOpen();
    return cursor.keyLength();
  }

  /**
   * Puts the current key into {@code target}, if it fits what remains there; its position then
   * advances.
   *
   * @return the key's length; nothing was copied if that is larger than what remains
   */
  public int key(ByteBuffer target) {
    Tree.checkTarget(target);
    checkOpen();
    int length = cursor.keyLength();
    byte[] key = cursor.key();
    if (length > key.length) {
      throw new IllegalStateException("another thread moves the cursor: one at a time may use it");
    }
    if (length <= target.remaining()) {
      target.put(key, 0, length);
    }
    return length;
  }

  /** A copy of the current value. */
  public byte[] value() {
    enter();
    try {
      byte[] value = new byte[cursor.valueLength()];
      cursor.copyValue(value);
      return value;
    } finally {
      exit();
    }
  }

  /** Length of the current value in bytes. */
  public int valueLength() {
    enter();
    try {
      return cursor.valueLength();
    } finally {
      exit();
    }
  }

  /**
   * Puts the current value into {@code target}, if it fits what remains there; its position then
   * advances.
   *
   * @return the value's length; nothing was copied if that is larger than what remains
   */
  public int value(ByteBuffer target) {
    Tree.checkTarget(target);
    enter();
    try {
      int length = cursor.valueLength();
      if (length <= target.remaining()) {
        cursor.copyValue(target, target.position());
        target.position(target.position() + length);
      }
      return length;
    } finally {
      exit();
    }
  }

  private void enter() {
    acquire();
    if (closed) {
      exit();
      checkOpen();
    }
  }

  /** Enough for what is read from the cursor's own copy, and not from pages. */
  private void checkOpen() {
    if (closed) {
      throw owner.closed(tree);
    }
  }

  private void acquire() {
    for (int tries = 0; !BUSY.compareAndSet(this, 0, 1); tries++) {
      Backoff.pause(tries);
    }
  }

  private void exit() {
    cursor.endTurn();
    BUSY.setRelease(this, 0);
  }

  @Override
  public void close() {
    acquire();
    try {
      if (!closed) {
        closed = true;
        cursor.close();
        owner.closed(number, lsn, origin);
      }
    } finally {
      exit();
    }
  }
}
