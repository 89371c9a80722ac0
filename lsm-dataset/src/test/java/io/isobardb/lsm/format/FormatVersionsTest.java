package io.isobardb.lsm.format;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.dataset.Dataset;
import io.isobardb.lsm.dataset.DatasetCheck;
import io.isobardb.lsm.dataset.IndexEntry;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.CheckReport;
import io.isobardb.lsm.inspect.RepairReport;
import io.isobardb.repair.StoreInspector;
import io.isobardb.repair.StoreRepair;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Stores of format versions, as the releases that wrote them left them at a kill: this release
 * opens them. {@link FormatStore} built them.
 */
@Tag("any-jdk")
class FormatVersionsTest {
  /** What this release writes. */
  private static final int TODAY = 7;

  /** Versions whose stores {@link FeatureStoreTest} and {@link TierStoreTest} open. */
  private static final Set<Integer> ELSEWHERE = Set.of(3, 5);

  /** Where CURRENT and manifests have their version. */
  private static final int VERSION = 12;

  @TempDir Path temp;

  /** Each has a store: a change of the format adds one of the version before it. */
  static IntStream versions() {
    return IntStream.range(1, TODAY).filter(version -> !ELSEWHERE.contains(version));
  }

  private Path unpack(int version) throws IOException {
    String name = "store-" + version + ".zip";
    try (InputStream file = FormatVersionsTest.class.getResourceAsStream(name)) {
      return FormatStore.unpack(file, Files.createDirectory(temp.resolve("store")));
    }
  }

  private static int version(Path file) throws IOException {
    return ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN).getInt(VERSION);
  }

  static void assertSound(Path directory, StoreOptions options) throws IOException {
    try (StoreInspector inspector = StoreInspector.open(directory, options)) {
      CheckReport report = inspector.check(CheckProgress.NONE);
      assertTrue(report.isSound(), report::toString);
    }
  }

  static TreeMap<byte[], byte[]> read(Tree tree, boolean backwards) {
    TreeMap<byte[], byte[]> found = new TreeMap<>(Arrays::compareUnsigned);
    try (Cursor cursor = tree.cursor()) {
      for (boolean more = backwards ? cursor.last() : cursor.first();
          more;
          more = backwards ? cursor.previous() : cursor.next()) {
        found.put(cursor.key(), cursor.value());
      }
    }
    return found;
  }

  static void assertSame(
      String tree, TreeMap<byte[], byte[]> expected, TreeMap<byte[], byte[]> found) {
    assertEquals(expected.size(), found.size(), tree);
    expected.forEach((key, value) -> assertArrayEquals(value, found.get(key), tree));
  }

  /** Every way to read gives what the model has. */
  private static void assertHolds(Store store, FormatStore expected) {
    for (Map.Entry<String, TreeMap<byte[], byte[]>> entry : expected.model.entrySet()) {
      if (entry.getKey().equals(FormatStore.PEOPLE)) {
        continue;
      }
      Tree tree = store.tree(entry.getKey());
      TreeMap<byte[], byte[]> model = entry.getValue();
      assertSame(tree.name(), model, read(tree, false));
      assertSame(tree.name(), model, read(tree, true));
      List<byte[]> keys = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        keys.add(bytes("key" + i + "-".repeat(i % 11)));
      }
      List<byte[]> many = tree.multiGet(keys);
      for (int i = 0; i < 100; i++) {
        assertArrayEquals(model.get(keys.get(i)), tree.get(keys.get(i)), tree.name());
        assertArrayEquals(model.get(keys.get(i)), many.get(i), tree.name());
      }
    }
  }

  private static void assertPeople(Dataset people, FormatStore expected) {
    TreeMap<byte[], byte[]> model = expected.model.get(FormatStore.PEOPLE);
    model.forEach((key, value) -> assertArrayEquals(value, people.get(key)));
    DatasetCheck check = people.check();
    assertTrue(check.isSound(), check::toString);
    assertEquals(model.size(), check.records());
    for (byte[] value : model.values()) {
      String[] fields = new String(value, UTF_8).split(",");
      for (int i = 0; i < fields.length; i++) {
        List<IndexEntry> found = people.find(FormatStore.INDEXES.get(i), bytes(fields[i]));
        assertTrue(
            found.stream().anyMatch(entry -> Arrays.equals(entry.value(), value)), fields[i]);
      }
    }
  }

  /** Writes as a store of this release does, in memory, on disk and in the log. */
  private static void write(Store store, Dataset people, FormatStore expected) {
    for (String name : FormatStore.TREES) {
      Tree tree = store.tree(name);
      for (int i = 0; i < 40; i++) {
        byte[] key = bytes("key" + i + "-".repeat(i % 11));
        if (i % 4 == 3) {
          tree.delete(key);
          expected.model.get(name).remove(key);
        } else {
          tree.put(key, bytes("new" + i));
          expected.model.get(name).put(key, bytes("new" + i));
        }
        if (i == 20) {
          store.flush();
          store.awaitQuiet();
        }
      }
    }
    byte[] person = bytes("person7");
    byte[] value = bytes("city1,another@example.org,33");
    people.put(person, value);
    expected.model.get(FormatStore.PEOPLE).put(person, value);
  }

  @ParameterizedTest
  @MethodSource("versions")
  void aStoreOfAReleaseIsReadAndWritten(int version) throws IOException {
    Path directory = unpack(version);
    assertEquals(version, version(directory.resolve("CURRENT")));
    readAndWrite(directory);
  }

  @Test
  void aStoreThatThisReleaseBuildsIsReadAndWritten() throws IOException {
    Path zip = temp.resolve("store.zip");
    FormatStore.main(new String[] {temp.resolve("built").toString(), zip.toString()});
    Path directory;
    try (InputStream file = Files.newInputStream(zip)) {
      directory = FormatStore.unpack(file, Files.createDirectory(temp.resolve("store")));
    }
    assertEquals(TODAY, version(directory.resolve("CURRENT")));
    assertEquals(TODAY, version(StoreFiles.last(directory, "MANIFEST", "")));
    readAndWrite(directory);
  }

  private static void readAndWrite(Path directory) throws IOException {
    FormatStore expected = FormatStore.expected();
    StoreOptions options = FormatStore.options().createIfMissing(false).build();
    assertSound(directory, options);
    TreeMap<String, byte[]> before = StoreFiles.read(directory);
    try (Store store = Store.openReadOnly(directory, options)) {
      assertHolds(store, expected);
    }
    StoreFiles.assertSame(before, directory);
    try (Store store = Store.open(directory, options)) {
      assertEquals(TODAY, version(directory.resolve("CURRENT")), "raised before anything is new");
      assertHolds(store, expected);
      Dataset people = FormatStore.people(store);
      assertPeople(people, expected);
      write(store, people, expected);
      assertHolds(store, expected);
      assertPeople(people, expected);
    }
    assertSound(directory, options);
    try (Store store = Store.open(directory, options)) {
      assertHolds(store, expected);
      assertPeople(FormatStore.people(store), expected);
      store.flush();
      store.awaitQuiet();
      assertHolds(store, expected);
    }
    assertSound(directory, options);
  }

  @ParameterizedTest
  @MethodSource("versions")
  void aStoreOfAReleaseIsRepaired(int version) throws IOException {
    Path directory = unpack(version);
    Path target = temp.resolve("repaired");
    StoreOptions options = FormatStore.options().build();
    RepairReport report = StoreRepair.run(directory, target, options, CheckProgress.NONE);
    assertEquals(List.of(), report.losses());
    assertEquals(TODAY, version(target.resolve("CURRENT")));
    FormatStore expected = FormatStore.expected();
    // Repair takes the newest of everything, what is behind a checkpoint, too.
    expected.model.remove("unlogged");
    try (Store store = Store.open(target, options)) {
      assertHolds(store, expected);
    }
  }

  @ParameterizedTest
  @MethodSource("versions")
  void aStoreOfAReleaseIsBackedUpAndRestored(int version) throws IOException {
    Path directory = unpack(version);
    StoreOptions options = FormatStore.options().build();
    Path image = temp.resolve("image");
    try (Store store = Store.open(directory, options)) {
      store.checkpointTo(image);
    }
    try (Store store = Store.open(image, options)) {
      assertHolds(store, FormatStore.expected());
    }
  }

  @Test
  void aReleaseThatKnowsAnEarlierFormatAloneRefusesAStoreOfThisOne() throws IOException {
    Path directory = unpack(2);
    try (Store store = Store.open(directory, FormatStore.options().build())) {
      assertNull(store.tree("plain").get(bytes("no such key")));
    }
    // The rule is the same in every release: a version above the newest one known is refused.
    byte[] current = Files.readAllBytes(directory.resolve("CURRENT"));
    assertTrue(version(directory.resolve("CURRENT")) > 2);
    current[VERSION] = TODAY + 1;
    Files.write(directory.resolve("CURRENT"), current);
    TreeMap<String, byte[]> before = StoreFiles.read(directory);
    FormatException e =
        assertThrows(
            FormatException.class, () -> Store.open(directory, FormatStore.options().build()));
    assertTrue(e.getMessage().contains("CURRENT has format version " + (TODAY + 1)), e::getMessage);
    assertTrue(e.getMessage().contains("reads up to version " + TODAY), e::getMessage);
    StoreFiles.assertSame(before, directory);
  }
}
