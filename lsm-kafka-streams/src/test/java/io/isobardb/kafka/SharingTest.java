package io.isobardb.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What shares a store: tasks that change from standby to active and back, several clients of Kafka
 * Streams in one process, and state on more than one disk. These use public packages of Kafka only,
 * and run with the next release of it, too.
 */
@Tag("any-jdk")
class SharingTest {
  private static final TopicPartition CHANGELOG = new TopicPartition("app-counts-changelog", 0);
  private static final String APPLICATION = "application.id";
  private static final Path OTHER_DISK = Path.of("/dev/shm");

  @TempDir Path directory;

  private final ManualSurroundings surroundings = new ManualSurroundings();

  @BeforeEach
  void takeTimeIntoItsHands() {
    SharedStore.openIn(surroundings);
  }

  @AfterEach
  void close() {
    SharedStore.openIn(Store::open);
    assertEquals(0, IsobarStores.close(), "all state stores are closed");
  }

  private MockTask task(String state, Map<String, Object> options) {
    return new MockTask(directory.resolve(state), 0, options);
  }

  private static IsobarKeyValueStore counts(MockTask task) {
    return task.open(new IsobarKeyValueStore("counts"));
  }

  private static Bytes key(int key) {
    return Bytes.wrap(String.valueOf(key).getBytes(UTF_8));
  }

  private static byte[] value(String value) {
    return value.getBytes(UTF_8);
  }

  private static void restore(IsobarKeyValueStore store, int from, int to) {
    List<AbstractStore.Restored> records = new ArrayList<>();
    for (int offset = from; offset < to; offset++) {
      records.add(new AbstractStore.Restored(key(offset).get(), value("r" + offset), 0));
    }
    store.restoreAll(records);
  }

  private static void process(IsobarKeyValueStore store, int from, int to) {
    for (int offset = from; offset < to; offset++) {
      store.put(key(offset), value("p" + offset));
    }
  }

  private static void assertHas(IsobarKeyValueStore store, String kind, int from, int to) {
    for (int offset = from; offset < to; offset++) {
      assertArrayEquals(value(kind + offset), store.get(key(offset)));
    }
  }

  private static Map<String, Object> options(String guarantee) {
    return guarantee.equals("transactional")
        ? Map.of(
            "processing.guarantee", "exactly_once_v2", "enable.transactional.statestores", "true")
        : Map.of("processing.guarantee", guarantee);
  }

  /**
   * Kafka hands an open state store from a standby task to an active one, without init or close.
   */
  @ParameterizedTest
  @ValueSource(strings = {"at_least_once", "exactly_once_v2", "transactional"})
  void aStandbyBecomesActiveAndAStandbyAgain(String guarantee) {
    MockTask task = task("state", options(guarantee));
    IsobarKeyValueStore store = counts(task);
    restore(store, 0, 10);
    store.commit(Map.of(CHANGELOG, 9L)); // a standby commits before it is recycled
    process(store, 10, 20);
    assertHas(store, "r", 0, 10);
    assertHas(store, "p", 10, 20);
    store.commit(Map.of(CHANGELOG, 19L)); // so does an active task
    restore(store, 20, 30);
    store.commit(Map.of(CHANGELOG, 29L));
    process(store, 30, 40);
    store.commit(Map.of(CHANGELOG, 39L));
    store.close();

    IsobarKeyValueStore again = counts(task);
    assertEquals(39L, again.committedOffset(CHANGELOG));
    assertHas(again, "r", 0, 10);
    assertHas(again, "p", 10, 20);
    assertHas(again, "r", 20, 30);
    assertHas(again, "p", 30, 40);
    again.close();
  }

  /** A standby holds what was committed alone; once it is active, its writes may be aborted. */
  @ParameterizedTest
  @ValueSource(strings = {"at_least_once", "exactly_once_v2", "transactional"})
  void aRecycledTaskThatDiesIsJudgedAsAnActiveOne(String guarantee) throws IOException {
    MockTask task = task("state", options(guarantee));
    IsobarKeyValueStore store = counts(task);
    restore(store, 0, 10);
    store.commit(Map.of(CHANGELOG, 9L));
    restore(store, 10, 20);
    store.close(); // a standby that dies: nothing to abort
    IsobarKeyValueStore standby = counts(task);
    assertEquals(9L, standby.committedOffset(CHANGELOG), "restored again from here");
    restore(standby, 10, 20);
    standby.commit(Map.of(CHANGELOG, 19L));
    process(standby, 20, 30);
    standby.close(); // an active task that dies

    if (guarantee.equals("at_least_once")) {
      IsobarKeyValueStore again = counts(task);
      assertEquals(19L, again.committedOffset(CHANGELOG));
      assertHas(again, "p", 20, 30);
      again.close();
    } else if (StreamsOptions.KAFKA_COMMITS && guarantee.equals("transactional")) {
      IsobarKeyValueStore again = counts(task);
      assertEquals(19L, again.committedOffset(CHANGELOG));
      assertNull(again.get(key(20)));
      again.close();
    } else {
      assertThrows(TaskCorruptedException.class, () -> counts(task));
      task.wipe();
      IsobarKeyValueStore again = counts(task);
      assertNull(again.committedOffset(CHANGELOG));
      assertNull(again.get(key(0)));
      again.close();
    }
  }

  private SharedStore sharedBy(Path store) {
    return Objects.requireNonNull(SharedStore.of(store));
  }

  @Test
  void applicationsThatShareADirectoryShareItsBudgetAndNoEntries() throws IOException {
    Path shared = directory.resolve("shared");
    Map<String, Object> options = new HashMap<>(Map.of("isobar.streams.dir", shared.toString()));
    options.put(APPLICATION, "one");
    MockTask first = task("state", options);
    options.put(APPLICATION, "two");
    MockTask second = task("state", options);
    IsobarKeyValueStore one = counts(first);
    IsobarKeyValueStore two = counts(second);
    assertEquals(3, sharedBy(shared).store().treeNames().size(), "two trees and the ledger");
    process(one, 0, 10);
    one.commit(Map.of(CHANGELOG, 9L));
    assertNull(two.get(key(0)));
    assertNull(two.committedOffset(CHANGELOG));
    process(two, 5, 15);
    two.commit(Map.of(CHANGELOG, 14L));

    one.close();
    Utils.delete(first.directory().getParent().toFile()); // as KafkaStreams.cleanUp() of one may
    Files.createDirectories(first.directory().getParent());
    surroundings.pass(Duration.ofSeconds(30));
    assertEquals(2, sharedBy(shared).store().treeNames().size(), "what the other one has stays");
    assertHas(two, "p", 5, 15);
    IsobarKeyValueStore anew = counts(first);
    assertNull(anew.committedOffset(CHANGELOG));
    assertNull(anew.get(key(0)));
    anew.close();
    process(two, 15, 20);
    assertHas(two, "p", 5, 20);
    two.close();
  }

  @Test
  void aTaskThatMovesBetweenClientsOfAProcessHasATreeInEach() throws IOException {
    Path shared = directory.resolve("shared");
    Map<String, Object> options = Map.of("isobar.streams.dir", shared.toString());
    MockTask here = task("here", options);
    MockTask there = task("there", options);
    IsobarKeyValueStore active = counts(here);
    IsobarKeyValueStore standby = counts(there);
    process(active, 0, 10);
    active.commit(Map.of(CHANGELOG, 9L));
    restore(standby, 0, 8);
    standby.commit(Map.of(CHANGELOG, 7L));
    active.close();
    restore(standby, 8, 10);
    process(standby, 10, 20); // it is the active one now
    standby.commit(Map.of(CHANGELOG, 19L));
    surroundings.pass(Duration.ofMinutes(1));

    IsobarKeyValueStore back = counts(here);
    assertEquals(9L, back.committedOffset(CHANGELOG), "as it was left");
    assertNull(back.get(key(10)));
    back.close();
    here.wipe();
    surroundings.pass(Duration.ofSeconds(30));
    assertEquals(2, sharedBy(shared).store().treeNames().size());
    assertHas(standby, "p", 10, 20);
    standby.close();
  }

  @Test
  void clientsWithDirectoriesOfTheirOwnHaveStoresOfTheirOwn() {
    MockTask here = task("here", Map.of());
    MockTask there = task("there", Map.of("isobar.memoryBudget", "17MB"));
    IsobarKeyValueStore one = counts(here);
    IsobarKeyValueStore two = counts(there);
    assertEquals(16 << 20, budget(here.storeDirectory()));
    assertEquals(17 << 20, budget(there.storeDirectory()));
    assertThrows(
        IllegalStateException.class, () -> IsobarStores.checkpointTo(directory.resolve("copy")));
    one.close();
    assertEquals(1, IsobarStores.close(), "the other one is in use");
    process(two, 0, 1);
    two.close();
  }

  private long budget(Path store) {
    return sharedBy(store).store().stats().ledger().limitBytes();
  }

  /** Without a broker: Kafka opens what it finds when a client starts, and closes it with it. */
  @Test
  void clientsOfKafkaStreamsInOneProcessStartAndCloseAsTheyLike() throws IOException {
    Path shared = directory.resolve("shared");
    Map<String, Object> options = new HashMap<>();
    options.put("isobar.streams.dir", shared.toString());
    List<MockTask> tasks = new ArrayList<>();
    for (String application : List.of("one", "two")) {
      options.put(APPLICATION, application);
      tasks.add(task("state", options));
    }
    for (MockTask task : tasks) {
      IsobarKeyValueStore store = counts(task);
      process(store, 0, 10);
      store.commit(Map.of(CHANGELOG, 9L));
      store.close();
      Files.setLastModifiedTime(task.directory(), FileTime.fromMillis(1_000));
    }
    Store opened = sharedBy(shared).store();
    try (KafkaStreams two = client("two", shared)) {
      try (KafkaStreams one = client("one", shared)) {
        one.start();
        two.start();
        for (MockTask task : tasks) {
          long millis = Files.getLastModifiedTime(task.directory()).toMillis();
          assertTrue(millis > 1_000_000, "Kafka has opened it and committed");
        }
      }
      assertSame(opened, sharedBy(shared).store(), "it stays open");
      try (KafkaStreams again = client("one", shared)) {
        again.start();
      }
    }
    for (MockTask task : tasks) {
      IsobarKeyValueStore store = counts(task);
      assertEquals(9L, store.committedOffset(CHANGELOG));
      assertHas(store, "p", 0, 10);
      store.close();
    }
  }

  @Test
  void whatAClientCleansUpIsGone() {
    Path shared = directory.resolve("shared");
    MockTask task = task("state", Map.of("isobar.streams.dir", shared.toString()));
    IsobarKeyValueStore store = counts(task);
    process(store, 0, 10);
    store.commit(Map.of(CHANGELOG, 9L));
    store.close();
    try (KafkaStreams client = client("app", shared)) {
      client.cleanUp();
    }
    IsobarKeyValueStore again = counts(task);
    assertNull(again.committedOffset(CHANGELOG));
    assertNull(again.get(key(0)));
    surroundings.pass(Duration.ofSeconds(30));
    assertEquals(2, sharedBy(shared).store().treeNames().size());
    again.close();
  }

  private KafkaStreams client(String application, Path shared) {
    StreamsBuilder builder = new StreamsBuilder();
    builder.table(
        "input",
        Consumed.with(Serdes.String(), Serdes.String()),
        Materialized.as(IsobarStores.keyValueStore("counts")));
    Properties properties = new Properties();
    properties.put(APPLICATION, application);
    properties.put("bootstrap.servers", "localhost:1");
    properties.put("state.dir", directory.resolve("state").toString());
    properties.put("isobar.streams.dir", shared.toString());
    properties.put("isobar.memoryBudget", "16MB");
    properties.put("isobar.ioMode", "BUFFERED");
    return new KafkaStreams(builder.build(), properties);
  }

  @Test
  void markersAndEntriesLieOnDifferentDisks() throws IOException {
    assumeTrue(Files.isWritable(OTHER_DISK), "there is no other disk");
    assumeTrue(!Files.getFileStore(OTHER_DISK).equals(Files.getFileStore(directory)));
    Path elsewhere = Files.createTempDirectory(OTHER_DISK, "isobar-streams");
    try {
      Map<String, Object> options = Map.of("isobar.streams.dir", elsewhere.toString());
      MockTask task = task("state", options);
      IsobarKeyValueStore store = counts(task);
      process(store, 0, 10);
      store.commit(Map.of(CHANGELOG, 9L));
      Path copy = directory.resolve("copy");
      IsobarStores.checkpointTo(copy); // to the disk of the markers
      store.close();
      IsobarStores.close();
      IsobarKeyValueStore again = counts(task);
      assertEquals(9L, again.committedOffset(CHANGELOG));
      assertHas(again, "p", 0, 10);
      again.close();

      task.wipe();
      surroundings.pass(Duration.ofSeconds(30));
      assertEquals(1, sharedBy(elsewhere).store().treeNames().size(), "the ledger is left");
      IsobarStores.close();
      assertEquals(2, treesOf(copy), "the copy has what was there then");
    } finally {
      Utils.delete(elsewhere.toFile());
    }
  }

  private static int treesOf(Path copy) {
    try (Store store = Store.openReadOnly(copy, StoreOptions.defaults())) {
      return store.treeNames().size();
    }
  }

  /** The disk of the entries is gone, and a new one takes its place: its markers name no trees. */
  @Test
  void anEmptyDiskInThePlaceOfTheStoreBeginsAnew() throws IOException {
    Path disk = directory.resolve("disk");
    MockTask task = task("state", Map.of("isobar.streams.dir", disk.toString()));
    IsobarKeyValueStore store = counts(task);
    process(store, 0, 10);
    store.commit(Map.of(CHANGELOG, 9L));
    store.close();
    String before = Marker.read(Marker.path(task.directory(), "counts"));
    IsobarStores.close();
    Utils.delete(disk.toFile());

    IsobarKeyValueStore again = counts(task);
    assertNull(again.committedOffset(CHANGELOG));
    assertNull(again.get(key(0)));
    restore(again, 0, 5);
    again.commit(Map.of(CHANGELOG, 4L));
    again.close();
    surroundings.pass(Duration.ofSeconds(30));
    assertEquals(2, sharedBy(disk).store().treeNames().size());

    // Nor does the marker of one disk name a tree of another.
    IsobarStores.close();
    MockTask other = task("other", Map.of("isobar.streams.dir", disk.toString()));
    IsobarKeyValueStore counts = counts(other);
    assertNotEquals(before, Marker.read(Marker.path(other.directory(), "counts")));
    assertNull(counts.get(key(0)));
    counts.close();
  }

  @Test
  void twoNamesOfADirectoryAreOneStore() throws IOException {
    Path shared = Files.createDirectory(directory.resolve("shared"));
    Path link = Files.createSymbolicLink(directory.resolve("link"), shared);
    Map<String, Object> options = new HashMap<>();
    options.put("isobar.streams.dir", shared.toString());
    IsobarKeyValueStore one = counts(task("one", options));
    options.put("isobar.streams.dir", link.toString());
    IsobarKeyValueStore two = counts(task("two", options));
    process(one, 0, 10);
    assertNull(two.get(key(0)));
    assertEquals(3, sharedBy(shared).store().treeNames().size(), "two trees and the ledger");
    one.close();
    two.close();
  }

  /** Between two looks of a sweep a state store is opened for the first time, and closed. */
  @Test
  void whatComesAndGoesWhileTreesAreLookedForStays() {
    MockTask first = new MockTask(directory.resolve("state"), 0, Map.of());
    MockTask second = new MockTask(directory.resolve("state"), 1, Map.of());
    AtomicBoolean once = new AtomicBoolean();
    SharedStore.openIn(
        new ManualSurroundings(
            (path, options) -> {
              Store store = Store.open(path, options);
              return (Store)
                  Proxy.newProxyInstance(
                      Store.class.getClassLoader(),
                      new Class<?>[] {Store.class},
                      (proxy, method, arguments) -> {
                        if (method.getName().equals("treeNames") && once.getAndSet(false)) {
                          IsobarKeyValueStore counts = counts(second);
                          process(counts, 0, 1);
                          counts.commit(Map.of(CHANGELOG, 0L));
                          counts.close();
                        }
                        return method.invoke(store, arguments);
                      });
            }));
    IsobarKeyValueStore store = counts(first);
    once.set(true);
    assertEquals(List.of(), sharedBy(first.storeDirectory()).sweep());
    IsobarKeyValueStore again = counts(second);
    assertEquals(0L, again.committedOffset(CHANGELOG));
    assertHas(again, "p", 0, 1);
    again.close();
    store.close();
  }
}
