package io.isobardb.lsm.format;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.DeflateCodec;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.FormatException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/**
 * Stores that a later release wrote. Only the version differs here; checksums then do not fit, as
 * they would not if the later release computed them in another way.
 */
class StoreFormatTest {
  private static final StoreOptions SMALL = SimulatedStores.SMALL;
  private static final TreeOptions UNLOGGED = TreeOptions.builder().logged(false).build();
  private static final int NEWER = 99;

  /** Where the format version is in these files. */
  private static final int MANIFEST_VERSION = 12;

  private static final int LOG_VERSION = 8;
  private static final int TABLE_VERSION = 40;

  @TempDir Path temp;

  private Path dir() {
    return temp.resolve("store");
  }

  /**
   * A store as a kill left it: with SSTables, entries in the log alone, an unlogged tree that has
   * to be taken back to a checkpoint, and files that nobody knows.
   */
  private void makeStore() throws IOException {
    Path original = temp.resolve("original");
    try (Store store = Store.open(original, SMALL)) {
      Tree tree = store.openTree("t");
      Tree unlogged = store.openTree("unlogged", UNLOGGED);
      for (int i = 0; i < 2000; i++) {
        tree.put(key(i), value(i, 100));
        unlogged.put(key(i), value(i, 100));
      }
      store.checkpoint();
      for (int round = 0; round < 10; round++) {
        unlogged.put(key(round), value(77, 100));
        unlogged.put(key(1999 - round), value(77, 100));
        store.flush();
        store.awaitQuiet();
      }
      for (int i = 2000; i < 4000; i++) {
        tree.put(key(i), value(i, 100));
      }
      store.sync();
      StoreFiles.copy(original, dir());
    }
    Files.write(dir().resolve("9999999999.sst"), new byte[8192]);
    Files.write(dir().resolve("CURRENT.tmp"), new byte[64]);
    Files.write(dir().resolve("MANIFEST-999999"), new byte[4096]);
  }

  private static void assertNewer(Path file, Executable call) {
    FormatException e = assertThrows(FormatException.class, call);
    List<String> parts =
        List.of(file.getFileName().toString(), "version " + NEWER, "up to version", "the release");
    parts.forEach(part -> assertTrue(e.getMessage().contains(part), e::getMessage));
  }

  /**
   * The store is refused with this file changed, nothing is touched; and opens with it as before.
   */
  private void assertRefused(Path file, int versionOffset) throws IOException {
    byte[] good = Files.readAllBytes(file);
    StoreFiles.patch(file, versionOffset, NEWER);
    TreeMap<String, byte[]> before = StoreFiles.read(dir());
    assertNewer(file, () -> Store.open(dir(), SMALL));
    StoreFiles.assertSame(before, dir());
    Files.write(file, good);
    assertOpens();
  }

  private void assertOpens() throws IOException {
    try (Store store = Store.open(dir(), SMALL)) {
      for (int i = 0; i < 4000; i++) {
        assertArrayEquals(value(i, 100), store.tree("t").get(key(i)), "key " + i);
      }
      for (int i = 0; i < 2000; i++) {
        assertArrayEquals(value(i, 100), store.tree("unlogged").get(key(i)), "key " + i);
      }
    }
    assertTrue(Files.notExists(dir().resolve("9999999999.sst")));
  }

  @Test
  void aNewerCurrentFileIsRefusedAndNothingIsChanged() throws IOException {
    makeStore();
    assertRefused(dir().resolve("CURRENT"), MANIFEST_VERSION);
  }

  @Test
  void aNewerCurrentFileOfAnotherLengthIsRefused() throws IOException {
    makeStore();
    byte[] longer = new byte[128];
    byte[] current = Files.readAllBytes(dir().resolve("CURRENT"));
    System.arraycopy(current, 0, longer, 0, current.length);
    longer[MANIFEST_VERSION] = NEWER;
    Files.write(dir().resolve("CURRENT"), longer);
    assertNewer(dir().resolve("CURRENT"), () -> Store.open(dir(), SMALL));
  }

  @Test
  void aNewerManifestIsRefusedAndNothingIsChanged() throws IOException {
    makeStore();
    Files.delete(dir().resolve("MANIFEST-999999"));
    assertRefused(StoreFiles.last(dir(), "MANIFEST", ""), MANIFEST_VERSION);
  }

  @Test
  void aNewerRingIsRefusedAndNothingIsChanged() throws IOException {
    makeStore();
    assertRefused(dir().resolve("RING"), LOG_VERSION);
  }

  @Test
  void aNewerLogIsRefusedAndNothingIsChanged() throws IOException {
    makeStore();
    assertRefused(StoreFiles.last(dir(), "", ".log"), LOG_VERSION);
  }

  @Test
  void aMissingLogSegmentIsToldBeforeAnythingIsChanged() throws IOException {
    makeStore();
    StoreFiles.all(dir(), "", ".log").forEach(path -> path.toFile().delete());
    TreeMap<String, byte[]> before = StoreFiles.read(dir());
    assertThrows(RuntimeException.class, () -> Store.open(dir(), SMALL));
    StoreFiles.assertSame(before, dir());
  }

  @Test
  void aNewerSstableThatOpeningWouldRewriteIsRefusedAndNothingIsChanged() throws IOException {
    makeStore();
    for (Path path : StoreFiles.all(dir(), "0", ".sst")) {
      StoreFiles.patch(path, TABLE_VERSION, NEWER);
    }
    TreeMap<String, byte[]> before = StoreFiles.read(dir());
    FormatException e = assertThrows(FormatException.class, () -> Store.open(dir(), SMALL));
    assertTrue(e.getMessage().contains("version " + NEWER), e::getMessage);
    StoreFiles.assertSame(before, dir());
  }

  @Test
  void aNewerSstableIsRefusedByTheFirstReadOfItAndStays() throws IOException {
    for (String codec : List.of("NONE", "LZ4", DeflateCodec.NAME)) {
      Compression compression = Compression.of(codec);
      Path path = temp.resolve(codec);
      try (Store store = Store.open(path, SMALL)) {
        Tree tree = store.openTree("t", TreeOptions.builder().compression(compression).build());
        for (int i = 0; i < 2000; i++) {
          tree.put(key(i), value(i, 100));
        }
        store.flush();
      }
      for (Path table : StoreFiles.all(path, "", ".sst")) {
        StoreFiles.patch(table, TABLE_VERSION, NEWER);
      }
      Path table = StoreFiles.last(path, "", ".sst");
      byte[] content = Files.readAllBytes(table);
      try (Store store = Store.open(path, SMALL)) {
        Tree tree = store.tree("t");
        assertNewer(table, () -> tree.get(key(1)));
        assertNewer(table, () -> tree.get(key(1)));
        assertNewer(
            table,
            () -> {
              try (Cursor cursor = tree.cursor()) {
                cursor.first();
              }
            });
        tree.put(key(1), value(2, 100));
        assertArrayEquals(value(2, 100), tree.get(key(1)));
      }
      assertArrayEquals(content, Files.readAllBytes(table));
      StoreFiles.patch(table, TABLE_VERSION, 1);
      try (Store store = Store.open(path, SMALL)) {
        assertArrayEquals(value(3, 100), store.tree("t").get(key(3)));
      }
    }
  }
}
