package io.isobardb.kafka;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.state.HeadersBytesStore;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlySessionStore;
import org.apache.kafka.streams.state.SessionStore;
import org.jspecify.annotations.Nullable;

/**
 * A session store. A key of the changelog is the user's key, the session's end (8 bytes), and its
 * start (8 bytes).
 */
class IsobarSessionStore extends SegmentedStore implements SessionStore<Bytes, byte[]> {
  private static final int TIMES_LENGTH = 2 * Long.BYTES;

  private final SessionView view = new SessionView(this, false);
  private final SessionView committed = new SessionView(this, true);

  IsobarSessionStore(String name, long retention, boolean byTime) {
    super(name, retention, byTime, TIMES_LENGTH);
  }

  /** One whose values begin with headers; restored values get them. */
  static final class WithHeaders extends IsobarSessionStore implements HeadersBytesStore {
    WithHeaders(String name, long retention, boolean byTime) {
      super(name, retention, byTime);
    }
  }

  /** The key of the changelog for a session. */
  static byte[] key(byte[] key, long end, long start) {
    return ByteBuffer.allocate(key.length + TIMES_LENGTH)
        .put(key)
        .putLong(end)
        .putLong(start)
        .array();
  }

  private static byte[] key(Windowed<Bytes> session) {
    return key(session.key().get(), session.window().end(), session.window().start());
  }

  static long start(byte[] key) {
    return ByteBuffer.wrap(key).getLong(key.length - Long.BYTES);
  }

  @Override
  byte[] timeFirst(byte[] key) {
    int length = key.length - TIMES_LENGTH;
    return ByteBuffer.allocate(key.length)
        .put(key, length, TIMES_LENGTH)
        .put(key, 0, length)
        .array();
  }

  @Override
  byte[] timeLast(byte[] timeFirst) {
    return ByteBuffer.allocate(timeFirst.length)
        .put(timeFirst, TIMES_LENGTH, timeFirst.length - TIMES_LENGTH)
        .put(timeFirst, 0, TIMES_LENGTH)
        .array();
  }

  @Override
  public void put(Windowed<Bytes> sessionKey, byte @Nullable [] aggregate) {
    write(key(sessionKey), aggregate);
  }

  @Override
  public void remove(Windowed<Bytes> sessionKey) {
    Objects.requireNonNull(sessionKey, "sessionKey cannot be null");
    removeIfLive(key(sessionKey));
  }

  @Override
  public byte @Nullable [] fetchSession(Bytes key, long sessionStartTime, long sessionEndTime) {
    return view.fetchSession(key, sessionStartTime, sessionEndTime);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(
      long earliestSessionEndTime, long latestSessionEndTime) {
    return isByTime()
        ? view.findSessions(earliestSessionEndTime, latestSessionEndTime)
        : SessionStore.super.findSessions(earliestSessionEndTime, latestSessionEndTime);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(
      Bytes key, long earliestSessionEndTime, long latestSessionStartTime) {
    return view.findSessions(key, earliestSessionEndTime, latestSessionStartTime);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFindSessions(
      Bytes key, long earliestSessionEndTime, long latestSessionStartTime) {
    return view.backwardFindSessions(key, earliestSessionEndTime, latestSessionStartTime);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(
      @Nullable Bytes keyFrom,
      @Nullable Bytes keyTo,
      long earliestSessionEndTime,
      long latestSessionStartTime) {
    return view.findSessions(keyFrom, keyTo, earliestSessionEndTime, latestSessionStartTime);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFindSessions(
      @Nullable Bytes keyFrom,
      @Nullable Bytes keyTo,
      long earliestSessionEndTime,
      long latestSessionStartTime) {
    return view.backwardFindSessions(
        keyFrom, keyTo, earliestSessionEndTime, latestSessionStartTime);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> fetch(Bytes key) {
    return view.fetch(key);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetch(Bytes key) {
    return view.backwardFetch(key);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> fetch(
      @Nullable Bytes keyFrom, @Nullable Bytes keyTo) {
    return view.fetch(keyFrom, keyTo);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetch(
      @Nullable Bytes keyFrom, @Nullable Bytes keyTo) {
    return view.backwardFetch(keyFrom, keyTo);
  }

  /** The store at a level of isolation; Kafka 4.4 asks for it. */
  public ReadOnlySessionStore<Bytes, byte[]> readOnly(IsolationLevel level) {
    return isCommittedOnly(level) ? committed : view;
  }

  @Override
  @Nullable QueryResult<?> answer(Query<?> query, boolean committedOnly) {
    return (committedOnly ? committed : view).answer(query);
  }
}
