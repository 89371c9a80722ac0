package io.isobardb.lsm.typed;

import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.dataset.Dataset;
import io.isobardb.lsm.dataset.DatasetOptions;
import io.isobardb.lsm.dataset.Index;
import io.isobardb.lsm.dataset.IndexCursor;
import io.isobardb.lsm.dataset.IndexEntry;
import io.isobardb.lsm.dataset.IndexRange;
import io.isobardb.lsm.dataset.Maintenance;
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

  /** The tree of the records, to be read alone. */
  private final TypedTree<K, V> primary;

  private final KeyCodec<K> keys;
  private final Codec<V> values;
  private final DecodedRecords<V> records;

  private TypedDataset(
      Dataset dataset, KeyCodec<K> keys, Codec<V> values, DecodedRecords<V> records) {
    this.dataset = dataset;
    this.primary = TypedTree.of(dataset.store().tree(dataset.name()), keys, values);
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
    return open(store, name, keys, values, indexes, DatasetOptions.defaults());
  }

  /**
   * Opens a dataset with these indexes, or makes it: see {@link Dataset#open}.
   *
   * @param <K> the type of primary keys
   * @param <V> the type of records
   * @param store an open store
   * @param name its name
   * @param keys the codec of primary keys
   * @param values the codec of records
   * @param indexes all its indexes
   * @param options without indexes
   * @return the dataset
   * @throws IllegalArgumentException if the options have indexes, or the tree of the records has a
   *     key order of its own; and as {@link Dataset#open}
   */
  public static <K, V> TypedDataset<K, V> open(
      Store store,
      String name,
      KeyCodec<K> keys,
      Codec<V> values,
      List<? extends TypedIndex<V, ?>> indexes,
      DatasetOptions options) {
    Objects.requireNonNull(store, "store");
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(keys, "keys");
    Objects.requireNonNull(values, "values");
    Objects.requireNonNull(indexes, "indexes");
    if (!Objects.requireNonNull(options, "options").indexes().isEmpty()) {
      throw new IllegalArgumentException(
          "the options of dataset '" + name + "' have indexes: give typed ones beside the options");
    }
    TypedTree.checkOrder(
        name,
        store.treeNames().contains(name)
            ? store.tree(name).options().keyOrder()
            : options.primary().keyOrder());
    DecodedRecords<V> records = new DecodedRecords<>(values);
    DatasetOptions with =
        new DatasetOptions(
            options.primary(),
            indexes.stream().map(index -> definition(index, records)).toList(),
            options.changeTimeout(),
            options.progress(),
            options.updateIndexes());
    return new TypedDataset<>(Dataset.open(store, name, with), keys, values, records);
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
   * {@return the record of a key as of a snapshot, or null if there was none}
   *
   * @param key the primary key
   * @param snapshot the moment
   */
  public @Nullable V get(K key, Snapshot snapshot) {
    return primary.get(key, snapshot);
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
   * {@return the records with an index key as of a snapshot, by primary key}
   *
   * @param <I> the type of index keys
   * @param index the index
   * @param indexKey the index key
   * @param snapshot the moment
   */
  public <I> List<Map.Entry<K, V>> find(TypedIndex<V, I> index, I indexKey, Snapshot snapshot) {
    Objects.requireNonNull(index, "index");
    return typed(dataset.find(snapshot, index.name(), encodeIndexKey(index, indexKey)));
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

  // ---- many records

  /**
   * {@return the records of a range of primary keys in its order, as they are now} Close the
   * stream, as {@link TypedTree#entries(KeyRange)}.
   *
   * @param range which keys
   */
  public Stream<Map.Entry<K, V>> entries(KeyRange<K> range) {
    return primary.entries(range);
  }

  /**
   * As {@link #entries(KeyRange)}, as of a snapshot, which the stream may outlive.
   *
   * @param range which keys
   * @param snapshot the moment
   * @return the records, to be closed
   */
  public Stream<Map.Entry<K, V>> entries(KeyRange<K> range, Snapshot snapshot) {
    return primary.entries(range, snapshot);
  }

  /**
   * As {@link #entries(KeyRange)}, as a transaction sees them; its end closes the stream.
   *
   * @param transaction the transaction that it is part of
   * @param range which keys
   * @return the records, to be closed
   */
  public Stream<Map.Entry<K, V>> entries(Transaction transaction, KeyRange<K> range) {
    return primary.entries(transaction, range);
  }

  /**
   * {@return the records in a range of an index, by index key and then by primary key, as they are
   * now} A record with many index keys comes once with each. Close the stream, as {@link
   * TypedTree#entries(KeyRange)}. {@link #cursor(TypedIndex, KeyRange)} tells index keys, too.
   *
   * @param <I> the type of index keys
   * @param index the index
   * @param range which keys
   */
  public <I> Stream<Map.Entry<K, V>> entries(TypedIndex<V, I> index, KeyRange<I> range) {
    return stream(cursor(index, range), range);
  }

  /**
   * As {@link #entries(TypedIndex, KeyRange)}, as of a snapshot, which must outlive the stream.
   *
   * @param <I> the type of index keys
   * @param index the index
   * @param range which keys
   * @param snapshot the moment
   * @return the records, to be closed
   */
  public <I> Stream<Map.Entry<K, V>> entries(
      TypedIndex<V, I> index, KeyRange<I> range, Snapshot snapshot) {
    return stream(cursor(index, range, snapshot), range);
  }

  /**
   * As {@link #entries(TypedIndex, KeyRange)}, as a transaction sees them; its end closes the
   * stream.
   *
   * @param <I> the type of index keys
   * @param transaction the transaction that it is part of
   * @param index the index
   * @param range which keys
   * @return the records, to be closed
   */
  public <I> Stream<Map.Entry<K, V>> entries(
      Transaction transaction, TypedIndex<V, I> index, KeyRange<I> range) {
    return stream(cursor(transaction, index, range), range);
  }

  private static <I, K, V> Stream<Map.Entry<K, V>> stream(
      TypedIndexCursor<I, K, V> cursor, KeyRange<I> range) {
    return Entries.of(cursor.untyped(), range, () -> Map.entry(cursor.key(), cursor.value()));
  }

  /**
   * {@return the number of entries in a range of an index, as they are now} Goes through all of
   * them, and reads records only where {@link Maintenance#VALIDATION} needs them. A record counts
   * once with each index key.
   *
   * @param <I> the type of index keys
   * @param index the index
   * @param range which keys
   */
  public <I> long count(TypedIndex<V, I> index, KeyRange<I> range) {
    try (TypedIndexCursor<I, K, V> cursor = cursor(index, range)) {
      long count = 0;
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        count++;
      }
      return count;
    }
  }

  /**
   * {@return a cursor over the records in the order of an index, as they are now}
   *
   * @param <I> the type of index keys
   * @param index the index
   * @param range which keys; a cursor goes both ways, whatever the range's order is
   */
  public <I> TypedIndexCursor<I, K, V> cursor(TypedIndex<V, I> index, KeyRange<I> range) {
    IndexRange bytes = bytes(index, range);
    return typed(index, dataset.cursor(index.name(), bytes));
  }

  /**
   * As {@link #cursor(TypedIndex, KeyRange)}, as of a snapshot, which must outlive the cursor.
   *
   * @param <I> the type of index keys
   * @param index the index
   * @param range which keys
   * @param snapshot the moment
   * @return the cursor, to be closed
   */
  public <I> TypedIndexCursor<I, K, V> cursor(
      TypedIndex<V, I> index, KeyRange<I> range, Snapshot snapshot) {
    IndexRange bytes = bytes(index, range);
    return typed(index, dataset.cursor(snapshot, index.name(), bytes));
  }

  /**
   * As {@link #cursor(TypedIndex, KeyRange)}, as a transaction sees them; its end closes the
   * cursor.
   *
   * @param <I> the type of index keys
   * @param transaction the transaction that it is part of
   * @param index the index
   * @param range which keys
   * @return the cursor, to be closed
   */
  public <I> TypedIndexCursor<I, K, V> cursor(
      Transaction transaction, TypedIndex<V, I> index, KeyRange<I> range) {
    IndexRange bytes = bytes(index, range);
    return typed(index, dataset.cursor(transaction, index.name(), bytes));
  }

  private static <I> IndexRange bytes(TypedIndex<?, I> index, KeyRange<I> range) {
    Objects.requireNonNull(index, "index");
    ByteRange bytes = Objects.requireNonNull(range, "range").encode(index.keys());
    byte[] low = bytes.low();
    byte[] high = bytes.high();
    IndexRange wanted = low == null ? IndexRange.all() : IndexRange.from(low);
    return high == null ? wanted : wanted.to(high);
  }

  private <I> TypedIndexCursor<I, K, V> typed(TypedIndex<V, I> index, IndexCursor cursor) {
    return new TypedIndexCursor<>(cursor, index.keys(), keys, values);
  }

  @Override
  public String toString() {
    return "typed " + dataset;
  }
}
