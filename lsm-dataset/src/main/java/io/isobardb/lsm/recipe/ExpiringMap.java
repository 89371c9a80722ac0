package io.isobardb.lsm.recipe;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.typed.Codec;
import io.isobardb.lsm.typed.KeyCodec;
import io.isobardb.lsm.typed.KeyRange;
import io.isobardb.lsm.typed.TypedTree;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A durable map whose entries are gone some time after they were put: sessions, tokens, a cache.
 *
 * <pre>{@code
 * ExpiringMap<String, String> sessions =
 *     ExpiringMap.open(
 *         store, "sessions", Duration.ofHours(1), KeyCodec.ofString(), Codec.string());
 * sessions.put("s1", "ada");
 * String user = sessions.touch("s1"); // null if it has expired; else it lives for another hour
 * }</pre>
 *
 * <p>An entry expires at its millisecond for all readers, by the clock of the machine. Nobody has
 * to delete it: merges drop it some time later. There is no callback, since an entry that nobody
 * reads is never looked at.
 *
 * <p><b>What fails.</b> A crash may take back the last puts and touches if they were not synced, as
 * the default durability of the store says: an entry may then expire when it would have before.
 * Time goes on while the store is closed. If the machine's clock is set back by more than a minute,
 * an entry that had expired may be seen again.
 *
 * <p>Thread rule: all methods may be called by any thread.
 *
 * <p>Errors: those of {@link TypedTree}.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
public final class ExpiringMap<K, V> {
  private final TypedTree<K, V> tree;

  private ExpiringMap(TypedTree<K, V> tree) {
    this.tree = tree;
  }

  /**
   * Opens a map, or makes it.
   *
   * @param <K> the type of keys
   * @param <V> the type of values
   * @param store an open store
   * @param name of the tree that holds it
   * @param lifetime of entries that are put from now on, a millisecond to 36,500 days. It may be
   *     another one than before: what was put keeps its time
   * @param keys the codec of keys
   * @param values the codec of values
   * @return the map
   * @throws IllegalArgumentException if the lifetime is out of its range
   */
  public static <K, V> ExpiringMap<K, V> open(
      Store store, String name, Duration lifetime, KeyCodec<K> keys, Codec<V> values) {
    Objects.requireNonNull(store, "store");
    Objects.requireNonNull(name, "name");
    if (Objects.requireNonNull(lifetime, "lifetime").compareTo(Duration.ofMillis(1)) < 0) {
      throw new IllegalArgumentException(
          "entries of '" + name + "' must live for a millisecond at least, not " + lifetime);
    }
    TreeOptions options = TreeOptions.builder().timeToLive(lifetime).build();
    return new ExpiringMap<>(TypedTree.of(store.openTree(name, options), keys, values));
  }

  /**
   * {@return the value of a key, or null if there is none, or no longer} It does not live longer
   * for it.
   *
   * @param key its key
   */
  public @Nullable V get(K key) {
    return tree.get(key);
  }

  /**
   * {@return whether there is such a key, still}
   *
   * @param key its key
   */
  public boolean contains(K key) {
    return tree.contains(key);
  }

  /**
   * Sets a key, which then lives for the lifetime of the map.
   *
   * @param key its key
   * @param value its value
   */
  public void put(K key, V value) {
    tree.put(key, value);
  }

  /**
   * Sets a key until an instant of its own.
   *
   * @param key its key
   * @param value its value
   * @param expires from when on it is absent
   */
  public void put(K key, V value, Instant expires) {
    tree.put(key, value, expires);
  }

  /**
   * Sets a key that is not there, or no longer, in one step.
   *
   * @param key its key
   * @param value its value
   * @return the value that is there, and stays; null if there was none
   */
  public @Nullable V putIfAbsent(K key, V value) {
    return tree.putIfAbsent(key, value);
  }

  /**
   * Has an entry live for the lifetime of the map from now on. In one step with reading it: one
   * that was removed or has expired does not come back.
   *
   * @param key its key
   * @return its value, or null if it is not there
   */
  public @Nullable V touch(K key) {
    return tree.compute(key, (same, value) -> value);
  }

  /**
   * Removes a key, and gives the value that was there, or null.
   *
   * @param key its key
   * @return the value that was there, or null
   */
  public @Nullable V remove(K key) {
    return tree.remove(key);
  }

  /**
   * {@return the entries of a range that live, in the order of keys, as of one moment} Close the
   * stream.
   *
   * @param range which keys
   */
  public Stream<Map.Entry<K, V>> entries(KeyRange<K> range) {
    return tree.entries(range);
  }

  /**
   * {@return the tree that holds the map: for transactions, batches and snapshots} What is put
   * there without an instant lives for the lifetime of the map, too.
   */
  public TypedTree<K, V> tree() {
    return tree;
  }
}
