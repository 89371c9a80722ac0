package io.isobardb.kafka;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.query.FailureReason;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.query.RangeQuery;
import org.apache.kafka.streams.state.HeadersBytesStore;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.apache.kafka.streams.state.TimestampedBytesStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A key-value store; keys and values are Kafka's. */
class IsobarKeyValueStore extends AbstractStore implements KeyValueStore<Bytes, byte[]> {
  private static final Logger LOG = LoggerFactory.getLogger(IsobarKeyValueStore.class);

  private final KeyValueView view = new KeyValueView(this, false);
  private final KeyValueView committed = new KeyValueView(this, true);

  /** Kafka adds timestamps to what this returns, and answers ranges by iterators of RocksDB's. */
  private boolean isAdapted;

  IsobarKeyValueStore(String name) {
    super(name);
  }

  /** One whose values begin with a timestamp; restored values get one. */
  static final class Timestamped extends IsobarKeyValueStore implements TimestampedBytesStore {
    Timestamped(String name) {
      super(name);
    }
  }

  /** One whose values begin with headers and a timestamp; restored values get them. */
  static final class WithHeaders extends IsobarKeyValueStore implements HeadersBytesStore {
    WithHeaders(String name) {
      super(name);
    }
  }

  @Override
  final String layout() {
    return "key-value";
  }

  @Override
  void onOpen(StateTree opened, StateStoreContext context, @Nullable StateStore root) {
    try {
      isAdapted = KafkaInternals.addsTimestamps(root);
    } catch (LinkageError e) {
      LOG.debug("this Kafka does not tell whether it adds timestamps", e);
    }
  }

  @Override
  public void put(Bytes key, byte @Nullable [] value) {
    Objects.requireNonNull(key, "key cannot be null");
    StateTree tree = tree();
    synchronized (tree.position()) {
      tree.put(key.get(), value);
      advancePosition(tree);
    }
  }

  @Override
  public byte @Nullable [] putIfAbsent(Bytes key, byte @Nullable [] value) {
    Objects.requireNonNull(key, "key cannot be null");
    byte[] present = get(key);
    if (present == null && value != null) {
      put(key, value);
    }
    return present;
  }

  @Override
  public void putAll(List<KeyValue<Bytes, byte[]>> entries) {
    List<StateTree.Change> changes = new ArrayList<>(entries.size());
    for (KeyValue<Bytes, byte[]> entry : entries) {
      Objects.requireNonNull(entry.key, "key cannot be null");
      changes.add(new StateTree.Change(entry.key.get(), entry.value));
    }
    StateTree tree = tree();
    synchronized (tree.position()) {
      tree.write(changes);
      advancePosition(tree);
    }
  }

  @Override
  public byte @Nullable [] delete(Bytes key) {
    Objects.requireNonNull(key, "key cannot be null");
    byte[] old = get(key);
    put(key, null);
    return old;
  }

  @Override
  void restoreAll(List<Restored> records) {
    List<StateTree.Change> changes = new ArrayList<>(records.size());
    records.forEach(record -> changes.add(new StateTree.Change(record.key(), record.value())));
    tree().restore(changes);
  }

  @Override
  public byte @Nullable [] get(Bytes key) {
    return view.get(key);
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> range(@Nullable Bytes from, @Nullable Bytes to) {
    return view.range(from, to);
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> reverseRange(@Nullable Bytes from, @Nullable Bytes to) {
    return view.reverseRange(from, to);
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> all() {
    return view.all();
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> reverseAll() {
    return view.reverseAll();
  }

  @Override
  public <S extends Serializer<P>, P> KeyValueIterator<Bytes, byte[]> prefixScan(
      P prefix, S prefixKeySerializer) {
    return view.prefixScan(prefix, prefixKeySerializer);
  }

  @Override
  public long approximateNumEntries() {
    return view.approximateNumEntries();
  }

  /** The store at a level of isolation; Kafka 4.4 asks for it. */
  public ReadOnlyKeyValueStore<Bytes, byte[]> readOnly(IsolationLevel level) {
    return isCommittedOnly(level) ? committed : view;
  }

  @Override
  @Nullable QueryResult<?> answer(Query<?> query, boolean committedOnly) {
    if (isAdapted && query instanceof RangeQuery) {
      return QueryResult.forFailure(
          FailureReason.UNKNOWN_QUERY_TYPE,
          "store "
              + name()
              + " keeps no timestamps, and Kafka can't add them to ranges of such a store;"
              + " IsobarStores.timestampedKeyValueStore makes one that keeps them");
    }
    return (committedOnly ? committed : view).answer(query);
  }
}
