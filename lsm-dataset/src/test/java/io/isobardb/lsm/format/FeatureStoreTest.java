package io.isobardb.lsm.format;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.RepairReport;
import io.isobardb.repair.StoreRepair;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store of format version 3 with operands, entries that expire, deleted ranges and a bulk load,
 * as a kill left it: every later release reads it. {@link FeatureStore} built it.
 */
class FeatureStoreTest {
  private final FeatureStore expected = FeatureStore.expected();
  private final StoreOptions options = FeatureStore.options().createIfMissing(false).build();

  @TempDir Path temp;

  private Path unpack() throws IOException {
    try (InputStream file = FeatureStoreTest.class.getResourceAsStream("store-3.zip")) {
      return FormatStore.unpack(file, Files.createDirectory(temp.resolve("store")));
    }
  }

  private void assertHolds(Store store) {
    expected.model.forEach(
        (name, model) -> {
          Tree tree = store.tree(name);
          TreeMap<byte[], byte[]> found = FormatVersionsTest.read(tree, true);
          assertEquals(model.size(), found.size(), name);
          for (int i = 0; i < 70; i++) {
            byte[] key = FeatureStore.key(i);
            assertArrayEquals(model.get(key), found.get(key), name + " " + i);
            assertArrayEquals(model.get(key), tree.get(key), name + " " + i);
          }
        });
  }

  @Test
  void itIsReadAndWrittenAndMergedDown() throws IOException {
    Path directory = unpack();
    FormatVersionsTest.assertSound(directory, options);
    TreeMap<String, byte[]> before = StoreFiles.read(directory);
    try (Store store = Store.openReadOnly(directory, options)) {
      assertHolds(store);
    }
    StoreFiles.assertSame(before, directory);
    try (Store store = Store.open(directory, options)) {
      assertHolds(store);
      store.tree("lists").merge(FeatureStore.key(1), bytes("more"));
      store.tree("lists").put(FeatureStore.key(2), bytes("again"));
      store.tree("cleared").deleteRange(FeatureStore.key(20), FeatureStore.key(25));
    }
    byte[] list = expected.model.get("lists").get(FeatureStore.key(1));
    expected
        .model
        .get("lists")
        .put(FeatureStore.key(1), FeatureStore.appended(list, bytes("more")));
    expected.model.get("lists").put(FeatureStore.key(2), bytes("again"));
    expected.model.get("cleared").subMap(FeatureStore.key(20), FeatureStore.key(25)).clear();
    try (Store store = Store.open(directory, options)) {
      assertHolds(store);
      store.flush();
      assertHolds(store);
      expected.model.keySet().forEach(name -> store.tree(name).compact(null, null));
      assertHolds(store);
    }
    FormatVersionsTest.assertSound(directory, options);
  }

  @Test
  void itIsRepaired() throws IOException {
    Path target = temp.resolve("repaired");
    RepairReport report = StoreRepair.run(unpack(), target, options, CheckProgress.NONE);
    assertEquals(List.of(), report.losses());
    try (Store store = Store.open(target, options)) {
      assertHolds(store);
    }
  }

  @Test
  void itIsCopiedWhileItIsOpen() throws IOException {
    Path image = temp.resolve("image");
    try (Store store = Store.open(unpack(), options)) {
      store.checkpointTo(image);
    }
    try (Store store = Store.open(image, options)) {
      assertHolds(store);
    }
  }

  @Test
  void whatThisReleaseBuildsHoldsTheSame() throws IOException {
    Path zip = temp.resolve("store.zip");
    FeatureStore.main(new String[] {temp.resolve("built").toString(), zip.toString()});
    try (InputStream file = Files.newInputStream(zip)) {
      Path directory = FormatStore.unpack(file, Files.createDirectory(temp.resolve("store")));
      FormatVersionsTest.assertSound(directory, options);
      try (Store store = Store.open(directory, options)) {
        assertHolds(store);
      }
    }
  }
}
