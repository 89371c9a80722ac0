package io.isobardb.lsm.store;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.EntryReader;
import io.isobardb.lsm.ValueReader;
import io.isobardb.lsm.error.MergeException;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.read.TreeCursor;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.transaction.KeySpan;
import io.isobardb.memory.pool.Backoff;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A cursor that a user has open, until the user closes it, or the store or tree ends.
 *
 * <p>Thread rule: one thread at a time, save {@link #close} and {@link #letGo}, which any thread
 * may call. Equal to itself alone; its hash code is its number, so that sets have the same order in
 * every run.
 */
public final class OpenCursor implements Cursor {
  private static final int LEAST_SCRATCH = 256;
  private static final int MOST_SCRATCH = 64 << 10;

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
  private final @Nullable KeySpan passed;

  /** For a recorder, if there was one when this was opened. */
  private final @Nullable ScanWatch watch;

  /** For {@link #read}; of the thread that uses the cursor. */
  private ByteBuffer scratch = Keys.NO_ROOM;

  /** 1 while a call is under way. A monitor would cost three times as much per entry. */
  private int busy;

  /** The thread that is in {@link #forEach}, as far as that thread knows. */
  private @Nullable Thread reading;

  /** Set by the thread that is in {@link #forEach}: it is to be closed when that returns. */
  private boolean ending;

  private volatile boolean closed;

  /**
   * @param lsn what it reads at
   * @param passed where to note what it has passed, or null
   * @param watch for a recorder, or null
   */
  OpenCursor(
      OpenCursors owner,
      TreeHandle tree,
      TreeCursor cursor,
      long lsn,
      @Nullable KeySpan passed,
      @Nullable ScanWatch watch) {
    this.watch = watch;
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

  @Override
  public boolean first() {
    enter();
    try {
      beginScan(null);
      return forward(null, cursor.first());
    } catch (MergeException e) {
      forward(null, true);
      throw e;
    } finally {
      exit();
    }
  }

  @Override
  public boolean last() {
    enter();
    try {
      beginScan(null);
      return backward(null, cursor.last());
    } catch (MergeException e) {
      backward(null, true);
      throw e;
    } finally {
      exit();
    }
  }

  @Override
  public boolean seek(ByteBuffer key) {
    return seek(Keys.bytes(key));
  }

  @Override
  public boolean seekBefore(ByteBuffer key) {
    return seekBefore(Keys.bytes(key));
  }

  @Override
  public boolean seek(byte[] key) {
    checkKey(key);
    enter();
    try {
      beginScan(key);
      return forward(key, cursor.seek(key, 0, key.length));
    } catch (MergeException e) {
      forward(key, true);
      throw e;
    } finally {
      exit();
    }
  }

  @Override
  public boolean seekBefore(byte[] key) {
    checkKey(key);
    enter();
    try {
      beginScan(key);
      return backward(key, cursor.seekBefore(key, 0, key.length));
    } catch (MergeException e) {
      backward(key, true);
      throw e;
    } finally {
      exit();
    }
  }

  @Override
  public boolean next() {
    enterToStep();
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

  @Override
  public boolean previous() {
    enterToStep();
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

  /** Passes if a key may be sought; it may be longer than one of the tree. */
  private void checkKey(byte[] key) {
    Keys.checkOrder(tree.order(), Objects.requireNonNull(key, "key"));
  }

  private byte[] currentKey() {
    return Arrays.copyOf(cursor.key(), cursor.keyLength());
  }

  // A move that comes to a key whose operands can't be merged throws, and has passed all before it.

  private void beginScan(byte @Nullable [] key) {
    if (watch != null) {
      watch.begin(key);
    }
  }

  /** Notes a move forward from {@code start}, or from the first key. */
  private boolean forward(byte @Nullable [] start, boolean on) {
    if (passed != null) {
      passed.addForward(start, on ? cursor.key() : null, on ? cursor.keyLength() : 0);
    }
    if (watch != null && on) {
      watch.add(1);
    }
    return on;
  }

  /** Notes a move back from {@code start}, or from the end. */
  private boolean backward(byte @Nullable [] start, boolean on) {
    if (passed != null) {
      passed.addBackward(start, on ? cursor.key() : null, on ? cursor.keyLength() : 0);
    }
    if (watch != null && on) {
      watch.add(1);
    }
    return on;
  }

  @Override
  public boolean isValid() {
    checkOpen();
    return cursor.valid();
  }

  @Override
  public byte[] key() {
    checkOpen();
    return currentKey();
  }

  @Override
  public int keyLength() {
    checkOpen();
    return cursor.keyLength();
  }

  @Override
  public int key(ByteBuffer target) {
    Targets.check(target);
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

  @Override
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

  @Override
  public int valueLength() {
    enter();
    try {
      return cursor.valueLength();
    } finally {
      exit();
    }
  }

  @Override
  public @Nullable Instant expires() {
    enter();
    try {
      return Expiry.instant(cursor.expiry());
    } finally {
      exit();
    }
  }

  @Override
  public int value(ByteBuffer target) {
    Targets.check(target);
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

  @Override
  public <T> T read(ValueReader<T> look) {
    Objects.requireNonNull(look, "look");
    ByteBuffer target = scratch;
    // The user may use the cursor during the look: it must not get the same buffer.
    scratch = Keys.NO_ROOM;
    int length;
    while ((length = value(target.clear())) > target.capacity()) {
      target = ByteBuffer.allocate(Math.max(length, LEAST_SCRATCH));
    }
    ByteBuffer view = target.slice(0, length).asReadOnlyBuffer();
    try {
      return look.read(view);
    } finally {
      view.limit(0);
      if (target.capacity() <= MOST_SCRATCH) {
        scratch = target;
      }
    }
  }

  @Override
  public long forEach(long limit, EntryReader reader) {
    Objects.requireNonNull(reader, "reader");
    if (limit < 0) {
      throw new IllegalArgumentException("the limit is negative: " + limit);
    }
    enter();
    byte[] from = null;
    try {
      from = passed == null || !cursor.valid() ? null : currentKey();
      reading = Thread.currentThread();
      long passedBy = cursor.forEach(limit, untilEnd(reader));
      if (watch != null) {
        watch.add(passedBy);
      }
      return passedBy;
    } finally {
      reading = null;
      if (from != null) {
        forward(from, cursor.valid());
      }
      if (ending) {
        closeAcquired();
      } else {
        exit();
      }
    }
  }

  /** A reader that gets nothing more once the transaction has ended, if there is one. */
  private EntryReader untilEnd(EntryReader reader) {
    return cursor.isOfTransaction() ? (key, value) -> reader.read(key, value) && !ending : reader;
  }

  /** Whether the calling thread is in a reader that this cursor calls. */
  boolean isReading() {
    return reading == Thread.currentThread();
  }

  private void enter() {
    StackRoom.check();
    enterWithin();
  }

  /** As {@link #enter}, where each nanosecond counts. */
  private void enterToStep() {
    StackRoom.checkForLess();
    enterWithin();
  }

  private void enterWithin() {
    acquire();
    if (closed) {
      exit();
      checkOpen();
    }
  }

  /** Enough for what is read from the cursor's own copy, and not from pages. */
  private void checkOpen() {
    if (closed) {
      throw owner.onClosed(tree);
    }
    checkNotReading();
  }

  private void checkNotReading() {
    if (reading != null && isReading()) {
      throw new IllegalStateException("an EntryReader must not use the cursor that called it");
    }
  }

  private void acquire() {
    for (int tries = 0; !BUSY.compareAndSet(this, 0, 1); tries++) {
      checkNotReading();
      Backoff.pause(tries);
    }
  }

  private void exit() {
    cursor.endTurn();
    BUSY.setRelease(this, 0);
  }

  @Override
  public void close() {
    StackRoom.checkForLess();
    closeWithin();
  }

  /** As {@link #close}, within a call that has looked for room on the stack. */
  void closeWithin() {
    acquire();
    closeAcquired();
  }

  /**
   * As {@link #close}, for a transaction that ends, which it may do while a reader of the cursor
   * writes to it: then the cursor is closed once its {@link #forEach} returns.
   */
  void end() {
    if (isReading()) {
      ending = true;
    } else {
      closeWithin();
    }
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
        if (watch != null) {
          watch.end();
        }
        cursor.close();
        owner.onClosed(this);
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
