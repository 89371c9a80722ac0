package io.isobardb.lsm.entry;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A position in one sorted run of entries: keys ascending, and of one key the newest version first.
 *
 * <p>Thread rule: one thread at a time. What {@link #key} and {@link #leaf} give is valid until the
 * cursor moves.
 *
 * <p>Errors: {@link java.io.UncheckedIOException} if a page can't be read, {@code
 * CorruptionException} if it is not what was written. The cursor is then invalid.
 */
public interface EntryCursor extends AutoCloseable {
  /** Whether the cursor stands on an entry. */
  boolean valid();

  /** Moves to the first entry. Returns {@link #valid}. */
  boolean first();

  /** Moves to the last entry. Returns {@link #valid}. */
  boolean last();

  /**
   * Moves to the first entry that is not before ({@code key}, {@code lsn}): the newest version of
   * {@code key} with an LSN of at most {@code lsn}, or else what follows. Returns {@link #valid}.
   */
  boolean seek(byte[] key, int offset, int length, long lsn);

  /**
   * Finds out where a {@link #seek} to the same place, which has to be the next move, is going to
   * look, but does not look there: see {@link #fetch}.
   */
  default void approach(byte[] key, int offset, int length, long lsn) {}

  /**
   * After {@link #approach}: reads what the seek reads first. Of many cursors the processor waits
   * for all that at once, if nothing else comes in between.
   *
   * @return anything; to be kept, so that the compiler does not leave the reading out
   */
  default int fetch() {
    return 0;
  }

  /** Moves to the last entry whose key is less than {@code key}. Returns {@link #valid}. */
  boolean seekBefore(byte[] key, int offset, int length);

  /** Moves on by one entry. Returns {@link #valid}. */
  boolean next();

  /**
   * Moves on by one entry, and past older versions of the key it came from as far as they are at
   * hand: some may be left. Returns {@link #valid}.
   */
  default boolean nextKey() {
    return next();
  }

  /** Moves back by one entry. Returns {@link #valid}. */
  boolean previous();

  /**
   * From an entry: moves on past entries before {@code to} that all have lower LSNs than {@code
   * lsn}, if it can tell without looking at each.
   *
   * @param to null for the end
   * @return whether it moved
   */
  default boolean passForward(byte @Nullable [] to, long lsn) {
    return false;
  }

  /** As {@link #passForward}, back past entries from {@code from} on. */
  default boolean passBackward(byte @Nullable [] from, long lsn) {
    return false;
  }

  /**
   * The key from which on entries of {@link #leaf} may not be entries of this cursor; null if all
   * that follow are.
   */
  default byte @Nullable [] leafEnd() {
    return null;
  }

  /** The cursor over one SSTable that stands on the current entry; until this one moves. */
  LeafCursor leaf();

  /** The array that holds the current key from index 0 on; owned by the cursor. */
  default byte[] key() {
    return leaf().key();
  }

  default int keyLength() {
    return leaf().keyLength();
  }

  default long lsn() {
    return leaf().lsn();
  }

  /** One of {@link Kind}'s data kinds, without {@link Kind#EXPIRES}. */
  default int kind() {
    return leaf().kind();
  }

  /** Length of the value in bytes, wherever it lies; 0 for a delete marker. */
  default int valueLength() {
    return leaf().valueLength();
  }

  /** Copies a part of the value into {@code target} at the absolute index {@code targetOffset}. */
  default void copyValue(int from, ByteBuffer target, int targetOffset, int length) {
    leaf().copyValue(from, target, targetOffset, length);
  }

  /** Gives up pins and copied pages. The cursor can't be used any more. */
  @Override
  void close();
}
