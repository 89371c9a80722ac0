package io.isobardb.lsm.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
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
 * A store of format version 5 with tiers and fences, as a kill left it: every later release reads
 * it. {@link TierStore} built it.
 */
class TierStoreTest {
  private final TierStore expected = TierStore.expected();
  private final StoreOptions options = FeatureStore.options().createIfMissing(false).build();

  @TempDir Path temp;

  private Path unpack() throws IOException {
    try (InputStream file = TierStoreTest.class.getResourceAsStream("store-5.zip")) {
      return FormatStore.unpack(file, Files.createDirectory(temp.resolve("store")));
    }
  }

  private void assertHolds(Store store) {
    assertEquals(List.copyOf(expected.model.keySet()), store.treeNames());
    expected.model.forEach(
        (name, model) -> {
          for (boolean backwards : new boolean[] {false, true}) {
            FormatVersionsTest.assertSame(
                name, model, FormatVersionsTest.read(store.tree(name), backwards));
          }
        });
  }

  private static int tiers(Store store) {
    return store.stats().trees().stream()
        .filter(tree -> tree.name().equals(TierStore.TIERED))
        .findFirst()
        .orElseThrow()
        .tierBytes()
        .size();
  }

  private void readAndMerge(Path directory) throws IOException {
    FormatVersionsTest.assertSound(directory, options);
    TreeMap<String, byte[]> before = StoreFiles.read(directory);
    try (Store store = Store.openReadOnly(directory, options)) {
      assertTrue(tiers(store) > 0, "tiers");
      assertHolds(store);
    }
    StoreFiles.assertSame(before, directory);
    try (Store store = Store.open(directory, options)) {
      assertHolds(store);
      store.tree(TierStore.TIERED).compact(null, null);
      assertHolds(store);
    }
    FormatVersionsTest.assertSound(directory, options);
  }

  @Test
  void itIsReadAndMergedDown() throws IOException {
    readAndMerge(unpack());
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
  void whatThisReleaseBuildsHoldsTheSame() throws IOException {
    Path zip = temp.resolve("store.zip");
    TierStore.main(new String[] {temp.resolve("built").toString(), zip.toString()});
    try (InputStream file = Files.newInputStream(zip)) {
      readAndMerge(FormatStore.unpack(file, Files.createDirectory(temp.resolve("store"))));
    }
  }
}
