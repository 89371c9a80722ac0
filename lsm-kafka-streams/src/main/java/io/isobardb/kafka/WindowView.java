package io.isobardb.kafka;

import java.time.Instant;
import java.util.Objects;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.query.FailureReason;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.query.WindowKeyQuery;
import org.apache.kafka.streams.query.WindowRangeQuery;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyWindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;
import org.jspecify.annotations.Nullable;

/**
 * Reads of a window store, with or without what Kafka has not committed.
 *
 * <p>Thread rule: any thread.
 */
final class WindowView implements ReadOnlyWindowStore<Bytes, byte[]> {
  private final IsobarWindowStore store;
  private final boolean committed;

  WindowView(IsobarWindowStore store, boolean committed) {
    this.store = store;
    this.committed = committed;
  }

  /** An iterator over the values of one key. */
  private final class Values extends SegmentScan<Long> implements WindowStoreIterator<byte[]> {
    Values(StateTree tree, Range range) {
      super(tree, range, committed);
    }

    @Override
    @Nullable KeyValue<Long, byte[]> entry(byte[] key, Entries at) {
      return store.entry(key, at, committed, store::time);
    }
  }

  /** An iterator over windows of many keys. */
  private final class Windows extends SegmentScan<Windowed<Bytes>> {
    Windows(StateTree tree, Range range) {
      super(tree, range, committed);
    }

    @Override
    @Nullable KeyValue<Windowed<Bytes>, byte[]> entry(byte[] key, Entries at) {
      return store.entry(key, at, committed, store::window);
    }
  }

  @Override
  public byte @Nullable [] fetch(Bytes key, long time) {
    Objects.requireNonNull(key, "key cannot be null");
    return store.read(IsobarWindowStore.key(key.get(), time, store.number()), committed);
  }

  WindowStoreIterator<byte[]> fetch(Bytes key, long timeFrom, long timeTo, boolean forward) {
    Objects.requireNonNull(key, "key cannot be null");
    long from = Math.max(timeFrom, store.oldestTime());
    if (timeTo < from) {
      return InvalidRange.noWindows();
    }
    SegmentedStore.Search search =
        new SegmentedStore.Search(
            from,
            timeTo,
            IsobarWindowStore.key(key.get(), Math.max(0, from), 0),
            StateTree.behind(
                Bytes.wrap(IsobarWindowStore.key(key.get(), timeTo, Integer.MAX_VALUE))),
            forward,
            committed);
    return new Values(
        store.tree(),
        store.byKey(
            search,
            found -> store.compareKey(found, key.get()) == 0 && isWithin(found, from, timeTo)));
  }

  private boolean isWithin(byte[] key, long from, long to) {
    long time = store.time(key);
    return time >= from && time <= to;
  }

  KeyValueIterator<Windowed<Bytes>, byte[]> fetch(
      @Nullable Bytes keyFrom, @Nullable Bytes keyTo, long timeFrom, long timeTo, boolean forward) {
    if (InvalidRange.isInvalid(keyFrom, keyTo)) {
      return InvalidRange.empty();
    }
    long from = Math.max(timeFrom, store.oldestTime());
    if (timeTo < from) {
      return InvalidRange.empty();
    }
    SegmentedStore.Search search =
        new SegmentedStore.Search(
            from,
            timeTo,
            keyFrom == null ? null : keyFrom.get(),
            SegmentedStore.behind(keyTo, (int) (Math.max(0, timeTo) >>> 56)),
            forward,
            committed);
    return new Windows(
        store.tree(),
        store.byKey(
            search,
            found ->
                (keyFrom == null || store.compareKey(found, keyFrom.get()) >= 0)
                    && (keyTo == null || store.compareKey(found, keyTo.get()) <= 0)
                    && isWithin(found, from, timeTo)));
  }

  KeyValueIterator<Windowed<Bytes>, byte[]> fetchAll(long timeFrom, long timeTo, boolean forward) {
    long from = Math.max(timeFrom, store.oldestTime());
    if (timeTo < from) {
      return InvalidRange.empty();
    }
    SegmentedStore.Search search =
        new SegmentedStore.Search(Math.max(0, from), timeTo, null, null, forward, committed);
    return new Windows(store.tree(), store.byTime(search, found -> isWithin(found, from, timeTo)));
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> all() {
    return fetchAll(0, Long.MAX_VALUE, true);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardAll() {
    return fetchAll(0, Long.MAX_VALUE, false);
  }

  @Override
  public WindowStoreIterator<byte[]> fetch(Bytes key, Instant timeFrom, Instant timeTo) {
    return fetch(key, timeFrom.toEpochMilli(), timeTo.toEpochMilli(), true);
  }

  @Override
  public WindowStoreIterator<byte[]> backwardFetch(Bytes key, Instant timeFrom, Instant timeTo) {
    return fetch(key, timeFrom.toEpochMilli(), timeTo.toEpochMilli(), false);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> fetch(
      @Nullable Bytes keyFrom, @Nullable Bytes keyTo, Instant timeFrom, Instant timeTo) {
    return fetch(keyFrom, keyTo, timeFrom.toEpochMilli(), timeTo.toEpochMilli(), true);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetch(
      @Nullable Bytes keyFrom, @Nullable Bytes keyTo, Instant timeFrom, Instant timeTo) {
    return fetch(keyFrom, keyTo, timeFrom.toEpochMilli(), timeTo.toEpochMilli(), false);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> fetchAll(Instant timeFrom, Instant timeTo) {
    return fetchAll(timeFrom.toEpochMilli(), timeTo.toEpochMilli(), true);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetchAll(
      Instant timeFrom, Instant timeTo) {
    return fetchAll(timeFrom.toEpochMilli(), timeTo.toEpochMilli(), false);
  }

  /** The answer to a query; null for a kind that window stores have no answer to. */
  @Nullable QueryResult<?> answer(Query<?> query) {
    if (query instanceof WindowKeyQuery<?, ?> of) {
      return of.getTimeFrom().isPresent() && of.getTimeTo().isPresent()
          ? QueryResult.forResult(
              fetch((Bytes) of.getKey(), of.getTimeFrom().get(), of.getTimeTo().get()))
          : unbounded(query);
    }
    if (query instanceof WindowRangeQuery<?, ?> of) {
      return of.getTimeFrom().isPresent() && of.getTimeTo().isPresent()
          ? QueryResult.forResult(fetchAll(of.getTimeFrom().get(), of.getTimeTo().get()))
          : unbounded(query);
    }
    return null;
  }

  private static QueryResult<?> unbounded(Query<?> query) {
    return QueryResult.forFailure(
        FailureReason.UNKNOWN_QUERY_TYPE,
        "a window store answers queries with a first and a last start of windows, not " + query);
  }
}
