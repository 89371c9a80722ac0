package io.isobardb.lsm.dataset;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Tree;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A position among the records of a dataset in the order of an index: by index key, then by primary
 * key. A record with many index keys comes once with each.
 *
 * <pre>{@code
 * IndexRange centuries = IndexRange.between("1800".getBytes(UTF_8), "2000".getBytes(UTF_8));
 * try (IndexCursor cursor = people.cursor("year", centuries)) {
 *   for (boolean more = cursor.last(); more; more = cursor.previous()) { // the youngest first
 *     use(cursor.indexKey(), cursor.key(), cursor.value());
 *   }
 * }
 * }</pre>
 *
 * <p>Outside of a transaction it sees the dataset as it was when the cursor was opened, or the
 * snapshot taken. In a transaction it sees what that does, its own writes included; a record is as
 * it was when the cursor came to it. Fresh cursors stand nowhere; move them first. Close them: an
 * open cursor makes merges keep what it sees.
 *
 * <p>Thread rule: one thread at a time, save {@link #close}, which any thread may call. Closing the
 * store, ending the transaction and dropping the index close it.
 */
public final class IndexCursor implements AutoCloseable {
  private static final byte[] NONE = new byte[0];

  private final View view;
  private final @Nullable Snapshot owned;
  private final SecondaryIndex index;
  private final Tree primary;
  private final Cursor cursor;

  /** Whether an entry counts only if its record says so. */
  private final boolean validates;

  private byte[] indexKey = NONE;
  private byte[] key = NONE;

  /** The record, or null if it was not read yet. */
  private byte @Nullable [] value;

  /**
   * @param owned is closed with the cursor
   */
  IndexCursor(
      View view, @Nullable Snapshot owned, SecondaryIndex index, Tree primary, IndexRange range) {
    this.view = view;
    this.owned = owned;
    this.index = index;
    this.primary = primary;
    this.validates = !index.isExact() || !view.isFixed();
    this.cursor = view.cursor(index.tree(), index.options(range));
  }

  /**
   * Moves to the first entry. Returns {@link #isValid}.
   *
   * @return whether there is one
   */
  public boolean first() {
    return forward(cursor.first());
  }

  /**
   * Moves to the last entry. Returns {@link #isValid}.
   *
   * @return whether there is one
   */
  public boolean last() {
    return backward(cursor.last());
  }

  /**
   * Moves to the first entry whose index key is not before this one. Returns {@link #isValid}.
   *
   * @param from an index key
   * @return whether there is one
   */
  public boolean seek(byte[] from) {
    Objects.requireNonNull(from, "from");
    return forward(cursor.seek(index.start(from)));
  }

  /**
   * Moves to the first entry that is not before the one of this index key and this record: to go on
   * where another cursor has stood. Returns {@link #isValid}.
   *
   * @param from an index key
   * @param fromKey the primary key
   * @return whether there is one
   */
  public boolean seek(byte[] from, byte[] fromKey) {
    Objects.requireNonNull(from, "from");
    Objects.requireNonNull(fromKey, "fromKey");
    boolean on = forward(cursor.seek(index.entryKey(from, fromKey)));
    if (on
        && index.isUnique()
        && Arrays.equals(indexKey, from)
        && Arrays.compareUnsigned(key, fromKey) < 0) {
      return next();
    }
    return on;
  }

  /**
   * Moves to the last entry whose index key is before this one. Returns {@link #isValid}.
   *
   * @param before an index key
   * @return whether there is one
   */
  public boolean seekBefore(byte[] before) {
    Objects.requireNonNull(before, "before");
    return backward(cursor.seekBefore(index.start(before)));
  }

  /**
   * Moves to the last entry before the one of this index key and this record: to go back from where
   * another cursor has stood. Returns {@link #isValid}.
   *
   * @param before an index key
   * @param beforeKey the primary key
   * @return whether there is one
   */
  public boolean seekBefore(byte[] before, byte[] beforeKey) {
    Objects.requireNonNull(before, "before");
    Objects.requireNonNull(beforeKey, "beforeKey");
    return seek(before, beforeKey) ? previous() : last();
  }

  /**
   * Moves to the next entry. Returns {@link #isValid}.
   *
   * @return whether there is one
   * @throws IllegalStateException if the cursor stands on none
   */
  public boolean next() {
    return forward(cursor.next());
  }

  /**
   * Moves to the entry before. Returns {@link #isValid}.
   *
   * @return whether there is one
   * @throws IllegalStateException if the cursor stands on none
   */
  public boolean previous() {
    return backward(cursor.previous());
  }

  private boolean forward(boolean moved) {
    boolean on = moved;
    while (on && !take()) {
      on = cursor.next();
    }
    return on;
  }

  private boolean backward(boolean moved) {
    boolean on = moved;
    while (on && !take()) {
      on = cursor.previous();
    }
    return on;
  }

  /** Takes the entry the cursor stands on, unless it is stale. */
  private boolean take() {
    indexKey = index.indexKey(cursor);
    key = index.primaryKey(cursor);
    value = null;
    if (!validates) {
      return true;
    }
    byte[] record = view.get(primary, key);
    value = record;
    if (record != null && index.leads(indexKey, key, record)) {
      return true;
    }
    index.countStale();
    return false;
  }

  /** {@return whether the cursor stands on an entry} */
  public boolean isValid() {
    return cursor.isValid();
  }

  private void checkValid() {
    if (!cursor.isValid()) {
      throw new IllegalStateException("the cursor stands on no entry: move it first");
    }
  }

  /** {@return a copy of the current index key} */
  public byte[] indexKey() {
    checkValid();
    return indexKey.clone();
  }

  /** {@return a copy of the current record's primary key} */
  public byte[] key() {
    checkValid();
    return key.clone();
  }

  /**
   * {@return a copy of the current record} Reads it now if the index is eager and this is no
   * transaction's cursor: else it was read when the cursor came to it.
   */
  public byte[] value() {
    checkValid();
    byte[] record = value;
    if (record == null) {
      record = view.get(primary, key);
      if (record == null) {
        throw index.lost(indexKey, key);
      }
      value = record;
    }
    return record.clone();
  }

  @Override
  public void close() {
    cursor.close();
    if (owned != null) {
      owned.close();
    }
  }
}
