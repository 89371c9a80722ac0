package io.isobardb.bench.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.isobardb.bench.engine.Directories;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KillChoresTest {
  private static final StoreOptions OPTIONS = StoreOptions.builder().memoryBudget(16 << 20).build();

  @TempDir Path temp;

  @Test
  void stepsAreKnownByWhatTheyLeave() throws Exception {
    KillChores chores = new KillChores(temp.resolve("work"));
    try (Store store = Store.open(temp.resolve("store"), OPTIONS)) {
      assertEquals(0, chores.next(store, -1));
      store.openTree("loaded-0");
      assertEquals(0, chores.next(store, -1), "a tree that is not loaded yet");
      for (long step = 0; step < 8; step++) {
        chores.take(store, step);
        assertEquals(step + 1, chores.next(store, step));
      }
      chores.check(0, 7, OPTIONS);
    }
  }

  @Test
  void whatIsMissingIsFound() throws Exception {
    KillChores chores = new KillChores(temp.resolve("work"));
    try (Store store = Store.open(temp.resolve("store"), OPTIONS)) {
      for (long step = 0; step < 3; step++) {
        chores.take(store, step);
      }
      store.tree("loaded-0").delete("000500".getBytes());
      assertThrows(AssertionError.class, () -> chores.next(store, 2), "an entry");
      store.dropTree("loaded-0");
      assertThrows(AssertionError.class, () -> chores.next(store, 2), "a tree");
      Directories.delete(temp.resolve("work").resolve("copies"));
      assertThrows(AssertionError.class, () -> chores.check(2, 2, OPTIONS), "a copy");
      Directories.delete(temp.resolve("work"));
      chores.take(store, 1);
      try (Stream<Path> files = Files.walk(temp.resolve("work"))) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          Files.write(file, new byte[100]);
        }
      }
      assertThrows(AssertionError.class, () -> chores.check(2, 1, OPTIONS), "a backup");
    }
  }
}
