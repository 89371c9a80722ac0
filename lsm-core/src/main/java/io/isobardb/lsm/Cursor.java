package io.isobardb.lsm;

import io.isobardb.lsm.entry.Expiry;
import io.isobardb.lsm.handle.OpenCursor;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A position among the entries of a tree, in key order, as of one moment.
 *
 * <pre>{@code
 * try (Cursor cursor = tree.cursor()) {
 *   for (boolean more = cursor.seek(from); more; more = cursor.next()) {
 *     System.out.println(new String(cursor.key(), UTF_8) + ": " + cursor.valueLength() + " bytes");
 *   }
 * }
 * }</pre>
 *
 * <p>It sees the tree as it was when the cursor was opened, or its snapshot was taken, whatever is
 * written since. Fresh cursors stand nowhere; move them first. Close them: an open cursor makes
 * merges keep what it sees.
 *
 * <p>A move that comes to a key whose operands can't be merged throws {@code MergeException}. The
 * cursor stands on that key then: {@link #key} gives it, {@link #value} throws again, and the next
 * move goes past it.
 *
 * <p>Thread rule: one thread at a time, save {@link #close}, which any thread may call: it waits
 * for the call under way. Two threads that move a cursor do no harm to the store, but the key that
 * one of them reads may be a mixture. Closing the store or dropping the tree closes it.
 */
public final class Cursor implements AutoCloseable {
  private static final int LEAST_SCRATCH = 256;
  private static final int MOST_SCRATCH = 64 << 10;

  private final OpenCursor cursor;

  /** For {@link #read}; of the thread that uses the cursor. */
  private ByteBuffer scratch = Keys.NO_ROOM;

  Cursor(OpenCursor cursor) {
    this.cursor = cursor;
  }

  boolean isClosed() {
    return cursor.isClosed();
  }

  /** Moves to the first entry. Returns {@link #isValid}. */
  public boolean first() {
    return cursor.first();
  }

  /** Moves to the last entry. Returns {@link #isValid}. */
  public boolean last() {
    return cursor.last();
  }

  /** Moves to the first entry whose key is not before {@code key}. Returns {@link #isValid}. */
  public boolean seek(byte[] key) {
    return cursor.seek(Objects.requireNonNull(key, "key"));
  }

  /** Moves to the last entry whose key is before {@code key}. Returns {@link #isValid}. */
  public boolean seekBefore(byte[] key) {
    return cursor.seekBefore(Objects.requireNonNull(key, "key"));
  }

  /** As {@link #seek(byte[])}; the key is what remains in the buffer. */
  public boolean seek(ByteBuffer key) {
    return cursor.seek(Keys.bytes(key));
  }

  /** As {@link #seekBefore(byte[])}; the key is what remains in the buffer. */
  public boolean seekBefore(ByteBuffer key) {
    return cursor.seekBefore(Keys.bytes(key));
  }

  /**
   * Moves to the next entry. Returns {@link #isValid}.
   *
   * @throws IllegalStateException if the cursor stands on none
   */
  public boolean next() {
    return cursor.next();
  }

  /**
   * Moves to the entry before. Returns {@link #isValid}.
   *
   * @throws IllegalStateException if the cursor stands on none
   */
  public boolean previous() {
    return cursor.previous();
  }

  /** Whether the cursor stands on an entry. */
  public boolean isValid() {
    return cursor.isValid();
  }

  /** A copy of the current key. */
  public byte[] key() {
    return cursor.key();
  }

  /** Length of the current key in bytes. */
  public int keyLength() {
    return cursor.keyLength();
  }

  /**
   * Puts the current key into {@code target}, if it fits what remains there; its position then
   * advances.
   *
   * @return the key's length; nothing was copied if that is larger than what remains
   */
  public int key(ByteBuffer target) {
    Targets.check(target);
    return cursor.key(target);
  }

  /** A copy of the current value. */
  public byte[] value() {
    return cursor.value();
  }

  /** When the current entry expires; null if it does not. */
  public @Nullable Instant expires() {
    return Expiry.instant(cursor.expiry());
  }

  /** Length of the current value in bytes. */
  public int valueLength() {
    return cursor.valueLength();
  }

  /**
   * Puts the current value into {@code target}, if it fits what remains there; its position then
   * advances.
   *
   * @return the value's length; nothing was copied if that is larger than what remains
   */
  public int value(ByteBuffer target) {
    Targets.check(target);
    return cursor.value(target);
  }

  /**
   * Looks at the current value, in a buffer of the cursor that is used again: no array is made of
   * it. {@code look} may read other keys, and move the cursor.
   *
   * @return what {@code look} made of the value
   */
  public <T> T read(ValueReader<T> look) {
    Objects.requireNonNull(look, "look");
    ByteBuffer target = scratch;
    // Whoever looks may use the cursor meanwhile: it must not get the same buffer.
    scratch = Keys.NO_ROOM;
    int length;
    while ((length = cursor.value(target.clear())) > target.capacity()) {
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
  public void close() {
    cursor.close();
  }
}
