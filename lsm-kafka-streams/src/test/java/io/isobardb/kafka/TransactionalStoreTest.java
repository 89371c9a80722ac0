package io.isobardb.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.isobardb.lsm.Store;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessingContext;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.VersionedBytesStore;
import org.apache.kafka.streams.state.WindowStoreIterator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/**
 * State stores to which Kafka commits with each transaction, which it does from 4.4 on. These use
 * public packages of Kafka only, and run with both releases.
 */
@Tag("any-jdk")
class TransactionalStoreTest {
  private static final TopicPartition CHANGELOG = new TopicPartition("app-counts-changelog", 0);

  /** How often the store looks at what is held. */
  private static final Duration SWEEPS = Duration.ofSeconds(30);

  @TempDir Path directory;

  private final ManualSurroundings surroundings = new ManualSurroundings();
  private MockProcessorContext<Void, Void> context;

  @BeforeEach
  void makeContext() {
    SharedStore.openIn(surroundings);
    context = context(true);
  }

  @AfterEach
  void close() {
    SharedStore.openIn(Store::open);
    assertEquals(0, IsobarStores.close(), "all state stores are closed");
  }

  private MockProcessorContext<Void, Void> context(boolean transactional) {
    Properties properties = new Properties();
    properties.put("application.id", "app");
    properties.put("bootstrap.servers", "none:1");
    properties.put("state.dir", directory.toString());
    properties.put("processing.guarantee", "exactly_once_v2");
    properties.put("enable.transactional.statestores", transactional);
    properties.put("isobar.memoryBudget", "16MB");
    properties.put("isobar.ioMode", "BUFFERED");
    return new MockProcessorContext<>(
        properties, new TaskId(0, 0), directory.resolve("app").resolve("0_0").toFile());
  }

  private <S extends StateStore> S open(S store) {
    StateStoreContext of = context.getStateStoreContext();
    store.init(of, store);
    return store;
  }

  private IsobarKeyValueStore open() {
    return open(new IsobarKeyValueStore("counts"));
  }

  private static Bytes key(String key) {
    return Bytes.wrap(key.getBytes(UTF_8));
  }

  private static byte[] value(String value) {
    return value.getBytes(UTF_8);
  }

  private static List<String> read(KeyValueIterator<Bytes, byte[]> iterator) {
    List<String> read = new ArrayList<>();
    try (iterator) {
      while (iterator.hasNext()) {
        KeyValue<Bytes, byte[]> next = iterator.next();
        read.add(new String(next.key.get(), UTF_8) + "=" + new String(next.value, UTF_8));
      }
    }
    return read;
  }

  @Test
  void anOlderKafkaDoesNotCommitSoNothingIsHeldBack() {
    assumeTrue(!StreamsOptions.KAFKA_COMMITS);
    IsobarKeyValueStore store = open();
    store.put(key("a"), value("1"));
    assertEquals(0, store.approximateNumUncommittedBytes());
    assertArrayEquals(value("1"), store.readOnly(IsolationLevel.READ_COMMITTED).get(key("a")));
    store.close();
  }

  @Test
  void whatIsNotCommittedIsSeenByTheTaskAlone() {
    assumeTrue(StreamsOptions.KAFKA_COMMITS);
    IsobarKeyValueStore store = open();
    store.put(key("a"), value("1"));
    store.put(key("b"), value("2"));
    store.commit(Map.of(CHANGELOG, 1L));
    context.setRecordMetadata("input", 0, 7);
    store.put(key("a"), value("3"));
    store.delete(key("b"));
    store.put(key("c"), value("4"));
    ReadOnlyKeyValueStore<Bytes, byte[]> committed = store.readOnly(IsolationLevel.READ_COMMITTED);
    assertEquals(List.of("a=3", "c=4"), read(store.all()));
    assertEquals(List.of("c=4", "a=3"), read(store.reverseAll()));
    assertEquals(List.of("a=1", "b=2"), read(committed.all()));
    assertArrayEquals(value("1"), committed.get(key("a")));
    assertNull(store.get(key("b")));
    assertTrue(store.approximateNumUncommittedBytes() > 4);

    store.commit(Map.of(CHANGELOG, 3L));
    assertEquals(0, store.approximateNumUncommittedBytes());
    assertEquals(List.of("a=3", "c=4"), read(committed.all()));
    store.close();
  }

  /** By the interface, as Kafka asks: its default shows all. */
  @Test
  void versionsThatAreNotCommittedAreSeenByTheTaskAlone() throws ReflectiveOperationException {
    assumeTrue(StreamsOptions.KAFKA_COMMITS);
    VersionedBytesStore store = open(new IsobarVersionedStore("v", 60_000, 2_000));
    store.put(key("a"), value("1"), 1_000);
    store.commit(Map.of(CHANGELOG, 1L));
    store.put(key("a"), value("2"), 2_000);
    store.put(key("b"), value("3"), 3_000);
    VersionedBytesStore committed =
        (VersionedBytesStore)
            VersionedBytesStore.class
                .getMethod("readOnly", IsolationLevel.class)
                .invoke(store, IsolationLevel.READ_COMMITTED);
    assertEquals("1", version(committed.get(key("a"))));
    assertEquals("1", version(committed.get(key("a"), 5_000)));
    assertNull(committed.get(key("b")));
    assertEquals("2", version(store.get(key("a"))));
    store.commit(Map.of(CHANGELOG, 2L));
    assertEquals("2", version(committed.get(key("a"))));
    assertEquals("1", version(committed.get(key("a"), 1_500)));
    assertEquals("3", version(committed.get(key("b"))));
    store.close();
    assertThrows(InvalidStateStoreException.class, () -> committed.get(key("a")));
  }

  private static String version(byte[] stamped) {
    return new String(stamped, Long.BYTES, stamped.length - Long.BYTES, UTF_8);
  }

  @Test
  void aRecordThatIsProcessedAgainIsCountedOnce() {
    assumeTrue(StreamsOptions.KAFKA_COMMITS);
    IsobarKeyValueStore store = open();
    count(store);
    store.commit(Map.of(CHANGELOG, 0L));
    context.setRecordMetadata("input", 0, 8);
    count(store);
    store.close(); // the transaction is aborted, and Kafka does not wipe the state

    IsobarKeyValueStore again = open();
    assertEquals(0L, again.committedOffset(CHANGELOG));
    assertEquals(Position.emptyPosition(), again.getPosition());
    count(again);
    again.commit(Map.of(CHANGELOG, 1L));
    assertEquals(List.of("n=2"), read(again.all()));
    again.close();
  }

  private static void count(IsobarKeyValueStore store) {
    byte[] old = store.get(key("n"));
    int count = old == null ? 0 : Integer.parseInt(new String(old, UTF_8));
    store.put(key("n"), value(String.valueOf(count + 1)));
  }

  @Test
  void whatIsRestoredIsCommittedAlready() {
    assumeTrue(StreamsOptions.KAFKA_COMMITS);
    IsobarKeyValueStore store = open();
    store.restoreAll(List.of(new AbstractStore.Restored(key("a").get(), value("1"), 0)));
    assertEquals(0, store.approximateNumUncommittedBytes());
    assertArrayEquals(value("1"), store.readOnly(IsolationLevel.READ_COMMITTED).get(key("a")));
    store.commit(Map.of(CHANGELOG, 0L));
    store.close();
    IsobarKeyValueStore again = open();
    assertArrayEquals(value("1"), again.get(key("a")));
    again.close();
  }

  @Test
  void whatWasNotClosedBeforeTheOptionWasSetBeginsAnew() {
    assumeTrue(StreamsOptions.KAFKA_COMMITS);
    context = context(false);
    IsobarKeyValueStore store = open();
    store.put(key("a"), value("1"));
    store.commit(Map.of(CHANGELOG, 5L));
    store.put(key("a"), value("2"));
    store.close(); // after writes that were not committed
    context = context(true);
    IsobarKeyValueStore again = open();
    assertNull(again.get(key("a")));
    assertNull(again.committedOffset(CHANGELOG));
    again.close();
  }

  /** Kafka takes a corrupted task's offsets back, closes it, and deletes its directory. */
  @Test
  void aTaskThatDiesBetweenItsCorruptionAndItsWipeBeginsAnew() {
    assumeTrue(StreamsOptions.KAFKA_COMMITS);
    IsobarKeyValueStore store = open();
    store.put(key("a"), value("committed"));
    store.commit(Map.of(CHANGELOG, 1L));
    store.put(key("b"), value("not committed"));
    store.commit(Map.of());
    store.close();
    IsobarKeyValueStore again = open();
    assertNull(again.committedOffset(CHANGELOG));
    assertEquals(List.of(), read(again.all()));
    again.close();
  }

  @Test
  void aStateStoreWithoutAChangelogCommitsNoOffset() {
    assumeTrue(StreamsOptions.KAFKA_COMMITS);
    IsobarKeyValueStore store = open();
    store.put(key("a"), value("1"));
    store.commit(Map.of());
    store.put(key("b"), value("2"));
    store.commit(Map.of());
    store.close();
    IsobarKeyValueStore again = open();
    assertEquals(List.of("a=1", "b=2"), read(again.all()));
    again.close();
  }

  /** Kafka restores that much of a changelog, and not what has expired. */
  @Test
  void kafkaIsToldHowLongWindowsAndSessionsAreKept() throws ReflectiveOperationException {
    assumeTrue(StreamsOptions.KAFKA_COMMITS);
    Duration kept = Duration.ofMinutes(7);
    Duration size = Duration.ofMinutes(1);
    Method told =
        Class.forName("org.apache.kafka.streams.state.internals.WithRetentionPeriod")
            .getMethod("resolveRetentionPeriod", StateStore.class);
    for (StateStore store :
        List.of(
            Stores.windowStoreBuilder(
                    IsobarStores.windowStore("w", kept, size, true), Serdes.Long(), Serdes.Long())
                .build(),
            Stores.timestampedWindowStoreBuilder(
                    IsobarStores.timestampedWindowStore("w", kept, size, false),
                    Serdes.Long(),
                    Serdes.Long())
                .build(),
            Stores.timestampedWindowStoreWithHeadersBuilder(
                    IsobarStores.timestampedWindowStoreWithHeaders("w", kept, size, false),
                    Serdes.Long(),
                    Serdes.Long())
                .withCachingEnabled()
                .build(),
            Stores.sessionStoreBuilder(
                    IsobarStores.sessionStore("s", kept), Serdes.Long(), Serdes.Long())
                .build(),
            Stores.sessionStoreWithHeadersBuilder(
                    IsobarStores.sessionStoreWithHeaders("s", kept), Serdes.Long(), Serdes.Long())
                .build())) {
      assertEquals(kept.toMillis(), told.invoke(null, store));
    }
  }

  @Test
  void expiredSegmentsGoWithTheCommit() {
    assumeTrue(StreamsOptions.KAFKA_COMMITS);
    IsobarWindowStore.Kind kind =
        new IsobarWindowStore.Kind("w", Duration.ofMinutes(4).toMillis(), 1, false, true);
    IsobarWindowStore store = open(new IsobarWindowStore(kind));
    store.put(key("a"), value("1"), 0);
    store.commit(Map.of(CHANGELOG, 0L));
    store.put(key("a"), value("2"), Duration.ofMinutes(20).toMillis());
    assertNull(store.fetch(key("a"), 0));
    store.close();

    IsobarWindowStore again = open(new IsobarWindowStore(kind));
    assertArrayEquals(value("1"), again.fetch(key("a"), 0), "the stream's time went back, too");
    again.put(key("a"), value("2"), Duration.ofMinutes(20).toMillis());
    again.commit(Map.of(CHANGELOG, 1L));
    try (KeyValueIterator<?, byte[]> all = again.all()) {
      assertArrayEquals(value("2"), all.next().value);
      assertFalse(all.hasNext());
    }
    again.close();
  }

  private SharedStore shared() {
    return SharedStore.onlyOne();
  }

  private long budget() {
    return shared().store().stats().ledger().limitBytes();
  }

  /** Holds back about as much; the last key. */
  private static int hold(IsobarKeyValueStore store, int from, long bytes) {
    byte[] value = new byte[10_000];
    int key = from;
    for (long before = store.approximateNumUncommittedBytes();
        store.approximateNumUncommittedBytes() < before + bytes;
        key++) {
      store.put(key(String.valueOf(key)), value);
    }
    return key;
  }

  @Test
  void whatIsHeldBackCountsAgainstTheMemoryBudget() {
    assumeTrue(StreamsOptions.KAFKA_COMMITS);
    IsobarKeyValueStore store = open();
    IsobarKeyValueStore other = open(new IsobarKeyValueStore("other"));
    HeldMemory memory = shared().heldMemory();
    hold(store, 0, 3 << 20);
    hold(other, 0, 2 << 20);
    long held = store.approximateNumUncommittedBytes() + other.approximateNumUncommittedBytes();
    assertEquals(held, memory.heldBytes());
    surroundings.pass(Duration.ZERO);
    assertTrue(memory.countedBytes() >= held, memory.countedBytes() + " of " + held);
    assertEquals((16 << 20) - memory.countedBytes(), budget());
    assertTrue(shared().store().stats().ledger().allocatedBytes() + held <= 16 << 20);

    store.commit(Map.of(CHANGELOG, 1L));
    other.close();
    assertEquals(0, memory.heldBytes());
    surroundings.pass(SWEEPS);
    assertEquals((16 << 20) - memory.countedBytes(), budget(), "as much was held a while ago");
    surroundings.pass(SWEEPS);
    assertEquals(16 << 20, budget());
    store.close();
  }

  @Test
  void whatTheBudgetHasNoRoomForIsCommittedInParts() {
    assumeTrue(StreamsOptions.KAFKA_COMMITS);
    AtomicInteger requests = new AtomicInteger();
    StateStoreContext of = asking(requests);
    IsobarKeyValueStore store = new IsobarKeyValueStore("counts");
    store.init(of, store);
    HeldMemory memory = shared().heldMemory();
    hold(store, 0, 1 << 20);
    assertEquals(0, requests.get());
    int last = hold(store, 200, 10 << 20);
    assertEquals(1, requests.get(), "Kafka was asked once to commit");
    assertTrue(memory.isFull());
    surroundings.pass(Duration.ZERO);
    assertEquals(8 << 20, budget(), "half of it stays");
    store.commit(Map.of(CHANGELOG, 1L));
    assertEquals(0, store.approximateNumUncommittedBytes());
    assertArrayEquals(new byte[10_000], store.get(key(String.valueOf(last - 1))));
    hold(store, 0, 10 << 20);
    assertEquals(2, requests.get());
    store.close();

    IsobarKeyValueStore again = open();
    assertEquals(1L, again.committedOffset(CHANGELOG));
    for (int i = 200; i < last; i++) {
      assertArrayEquals(new byte[10_000], again.get(key(String.valueOf(i))));
    }
    again.close();
  }

  /** Else what was put would be in the changelog, and no commit or restore could take it. */
  @Test
  void whatIsTooLargeIsRefusedWhenItIsPut() {
    IsobarKeyValueStore store = open();
    store.put(key("a"), value("1"));
    byte[] long3000 = new byte[3_000];
    byte[] tooLarge = new byte[9 << 20];
    for (Executable put :
        List.<Executable>of(
            () -> store.put(Bytes.wrap(long3000), value("2")),
            () -> store.put(key("b"), tooLarge),
            () -> store.putAll(List.of(KeyValue.pair(Bytes.wrap(long3000), value("2")))))) {
      IllegalArgumentException told = assertThrows(IllegalArgumentException.class, put);
      assertTrue(told.getMessage().contains("state store counts"), told.getMessage());
    }
    store.commit(Map.of(CHANGELOG, 1L));
    assertEquals(List.of("a=1"), read(store.all()));
    store.close();
  }

  /** The budget is lowered by what is held, and with it what the store takes at once. */
  @Test
  void whatWasTakenIsCommittedThoughTheBudgetWasLowered() {
    assumeTrue(StreamsOptions.KAFKA_COMMITS);
    IsobarKeyValueStore store = open();
    int most = shared().store().openTree("streams").maxValueBytes();
    assertThrows(IllegalArgumentException.class, () -> store.put(key("b"), new byte[most]));
    byte[] large = new byte[(int) shared().heldMemory().mostValueBytes(most)];
    assertTrue(large.length > most / 3);
    store.put(key("large"), large);
    hold(store, 0, 8 << 20);
    surroundings.pass(Duration.ZERO);
    assertEquals(8 << 20, budget());
    store.put(key("another"), large);
    store.commit(Map.of(CHANGELOG, 1L));
    assertArrayEquals(large, store.get(key("large")));
    assertArrayEquals(large, store.get(key("another")));
    store.close();
  }

  /** A range that is read while others are written, as by one that renames what it finds. */
  @Test
  void iteratorsSeeOneMoment() {
    IsobarKeyValueStore store = open();
    store.put(key("a"), value("1"));
    store.put(key("b"), value("2"));
    store.put(key("c"), value("3"));
    List<String> seen = new ArrayList<>();
    try (KeyValueIterator<Bytes, byte[]> all = store.all()) {
      for (int i = 0; i < 10 && all.hasNext(); i++) {
        KeyValue<Bytes, byte[]> next = all.next();
        String found = new String(next.key.get(), UTF_8) + "=" + new String(next.value, UTF_8);
        seen.add(found);
        store.put(key(found.charAt(0) + "d" + i), value("new"));
        store.put(key("c"), value("4"));
        store.delete(key("b"));
      }
    }
    assertEquals(List.of("a=1", "b=2", "c=3"), seen);
    store.close();
  }

  @Test
  void queriesSeeNoHalfBatchWhileTheTaskWrites() throws InterruptedException {
    IsobarKeyValueStore store = open();
    store.putAll(pair("0"));
    AtomicBoolean stop = new AtomicBoolean();
    List<String> torn = new ArrayList<>();
    Thread reader =
        new Thread(
            () -> {
              while (!stop.get()) {
                List<String> seen = read(store.all());
                if (seen.size() != 2
                    || !seen.get(0).substring(2).equals(seen.get(1).substring(2))) {
                  torn.add(seen.toString());
                }
              }
            });
    reader.start();
    for (int i = 1; i < 2_000; i++) {
      store.putAll(pair(String.valueOf(i)));
      if (i % 100 == 0) {
        store.commit(Map.of(CHANGELOG, (long) i));
      }
    }
    stop.set(true);
    reader.join();
    assertEquals(List.of(), torn);
    store.close();
  }

  private static List<KeyValue<Bytes, byte[]>> pair(String value) {
    return List.of(KeyValue.pair(key("a"), value(value)), KeyValue.pair(key("b"), value(value)));
  }

  /** The context of a task, which counts how often it is asked to commit. */
  private StateStoreContext asking(AtomicInteger requests) {
    StateStoreContext of = context.getStateStoreContext();
    return (StateStoreContext)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {StateStoreContext.class, ProcessingContext.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("commit")) {
                requests.incrementAndGet();
                return null;
              }
              return StateStoreContext.class
                  .getMethod(method.getName(), method.getParameterTypes())
                  .invoke(of, arguments);
            });
  }

  @Test
  void rangesAreThoseOfAMap() {
    assumeTrue(StreamsOptions.KAFKA_COMMITS);
    for (int seed = 0; seed < 40; seed++) {
      Random random = new Random(seed);
      IsobarKeyValueStore store = open(new IsobarKeyValueStore("s" + seed));
      NavigableMap<String, String> map = new TreeMap<>();
      for (int i = 0; i < 60; i++) {
        String key = "k" + random.nextInt(12);
        switch (random.nextInt(6)) {
          case 0 -> {
            store.delete(key(key));
            map.remove(key);
          }
          case 1 -> store.commit(Map.of(CHANGELOG, (long) i));
          case 2 -> {
            String to = "k" + random.nextInt(12);
            if (key.compareTo(to) <= 0) {
              assertEquals(
                  entries(map.subMap(key, true, to, true)),
                  read(store.range(key(key), key(to))),
                  "seed " + seed);
              assertEquals(
                  entries(map.subMap(key, true, to, true).descendingMap()),
                  read(store.reverseRange(key(key), key(to))),
                  "seed " + seed);
            }
          }
          default -> {
            store.put(key(key), value("v" + i));
            map.put(key, "v" + i);
          }
        }
        assertEquals(map.get(key), text(store.get(key(key))), "seed " + seed);
      }
      assertEquals(entries(map), read(store.all()), "seed " + seed);
      store.close();
    }
  }

  /** Nothing lies there, whatever the keys' first bytes. */
  @Test
  void noWindowBeginsBeforeTimeDoes() {
    for (boolean byTime : new boolean[] {false, true}) {
      IsobarWindowStore store =
          open(
              new IsobarWindowStore(
                  new IsobarWindowStore.Kind("w" + byTime, 120_000, 60_000, false, byTime)));
      store.put(key("a"), value("1"), 0);
      store.put(key("b"), value("2"), 60_000);
      try (KeyValueIterator<Windowed<Bytes>, byte[]> none =
          store.fetch(key("a"), key("b"), -100, -50)) {
        assertFalse(none.hasNext());
      }
      try (KeyValueIterator<Windowed<Bytes>, byte[]> first =
          store.fetch(key("a"), key("b"), -100, 0)) {
        assertArrayEquals(value("1"), first.next().value);
        assertFalse(first.hasNext());
      }
      try (KeyValueIterator<Windowed<Bytes>, byte[]> none = store.fetchAll(-100, -50)) {
        assertFalse(none.hasNext());
      }
      try (WindowStoreIterator<byte[]> none = store.fetch(key("a"), -100, -50)) {
        assertFalse(none.hasNext());
      }
      store.close();
    }
  }

  private static String text(byte[] value) {
    return value == null ? null : new String(value, UTF_8);
  }

  private static List<String> entries(Map<String, String> map) {
    List<String> entries = new ArrayList<>();
    map.forEach((key, value) -> entries.add(key + "=" + value));
    return entries;
  }
}
