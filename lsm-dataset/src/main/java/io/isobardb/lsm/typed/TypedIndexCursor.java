package io.isobardb.lsm.typed;

import io.isobardb.lsm.dataset.IndexCursor;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * A position among the records of a typed dataset in the order of an index: an {@link IndexCursor}
 * with types, and with what that promises. An index key and a primary key name a place, at which
 * another cursor can go on:
 *
 * <pre>{@code
 * TypedIndex<String, Integer> byLength =
 *     TypedIndex.of("length", KeyCodec.ofInt(), name -> List.of(name.length()));
 * TypedDataset<Long, String> names =
 *     TypedDataset.open(store, "names", KeyCodec.ofLong(), Codec.string(), byLength);
 * Pair<Integer, Long> place = new Pair<>(3, 7L); // where the last page has ended
 * List<String> page = new ArrayList<>();
 * try (var cursor = names.cursor(byLength, KeyRange.all())) {
 *   boolean more = cursor.seekAfter(place.first(), place.second());
 *   for (; more && page.size() < 20; more = cursor.next()) {
 *     page.add(cursor.value());
 *     place = new Pair<>(cursor.indexKey(), cursor.key());
 *   }
 * }
 * }</pre>
 *
 * <p>Thread rule: as an {@link IndexCursor}'s. Errors: those, and what the codecs throw.
 *
 * @param <I> the type of index keys
 * @param <K> the type of primary keys
 * @param <V> the type of records
 */
public final class TypedIndexCursor<I, K, V> implements AutoCloseable {
  private final IndexCursor cursor;
  private final KeyCodec<I> indexKeys;
  private final KeyCodec<K> keys;
  private final Codec<V> values;

  TypedIndexCursor(IndexCursor cursor, KeyCodec<I> indexKeys, KeyCodec<K> keys, Codec<V> values) {
    this.cursor = cursor;
    this.indexKeys = indexKeys;
    this.keys = keys;
    this.values = values;
  }

  IndexCursor untyped() {
    return cursor;
  }

  private byte[] encodeIndexKey(I indexKey) {
    return indexKeys.encode(Objects.requireNonNull(indexKey, "indexKey"));
  }

  private byte[] encodeKey(K key) {
    return keys.encode(Objects.requireNonNull(key, "key"));
  }

  /**
   * Moves to the first entry.
   *
   * @return {@link #isValid}: false if there is none
   */
  public boolean first() {
    return cursor.first();
  }

  /**
   * Moves to the last entry.
   *
   * @return {@link #isValid}: false if there is none
   */
  public boolean last() {
    return cursor.last();
  }

  /**
   * Moves to the first entry whose index key is not before this one.
   *
   * @param indexKey need not be there, nor within the cursor's range
   * @return {@link #isValid}: false if there is none
   */
  public boolean seek(I indexKey) {
    return cursor.seek(encodeIndexKey(indexKey));
  }

  /**
   * Moves to the last entry whose index key is before this one.
   *
   * @param indexKey need not be there, nor within the cursor's range
   * @return {@link #isValid}: false if there is none
   */
  public boolean seekBefore(I indexKey) {
    return cursor.seekBefore(encodeIndexKey(indexKey));
  }

  /**
   * Moves to the first entry behind the one of this index key and this record: the page that
   * follows.
   *
   * @param indexKey the index key
   * @param key the primary key; the entry need not be there any more
   * @return {@link #isValid}: false if there is none
   */
  public boolean seekAfter(I indexKey, K key) {
    return cursor.seek(encodeIndexKey(indexKey), ByteRange.next(encodeKey(key)));
  }

  /**
   * Moves to the last entry before the one of this index key and this record: the page before, from
   * its end.
   *
   * @param indexKey the index key
   * @param key the primary key; the entry need not be there any more
   * @return {@link #isValid}: false if there is none
   */
  public boolean seekBefore(I indexKey, K key) {
    return cursor.seekBefore(encodeIndexKey(indexKey), encodeKey(key));
  }

  /**
   * Moves to the next entry.
   *
   * @return {@link #isValid}: false if it stood on the last one
   * @throws IllegalStateException if the cursor stands on none
   */
  public boolean next() {
    return cursor.next();
  }

  /**
   * Moves to the entry before.
   *
   * @return {@link #isValid}: false if it stood on the first one
   * @throws IllegalStateException if the cursor stands on none
   */
  public boolean previous() {
    return cursor.previous();
  }

  /** {@return whether the cursor stands on an entry} */
  public boolean isValid() {
    return cursor.isValid();
  }

  /** {@return the current index key} */
  public I indexKey() {
    return indexKeys.decode(cursor.indexKey());
  }

  /** {@return the current record's primary key} */
  public K key() {
    return keys.decode(cursor.key());
  }

  /**
   * {@return the current record} What an index key and a primary key tell needs no record: see
   * {@link IndexCursor#value} for when it is read.
   */
  public V value() {
    return values.decode(ByteBuffer.wrap(cursor.value()).asReadOnlyBuffer());
  }

  /** Gives back what it holds. Does nothing if it is closed. */
  @Override
  public void close() {
    cursor.close();
  }
}
