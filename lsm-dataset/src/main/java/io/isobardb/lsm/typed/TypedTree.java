package io.isobardb.lsm.typed;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.option.KeyOrder;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A tree of typed keys and values. A view: it holds nothing but the tree and its codecs, and there
 * may be any number of them over one tree.
 *
 * <pre>{@code
 * TypedTree<Long, String> names =
 *     TypedTree.of(store.openTree("names"), KeyCodec.ofLong(), Codec.string());
 * names.put(7L, "Ada");
 * try (Stream<Map.Entry<Long, String>> entries = names.entries(KeyRange.between(1L, 10L))) {
 *   entries.forEach(System.out::println);
 * }
 * NavigableMap<Long, String> map = names.asMap();
 * }</pre>
 *
 * <p>What reads before it writes ({@link #putIfAbsent}, {@link #replace}, {@link #remove}, {@link
 * #compute} and the like) is one step, in which no other write of the key comes between; see {@link
 * Tree#putIfAbsent(byte[], byte[], Durability)} for what that costs. Values are compared by their
 * bytes.
 *
 * <p>Thread rule: all methods may be called by any thread; those with a transaction or a batch by
 * that one's.
 *
 * <p>Errors: those of {@link Tree}, {@link Transaction} and {@link WriteBatch}, and what the codecs
 * throw.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
public final class TypedTree<K, V> {
  private final Tree tree;
  private final KeyCodec<K> keys;
  private final Codec<V> values;

  private TypedTree(Tree tree, KeyCodec<K> keys, Codec<V> values) {
    this.tree = tree;
    this.keys = keys;
    this.values = values;
  }

  /**
   * {@return a view of a tree} Must always be made with the same codecs, since these are not
   * stored.
   *
   * @param <K> the type of keys
   * @param <V> the type of values
   * @param tree the tree to view
   * @param keys the codec of keys
   * @param values the codec of values
   * @throws IllegalArgumentException if the tree has a key order of its own: the codec has the
   *     order
   */
  public static <K, V> TypedTree<K, V> of(Tree tree, KeyCodec<K> keys, Codec<V> values) {
    Objects.requireNonNull(tree, "tree");
    Objects.requireNonNull(keys, "keys");
    Objects.requireNonNull(values, "values");
    checkOrder(tree.name(), tree.options().keyOrder());
    return new TypedTree<>(tree, keys, values);
  }

  /** Refuses an order of keys that is not the codecs'. */
  static void checkOrder(String tree, KeyOrder order) {
    if (!order.isBytes()) {
      throw new IllegalArgumentException(
          "tree '"
              + tree
              + "' has the key order '"
              + order.name()
              + "', and a typed tree needs '"
              + KeyOrder.BYTES.name()
              + "', in which its codec keeps the order of keys");
    }
  }

  /** {@return the tree that this is a view of} */
  public Tree tree() {
    return tree;
  }

  KeyCodec<K> keys() {
    return keys;
  }

  byte[] encodeKey(K key) {
    return keys.encode(Objects.requireNonNull(key, "key"));
  }

  private byte[] encodeValue(V value) {
    return encoded(Objects.requireNonNull(value, "value"));
  }

  /** The bytes of a value. None would remove its key. */
  private byte[] encoded(V value) {
    return Objects.requireNonNull(values.encode(value), "the bytes that the codec gave");
  }

  private V decodeValue(byte[] bytes) {
    return values.decode(ByteBuffer.wrap(bytes).asReadOnlyBuffer());
  }

  private @Nullable V decoded(byte @Nullable [] bytes) {
    return bytes == null ? null : decodeValue(bytes);
  }

  // ---- reading

  /**
   * {@return the value of a key, or null if there is none}
   *
   * @param key its key
   */
  public @Nullable V get(K key) {
    return tree.read(encodeKey(key), values::decode);
  }

  /**
   * {@return the value of a key as of a snapshot, or null if there was none}
   *
   * @param key its key
   * @param snapshot the moment
   */
  public @Nullable V get(K key, Snapshot snapshot) {
    return decoded(tree.get(encodeKey(key), snapshot));
  }

  /**
   * {@return the value of a key as a transaction sees it, or null if there is none}
   *
   * @param transaction the transaction that it is part of
   * @param key its key
   */
  public @Nullable V get(Transaction transaction, K key) {
    Objects.requireNonNull(transaction, "transaction");
    return decoded(transaction.get(tree, encodeKey(key)));
  }

  /**
   * As {@link Transaction#getForUpdate}.
   *
   * @param transaction the transaction that it is part of
   * @param key its key
   * @return the value, or null if there is none
   */
  public @Nullable V getForUpdate(Transaction transaction, K key) {
    Objects.requireNonNull(transaction, "transaction");
    return decoded(transaction.getForUpdate(tree, encodeKey(key)));
  }

  /**
   * {@return the values of many keys, in their order, null for those that are not there} All are as
   * they were at one moment of this call, and cost less than one by one.
   *
   * @param keys in any order; one may come twice
   */
  public List<@Nullable V> multiGet(List<? extends K> keys) {
    List<@Nullable V> values = new ArrayList<>();
    tree.multiGet(encodedAll(keys)).forEach(bytes -> values.add(decoded(bytes)));
    return values;
  }

  /**
   * As {@link #multiGet(List)}, as of a snapshot.
   *
   * @param keys in any order; one may come twice
   * @param snapshot the moment
   * @return the values then, in the order of the keys; null for those that were not there
   */
  public List<@Nullable V> multiGet(List<? extends K> keys, Snapshot snapshot) {
    List<@Nullable V> values = new ArrayList<>();
    tree.multiGet(encodedAll(keys), snapshot).forEach(bytes -> values.add(decoded(bytes)));
    return values;
  }

  private List<byte[]> encodedAll(List<? extends K> many) {
    List<byte[]> bytes = new ArrayList<>(Objects.requireNonNull(many, "keys").size());
    many.forEach(key -> bytes.add(encodeKey(key)));
    return bytes;
  }

  /**
   * {@return whether there is such a key}
   *
   * @param key its key
   */
  public boolean contains(K key) {
    return tree.contains(encodeKey(key));
  }

  /**
   * {@return the entries of a range in its order, as they are now} Close the stream: an open one
   * makes merges keep what it sees. It belongs to one thread at a time.
   *
   * @param range which keys
   */
  public Stream<Map.Entry<K, V>> entries(KeyRange<K> range) {
    return stream(tree.cursor(options(range)), range);
  }

  /**
   * As {@link #entries(KeyRange)}, as of a snapshot, which the stream may outlive.
   *
   * @param range which keys
   * @param snapshot the moment
   * @return the entries, to be closed
   */
  public Stream<Map.Entry<K, V>> entries(KeyRange<K> range, Snapshot snapshot) {
    return stream(tree.cursor(options(range).snapshot(snapshot)), range);
  }

  /**
   * As {@link #entries(KeyRange)}, as a transaction sees them; its end closes the stream.
   *
   * @param transaction the transaction that it is part of
   * @param range which keys
   * @return the entries, to be closed
   */
  public Stream<Map.Entry<K, V>> entries(Transaction transaction, KeyRange<K> range) {
    Objects.requireNonNull(transaction, "transaction");
    return stream(transaction.cursor(tree, options(range)), range);
  }

  private CursorOptions options(KeyRange<K> range) {
    return Objects.requireNonNull(range, "range").encode(keys).options();
  }

  private Stream<Map.Entry<K, V>> stream(Cursor cursor, KeyRange<K> range) {
    return Entries.of(cursor, range, () -> entry(cursor));
  }

  /** The entry that a cursor stands on. */
  Map.Entry<K, V> entry(Cursor cursor) {
    return Map.entry(keys.decode(cursor.key()), cursor.read(values::decode));
  }

  /**
   * {@return the tree as a map: what is written is in the map at once, and the other way round}
   *
   * <p>Its atomic operations are atomic, {@code put} and {@code remove}, which give the value
   * before, among them; to write without reading use {@link #put}.
   *
   * <p>Nothing is held between its steps. Iterators read some dozen entries at a time and see
   * entries that come or go meanwhile, or don't. {@code size()} goes through all entries. Neither
   * keys nor values may be null, whatever the codecs take. Its {@code comparator()} is the codec's.
   */
  public ConcurrentNavigableMap<K, V> asMap() {
    return new LiveMap<>(this, ByteRange.ALL, false);
  }

  // ---- writing

  /**
   * Sets a key, with the store's default durability.
   *
   * @param key its key
   * @param value its value
   */
  public void put(K key, V value) {
    tree.put(encodeKey(key), encodeValue(value));
  }

  /**
   * Sets a key. What the write survives when this returns says {@link Durability}.
   *
   * @param key its key
   * @param value its value
   * @param durability what the write survives when this returns
   */
  public void put(K key, V value, Durability durability) {
    tree.put(encodeKey(key), encodeValue(value), durability);
  }

  /**
   * Sets a key until an instant; see {@link Tree#put(byte[], byte[], Instant)}.
   *
   * @param key its key
   * @param value its value
   * @param expires from when on it is absent
   */
  public void put(K key, V value, Instant expires) {
    tree.put(encodeKey(key), encodeValue(value), expires);
  }

  /**
   * Sets a key until an instant, in a transaction.
   *
   * @param transaction the transaction that it is part of
   * @param key its key
   * @param value its value
   * @param expires from when on it is absent
   */
  public void put(Transaction transaction, K key, V value, Instant expires) {
    Objects.requireNonNull(transaction, "transaction");
    transaction.put(tree, encodeKey(key), encodeValue(value), expires);
  }

  /**
   * Adds a put until an instant to a batch.
   *
   * @param batch gets the write
   * @param key its key
   * @param value its value
   * @param expires from when on it is absent
   */
  public void put(WriteBatch batch, K key, V value, Instant expires) {
    Objects.requireNonNull(batch, "batch");
    batch.put(tree, encodeKey(key), encodeValue(value), expires);
  }

  /**
   * Sets a key in a transaction.
   *
   * @param transaction the transaction that it is part of
   * @param key its key
   * @param value its value
   */
  public void put(Transaction transaction, K key, V value) {
    Objects.requireNonNull(transaction, "transaction");
    transaction.put(tree, encodeKey(key), encodeValue(value));
  }

  /**
   * Adds a put to a batch.
   *
   * @param batch gets the write
   * @param key its key
   * @param value its value
   */
  public void put(WriteBatch batch, K key, V value) {
    Objects.requireNonNull(batch, "batch");
    batch.put(tree, encodeKey(key), encodeValue(value));
  }

  /**
   * Removes a key, whether it is there or not, without reading it.
   *
   * @param key its key
   */
  public void delete(K key) {
    tree.delete(encodeKey(key));
  }

  /**
   * Removes a key, whether it is there or not.
   *
   * @param key its key
   * @param durability what the write survives when this returns
   */
  public void delete(K key, Durability durability) {
    tree.delete(encodeKey(key), durability);
  }

  /**
   * Removes a key in a transaction, whether it is there or not.
   *
   * @param transaction the transaction that it is part of
   * @param key its key
   */
  public void delete(Transaction transaction, K key) {
    Objects.requireNonNull(transaction, "transaction");
    transaction.delete(tree, encodeKey(key));
  }

  /**
   * Adds a delete to a batch.
   *
   * @param batch gets the write
   * @param key its key
   */
  public void delete(WriteBatch batch, K key) {
    Objects.requireNonNull(batch, "batch");
    batch.delete(tree, encodeKey(key));
  }

  /**
   * Merges an operand into the value of a key, without reading it; see {@link Tree#merge(byte[],
   * byte[])}. Values and operands have the same type.
   *
   * @param key its key
   * @param operand what to merge
   */
  public void merge(K key, V operand) {
    tree.merge(encodeKey(key), encodeValue(operand));
  }

  /**
   * As {@link #merge(Object, Object)}. What it survives says {@link Durability}.
   *
   * @param key its key
   * @param operand what to merge
   * @param durability what the write survives when this returns
   */
  public void merge(K key, V operand, Durability durability) {
    tree.merge(encodeKey(key), encodeValue(operand), durability);
  }

  /**
   * Merges an operand into the value of a key in a transaction.
   *
   * @param transaction the transaction that it is part of
   * @param key its key
   * @param operand what to merge
   */
  public void merge(Transaction transaction, K key, V operand) {
    Objects.requireNonNull(transaction, "transaction");
    transaction.merge(tree, encodeKey(key), encodeValue(operand));
  }

  /**
   * Adds a merge to a batch.
   *
   * @param batch gets the write
   * @param key its key
   * @param operand what to merge
   */
  public void merge(WriteBatch batch, K key, V operand) {
    Objects.requireNonNull(batch, "batch");
    batch.merge(tree, encodeKey(key), encodeValue(operand));
  }

  private ByteRange toDelete(KeyRange<K> range) {
    return Objects.requireNonNull(range, "range").encode(keys, tree.maxKeyBytes());
  }

  /**
   * Removes all keys of a range; see {@link Tree#deleteRange(byte[], byte[])}.
   *
   * @param range which keys
   */
  public void deleteRange(KeyRange<K> range) {
    ByteRange bytes = toDelete(range);
    tree.deleteRange(bytes.low(), bytes.high());
  }

  /**
   * Removes all keys of a range in a transaction.
   *
   * @param transaction the transaction that it is part of
   * @param range which keys
   */
  public void deleteRange(Transaction transaction, KeyRange<K> range) {
    Objects.requireNonNull(transaction, "transaction");
    ByteRange bytes = toDelete(range);
    transaction.deleteRange(tree, bytes.low(), bytes.high());
  }

  /**
   * Adds the removal of all keys of a range to a batch.
   *
   * @param batch gets the write
   * @param range which keys
   */
  public void deleteRange(WriteBatch batch, KeyRange<K> range) {
    Objects.requireNonNull(batch, "batch");
    ByteRange bytes = toDelete(range);
    batch.deleteRange(tree, bytes.low(), bytes.high());
  }

  // ---- reading and writing in one step

  /**
   * Sets a key that is not there.
   *
   * @param key its key
   * @param value its value
   * @return the value that is there, and stays; null if there was none
   */
  public @Nullable V putIfAbsent(K key, V value) {
    return decoded(tree.putIfAbsent(encodeKey(key), encodeValue(value)));
  }

  /**
   * As {@link #putIfAbsent(Object, Object)}, in a transaction. The key is read as by {@link
   * Transaction#getForUpdate}.
   *
   * @param transaction the transaction that it is part of
   * @param key its key
   * @param value its value
   * @return the value that is there, and stays; null if there was none
   */
  public @Nullable V putIfAbsent(Transaction transaction, K key, V value) {
    Objects.requireNonNull(transaction, "transaction");
    return decoded(transaction.putIfAbsent(tree, encodeKey(key), encodeValue(value)));
  }

  /**
   * Sets a key, and gives the value that was there, or null.
   *
   * @param key its key
   * @param value its value
   * @return the value that was there, or null
   */
  public @Nullable V getAndPut(K key, V value) {
    return decoded(swap(encodeKey(key), encodeValue(value), true));
  }

  /**
   * Sets a key that is there; gives the value that was there, or null, and then does nothing.
   *
   * @param key its key
   * @param value its value
   * @return the value that was there, or null
   */
  public @Nullable V replace(K key, V value) {
    return decoded(swap(encodeKey(key), encodeValue(value), false));
  }

  /**
   * Removes a key, and gives the value that was there, or null.
   *
   * @param key its key
   * @return the value that was there, or null
   */
  public @Nullable V remove(K key) {
    return decoded(swap(encodeKey(key), null, false));
  }

  /**
   * Sets a key that has the value expected; whether it had.
   *
   * @param key its key
   * @param expected the value that it must have
   * @param value its value
   * @return whether it had it
   */
  public boolean replace(K key, V expected, V value) {
    Objects.requireNonNull(expected, "expected");
    // A codec may use its array again.
    byte[] before = encoded(expected).clone();
    return tree.compareAndSet(encodeKey(key), before, encodeValue(value));
  }

  /**
   * Removes a key that has the value expected; whether it had.
   *
   * @param key its key
   * @param expected the value that it must have
   * @return whether it had it
   */
  public boolean remove(K key, V expected) {
    Objects.requireNonNull(expected, "expected");
    return tree.compareAndSet(encodeKey(key), encoded(expected), null);
  }

  /**
   * @param create whether to write if there is nothing
   */
  private byte @Nullable [] swap(byte[] key, byte @Nullable [] value, boolean create) {
    while (true) {
      byte[] before = tree.get(key);
      if (before == null && !create || tree.compareAndSet(key, before, value)) {
        return before;
      }
    }
  }

  /**
   * Sets a key to what is made of its value, or removes it.
   *
   * @param key its key
   * @param make gets the key, and its value or null; gives the value to be, or null for none. It is
   *     called again if others write the key meanwhile, with nothing locked
   * @return what {@code make} gave at last
   */
  public @Nullable V compute(
      K key, BiFunction<? super K, ? super @Nullable V, ? extends @Nullable V> make) {
    Objects.requireNonNull(make, "make");
    byte[] bytes = encodeKey(key);
    while (true) {
      byte[] before = tree.get(bytes);
      V made = make.apply(key, decoded(before));
      byte[] after = made == null ? null : encoded(made);
      if (before == null && after == null || tree.compareAndSet(bytes, before, after)) {
        return made;
      }
    }
  }

  @Override
  public String toString() {
    return "typed " + tree;
  }
}
