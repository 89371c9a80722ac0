package io.isobardb.lsm.format;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Backups;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.repair.StoreRepair;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Somebody else's files, in a directory that is given for a store or behind a link in one. */
final class ForeignFilesTest {
  private static final StoreOptions SMALL = StoreOptions.builder().memoryBudget(8 << 20).build();

  private static final String TEXT = "somebody else's text\n";

  @TempDir Path dir;

  private Path victim;

  /** Whatever makes files in a directory. */
  private interface Maker {
    void make(Path directory) throws Exception;
  }

  private Map<String, Maker> makers() {
    Path source = dir.resolve("source");
    Path backups = dir.resolve("backups");
    Map<String, Maker> makers = new LinkedHashMap<>();
    makers.put("Store.open", place -> Store.open(place, SMALL).close());
    makers.put("Backups.open", place -> Backups.open(place).close());
    makers.put(
        "checkpointTo",
        place -> {
          try (Store store = Store.open(source, SMALL)) {
            store.checkpointTo(place);
          }
        });
    makers.put(
        "restore",
        place -> {
          try (Backups from = Backups.open(backups)) {
            from.restore(1, place);
          }
        });
    makers.put("repair", place -> StoreRepair.run(source, place, SMALL, CheckProgress.NONE));
    return makers;
  }

  @BeforeEach
  void makeSources() throws Exception {
    victim = Files.writeString(dir.resolve("victim"), TEXT);
    try (Store store = Store.open(dir.resolve("source"), SMALL);
        Backups backups = Backups.open(dir.resolve("backups"))) {
      store.openTree("t").put(new byte[1], new byte[1]);
      backups.create(store);
    }
  }

  private static List<String> names(Path directory) throws Exception {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void nothingFollowsALockThatIsALink() throws Exception {
    for (Map.Entry<String, Maker> maker : makers().entrySet()) {
      Path place = Files.createDirectory(dir.resolve(maker.getKey()));
      Files.createSymbolicLink(place.resolve("LOCK"), victim);
      Exception e = assertThrows(Exception.class, () -> maker.getValue().make(place));
      assertTrue(String.valueOf(e.getMessage()).contains("symbolic link"), e.toString());
      Files.delete(place.resolve("LOCK"));
      Files.createSymbolicLink(place.resolve("LOCK"), dir.resolve("none"));
      assertThrows(Exception.class, () -> maker.getValue().make(place), maker.getKey());
      assertFalse(Files.exists(dir.resolve("none")), maker.getKey());
      assertEquals(TEXT, Files.readString(victim), maker.getKey());
      assertEquals(List.of("LOCK"), names(place));
    }
  }

  @Test
  void aLockThatIsAnotherNameOfAForeignFileIsNotOverwritten() throws Exception {
    Path source = dir.resolve("source");
    Files.delete(source.resolve("LOCK"));
    Files.createLink(source.resolve("LOCK"), victim);
    Exception e = assertThrows(Exception.class, () -> Store.open(source, SMALL));
    assertTrue(e.getMessage().contains("LOCK"), e.getMessage());
    assertEquals(TEXT, Files.readString(victim));
  }

  @Test
  void aDirectoryWithForeignFilesIsNeverTakenForAnEmptyOne() throws Exception {
    for (String name :
        List.of(
            "mail.deleted", "mail.0.deleted", "LOCK", "MANIFEST-of-a-ship", "CURRENT-affairs")) {
      for (Map.Entry<String, Maker> maker : makers().entrySet()) {
        Path home = Files.createDirectory(dir.resolve(maker.getKey() + "-" + name));
        Files.writeString(home.resolve(name), TEXT);
        assertThrows(Exception.class, () -> maker.getValue().make(home), maker.getKey() + name);
        assertEquals(List.of(name), names(home), maker.getKey());
        assertEquals(TEXT, Files.readString(home.resolve(name)), maker.getKey());
      }
    }
  }

  /** Files of a store that were moved elsewhere and linked to are not written there. */
  @Test
  void noFileOfAStoreIsWrittenBehindALink() throws Exception {
    Path source = dir.resolve("source");
    for (String name : names(source)) {
      if (name.equals("LOCK")) {
        continue;
      }
      Path copy = Files.createDirectory(dir.resolve("copy-" + name));
      for (String other : names(source)) {
        Files.copy(source.resolve(other), copy.resolve(other));
      }
      Path elsewhere = dir.resolve("elsewhere-" + name);
      Files.move(copy.resolve(name), elsewhere);
      Files.createSymbolicLink(copy.resolve(name), elsewhere);
      byte[] before = Files.readAllBytes(elsewhere);
      try (Store store = Store.open(copy, SMALL)) {
        store.openTree("t").put(new byte[1], new byte[2]);
      } catch (Exception e) {
        assertTrue(String.valueOf(e.getMessage()).contains("symbolic link"), name + ": " + e);
      }
      assertArrayEquals(before, Files.readAllBytes(elsewhere), name);
    }
    Store.open(source, SMALL).close();
  }
}
