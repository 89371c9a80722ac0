package io.isobardb.lsm.backup;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.isobardb.lsm.Backups;
import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.inspect.CheckReport;
import io.isobardb.repair.StoreInspector;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Stores made of open ones. */
class CheckpointToTest {
  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(8 << 20).logLimit(16 << 20).build();

  @TempDir Path directory;

  private Path path(String name) {
    return directory.resolve(name);
  }

  static void check(Path store) throws IOException {
    try (StoreInspector inspector = StoreInspector.open(store, OPTIONS)) {
      CheckReport report = inspector.check((what, done, total) -> {});
      assertEquals(List.of(), report.findings());
    }
  }

  @Test
  void holdsWhatWasInMemoryAndOnDiskOfAllTrees() throws Exception {
    try (Store store = Store.open(path("a"), OPTIONS)) {
      Tree logged = store.openTree("logged");
      Tree unlogged = store.openTree("unlogged", TreeOptions.builder().logged(false).build());
      store.openTree("empty");
      Tree compressed =
          store.openTree("lz4", TreeOptions.builder().compression(Compression.LZ4).build());
      for (int i = 0; i < 20_000; i++) {
        logged.put(bytes("k" + i), bytes("old" + i));
        unlogged.put(bytes("u" + i), new byte[i % 300]);
        compressed.put(bytes("c" + i), bytes("value of " + i));
        if (i == 10_000) {
          store.flush();
        }
      }
      logged.delete(bytes("k5"));
      logged.put(bytes("k6"), bytes("new"));
      logged.put(bytes("large"), new byte[300_000]);
      store.checkpointTo(path("b"));
      logged.put(bytes("k7"), bytes("later"));
      unlogged.delete(bytes("u299"));
      check(path("b"));
      for (int round = 0; round < 2; round++) {
        try (Store copy = Store.open(path("b"), OPTIONS)) {
          assertEquals(List.of("empty", "logged", "lz4", "unlogged"), copy.treeNames());
          Tree tree = copy.tree("logged");
          assertNull(tree.get(bytes("k5")));
          assertArrayEquals(bytes("new"), tree.get(bytes("k6")));
          assertArrayEquals(bytes("old7"), tree.get(bytes("k7")));
          assertArrayEquals(new byte[300_000], tree.get(bytes("large")));
          assertEquals(299, copy.tree("unlogged").get(bytes("u299")).length);
          assertFalse(copy.tree("unlogged").isLogged());
          assertArrayEquals(bytes("value of 19999"), copy.tree("lz4").get(bytes("c19999")));
          tree.put(bytes("own"), bytes("1"));
          copy.flush();
        }
      }
      assertNull(logged.get(bytes("own")));
    }
    check(path("a"));
    check(path("b"));
  }

  /** What identifies the files of a directory to the system, if their names end so. */
  private static List<Object> identities(Path directory, String suffix) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      List<Object> identities = new ArrayList<>();
      for (Path file : files.filter(each -> each.toString().endsWith(suffix)).toList()) {
        identities.add(Files.readAttributes(file, BasicFileAttributes.class).fileKey());
      }
      return identities;
    }
  }

  @Test
  void tablesAreSharedOnTheSameFileSystemAndCopiedToAnother() throws Exception {
    assumeTrue(Files.readAttributes(directory, BasicFileAttributes.class).fileKey() != null);
    try (Store store = Store.open(path("a"), OPTIONS)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 5000; i++) {
        tree.put(bytes("k" + i), bytes("value" + i));
      }
      store.flush();
      store.checkpointTo(path("b"));
      List<Object> tables = identities(path("b"), ".sst");
      assertFalse(tables.isEmpty(), "no table was flushed");
      assertTrue(identities(path("a"), ".sst").containsAll(tables), "tables were copied");

      Path memory = Path.of("/dev/shm");
      assumeTrue(Files.isWritable(memory), "there is no other file system");
      assumeTrue(!Files.getFileStore(memory).equals(Files.getFileStore(directory)));
      Path other = Files.createTempDirectory(memory, "isobar-checkpoint-");
      try {
        store.checkpointTo(other.resolve("c"));
        tree.delete(bytes("k0"));
        assertEquals(tables.size(), identities(other.resolve("c"), ".sst").size());
        check(other.resolve("c"));
        try (Store copy = Store.open(other.resolve("c"), OPTIONS)) {
          assertArrayEquals(bytes("value0"), copy.tree("t").get(bytes("k0")));
          assertArrayEquals(bytes("value4999"), copy.tree("t").get(bytes("k4999")));
        }
      } finally {
        try (Stream<Path> all = Files.walk(other)) {
          for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
            Files.delete(each);
          }
        }
      }
    }
  }

  @Test
  void aDirectoryWithFilesIsRefusedAndLeftAsItIs() throws Exception {
    try (Store store = Store.open(path("a"), OPTIONS)) {
      Files.createDirectory(path("b"));
      Files.writeString(path("b").resolve("mine"), "text");
      assertThrows(FormatException.class, () -> store.checkpointTo(path("b")));
      assertEquals("text", Files.readString(path("b").resolve("mine")));
      try (var left = Files.list(path("b"))) {
        assertEquals(1, left.count());
      }
      assertThrows(FormatException.class, () -> store.checkpointTo(path("a")));
      store.openTree("t").put(bytes("a"), bytes("1"));
    }
  }

  @Test
  void nothingIsMadeWithinAStoreOrWithinBackups() throws Exception {
    Files.createSymbolicLink(path("link"), path("a"));
    try (Store store = Store.open(path("a"), OPTIONS);
        Backups backups = Backups.open(path("backups"))) {
      store.openTree("t").put(bytes("k"), bytes("v"));
      backups.create(store);
      Files.createDirectory(path("a/inner"));
      Files.createSymbolicLink(path("inner"), path("a/inner"));
      List<Path> before = made();
      Path here = Path.of("").toAbsolutePath();
      for (Path within :
          List.of(
              path("a/b"),
              path("a/b/c"),
              path("b/../a/c"),
              path("link/b/c"),
              path("inner"),
              path("inner/b"),
              here.relativize(path("a/b")),
              path("backups/b"))) {
        for (Executable make :
            List.<Executable>of(
                () -> store.checkpointTo(within),
                () -> backups.restore(1, within),
                () -> Backups.open(within).close())) {
          String message = assertThrows(IllegalArgumentException.class, make).getMessage();
          assertTrue(message.contains("would lie within the "), message);
          assertEquals(before, made(), within::toString);
        }
      }
      for (Path there : List.of(path("a"), path("link"), path("backups"))) {
        assertThrows(FormatException.class, () -> store.checkpointTo(there));
        assertThrows(FormatException.class, () -> backups.restore(1, there));
        assertEquals(before, made(), there::toString);
      }
      assertThrows(FormatException.class, () -> Backups.open(path("link")));
      assertEquals(before, made());
      store.checkpointTo(path("beside"));
      check(path("beside"));
    }
  }

  private List<Path> made() throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(Files::isDirectory).sorted().toList();
    }
  }

  /** They may have come there with the store, when it was moved. */
  @Test
  void backupsThatAreWithinAStoreCanBeRestored() throws Exception {
    try (Store store = Store.open(path("a"), OPTIONS);
        Backups backups = Backups.open(path("backups"))) {
      store.openTree("t").put(bytes("k"), bytes("v"));
      backups.create(store);
    }
    Files.move(path("backups"), path("a/backups"));
    try (Backups backups = Backups.open(path("a/backups"))) {
      backups.restore(1, path("b"));
    }
    check(path("b"));
  }

  /**
   * Each thread writes its number to a logged or an unlogged tree, in batches over two trees; a
   * copy shows, of each thread, the same number everywhere, and of a chain over threads a prefix.
   */
  @Test
  void showsOneMomentWhileWritersGoOn() throws Exception {
    SplittableRandom random = new SplittableRandom(7);
    try (Store store = Store.open(path("a"), OPTIONS)) {
      Tree one = store.openTree("one");
      Tree two = store.openTree("two");
      Tree unlogged = store.openTree("unlogged", TreeOptions.builder().logged(false).build());
      AtomicBoolean stop = new AtomicBoolean();
      AtomicReference<Throwable> failure = new AtomicReference<>();
      Thread writer =
          new Thread(
              () -> {
                try {
                  for (int i = 1; !stop.get(); i++) {
                    // The unlogged one first: nowhere may the batch be ahead of it.
                    unlogged.put(bytes("n"), number(i));
                    WriteBatch batch = store.newBatch();
                    batch.put(one, bytes("n"), number(i));
                    batch.put(one, bytes("x" + i % 5000), new byte[200]);
                    batch.put(two, bytes("n"), number(i));
                    store.write(batch);
                  }
                } catch (Throwable e) {
                  failure.set(e);
                }
              });
      writer.start();
      int last = 0;
      for (int round = 0; round < 12; round++) {
        Thread.sleep(random.nextInt(60));
        Path target = path("copy" + round);
        store.checkpointTo(target);
        check(target);
        try (Store copy = Store.open(target, OPTIONS)) {
          byte[] value = copy.tree("one").get(bytes("n"));
          int seen = value == null ? 0 : ByteBuffer.wrap(value).getInt();
          byte[] second = copy.tree("two").get(bytes("n"));
          assertArrayEquals(value, second);
          byte[] before = copy.tree("unlogged").get(bytes("n"));
          int number = before == null ? 0 : ByteBuffer.wrap(before).getInt();
          assertTrue(number == seen || number == seen + 1, number + " beside " + seen);
          assertTrue(seen >= last, "back from " + last + " to " + seen);
          last = seen;
        }
      }
      stop.set(true);
      writer.join();
      assertNull(failure.get());
      assertNotNull(one.get(bytes("n")));
    }
    check(path("a"));
  }

  private static byte[] number(int value) {
    return ByteBuffer.allocate(4).putInt(value).array();
  }

  /** A drop of a tree waits for operations, and a checkpoint is one at first. */
  @Test
  @Timeout(60)
  void treesAreDroppedMeanwhile() throws Exception {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    AtomicBoolean done = new AtomicBoolean();
    try (Store store = Store.open(path("a"), OPTIONS)) {
      Thread dropping =
          new Thread(
              () -> {
                try {
                  while (!done.get()) {
                    store.openTree("short-lived").put(bytes("k"), bytes("v"));
                    store.dropTree("short-lived");
                  }
                } catch (Throwable e) {
                  failure.set(e);
                }
              });
      dropping.start();
      for (int i = 0; i < 60; i++) {
        store.checkpointTo(path("copy-" + i));
      }
      done.set(true);
      dropping.join();
      assertNull(failure.get(), () -> String.valueOf(failure.get()));
    }
  }
}
