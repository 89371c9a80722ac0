package io.isobardb.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.Utils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What markers say, whatever state stores are called, and whatever became of the files. */
@Tag("any-jdk")
class MarkerTest {
  private static final TopicPartition CHANGELOG = new TopicPartition("app-counts-changelog", 0);
  private static final Bytes KEY = Bytes.wrap(new byte[] {1});

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

  private MockTask task() {
    return new MockTask(directory.resolve("state"), 0, Map.of());
  }

  private static IsobarKeyValueStore open(MockTask task, String name) {
    return task.open(new IsobarKeyValueStore(name));
  }

  private static void fill(IsobarKeyValueStore store, String value) {
    store.put(KEY, value.getBytes(UTF_8));
    store.commit(Map.of(CHANGELOG, 1L));
  }

  private List<String> trees() {
    return Objects.requireNonNull(SharedStore.of(task().storeDirectory())).store().treeNames();
  }

  /** Kafka looks at the names of those alone that have a changelog. */
  @Test
  void aStateStoreMayHaveAnyName() throws IOException {
    List<String> names =
        List.of(
            "counts",
            "Counts",
            "counts~",
            "with space",
            "größe",
            "名前",
            "名".repeat(100),
            "名".repeat(101),
            "x".repeat(250),
            "x".repeat(300),
            "y".repeat(154) + "😀",
            ".",
            "..",
            "../0_1",
            "a",
            "a/b",
            "/abs",
            "%2Fabs",
            "a*b",
            "tab\there",
            "half\uD800");
    for (int round = 0; round < 2; round++) {
      List<IsobarKeyValueStore> stores = new ArrayList<>();
      for (String name : names) {
        IsobarKeyValueStore store = open(task(), name);
        stores.add(store);
        assertArrayEquals(round == 0 ? null : name.getBytes(UTF_8), store.get(KEY), name);
        fill(store, name);
      }
      stores.forEach(IsobarKeyValueStore::close);
      assertEquals(1 + names.size(), trees().size());
      IsobarStores.close();
    }
    try (Stream<Path> markers = Files.list(task().directory().resolve("isobar"))) {
      assertEquals(names.size(), markers.filter(Files::isRegularFile).count());
    }
    try (Stream<Path> tasks = Files.list(task().directory().getParent())) {
      assertEquals(2, tasks.count(), "the task and the store");
    }
    task().wipe();
    open(task(), "counts").close();
    surroundings.pass(Duration.ofSeconds(30));
    assertEquals(2, trees().size(), "the new one and the ledger");
  }

  /** As on a disk that takes both names for one. */
  @Test
  void aMarkerOfAnotherNameIsNone() throws IOException {
    IsobarKeyValueStore counts = open(task(), "counts");
    fill(counts, "counts");
    counts.close();
    Path markers = task().directory().resolve("isobar");
    Files.createLink(markers.resolve("Counts"), markers.resolve("counts"));
    IsobarKeyValueStore other = open(task(), "Counts");
    assertNull(other.get(KEY));
    assertNull(other.committedOffset(CHANGELOG));
    other.close();
    counts = open(task(), "counts");
    assertEquals(1L, counts.committedOffset(CHANGELOG));
    counts.close();
  }

  @Test
  void aCopyOfATasksDirectoryHasATreeOfItsOwn() throws IOException {
    Map<String, Object> options =
        Map.of("isobar.streams.dir", directory.resolve("shared").toString());
    MockTask here = new MockTask(directory.resolve("here"), 0, options);
    MockTask there = new MockTask(directory.resolve("there"), 0, options);
    IsobarKeyValueStore one = open(here, "counts");
    fill(one, "one");
    Path copy = there.directory().resolve("isobar");
    Files.createDirectories(copy);
    Files.copy(here.directory().resolve("isobar").resolve("counts"), copy.resolve("counts"));

    IsobarKeyValueStore two = open(there, "counts");
    assertNull(two.committedOffset(CHANGELOG));
    assertNull(two.get(KEY));
    fill(two, "two");
    assertArrayEquals("one".getBytes(UTF_8), one.get(KEY));
    one.close();
    two.close();
    two = open(there, "counts");
    assertArrayEquals("two".getBytes(UTF_8), two.get(KEY));
    two.close();
  }

  /** Nobody knows whether its task was wiped; that those of others were is known. */
  @Test
  void aMarkerThatCanNotBeReadKeepsItsTreeAlone() throws IOException {
    for (String name : List.of("held", "wiped")) {
      IsobarKeyValueStore store = open(task(), name);
      fill(store, name);
      store.close();
    }
    Path markers = task().directory().resolve("isobar");
    Path held = markers.resolve("held");
    Path aside = markers.resolve("aside");
    Files.move(held, aside);
    Files.createDirectory(held);
    Files.delete(markers.resolve("wiped"));
    surroundings.pass(Duration.ofSeconds(30));
    List<String> trees = trees();
    assertEquals(2, trees.size(), trees::toString);
    assertTrue(trees.toString().contains("0_0-held."), trees::toString);

    Files.delete(held);
    Files.move(aside, held);
    IsobarKeyValueStore again = open(task(), "held");
    assertEquals(1L, again.committedOffset(CHANGELOG));
    again.close();
    Utils.delete(markers.toFile());
    Files.writeString(markers, "a file in the place of the directory");
    surroundings.pass(Duration.ofSeconds(30));
    assertEquals(2, trees().size());
  }
}
