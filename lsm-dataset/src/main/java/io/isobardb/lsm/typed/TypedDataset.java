package io.isobardb.lsm.typed;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.dataset.Dataset;
import io.isobardb.lsm.dataset.DatasetOptions;
import io.isobardb.lsm.dataset.Index;
import io.isobardb.lsm.dataset.IndexCursor;
import io.isobardb.lsm.dataset.IndexEntry;
import io.isobardb.lsm.dataset.IndexRange;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A dataset of typed records: a view of a {@link Dataset}, with what that promises.
 *
 * <pre>{@code
 * record Person(String name, String city) {}
 * TypedIndex<Person, String> byCity =
 *     TypedIndex.of("by-city", KeyCodec.ofString(), person -> List.of(person.city()));
 * TypedDataset<Long, Person> people =
 *     TypedDataset.open(store, "people", KeyCodec.ofLong(), Codec.of(Person.class), byCity);
 * people.put(1L, new Person("Ada", "London"));
 * List<Map.Entry<Long, Person>> londoners = people.find(byCity, "London");
 * }</pre>
 *
 * <p>A record is decoded once for the extractors of all its indexes, so these must not change it.
 *
 * <p>Thread rule: all methods may be called by any thread; those with a transaction by that one's.
 *
 * <p>Errors: those of {@link Dataset}, and what the codecs throw.
 *
 * @param <K> the type of primary keys
 * @param <V> the type of records
 */
public final class TypedDataset<K, V> {
  private final Dataset dataset;
  private final KeyCodec<K> keys;
  private final Codec<V> values;
  private final DecodedRecords<V> records;

  private TypedDataset(
      Dataset dataset, KeyCodec<K> keys, Codec<V> values, DecodedRecords<V> records) {
    this.dataset = dataset;
    this.keys = keys;
    this.values = values;
    this.records = records;
  }

  /**
   * Opens a dataset with these indexes and default options, or makes it: see {@link Dataset#open}.
   *
   * @param <K> the type of primary keys
   * @param <V> the type of records
   * @param store an open store
   * @param name its name
   * @param keys the codec of primary keys
   * @param values the codec of records
   * @param indexes all its indexes
   * @return the dataset
   */
  public static <K, V> TypedDataset<K, V> open(
      Store store,
      String name,
      KeyCodec<K> keys,
      Codec<V> values,
      List<? extends TypedIndex<V, ?>> indexes) {
    Objects.requireNonNull(store, "store");
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(keys, "keys");
    Objects.requireNonNull(values, "values");
    Objects.requireNonNull(indexes, "indexes");
    DecodedRecords<V> records = new DecodedRecords<>(values);
    DatasetOptions.Builder options = DatasetOptions.builder();
    indexes.forEach(index -> options.index(definition(index, records)));
    return new TypedDataset<>(Dataset.open(store, name, options.build()), keys, values, records);
  }

  /**
   * As {@link #open(Store, String, KeyCodec, Codec, List)}, with any number of indexes.
   *
   * @param <K> the type of primary keys
   * @param <V> the type of records
   * @param store an open store
   * @param name its name
   * @param keys the codec of primary keys
   * @param values the codec of records
   * @param indexes all its indexes
   * @return the dataset
   */
  @SafeVarargs
  @SuppressWarnings("varargs") // The list is a copy.
  public static <K, V> TypedDataset<K, V> open(
      Store store, String name, KeyCodec<K> keys, Codec<V> values, TypedIndex<V, ?>... indexes) {
    return open(store, name, keys, values, List.of(Objects.requireNonNull(indexes, "indexes")));
  }

  private static <V, I> Index definition(TypedIndex<V, I> index, DecodedRecords<V> records) {
    return Index.builder(index.name())
        .key(
            (key, value) ->
                keysOf(index, records.decode(value)).stream().map(index.keys()::encode).toList())
        .unique(index.unique())
        .maintenance(index.maintenance())
        .version(index.version())
        .build();
  }

  private static <V, I> Collection<? extends I> keysOf(TypedIndex<V, I> index, V value) {
    return Objects.requireNonNull(
        index.extractor().apply(value), "gave null; it may give an empty list");
  }

  /**
   * Creates an index and builds it while records are written: see {@link Dataset#createIndex(Index,
   * io.isobardb.lsm.dataset.BuildProgress)}. From then on it belongs to the indexes that the
   * dataset is opened with.
   *
   * @param index the index
   */
  public void createIndex(TypedIndex<V, ?> index) {
    dataset.createIndex(definition(Objects.requireNonNull(index, "index"), records));
  }

  /** {@return the dataset that this is a view of: for its indexes, checks and repairs} */
  public Dataset dataset() {
    return dataset;
  }

  private byte[] encodeKey(K key) {
    return keys.encode(Objects.requireNonNull(key, "key"));
  }

  private byte[] encodeValue(V value) {
    return values.encode(Objects.requireNonNull(value, "value"));
  }

  private V decodeValue(byte[] value) {
    return values.decode(ByteBuffer.wrap(value).asReadOnlyBuffer());
  }

  private @Nullable V decoded(byte @Nullable [] value) {
    return value == null ? null : decodeValue(value);
  }

  /**
   * {@return the record of a key, or null if there is none}
   *
   * @param key the primary key
   */
  public @Nullable V get(K key) {
    return decoded(dataset.get(encodeKey(key)));
  }

  /**
   * {@return the record of a key as a transaction sees it, or null if there is none}
   *
   * @param transaction the transaction that it is part of
   * @param key the primary key
   */
  public @Nullable V get(Transaction transaction, K key) {
    return decoded(dataset.get(transaction, encodeKey(key)));
  }

  /**
   * As {@link Transaction#getForUpdate}.
   *
   * @param transaction the transaction that it is part of
   * @param key the primary key
   * @return the value, or null if there is none
   */
  public @Nullable V getForUpdate(Transaction transaction, K key) {
    return decoded(dataset.getForUpdate(transaction, encodeKey(key)));
  }

  /**
   * Sets a record; see {@link Dataset#put(byte[], byte[])}.
   *
   * @param key the primary key
   * @param value the record
   */
  public void put(K key, V value) {
    dataset.put(encodeKey(key), encodeValue(value));
  }

  /**
   * Sets a record until an instant; see {@link Dataset#put(byte[], byte[], Instant)}.
   *
   * @param key the primary key
   * @param value the record
   * @param expires from when on it is absent
   */
  public void put(K key, V value, Instant expires) {
    dataset.put(encodeKey(key), encodeValue(value), expires);
  }

  /**
   * Sets a record until an instant, within a transaction.
   *
   * @param transaction the transaction that it is part of
   * @param key the primary key
   * @param value the record
   * @param expires from when on it is absent
   */
  public void put(Transaction transaction, K key, V value, Instant expires) {
    dataset.put(transaction, encodeKey(key), encodeValue(value), expires);
  }

  /**
   * Sets a record within a transaction; see {@link Dataset#put(byte[], byte[])}.
   *
   * @param transaction the transaction that it is part of
   * @param key the primary key
   * @param value the record
   */
  public void put(Transaction transaction, K key, V value) {
    dataset.put(transaction, encodeKey(key), encodeValue(value));
  }

  /**
   * Removes a record, whether it is there or not.
   *
   * @param key the primary key
   */
  public void delete(K key) {
    dataset.delete(encodeKey(key));
  }

  private ByteRange toDelete(KeyRange<K> range) {
    int most = dataset.store().tree(dataset.name()).maxKeyBytes();
    return Objects.requireNonNull(range, "range").encode(keys, most);
  }

  /**
   * Removes all records of a range; see {@link Dataset#deleteRange(byte[], byte[])}.
   *
   * @param range which keys
   */
  public void deleteRange(KeyRange<K> range) {
    ByteRange bytes = toDelete(range);
    dataset.deleteRange(bytes.low(), bytes.high());
  }

  /**
   * As {@link #deleteRange(KeyRange)}, within a transaction.
   *
   * @param transaction the transaction that it is part of
   * @param range which keys
   */
  public void deleteRange(Transaction transaction, KeyRange<K> range) {
    Objects.requireNonNull(transaction, "transaction");
    ByteRange bytes = toDelete(range);
    dataset.deleteRange(transaction, bytes.low(), bytes.high());
  }

  /**
   * Removes a record within a transaction, whether it is there or not.
   *
   * @param transaction the transaction that it is part of
   * @param key the primary key
   */
  public void delete(Transaction transaction, K key) {
    dataset.delete(transaction, encodeKey(key));
  }

  /**
   * {@return the records with an index key, by primary key, all as of one moment}
   *
   * @param <I> the type of index keys
   * @param index the index
   * @param indexKey the index key
   */
  public <I> List<Map.Entry<K, V>> find(TypedIndex<V, I> index, I indexKey) {
    Objects.requireNonNull(index, "index");
    return typed(dataset.find(index.name(), encodeIndexKey(index, indexKey)));
  }

  /**
   * {@return the records with an index key as a transaction sees them, by primary key}
   *
   * @param <I> the type of index keys
   * @param transaction the transaction that it is part of
   * @param index the index
   * @param indexKey the index key
   */
  public <I> List<Map.Entry<K, V>> find(
      Transaction transaction, TypedIndex<V, I> index, I indexKey) {
    Objects.requireNonNull(index, "index");
    return typed(dataset.find(transaction, index.name(), encodeIndexKey(index, indexKey)));
  }

  private static <I> byte[] encodeIndexKey(TypedIndex<?, I> index, I indexKey) {
    return index.keys().encode(Objects.requireNonNull(indexKey, "indexKey"));
  }

  private List<Map.Entry<K, V>> typed(List<IndexEntry> found) {
    return found.stream()
        .map(entry -> Map.entry(keys.decode(entry.key()), decodeValue(entry.value())))
        .toList();
  }

  /**
   * {@return the records in a range of an index, by index key and then by primary key, as they are
   * now} A record with many index keys comes once with each. Close the stream, as {@link
   * TypedTree#entries(KeyRange)}.
   *
   * @param <I> the type of index keys
   * @param index the index
   * @param range which keys
   */
  public <I> Stream<Map.Entry<K, V>> entries(TypedIndex<V, I> index, KeyRange<I> range) {
    Objects.requireNonNull(index, "index");
    Objects.requireNonNull(range, "range");
    ByteRange bytes = range.encode(index.keys());
    byte[] low = bytes.low();
    byte[] high = bytes.high();
    IndexRange wanted = low == null ? IndexRange.all() : IndexRange.from(low);
    IndexCursor cursor = dataset.cursor(index.name(), high == null ? wanted : wanted.to(high));
    return Entries.stream(
        cursor::first,
        cursor::next,
        () -> Map.entry(keys.decode(cursor.key()), decodeValue(cursor.value())),
        cursor);
  }

  @Override
  public String toString() {
    return "typed " + dataset;
  }
}
