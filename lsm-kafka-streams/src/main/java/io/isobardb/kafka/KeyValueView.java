package io.isobardb.kafka;

import java.util.Objects;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.query.KeyQuery;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.query.RangeQuery;
import org.apache.kafka.streams.query.ResultOrder;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Reads of a key-value store, with or without what Kafka has not committed.
 *
 * <p>Thread rule: any thread.
 */
final class KeyValueView implements ReadOnlyKeyValueStore<Bytes, byte[]> {
  private final AbstractStore store;
  private final boolean committed;

  KeyValueView(AbstractStore store, boolean committed) {
    this.store = store;
    this.committed = committed;
  }

  @Override
  public byte @Nullable [] get(Bytes key) {
    return store.tree().get(key.get(), committed);
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> range(@Nullable Bytes from, @Nullable Bytes to) {
    return range(from, to, true);
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> reverseRange(@Nullable Bytes from, @Nullable Bytes to) {
    return range(from, to, false);
  }

  private KeyValueIterator<Bytes, byte[]> range(
      @Nullable Bytes from, @Nullable Bytes to, boolean forward) {
    if (InvalidRange.isInvalid(from, to)) {
      return InvalidRange.empty();
    }
    return entries(from == null ? null : from.get(), StateTree.behind(to), forward);
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> all() {
    return entries(null, null, true);
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> reverseAll() {
    return entries(null, null, false);
  }

  @Override
  public <S extends Serializer<P>, P> KeyValueIterator<Bytes, byte[]> prefixScan(
      P prefix, S prefixKeySerializer) {
    Objects.requireNonNull(prefix, "prefix cannot be null");
    Objects.requireNonNull(prefixKeySerializer, "prefixKeySerializer cannot be null");
    byte[] from = prefixKeySerializer.serialize(null, prefix);
    return entries(from, behindPrefix(from), true);
  }

  /** The first key behind all that begin with a prefix; null if there is none. */
  private static byte @Nullable [] behindPrefix(byte[] prefix) {
    int length = prefix.length;
    while (length > 0 && prefix[length - 1] == (byte) 0xFF) {
      length--;
    }
    if (length == 0) {
      return null;
    }
    byte[] behind = new byte[length];
    System.arraycopy(prefix, 0, behind, 0, length);
    behind[length - 1]++;
    return behind;
  }

  private KeyValueIterator<Bytes, byte[]> entries(
      byte @Nullable [] from, byte @Nullable [] to, boolean forward) {
    StateTree tree = store.tree();
    return new StateIterator<Bytes>(tree, tree.entries(from, to, forward, committed)) {
      @Override
      @Nullable KeyValue<Bytes, byte[]> advance(Entries from, boolean first) {
        return (first ? from.first() : from.next())
            ? KeyValue.pair(Bytes.wrap(from.key()), from.value())
            : null;
      }
    };
  }

  @Override
  public long approximateNumEntries() {
    return store.tree().approximateEntries();
  }

  /** The answer to a query; null for a kind that key-value stores have no answer to. */
  @Nullable QueryResult<?> answer(Query<?> query) {
    if (query instanceof KeyQuery<?, ?> of) {
      return QueryResult.forResult(get((Bytes) of.getKey()));
    }
    if (query instanceof RangeQuery<?, ?> of) {
      Bytes lower = (Bytes) of.getLowerBound().orElse(null);
      Bytes upper = (Bytes) of.getUpperBound().orElse(null);
      return QueryResult.forResult(range(lower, upper, of.resultOrder() != ResultOrder.DESCENDING));
    }
    return null;
  }
}
