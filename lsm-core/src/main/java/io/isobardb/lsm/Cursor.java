package io.isobardb.lsm;

import java.nio.ByteBuffer;
import java.time.Instant;
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
 *
 * <p>Errors: {@link IllegalStateException} if it stands on no entry and is asked for a key, a value
 * or what belongs to them, or to step from there; {@code StoreClosedException} after it was closed,
 * be it with its store or transaction, {@code TreeDroppedException} after its tree was dropped;
 * {@link IllegalArgumentException} for a read-only buffer to read into; {@code CorruptionException}
 * for damaged data.
 */
public interface Cursor extends AutoCloseable {
  /**
   * Moves to the first entry.
   *
   * @return {@link #isValid}: false if there is none
   */
  boolean first();

  /**
   * Moves to the last entry.
   *
   * @return {@link #isValid}: false if there is none
   */
  boolean last();

  /**
   * Moves to the first entry whose key is not before {@code key}.
   *
   * @param key need not be there, nor within the cursor's bounds
   * @return {@link #isValid}: false if there is none
   */
  boolean seek(byte[] key);

  /**
   * Moves to the last entry whose key is before {@code key}.
   *
   * @param key need not be there, nor within the cursor's bounds
   * @return {@link #isValid}: false if there is none
   */
  boolean seekBefore(byte[] key);

  /**
   * As {@link #seek(byte[])}; the key is what remains in the buffer.
   *
   * @param key need not be there; its position stays
   * @return {@link #isValid}: false if there is none
   */
  boolean seek(ByteBuffer key);

  /**
   * As {@link #seekBefore(byte[])}; the key is what remains in the buffer.
   *
   * @param key need not be there; its position stays
   * @return {@link #isValid}: false if there is none
   */
  boolean seekBefore(ByteBuffer key);

  /**
   * Moves to the next entry.
   *
   * @return {@link #isValid}: false if it stood on the last one
   * @throws IllegalStateException if the cursor stands on none
   */
  boolean next();

  /**
   * Moves to the entry before.
   *
   * @return {@link #isValid}: false if it stood on the first one
   * @throws IllegalStateException if the cursor stands on none
   */
  boolean previous();

  /** {@return whether the cursor stands on an entry} */
  boolean isValid();

  /** {@return a copy of the current key} */
  byte[] key();

  /** {@return length of the current key in bytes} */
  int keyLength();

  /**
   * Puts the current key into {@code target}, if it fits what remains there; its position then
   * advances.
   *
   * @param target direct or on the heap, not read-only
   * @return the key's length; nothing was copied if that is larger than what remains
   */
  int key(ByteBuffer target);

  /** {@return a copy of the current value} */
  byte[] value();

  /** {@return when the current entry expires; null if it does not} */
  @Nullable Instant expires();

  /** {@return length of the current value in bytes} */
  int valueLength();

  /**
   * Puts the current value into {@code target}, if it fits what remains there; its position then
   * advances.
   *
   * @param target direct or on the heap, not read-only
   * @return the value's length; nothing was copied if that is larger than what remains
   */
  int value(ByteBuffer target);

  /**
   * Looks at the current value, in a buffer of the cursor that is used again: no array is made of
   * it. {@code look} may read other keys, and move the cursor.
   *
   * @param <T> what is made of a value; must not be its buffer
   * @param look called once, on this thread
   * @return what {@code look} made of the value
   */
  <T> T read(ValueReader<T> look);

  /**
   * Hands out the current entry and those that follow, in order, without copying them and without
   * an array or object for each. That is the fastest way to look at many entries.
   *
   * <p>The cursor then stands on the first entry that was not handed out, so that another call goes
   * on there. If {@code reader} returns false or throws, it stays on the entry that {@code reader}
   * got last.
   *
   * <p>While {@code reader} runs, it keeps memory that writers may be waiting for. It should be
   * short. It may read, and write to the cursor's own transaction. It must not write to the store
   * otherwise, close it, drop the tree, or commit the transaction: that could wait for this call.
   * All calls of this cursor throw {@link IllegalStateException} meanwhile. If the transaction
   * ends, as it does after a conflict, nothing more is handed out, and the cursor is closed then.
   *
   * @param limit the most entries to hand out
   * @param reader called by this thread
   * @return how many were handed out; 0 if the cursor stands on none
   * @throws IllegalArgumentException if {@code limit} is negative
   */
  long forEach(long limit, EntryReader reader);

  /** Gives back what it holds. Waits for the call under way; does nothing if it is closed. */
  @Override
  void close();
}
