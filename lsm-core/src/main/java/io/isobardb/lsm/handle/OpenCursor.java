package io.isobardb.lsm.handle;

import io.isobardb.lsm.error.MergeException;
import io.isobardb.lsm.read.TreeCursor;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.transaction.KeyRange;
import io.isobardb.memory.pool.Backoff;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A cursor that a user has open, until the user closes it, or the store or tree ends.
 *
 * <p>Thread rule: one thread at a time, save {@link #close} and {@link #letGo}, which any thread
 * may call. Equal to itself alone; its hash code is its number, so that sets have the same order in
 * every run.
 */
public final class OpenCursor {
  private static final VarHandle BUSY;

  static {
    try {
      BUSY = MethodHandles.lookup().findVarHandle(OpenCursor.class, "busy", int.class);
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
   * @param lsn what it reads at
   * @param passed where to note what it has passed, or null
   */
  OpenCursor(
      OpenCursors owner, TreeHandle tree, TreeCursor cursor, long lsn, @Nullable KeyRange passed) {
    this.owner = owner;
    this.tree = tree;
    this.number = owner.nextNumber();
    this.cursor = cursor;
    this.lsn = lsn;
    this.origin = owner.origin(tree);
    this.passed = passed;
  }

  public boolean isClosed() {
    return closed;
  }

  boolean isOver(TreeHandle of) {
    return tree == of;
  }

  /** What it reads at, registered until it is closed. */
  long lsn() {
    return lsn;
  }

  LeakWatch.@Nullable Origin origin() {
    return origin;
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

  /** Moves to the first entry, if there is one. */
  public boolean first() {
    enter();
    try {
      return forward(null, cursor.first());
    } catch (MergeException e) {
      forward(null, true);
      throw e;
    } finally {
      exit();
    }
  }

  /** Moves to the last entry, if there is one. */
  public boolean last() {
    enter();
    try {
      return backward(null, cursor.last());
    } catch (MergeException e) {
      backward(null, true);
      throw e;
    } finally {
      exit();
    }
  }

  /** Moves to the first entry whose key is not before {@code key}, if there is one. */
  public boolean seek(byte[] key) {
    enter();
    try {
      return forward(key, cursor.seek(key, 0, key.length));
    } catch (MergeException e) {
      forward(key, true);
      throw e;
    } finally {
      exit();
    }
  }

  /** Moves to the last entry whose key is before {@code key}, if there is one. */
  public boolean seekBefore(byte[] key) {
    enter();
    try {
      return backward(key, cursor.seekBefore(key, 0, key.length));
    } catch (MergeException e) {
      backward(key, true);
      throw e;
    } finally {
      exit();
    }
  }

  /** Moves to the next entry, if there is one. */
  public boolean next() {
    enter();
    byte[] from = null;
    try {
      from = passed == null ? null : currentKey();
      return forward(from, cursor.next());
    } catch (MergeException e) {
      forward(from, true);
      throw e;
    } finally {
      exit();
    }
  }

  /** Moves to the entry before, if there is one. */
  public boolean previous() {
    enter();
    byte[] from = null;
    try {
      from = passed == null ? null : currentKey();
      return backward(from, cursor.previous());
    } catch (MergeException e) {
      backward(from, true);
      throw e;
    } finally {
      exit();
    }
  }

  private byte[] currentKey() {
    return Arrays.copyOf(cursor.key(), cursor.keyLength());
  }

  // A move that comes to a key whose operands can't be merged throws, and has passed all before it.

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

  /** Whether it stands on an entry. */
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

  /** Puts the current key into {@code target}, if it fits, and gives its length. */
  public int key(ByteBuffer target) {
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

  /** When the current entry expires, or {@link io.isobardb.lsm.entry.Expiry#NEVER}. */
  public long expiry() {
    enter();
    try {
      return cursor.expiry();
    } finally {
      exit();
    }
  }

  /** Puts the current value into {@code target}, if it fits, and gives its length. */
  public int value(ByteBuffer target) {
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

  /** Gives all it holds back. Waits for the call under way; does nothing if it is closed. */
  public void close() {
    acquire();
    closeAcquired();
  }

  /** As {@link #close}, unless a call is under way. */
  void closeUnlessBusy() {
    if (BUSY.compareAndSet(this, 0, 1)) {
      closeAcquired();
    }
  }

  private void closeAcquired() {
    try {
      if (!closed) {
        closed = true;
        cursor.close();
        owner.closed(this);
      }
    } finally {
      exit();
    }
  }

  @Override
  public int hashCode() {
    return Long.hashCode(number);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return this == other;
  }
}
