package io.isobardb.lsm.recipe;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.typed.Codec;
import io.isobardb.lsm.typed.KeyCodec;
import io.isobardb.lsm.typed.KeyRange;
import io.isobardb.lsm.typed.TypedTree;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Durable counters. To add reads nothing and locks nothing, so many threads may add to one counter.
 *
 * <pre>{@code
 * Counters<String> hits = Counters.open(store, "hits", KeyCodec.ofString());
 * hits.increment("/index.html");
 * hits.add("/index.html", 10);
 * long sum = hits.get("/index.html"); // 11
 * }</pre>
 *
 * <p>A counter that nothing was added to is 0. Sums wrap around as a {@code long} does.
 *
 * <p><b>What fails.</b> An addition is counted once or not at all. A crash may take back the last
 * ones if they were not synced, as the default durability of the store says. An addition that threw
 * may have been logged: if it is tried again, it may count twice. Where that matters, add within a
 * transaction that also writes a key of the event's own.
 *
 * <p>Thread rule: all methods may be called by any thread; those with a transaction or a batch by
 * that one's.
 *
 * <p>Errors: those of {@link TypedTree}.
 *
 * @param <K> the type of keys
 */
public final class Counters<K> {
  private final Store store;
  private final TypedTree<K, Long> tree;

  private Counters(Store store, TypedTree<K, Long> tree) {
    this.store = store;
    this.tree = tree;
  }

  /**
   * Opens counters, or makes them.
   *
   * @param <K> the type of keys
   * @param store an open store
   * @param name of the tree that holds them
   * @param keys the codec of keys
   * @return the counters
   * @throws IllegalArgumentException if there is such a tree that does not add
   */
  public static <K> Counters<K> open(Store store, String name, KeyCodec<K> keys) {
    Objects.requireNonNull(store, "store");
    Objects.requireNonNull(name, "name");
    TreeOptions adding = TreeOptions.builder().mergeOperator(MergeOperator.ADD_LONG).build();
    return new Counters<>(store, TypedTree.of(store.openTree(name, adding), keys, Codec.int64()));
  }

  /**
   * Adds 1.
   *
   * @param key of the counter
   */
  public void increment(K key) {
    tree.merge(key, 1L);
  }

  /**
   * Adds a number, which may be negative.
   *
   * @param key of the counter
   * @param number how much to add
   */
  public void add(K key, long number) {
    tree.merge(key, number);
  }

  /**
   * Adds a number within a transaction.
   *
   * @param transaction the transaction that it is part of
   * @param key of the counter
   * @param number how much to add
   */
  public void add(Transaction transaction, K key, long number) {
    tree.merge(transaction, key, number);
  }

  /**
   * Adds a number with a batch.
   *
   * @param batch gets the write
   * @param key of the counter
   * @param number how much to add
   */
  public void add(WriteBatch batch, K key, long number) {
    tree.merge(batch, key, number);
  }

  /**
   * Adds a number and gives the sum: no other sum of the counter is given twice. Locks the key.
   *
   * @param key of the counter
   * @param number how much to add
   * @return the sum
   */
  public long addAndGet(K key, long number) {
    return store.inTransaction(
        transaction -> {
          long sum = number(tree.getForUpdate(transaction, key)) + number;
          tree.put(transaction, key, sum);
          return sum;
        });
  }

  /**
   * Gives a counter and sets it back to 0 in one step. Locks the key.
   *
   * @param key of the counter
   * @return what it was
   */
  public long reset(K key) {
    return store.inTransaction(
        transaction -> {
          long sum = number(tree.getForUpdate(transaction, key));
          tree.delete(transaction, key);
          return sum;
        });
  }

  /**
   * {@return the counter of a key}
   *
   * @param key of the counter
   */
  public long get(K key) {
    return number(tree.get(key));
  }

  private static long number(@Nullable Long stored) {
    return stored == null ? 0 : stored;
  }

  /**
   * {@return the sum of a range of counters, all as of one moment}
   *
   * @param range which keys
   */
  public long sum(KeyRange<K> range) {
    try (Stream<Map.Entry<K, Long>> entries = entries(range)) {
      return entries.mapToLong(Map.Entry::getValue).sum();
    }
  }

  /**
   * {@return the counters of a range in the order of keys, as of one moment} Close the stream.
   *
   * @param range which keys
   */
  public Stream<Map.Entry<K, Long>> entries(KeyRange<K> range) {
    return tree.entries(range);
  }

  /** {@return the tree that holds the counters: for reads as of a snapshot; null is 0 there} */
  public TypedTree<K, Long> tree() {
    return tree;
  }
}
