package io.isobardb.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.query.FailureReason;
import org.apache.kafka.streams.query.KeyQuery;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.query.RangeQuery;
import org.apache.kafka.streams.query.WindowKeyQuery;
import org.apache.kafka.streams.query.WindowRangeQuery;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.TimestampedKeyValueStore;
import org.apache.kafka.streams.state.ValueAndTimestamp;
import org.apache.kafka.streams.state.WindowStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Interactive queries, as Kafka hands them to state stores. */
@Tag("any-jdk")
class QueryTest {
  @TempDir Path directory;

  @AfterEach
  void close() {
    IsobarStores.close();
  }

  private TestTask task() {
    return new TestTask(directory, Map.of());
  }

  private static Bytes key(String key) {
    return Bytes.wrap(key.getBytes(UTF_8));
  }

  private static byte[] value(String value) {
    return value.getBytes(UTF_8);
  }

  private static <R> QueryResult<R> ask(StateStore store, Query<R> query) {
    return store.query(query, PositionBound.unbounded(), new QueryConfig(true));
  }

  private static <K> List<String> values(KeyValueIterator<K, byte[]> iterator) {
    List<String> values = new ArrayList<>();
    try (iterator) {
      iterator.forEachRemaining(next -> values.add(new String(next.value, UTF_8)));
    }
    return values;
  }

  @Test
  void aKeyValueStoreAnswers() {
    KeyValueStore<Bytes, byte[]> store = task().open(IsobarStores.keyValueStore("s").get());
    store.put(key("a"), value("1"));
    store.put(key("b"), value("2"));
    QueryResult<byte[]> one = ask(store, KeyQuery.withKey(key("a")));
    assertArrayEquals(value("1"), one.getResult());
    assertFalse(one.getExecutionInfo().isEmpty());
    assertNull(ask(store, KeyQuery.<Bytes, byte[]>withKey(key("c"))).getResult());
    RangeQuery<Bytes, byte[]> all = RangeQuery.withNoBounds();
    assertEquals(List.of("1", "2"), values(ask(store, all).getResult()));
    assertEquals(List.of("2", "1"), values(ask(store, all.withDescendingKeys()).getResult()));
    RangeQuery<Bytes, byte[]> from = RangeQuery.withLowerBound(key("b"));
    assertEquals(List.of("2"), values(ask(store, from).getResult()));
    assertEquals(
        FailureReason.UNKNOWN_QUERY_TYPE,
        ask(store, WindowRangeQuery.<Bytes, byte[]>withKey(key("a"))).getFailureReason());
    store.close();
  }

  /** Kafka adds timestamps to what a plain store answers, and takes its iterators for RocksDB's. */
  @Test
  void rangesOfAPlainStoreThatIsAskedForTimestampsSayWhatToUse() {
    TimestampedKeyValueStore<String, String> store =
        task()
            .open(
                Stores.timestampedKeyValueStoreBuilder(
                        IsobarStores.keyValueStore("s"), Serdes.String(), Serdes.String())
                    .build());
    store.put("a", ValueAndTimestamp.make("1", 5));
    assertEquals("1", ask(store, KeyQuery.<String, String>withKey("a")).getResult());
    QueryResult<?> range = ask(store, RangeQuery.<String, String>withNoBounds());
    assertEquals(FailureReason.UNKNOWN_QUERY_TYPE, range.getFailureReason());
    assertTrue(range.getFailureMessage().contains("IsobarStores.timestampedKeyValueStore"));
    store.close();
  }

  @Test
  void windowsAndSessionsAnswer() {
    WindowStore<Bytes, byte[]> windows =
        task()
            .open(
                IsobarStores.windowStore("w", Duration.ofMinutes(1), Duration.ofSeconds(1), false)
                    .get());
    windows.put(key("a"), value("1"), 1_000);
    windows.put(key("b"), value("2"), 2_000);
    Instant end = Instant.ofEpochMilli(9_000);
    // As Kafka hands it on. Kafka 4.3 swaps the two times of a query each time one is made.
    WindowKeyQuery<Bytes, byte[]> asked =
        WindowKeyQuery.withKeyAndWindowStartRange(key("a"), Instant.EPOCH, end);
    WindowKeyQuery<Bytes, byte[]> handedOn =
        WindowKeyQuery.withKeyAndWindowStartRange(
            asked.getKey(), asked.getTimeFrom().get(), asked.getTimeTo().get());
    assertEquals(List.of("1"), values(ask(windows, handedOn).getResult()));
    assertEquals(
        List.of("1", "2"),
        values(
            ask(windows, WindowRangeQuery.<Bytes, byte[]>withWindowStartRange(Instant.EPOCH, end))
                .getResult()));
    windows.close();

    SessionStore<Bytes, byte[]> sessions =
        task().open(IsobarStores.sessionStore("x", Duration.ofMinutes(1)).get());
    sessions.put(new Windowed<>(key("a"), new SessionWindow(1, 5)), value("3"));
    assertEquals(
        List.of("3"),
        values(ask(sessions, WindowRangeQuery.<Bytes, byte[]>withKey(key("a"))).getResult()));
    sessions.close();
  }

  @Test
  void anAnswerIsNotBehindTheBound() {
    TestTask task = task();
    KeyValueStore<Bytes, byte[]> store = task.open(IsobarStores.keyValueStore("s").get());
    task.at("input", 0, 5);
    store.put(key("a"), value("1"));
    KeyQuery<Bytes, byte[]> query = KeyQuery.withKey(key("a"));
    for (long offset : new long[] {4, 5, 6}) {
      PositionBound bound =
          PositionBound.at(Position.emptyPosition().withComponent("input", 0, offset));
      QueryResult<byte[]> result = store.query(query, bound, new QueryConfig(false));
      assertEquals(offset <= 5, result.isSuccess());
      if (offset > 5) {
        assertEquals(FailureReason.NOT_UP_TO_BOUND, result.getFailureReason());
      }
      assertEquals(Position.emptyPosition().withComponent("input", 0, 5), result.getPosition());
    }
    PositionBound ofOther =
        PositionBound.at(Position.emptyPosition().withComponent("input", 1, 100));
    assertTrue(
        store.query(query, ofOther, new QueryConfig(false)).isSuccess(),
        "a bound of another partition");
    store.close();
  }

  @Test
  void queriesSeeNoHalfBatchWhileTheTaskWrites() throws InterruptedException {
    KeyValueStore<Bytes, byte[]> store = task().open(IsobarStores.keyValueStore("s").get());
    AtomicBoolean stop = new AtomicBoolean();
    List<String> torn = new ArrayList<>();
    put(store, 0);
    Thread reader =
        new Thread(
            () -> {
              while (!stop.get()) {
                List<String> seen = values(store.all());
                if (seen.size() != 2 || !seen.get(0).equals(seen.get(1))) {
                  torn.add(seen.toString());
                }
              }
            });
    reader.start();
    for (int i = 1; i < 500; i++) {
      put(store, i);
    }
    stop.set(true);
    reader.join();
    assertEquals(List.of(), torn);
    store.close();
  }

  private static void put(KeyValueStore<Bytes, byte[]> store, int number) {
    byte[] value = value(String.valueOf(number));
    store.putAll(List.of(KeyValue.pair(key("a"), value), KeyValue.pair(key("b"), value)));
  }
}
