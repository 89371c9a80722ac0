package io.isobardb.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.VersionedBytesStore;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Segments of windows: what goes, what is kept, and what a scan finds. */
@Tag("any-jdk")
class SegmentedStoreTest {
  private static final Duration RETENTION = Duration.ofMinutes(4);
  private static final long SEGMENT = Duration.ofMinutes(2).toMillis();
  private static final TopicPartition CHANGELOG = new TopicPartition("app-w-changelog", 0);

  private static final byte[] NOTHING = {};

  @TempDir Path directory;

  @AfterEach
  void close() {
    SharedStore.openIn(Store::open);
    IsobarStores.close();
  }

  private WindowStore<Bytes, byte[]> open(boolean byTime) {
    return new TestTask(directory, Map.of())
        .open(
            IsobarStores.windows(
                    "w", RETENTION, Duration.ofSeconds(1), false, byTime, IsobarStores.Format.PLAIN)
                .get());
  }

  private static Bytes key(String key) {
    return Bytes.wrap(key.getBytes(UTF_8));
  }

  private static byte[] value(String value) {
    return value.getBytes(UTF_8);
  }

  /** Entries in the trees of state stores, whatever state stores show. */
  private int entries() {
    Store store =
        Objects.requireNonNull(SharedStore.of(new TestTask(directory, Map.of()).storeDirectory()))
            .store();
    int entries = 0;
    for (String name : store.treeNames()) {
      if (!name.equals("streams")) {
        try (Cursor cursor = store.tree(name).cursor()) {
          for (boolean more = cursor.first(); more; more = cursor.next()) {
            entries++;
          }
        }
      }
    }
    return entries;
  }

  @Test
  void expiredSegmentsGoAndLateRecordsAreDropped() {
    WindowStore<Bytes, byte[]> store = open(true);
    for (int segment = 0; segment < 3; segment++) {
      store.put(key("a"), value("v" + segment), segment * SEGMENT);
    }
    assertEquals(6, entries(), "one by key and one by time for each");
    store.put(key("a"), value("v3"), 3 * SEGMENT);
    assertEquals(6, entries(), "the first segment is gone");
    store.put(key("a"), value("late"), 0);
    assertEquals(6, entries());
    assertNull(store.fetch(key("a"), 0));
    assertArrayEquals(value("v3"), store.fetch(key("a"), 3 * SEGMENT));
    store.close();
  }

  @Test
  void whatIsPastRetentionIsNotShownAfterARestart() {
    WindowStore<Bytes, byte[]> store = open(false);
    store.put(key("a"), value("old"), SEGMENT + 1);
    store.put(key("a"), value("new"), SEGMENT + 1 + RETENTION.toMillis());
    assertNull(store.fetch(key("a"), SEGMENT + 1), "its segment is there, but it has expired");
    store.commit(Map.of(CHANGELOG, 1L));
    store.close();
    IsobarStores.close();

    WindowStore<Bytes, byte[]> again = open(false);
    assertNull(again.fetch(key("a"), SEGMENT + 1));
    try (KeyValueIterator<Windowed<Bytes>, byte[]> all = again.all()) {
      assertTrue(all.hasNext());
      assertArrayEquals(value("new"), all.next().value);
      assertFalse(all.hasNext());
    }
    again.close();
  }

  @Test
  void rangesOfKeysFindShorterKeysWhateverTheirTimes() {
    WindowStore<Bytes, byte[]> store =
        new TestTask(directory, Map.of())
            .open(
                IsobarStores.windowStore(
                        "w", Duration.ofMillis(Long.MAX_VALUE), Duration.ofMillis(1), false)
                    .get());
    long late = 0x7A00_0000_0000_0000L;
    store.put(key("a"), value("1"), late);
    store.put(key("ab"), value("2"), 5);
    store.put(key("abc"), value("3"), late);
    store.put(key("b"), value("4"), 5);
    StringBuilder found = new StringBuilder();
    try (KeyValueIterator<Windowed<Bytes>, byte[]> range =
        store.fetch(key("a"), key("ab"), 0, Long.MAX_VALUE)) {
      while (range.hasNext()) {
        found.append(new String(range.next().value, UTF_8));
      }
    }
    assertEquals("21", found.toString(), "in the order of their segments");
    store.close();
  }

  /** One that Kafka's cache lies before, which merges what it has with what is found, by key. */
  private WindowStore<Bytes, byte[]> openCached() {
    WindowBytesStoreSupplier supplier =
        IsobarStores.windows(
            "w", RETENTION, Duration.ofSeconds(1), false, true, IsobarStores.Format.PLAIN);
    WindowStore<Bytes, byte[]> store = supplier.get();
    WindowStore<Bytes, byte[]> cache =
        Stores.windowStoreBuilder(supplier, Serdes.Bytes(), Serdes.ByteArray())
            .withCachingEnabled()
            .build();
    store.init(new TestTask(directory, Map.of()).context(), cache);
    return store;
  }

  private static String show(KeyValueIterator<Windowed<Bytes>, byte[]> found) {
    StringBuilder text = new StringBuilder();
    try (found) {
      found.forEachRemaining(
          at ->
              text.append(new String(at.key.key().get(), UTF_8))
                  .append(at.key.window().start())
                  .append('=')
                  .append(new String(at.value, UTF_8))
                  .append(' '));
    }
    return text.toString();
  }

  @Test
  void behindKafkasCacheWhatIsLookedUpByTimeComesByKey() {
    WindowStore<Bytes, byte[]> store = openCached();
    for (String key : List.of("c", "a", "b")) {
      for (long time : List.of(1L, SEGMENT + 2, 5L, SEGMENT + 1, 9L)) {
        store.put(key(key), value(key.toUpperCase(Locale.ROOT)), time);
      }
    }
    store.put(key("b"), null, 5);
    assertEquals("a5=A a9=A b9=B c5=C c9=C ", show(store.fetchAll(5, 9)));
    assertEquals("c9=C c5=C b9=B a9=A a5=A ", show(store.backwardFetchAll(5, 9)));
    assertEquals(
        "a9=A b9=B c9=C a120001=A b120001=B c120001=C ", show(store.fetchAll(6, SEGMENT + 1)));
    assertEquals("", show(store.fetchAll(6, 8)));
    store.close();
  }

  /** Windows that close are looked for once a second, among all that are open. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aSearchByTimeReadsWhatItFinds(boolean cached) {
    CountedCursors cursors = new CountedCursors();
    SharedStore.openIn(new ManualSurroundings(cursors));
    WindowStore<Bytes, byte[]> store = cached ? openCached() : open(true);
    for (int i = 0; i < 1_000; i++) {
      store.put(key("key" + i * 7 % 1_000), value("v"), i);
    }
    cursors.moves();
    String found = show(store.fetchAll(500, 509));
    int moves = cursors.moves();
    assertEquals(10, found.split(" ").length);
    assertTrue(moves <= 2 * 10 + 2, "10 windows took " + moves + " moves of a cursor");
    assertEquals("", show(store.fetchAll(1_000, 2_000)));
    moves = cursors.moves();
    assertTrue(moves <= 2, "no window took " + moves + " moves of a cursor");
    store.close();
  }

  @Test
  void moreThanIsPutInOrderIsGoneThroughByKey() {
    WindowStore<Bytes, byte[]> store = openCached();
    int windows = SegmentScan.MOST_LOOKED_UP + 1;
    for (int i = 0; i < windows; i++) {
      store.put(Bytes.wrap(new byte[] {(byte) (i * 7), (byte) (i >> 8)}), NOTHING, i);
    }
    int found = 0;
    Bytes last = Bytes.wrap(NOTHING);
    try (KeyValueIterator<Windowed<Bytes>, byte[]> all = store.fetchAll(0, SEGMENT - 1)) {
      while (all.hasNext()) {
        Bytes key = all.next().key.key();
        assertTrue(last.compareTo(key) <= 0);
        last = key;
        found++;
      }
    }
    assertEquals(windows, found);
    store.close();
  }

  @Test
  void oldVersionsSurviveACloseAndExpire() {
    Duration retention = Duration.ofMinutes(1);
    TestTask task = new TestTask(directory, Map.of());
    VersionedBytesStore store =
        (VersionedBytesStore) task.open(IsobarStores.versionedKeyValueStore("v", retention).get());
    assertEquals(-1, store.put(key("a"), value("1"), 1_000));
    assertEquals(-1, store.put(key("a"), value("2"), 2_000));
    assertEquals(2_000, store.put(key("a"), null, 1_500));
    store.commit(Map.of(CHANGELOG, 3L));
    store.close();
    IsobarStores.close();

    VersionedBytesStore again =
        (VersionedBytesStore) task.open(IsobarStores.versionedKeyValueStore("v", retention).get());
    assertEquals("1", text(again.get(key("a"), 1_200)));
    assertNull(again.get(key("a"), 1_700));
    assertEquals("2", text(again.get(key("a"))));
    assertEquals(3, entries());
    again.put(key("b"), value("3"), 200_000);
    assertEquals(2, entries(), "the latest of each key");
    assertEquals("2", text(again.get(key("a"), 5_000)), "the latest never expires");
    assertEquals(Long.MIN_VALUE, again.put(key("a"), value("4"), 100_000), "that is too late");
    again.close();
  }

  @Test
  void versionsAreRestoredWithTheirTimes() {
    IsobarVersionedStore store =
        (IsobarVersionedStore)
            new TestTask(directory, Map.of())
                .open(IsobarStores.versionedKeyValueStore("v", Duration.ofMinutes(1)).get());
    store.restoreAll(
        List.of(
            new AbstractStore.Restored(key("a").get(), value("1"), 1_000),
            new AbstractStore.Restored(key("a").get(), null, 2_000),
            new AbstractStore.Restored(key("a").get(), value("3"), 3_000)));
    assertEquals("1", text(store.get(key("a"), 1_999)));
    assertNull(store.get(key("a"), 2_500));
    assertEquals("3", text(store.get(key("a"))));
    store.close();
  }

  private static String text(byte[] stamped) {
    return new String(stamped, Long.BYTES, stamped.length - Long.BYTES, UTF_8);
  }
}
