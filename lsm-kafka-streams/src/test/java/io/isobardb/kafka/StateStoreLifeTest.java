package io.isobardb.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.StoreClosedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How state stores are opened, committed and closed, and what is left then. */
@Tag("any-jdk")
class StateStoreLifeTest {
  private static final TopicPartition CHANGELOG = new TopicPartition("app-counts-changelog", 0);
  private static final TopicPartition OTHER = new TopicPartition("other", 0);

  @TempDir Path directory;

  private final Map<String, Object> options = new HashMap<>();
  private final ManualSurroundings surroundings = new ManualSurroundings();

  @BeforeEach
  void takeTimeIntoItsHands() {
    SharedStore.openIn(surroundings);
  }

  @AfterEach
  void close() {
    SharedStore.openIn(Store::open);
    IsobarStores.close();
  }

  private TestTask task() {
    return new TestTask(directory, options);
  }

  private KeyValueStore<Bytes, byte[]> open() {
    return task().open(IsobarStores.keyValueStore("counts").get());
  }

  private static Bytes key(String key) {
    return Bytes.wrap(key.getBytes(UTF_8));
  }

  private static byte[] value(String value) {
    return value.getBytes(UTF_8);
  }

  private Path marker() {
    return task().directory().resolve("isobar").resolve("counts");
  }

  private SharedStore shared() {
    return Objects.requireNonNull(SharedStore.of(task().storeDirectory()));
  }

  @Test
  void entriesOffsetsAndPositionSurviveAClose() {
    TestTask task = task();
    KeyValueStore<Bytes, byte[]> store = task.open(IsobarStores.keyValueStore("counts").get());
    task.at("input", 0, 17);
    store.put(key("a"), value("1"));
    store.commit(Map.of(CHANGELOG, 5L));
    store.close();
    IsobarStores.close();

    KeyValueStore<Bytes, byte[]> again = open();
    assertArrayEquals(value("1"), again.get(key("a")));
    assertEquals(5L, again.committedOffset(CHANGELOG));
    assertEquals(Position.emptyPosition().withComponent("input", 0, 17), again.getPosition());
    again.close();
  }

  @Test
  void ofWhatIsRestoredTheLastRecordOfEachKeyCounts() {
    IsobarKeyValueStore store = task().open(new IsobarKeyValueStore("counts"));
    store.restoreAll(
        Stream.of("c=1", "a=1", "b=1", "c=", "a=2", "b=", "c=3", "a=4", "d=")
            .map(record -> record.split("=", 2))
            .map(
                record ->
                    new AbstractStore.Restored(
                        value(record[0]), record[1].isEmpty() ? null : value(record[1]), 0))
            .toList());
    assertArrayEquals(value("4"), store.get(key("a")));
    assertNull(store.get(key("b")));
    assertArrayEquals(value("3"), store.get(key("c")));
    assertNull(store.get(key("d")));
    store.close();
  }

  @Test
  void offsetsOfAnOldCheckpointAreNotKept() {
    KeyValueStore<Bytes, byte[]> store = open();
    store.commit(Map.of(CHANGELOG, 100L));
    assertNull(store.committedOffset(CHANGELOG));
    store.put(key("a"), value("1"));
    store.commit(Map.of(CHANGELOG, 3L));
    assertEquals(3L, store.committedOffset(CHANGELOG));
    store.close();

    KeyValueStore<Bytes, byte[]> again = open();
    again.commit(Map.of(CHANGELOG, 100L));
    assertEquals(3L, again.committedOffset(CHANGELOG), "it lacks what lies between");
    again.put(key("b"), value("2"));
    again.commit(Map.of(CHANGELOG, 4L));
    assertEquals(4L, again.committedOffset(CHANGELOG));
    again.close();
  }

  @Test
  void offsetsOfRecordsThatCameTooLateAreKept() {
    for (boolean isFirst : new boolean[] {true, false}) {
      IsobarVersionedStore store = task().open(new IsobarVersionedStore("counts", 60_000, 2_000));
      long time = isFirst ? 1_000_000 : 0;
      store.restoreAll(List.of(new AbstractStore.Restored(value("a"), value("1"), time)));
      store.commit(Map.of(CHANGELOG, isFirst ? 5L : 6L));
      assertEquals(isFirst ? 5L : 6L, store.committedOffset(CHANGELOG));
      store.close();
    }
  }

  @Test
  void offsetsAreRemovedOneByOneAndAllAtOnce() {
    KeyValueStore<Bytes, byte[]> store = open();
    store.commit(Map.of(CHANGELOG, -4L));
    assertEquals(-4L, store.committedOffset(CHANGELOG), "unknown is an offset, too");
    store.put(key("a"), value("1"));
    store.commit(Map.of(CHANGELOG, 1L, OTHER, 2L));
    Map<TopicPartition, Long> one = new HashMap<>();
    one.put(CHANGELOG, null);
    store.commit(one);
    assertNull(store.committedOffset(CHANGELOG));
    assertEquals(2L, store.committedOffset(OTHER));
    store.commit(Map.of());
    assertNull(store.committedOffset(OTHER));
    store.close();
  }

  @Test
  void exactlyOnceDoesNotTrustWhatWasNotClosedInOrder() throws IOException {
    options.put("processing.guarantee", "exactly_once_v2");
    KeyValueStore<Bytes, byte[]> store = open();
    store.put(key("a"), value("1"));
    store.commit(Map.of(CHANGELOG, 0L));
    store.close();

    KeyValueStore<Bytes, byte[]> dirty = open();
    assertArrayEquals(value("1"), dirty.get(key("a")));
    dirty.put(key("a"), value("2"));
    dirty.close();

    TaskCorruptedException corrupted = assertThrows(TaskCorruptedException.class, this::open);
    assertEquals(Set.of(task().id()), corrupted.corruptedTasks());

    Utils.delete(task().directory().toFile()); // as Kafka does then
    KeyValueStore<Bytes, byte[]> wiped = open();
    assertNull(wiped.get(key("a")));
    assertNull(wiped.committedOffset(CHANGELOG));
    wiped.close();
  }

  @Test
  void atLeastOnceKeepsWhatWasNotClosedInOrder() {
    KeyValueStore<Bytes, byte[]> store = open();
    store.put(key("a"), value("1"));
    store.close();
    KeyValueStore<Bytes, byte[]> again = open();
    assertArrayEquals(value("1"), again.get(key("a")));
    again.close();
  }

  @Test
  void aStateStoreWhoseMarkerIsGoneBeginsAnewAndItsTreeIsDropped() throws IOException {
    KeyValueStore<Bytes, byte[]> store = open();
    store.put(key("a"), value("1"));
    store.commit(Map.of(CHANGELOG, 5L));
    store.close();
    List<String> before = shared().store().treeNames();
    assertEquals(List.of(), shared().sweep());

    Files.delete(marker());
    KeyValueStore<Bytes, byte[]> again = open();
    assertNull(again.get(key("a")));
    assertNull(again.committedOffset(CHANGELOG));
    again.put(key("b"), value("2"));
    assertEquals(1, shared().sweep().size());
    assertArrayEquals(value("2"), again.get(key("b")));
    assertEquals(before.size(), shared().store().treeNames().size());
    again.close();
  }

  @Test
  void aTreeThatIsUsedIsNotDroppedThoughItsMarkerIsGone() throws IOException {
    KeyValueStore<Bytes, byte[]> store = open();
    store.put(key("a"), value("1"));
    Files.delete(marker());
    assertEquals(List.of(), shared().sweep());
    assertArrayEquals(value("1"), store.get(key("a")));
    store.close();
    assertEquals(1, shared().sweep().size());
  }

  @Test
  void nothingIsDroppedWhileTheStateDirectoryIsMissing() throws IOException {
    options.put("isobar.streams.dir", directory.resolve("elsewhere").toString());
    KeyValueStore<Bytes, byte[]> store = open();
    store.put(key("a"), value("1"));
    store.close();
    Path application = task().directory().getParent();
    Path moved = directory.resolve("moved");
    Files.move(application, moved);
    SharedStore shared =
        Objects.requireNonNull(SharedStore.of(directory.resolve("elsewhere").toAbsolutePath()));
    assertEquals(List.of(), shared.sweep());
    Files.move(moved, application);
    KeyValueStore<Bytes, byte[]> again = open();
    assertArrayEquals(value("1"), again.get(key("a")));
    again.close();
  }

  /** As when a topology's retention or format changes: its entries can't be read any more. */
  @Test
  void aStateStoreOfAnotherLayoutBeginsAnew() {
    Duration hour = Duration.ofHours(1);
    Duration size = Duration.ofMinutes(1);
    List<Supplier<StateStore>> layouts =
        List.of(
            () -> IsobarStores.keyValueStore("counts").get(),
            () -> IsobarStores.timestampedKeyValueStore("counts").get(),
            () -> IsobarStores.timestampedKeyValueStoreWithHeaders("counts").get(),
            () -> windows(hour, false, IsobarStores.Format.PLAIN),
            () -> windows(hour.multipliedBy(2), false, IsobarStores.Format.PLAIN),
            () -> windows(hour, true, IsobarStores.Format.PLAIN),
            () -> windows(hour, false, IsobarStores.Format.TIMESTAMPED),
            () -> windows(hour, false, IsobarStores.Format.HEADERS),
            () -> IsobarStores.sessionStore("counts", hour).get(),
            () -> IsobarStores.sessionStore("counts", hour.multipliedBy(2)).get(),
            () -> IsobarStores.sessions("counts", hour, true, IsobarStores.Format.PLAIN).get(),
            () -> IsobarStores.sessionStoreWithHeaders("counts", hour).get(),
            () -> IsobarStores.versionedKeyValueStore("counts", hour).get(),
            () -> IsobarStores.versionedKeyValueStore("counts", hour, size).get());
    for (Supplier<StateStore> layout : layouts) {
      AbstractStore store = (AbstractStore) task().open(layout.get());
      assertNull(store.committedOffset(CHANGELOG), store::toString);
      store.tree().touch();
      store.commit(Map.of(CHANGELOG, 7L));
      store.close();
      StateStore same = task().open(layout.get());
      assertEquals(7L, same.committedOffset(CHANGELOG));
      same.close();
    }
    assertEquals(layouts.size() - 1, shared().sweep().size());
  }

  private static StateStore windows(Duration retention, boolean byTime, IsobarStores.Format of) {
    return IsobarStores.windows("counts", retention, Duration.ZERO, false, byTime, of).get();
  }

  @Test
  void aMarkerWithoutATreeIsAnEmptyStateStore() throws IOException {
    Files.createDirectories(marker().getParent());
    Files.writeString(marker(), "isobar-state 1 0123456789abcdef0123456789abcdef\n");
    KeyValueStore<Bytes, byte[]> store = open();
    assertNull(store.committedOffset(CHANGELOG));
    assertFalse(store.all().hasNext());
    store.close();
  }

  @Test
  void aMarkerThatIsTornIsNone() throws IOException {
    KeyValueStore<Bytes, byte[]> store = open();
    store.put(key("a"), value("1"));
    store.close();
    Files.writeString(marker(), "isobar-sta");
    KeyValueStore<Bytes, byte[]> again = open();
    assertNull(again.get(key("a")));
    again.close();
  }

  @Test
  void commitsRefreshTheTimeOfTheTasksDirectory() throws IOException {
    KeyValueStore<Bytes, byte[]> store = open();
    Files.setLastModifiedTime(task().directory(), FileTime.fromMillis(1_000));
    store.commit(Map.of());
    assertTrue(Files.getLastModifiedTime(task().directory()).toMillis() > 1_000_000);
    store.close();
  }

  @Test
  void whatIsClosedThrowsAndClosesItsIterators() {
    KeyValueStore<Bytes, byte[]> store = open();
    store.put(key("a"), value("1"));
    KeyValueIterator<Bytes, byte[]> all = store.all();
    assertTrue(all.hasNext());
    store.close();
    store.close();
    assertFalse(store.isOpen());
    assertThrows(InvalidStateStoreException.class, all::hasNext);
    assertThrows(InvalidStateStoreException.class, () -> store.get(key("a")));
    assertThrows(InvalidStateStoreException.class, () -> store.put(key("a"), value("2")));
    assertThrows(InvalidStateStoreException.class, store::all);
    assertThrows(InvalidStateStoreException.class, store::approximateNumEntries);
  }

  /** A query's thread comes to it while the task's closes the state store. */
  @Test
  void anIteratorThatIsMadeWhileItsStateStoreClosesIsClosed() {
    IsobarKeyValueStore store = task().open(new IsobarKeyValueStore("counts"));
    store.put(key("a"), value("1"));
    StateTree tree = store.tree();
    Entries entries = tree.entries(null, null, true, false);
    store.close();
    assertThrows(
        InvalidStateStoreException.class,
        () ->
            new StateIterator<Bytes>(tree, entries) {
              @Override
              KeyValue<Bytes, byte[]> advance(Entries from, boolean first) {
                throw new AssertionError();
              }
            });
    assertThrows(StoreClosedException.class, entries::first, "its cursor is closed");
  }

  @Test
  void iteratorsSeeOneMoment() {
    KeyValueStore<Bytes, byte[]> store = open();
    store.putAll(List.of(KeyValue.pair(key("a"), value("1")), KeyValue.pair(key("b"), value("2"))));
    try (KeyValueIterator<Bytes, byte[]> all = store.all()) {
      assertEquals(key("a"), all.next().key);
      store.delete(key("b"));
      assertEquals(key("b"), all.next().key);
      assertFalse(all.hasNext());
    }
    store.close();
  }

  @Test
  void manyStateStoresShareOneStore() {
    TestTask task = task();
    KeyValueStore<Bytes, byte[]> one = task.open(IsobarStores.keyValueStore("one").get());
    KeyValueStore<Bytes, byte[]> two = task.open(IsobarStores.keyValueStore("two").get());
    one.put(key("a"), value("1"));
    assertNull(two.get(key("a")));
    assertEquals(3, shared().store().treeNames().size(), "two trees and the ledger");
    one.close();
    assertEquals(1, IsobarStores.close(), "one is in use");
    two.put(key("a"), value("2"));
    two.close();
    assertEquals(0, IsobarStores.close());
  }

  @Test
  void floorsAndWeightsGoByTheNamesOfStateStores() {
    options.put("isobar.streams.floor.counts", "65536");
    options.put("isobar.streams.weight.counts", "2.5");
    KeyValueStore<Bytes, byte[]> counts = open();
    KeyValueStore<Bytes, byte[]> other = task().open(IsobarStores.keyValueStore("other").get());
    Store store = shared().store();
    for (String name : store.treeNames()) {
      Tree tree = store.openTree(name);
      boolean isCounts = name.startsWith("0_0-counts.");
      assertEquals(isCounts ? 65_536 : 0, tree.writeMemoryFloor(), name);
      assertEquals(isCounts ? 2.5 : 1, tree.writeWeight(), name);
    }
    other.close();
    counts.close();
  }

  @Test
  void aTimeToCloseThatWasSetBeforeDoesNotMeanTheNextStore() {
    options.put("isobar.streams.linger.ms", "1");
    for (int i = 0; i < 5; i++) {
      KeyValueStore<Bytes, byte[]> store = open();
      store.close();
      IsobarStores.close();
      KeyValueStore<Bytes, byte[]> next = open();
      surroundings.pass(Duration.ofMillis(2));
      KeyValueStore<Bytes, byte[]> other = task().open(IsobarStores.keyValueStore("other").get());
      other.close();
      next.close();
      IsobarStores.close();
    }
  }

  @Test
  void theStoreStaysOpenForAWhileAfterItsLastUser() {
    options.put("isobar.streams.linger.ms", "5000");
    KeyValueStore<Bytes, byte[]> store = open();
    surroundings.pass(Duration.ofSeconds(10));
    store.put(key("a"), value("1"));
    store.close();
    surroundings.pass(Duration.ofMillis(4999));
    Store lingering = shared().store();
    KeyValueStore<Bytes, byte[]> again = open();
    assertSame(lingering, shared().store());
    surroundings.pass(Duration.ofSeconds(10));
    assertArrayEquals(value("1"), again.get(key("a")));
    again.close();
    surroundings.pass(Duration.ofMillis(5000));
    assertNull(SharedStore.of(task().storeDirectory()));
    assertThrows(StoreClosedException.class, lingering::treeNames);
  }

  /** As between two tests, or to begin anew; the store has not noticed yet. */
  @Test
  void allStateMayBeDeletedOnceTheApplicationIsClosed() throws IOException {
    KeyValueStore<Bytes, byte[]> store = open();
    store.put(key("a"), value("1"));
    store.commit(Map.of(CHANGELOG, 1L));
    store.close();
    Utils.delete(directory.resolve("state").toFile());
    KeyValueStore<Bytes, byte[]> again = open();
    assertNull(again.get(key("a")));
    assertNull(again.committedOffset(CHANGELOG));
    again.put(key("b"), value("2"));
    again.commit(Map.of(CHANGELOG, 2L));
    shared().store().sync();
    again.close();
    IsobarStores.close();
    KeyValueStore<Bytes, byte[]> kept = open();
    assertArrayEquals(value("2"), kept.get(key("b")));
    kept.close();
  }

  @Test
  void treesOfStateStoresThatAreGoneAreDroppedWithinHalfAMinute() throws IOException {
    KeyValueStore<Bytes, byte[]> store = open();
    store.close();
    Files.delete(marker());
    KeyValueStore<Bytes, byte[]> again = open();
    assertEquals(3, shared().store().treeNames().size());
    surroundings.pass(Duration.ofSeconds(29));
    assertEquals(3, shared().store().treeNames().size(), "Kafka may have opened nothing so far");
    surroundings.pass(Duration.ofSeconds(1));
    assertEquals(2, shared().store().treeNames().size());
    again.close();
    surroundings.pass(Duration.ofSeconds(30));
    assertEquals(2, shared().store().treeNames().size());
  }

  @Test
  void applicationsThatAskForDifferentOptionsAreNamed() {
    options.put("isobar.streams.dir", directory.resolve("shared").toString());
    KeyValueStore<Bytes, byte[]> store = open();
    Map<String, Object> others = new HashMap<>(options);
    others.put("application.id", "second");
    others.put("isobar.memoryBudget", "17MB");
    TestTask other = new TestTask(directory, others);
    ConfigException refused =
        assertThrows(
            ConfigException.class, () -> other.open(IsobarStores.keyValueStore("x").get()));
    assertTrue(refused.getMessage().contains("second"), refused.getMessage());
    assertTrue(refused.getMessage().contains("17MB"), refused.getMessage());
    assertTrue(refused.getMessage().contains(TestTask.APPLICATION), refused.getMessage());
    store.close();
  }

  @Test
  void aCopyHasAllStateOfOneMoment() {
    IsobarStores.close();
    assertThrows(IllegalStateException.class, () -> IsobarStores.checkpointTo(directory));
    KeyValueStore<Bytes, byte[]> store = open();
    store.put(key("a"), value("1"));
    store.commit(Map.of(CHANGELOG, 1L));
    Path copy = directory.resolve("copy");
    IsobarStores.checkpointTo(copy);
    store.put(key("a"), value("2"));
    store.commit(Map.of(CHANGELOG, 2L));
    store.close();
    IsobarStores.close();

    options.put("isobar.streams.dir", copy.toString());
    KeyValueStore<Bytes, byte[]> restored = open();
    assertArrayEquals(value("1"), restored.get(key("a")));
    assertEquals(1L, restored.committedOffset(CHANGELOG));
    restored.close();
  }

  @Test
  void aCopyIsEmptyWhereMarkersNameWhatItHasNot() throws IOException {
    KeyValueStore<Bytes, byte[]> store = open();
    store.put(key("a"), value("1"));
    store.commit(Map.of(CHANGELOG, 1L));
    Path copy = directory.resolve("copy");
    IsobarStores.checkpointTo(copy);
    store.close();
    Utils.delete(task().directory().toFile());
    KeyValueStore<Bytes, byte[]> wiped = open();
    wiped.put(key("a"), value("2"));
    wiped.commit(Map.of(CHANGELOG, 2L));
    wiped.close();
    IsobarStores.close();

    options.put("isobar.streams.dir", copy.toString());
    KeyValueStore<Bytes, byte[]> restored = open();
    assertNull(restored.get(key("a")));
    assertNull(restored.committedOffset(CHANGELOG));
    assertEquals(1, Objects.requireNonNull(SharedStore.of(copy)).sweep().size());
    restored.close();
  }

  @Test
  void aStoreWithAFloorCanBeOpenedWhileWritesAreHeldBack() {
    options.put("isobar.memoryBudget", "16MB");
    options.put("isobar.streams.floor.counts", String.valueOf(12 << 20));
    KeyValueStore<Bytes, byte[]> other = task().open(IsobarStores.keyValueStore("other").get());
    HeldMemory held = shared().heldMemory();
    held.add(8 << 20);
    held.lower();
    assertEquals(8 << 20, held.countedBytes());
    KeyValueStore<Bytes, byte[]> counts = open();
    counts.put(key("a"), value("1"));
    held.add(-8 << 20);
    counts.close();
    other.close();
  }

  @Test
  void valuesThatCanNotBeAreRefused() {
    for (Map.Entry<String, String> wrong :
        Map.of(
                "isobar.streams.dir", " ",
                "isobar.streams.linger.ms", "10s",
                "isobar.streams.floor.counts", "1TB",
                "isobar.streams.weight.counts", "Infinity",
                "isobar.streams.weight.other", "-1")
            .entrySet()) {
      options.put(wrong.getKey(), wrong.getValue());
      ConfigException refused = assertThrows(ConfigException.class, this::open, wrong::toString);
      assertTrue(refused.getMessage().contains(wrong.getKey()), refused.getMessage());
      options.remove(wrong.getKey());
    }
    options.put("isobar.streams.weight.counts", "0");
    options.put("isobar.streams.floor.counts", "1000000000000");
    IllegalArgumentException told = assertThrows(IllegalArgumentException.class, this::open);
    assertTrue(told.getMessage().contains("floor of tree '0_0-counts."), told.getMessage());
  }

  @Test
  void unknownOptionsAreRefusedWithASuggestion() {
    options.put("isobar.streams.dri", "x");
    ConfigException refused = assertThrows(ConfigException.class, this::open);
    assertTrue(refused.getMessage().contains("isobar.streams.dir?"), refused.getMessage());
    options.remove("isobar.streams.dri");
    options.put("isobar.memoryBugdet", "16MB");
    IllegalArgumentException unknown = assertThrows(IllegalArgumentException.class, this::open);
    assertTrue(unknown.getMessage().contains("memoryBudget"), unknown.getMessage());
  }
}
