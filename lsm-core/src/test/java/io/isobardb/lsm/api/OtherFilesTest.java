package io.isobardb.lsm.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Backups;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.repair.StoreInspector;
import io.isobardb.repair.StoreRepair;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Directories that are not the operating system's: here in an archive. */
class OtherFilesTest {
  private static final StoreOptions SMALL = StoreOptions.builder().memoryBudget(8 << 20).build();

  @TempDir Path dir;

  @Test
  void theyAreRefusedBeforeAnythingIsMade() throws Exception {
    URI archive = URI.create("jar:" + dir.resolve("archive.zip").toUri());
    try (FileSystem files = FileSystems.newFileSystem(archive, Map.of("create", "true"));
        Store store = Store.open(dir.resolve("store"), SMALL);
        Backups backups = Backups.open(dir.resolve("backups"))) {
      long id = backups.create(store).id();
      Path there = files.getPath("/there");
      List<Runnable> calls =
          List.of(
              () -> Store.open(there, SMALL),
              () -> Store.openReadOnly(there, SMALL),
              () -> StoreInspector.open(there, SMALL),
              () -> StoreRepair.run(there, dir.resolve("made"), SMALL, CheckProgress.NONE),
              () -> store.checkpointTo(there),
              () -> Backups.open(there),
              () -> backups.restore(id, there));
      for (Runnable call : calls) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, call::run);
        assertTrue(e.getMessage().contains("not /there of jar"), e::getMessage);
      }
      try (Stream<Path> made = Files.list(files.getPath("/"))) {
        assertEquals(List.of(), made.toList());
      }
    }
  }
}
