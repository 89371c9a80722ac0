package io.isobardb.lsm.format;

import static java.util.Comparator.naturalOrder;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An opening of a store writes to no file that was there: a process that lost its lock may have it
 * open, and go on writing to it.
 */
class NewFilesTest {
  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(8 << 20).logLimit(1 << 20).build();

  @TempDir Path top;

  private Path dir;

  /** Second names of the files, which keep them when they are replaced or deleted. */
  private Path kept;

  private int written;

  @BeforeEach
  void name() throws IOException {
    dir = top.resolve("data");
    kept = Files.createDirectory(top.resolve("kept"));
  }

  private static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.sorted().toList();
    }
  }

  /** Keeps all files but the lock; gives their contents. */
  private Map<String, byte[]> keep() throws IOException {
    for (Path old : files(kept)) {
      Files.delete(old);
    }
    Map<String, byte[]> contents = new TreeMap<>();
    for (Path file : files(dir)) {
      String name = file.getFileName().toString();
      if (!name.equals("LOCK")) {
        Files.createLink(kept.resolve(name), file);
        contents.put(name, Files.readAllBytes(file));
      }
    }
    return contents;
  }

  private void write(Store store, int count) {
    Tree tree = store.openTree("t");
    for (int i = 0; i < count; i++, written++) {
      boolean sync = i % 50 == 0;
      tree.put(
          SimulatedStores.key(written),
          SimulatedStores.value(written, 400),
          sync ? Durability.SYNC : Durability.ASYNC);
    }
  }

  private void check(Store store) {
    Tree tree = store.tree("t");
    for (int i = 0; i < written; i++) {
      assertArrayEquals(SimulatedStores.value(i, 400), tree.get(SimulatedStores.key(i)), "" + i);
    }
  }

  /** What a process that was killed leaves, or one that is about to lose the directory. */
  private void copyWhileOpen(Path target) throws IOException {
    Files.createDirectory(target);
    for (Path file : files(dir)) {
      Files.copy(file, target.resolve(file.getFileName()));
    }
  }

  private static Object key(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
  }

  private void openAndCompare(String what) throws IOException {
    Map<String, byte[]> before = keep();
    try (Store store = Store.open(dir, OPTIONS)) {
      check(store);
      write(store, 6000); // More than a segment has room for.
      store.flush();
    }
    for (Map.Entry<String, byte[]> file : before.entrySet()) {
      byte[] now = Files.readAllBytes(kept.resolve(file.getKey()));
      assertArrayEquals(file.getValue(), now, what + ": " + file.getKey());
    }
    for (Path file : files(kept)) {
      Path current = dir.resolve(file.getFileName());
      if (file.endsWith("RING") || file.endsWith("CURRENT")) {
        assertNotEquals(key(file), key(current), what + ": " + file.getFileName());
      }
    }
  }

  @Test
  void anOpeningChangesNoFileThatWasThere() throws IOException {
    try (Store store = Store.open(dir, OPTIONS)) {
      write(store, 1000);
      store.flush();
      write(store, 700);
    }
    openAndCompare("closed in order");
    try (Store store = Store.open(dir, OPTIONS)) {
      write(store, 900);
      copyWhileOpen(top.resolve("killed"));
      dir = top.resolve("killed");
    }
    openAndCompare("killed");
  }

  /** Whatever a process that lost the directory does to its files, the store is not theirs. */
  @Test
  void whatTheLoserGoesOnToWriteIsNotInTheStore() throws IOException {
    try (Store store = Store.open(dir, OPTIONS)) {
      write(store, 1000);
      store.flush();
      write(store, 700);
    }
    String last =
        keep().keySet().stream().filter(n -> n.endsWith(".log")).max(naturalOrder()).get();
    try (Store store = Store.open(dir, OPTIONS)) {
      for (Path file : files(kept)) {
        String name = file.getFileName().toString();
        if (name.equals(last) || !name.endsWith(".sst") && !name.endsWith(".log")) {
          try (RandomAccessFile old = new RandomAccessFile(file.toFile(), "rw")) {
            old.write(new byte[(int) old.length()]);
          }
        }
      }
      write(store, 500);
      check(store);
    }
    try (Store store = Store.open(dir, OPTIONS)) {
      check(store);
    }
  }
}
