package io.isobardb.kafka;

import java.util.Objects;
import org.apache.kafka.common.serialization.BytesDeserializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.SessionWindowedDeserializer;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.query.FailureReason;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.query.WindowRangeQuery;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlySessionStore;
import org.jspecify.annotations.Nullable;

/**
 * Reads of a session store, with or without what Kafka has not committed.
 *
 * <p>Thread rule: any thread.
 */
final class SessionView implements ReadOnlySessionStore<Bytes, byte[]> {
  /** The first byte of a session's end may be any that is not negative. */
  private static final int LARGEST_FIRST_BYTE = 0x7F;

  /** One for all iterators: each makes a logger. */
  private static final SessionWindowedDeserializer<Bytes> SESSIONS =
      new SessionWindowedDeserializer<>(new BytesDeserializer());

  private final IsobarSessionStore store;
  private final boolean committed;

  SessionView(IsobarSessionStore store, boolean committed) {
    this.store = store;
    this.committed = committed;
  }

  private final class Sessions extends SegmentScan<Windowed<Bytes>> {
    Sessions(StateTree tree, Range range) {
      super(tree, range, committed);
    }

    @Override
    @Nullable KeyValue<Windowed<Bytes>, byte[]> entry(byte[] key, Entries at) {
      return store.entry(key, at, committed, found -> SESSIONS.deserialize("", found));
    }
  }

  @Override
  public byte @Nullable [] fetchSession(Bytes key, long sessionStartTime, long sessionEndTime) {
    Objects.requireNonNull(key, "key cannot be null");
    return store.read(
        IsobarSessionStore.key(key.get(), sessionEndTime, sessionStartTime), committed);
  }

  /** Sessions that end within a span of time, by their ends. */
  KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(long earliestEnd, long latestEnd) {
    if (latestEnd < earliestEnd) {
      return InvalidRange.empty();
    }
    SegmentedStore.Search search =
        new SegmentedStore.Search(Math.max(0, earliestEnd), latestEnd, null, null, true, committed);
    return new Sessions(
        store.tree(),
        store.byTime(
            search, key -> store.time(key) >= earliestEnd && store.time(key) <= latestEnd));
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(
      Bytes key, long earliestSessionEndTime, long latestSessionStartTime) {
    return ofKey(key, earliestSessionEndTime, latestSessionStartTime, true);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFindSessions(
      Bytes key, long earliestSessionEndTime, long latestSessionStartTime) {
    return ofKey(key, earliestSessionEndTime, latestSessionStartTime, false);
  }

  private KeyValueIterator<Windowed<Bytes>, byte[]> ofKey(
      Bytes key, long earliestEnd, long latestStart, boolean forward) {
    Objects.requireNonNull(key, "key cannot be null");
    long from = Math.max(earliestEnd, store.oldestTime());
    SegmentedStore.Search search =
        new SegmentedStore.Search(
            from,
            Long.MAX_VALUE,
            IsobarSessionStore.key(key.get(), Math.max(0, from), 0),
            StateTree.behind(
                Bytes.wrap(IsobarSessionStore.key(key.get(), Long.MAX_VALUE, Long.MAX_VALUE))),
            forward,
            committed);
    return new Sessions(
        store.tree(),
        store.byKey(
            search,
            found ->
                store.compareKey(found, key.get()) == 0
                    && store.time(found) >= from
                    && IsobarSessionStore.start(found) <= latestStart));
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(
      @Nullable Bytes keyFrom,
      @Nullable Bytes keyTo,
      long earliestSessionEndTime,
      long latestSessionStartTime) {
    return ofKeys(keyFrom, keyTo, earliestSessionEndTime, latestSessionStartTime, true);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFindSessions(
      @Nullable Bytes keyFrom,
      @Nullable Bytes keyTo,
      long earliestSessionEndTime,
      long latestSessionStartTime) {
    return ofKeys(keyFrom, keyTo, earliestSessionEndTime, latestSessionStartTime, false);
  }

  private KeyValueIterator<Windowed<Bytes>, byte[]> ofKeys(
      @Nullable Bytes keyFrom,
      @Nullable Bytes keyTo,
      long earliestEnd,
      long latestStart,
      boolean forward) {
    if (InvalidRange.isInvalid(keyFrom, keyTo)) {
      return InvalidRange.empty();
    }
    long from = Math.max(earliestEnd, store.oldestTime());
    SegmentedStore.Search search =
        new SegmentedStore.Search(
            from,
            Long.MAX_VALUE,
            keyFrom == null ? null : keyFrom.get(),
            SegmentedStore.behind(keyTo, LARGEST_FIRST_BYTE),
            forward,
            committed);
    return new Sessions(
        store.tree(),
        store.byKey(
            search,
            found ->
                (keyFrom == null || store.compareKey(found, keyFrom.get()) >= 0)
                    && (keyTo == null || store.compareKey(found, keyTo.get()) <= 0)
                    && store.time(found) >= from
                    && IsobarSessionStore.start(found) <= latestStart));
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> fetch(Bytes key) {
    return findSessions(key, 0, Long.MAX_VALUE);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetch(Bytes key) {
    return backwardFindSessions(key, 0, Long.MAX_VALUE);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> fetch(
      @Nullable Bytes keyFrom, @Nullable Bytes keyTo) {
    return findSessions(keyFrom, keyTo, 0, Long.MAX_VALUE);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetch(
      @Nullable Bytes keyFrom, @Nullable Bytes keyTo) {
    return backwardFindSessions(keyFrom, keyTo, 0, Long.MAX_VALUE);
  }

  /** The answer to a query; null for a kind that session stores have no answer to. */
  @Nullable QueryResult<?> answer(Query<?> query) {
    if (query instanceof WindowRangeQuery<?, ?> of) {
      return of.getKey().isPresent()
          ? QueryResult.forResult(fetch((Bytes) of.getKey().get()))
          : QueryResult.forFailure(
              FailureReason.UNKNOWN_QUERY_TYPE,
              "a session store answers queries for a key, not " + query);
    }
    return null;
  }
}
