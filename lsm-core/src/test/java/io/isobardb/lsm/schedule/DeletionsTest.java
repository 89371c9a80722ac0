package io.isobardb.lsm.schedule;

import static io.isobardb.lsm.SimulatedStores.key;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.DirectoryStorage;
import io.isobardb.lsm.io.ForwardingStorage;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.Inside;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who deletes files, and how. */
@Tag("any-jdk")
class DeletionsTest {
  private static final int ENTRIES = 60_000;

  @TempDir Path dir;

  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(64 << 20).writeMemory(40 << 20).build();

  /** Tells which threads delete SSTables, and which pieces of them went before. */
  private static final class WatchedStorage extends ForwardingStorage {
    private final ConcurrentLinkedQueue<String> threads = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Long> pieces = new ConcurrentLinkedQueue<>();
    private final Storage storage;

    WatchedStorage(Storage storage) {
      super(storage);
      this.storage = storage;
    }

    @Override
    protected DataFile wrap(DataFile file, IoMode mode) {
      return file;
    }

    @Override
    public boolean link(Storage from, String name) throws IOException {
      return storage.link(from.origin(), name);
    }

    @Override
    public Storage origin() {
      return storage.origin();
    }

    @Override
    public boolean shrink(String name, long bytes) throws IOException {
      boolean shrinks = super.shrink(name, bytes);
      if (shrinks) {
        pieces.add(bytes);
      }
      return shrinks;
    }

    @Override
    public void delete(String name) throws IOException {
      super.delete(name);
      if (name.endsWith(".sst")) {
        threads.add(Thread.currentThread().getName());
      }
    }
  }

  private static Store open(Storage storage) {
    return Inside.open(
        new Environment(
            storage, Clock.SYSTEM, new ThreadScheduler("t", 2), new SplittableRandom(1)),
        OPTIONS);
  }

  private static byte[] value(int i, int round) {
    byte[] value = new byte[700];
    byte[] text = (i + " in round " + round).getBytes(UTF_8);
    System.arraycopy(text, 0, value, 0, text.length);
    return value;
  }

  /** Writes all keys, and merges them. */
  private static void write(Store store, Tree tree, int round) {
    for (int i = 0; i < ENTRIES; i++) {
      tree.put(key(i), value(i, round));
    }
    store.flush();
    tree.compact(null, null);
    store.awaitQuiet();
  }

  @Test
  void whoLetsGoLastDeletesNothingItself() throws IOException {
    WatchedStorage storage = new WatchedStorage(DirectoryStorage.open(dir, true));
    try (Store store = open(storage)) {
      Tree tree = store.openTree("t");
      write(store, tree, 0);
      storage.threads.clear();
      assertFalse(sstables().isEmpty());
      store.dropTree("t");
      // Files go once the drop is durable.
      store.sync();
      store.awaitQuiet();
      assertEquals(List.of(), sstables());
      List<String> threads = new ArrayList<>(storage.threads);
      assertFalse(threads.isEmpty());
      assertTrue(threads.stream().allMatch(name -> name.contains("-worker-")), threads::toString);
      assertFalse(storage.pieces.isEmpty(), "no file went in pieces");
    }
  }

  @Test
  void whatACheckpointSharesIsLeftWhole() throws IOException {
    Path copy = dir.resolve("copy");
    WatchedStorage storage = new WatchedStorage(DirectoryStorage.open(dir.resolve("store"), true));
    try (Store store = open(storage)) {
      Tree tree = store.openTree("t");
      write(store, tree, 0);
      store.checkpointTo(copy);
      assertTrue(sizes(copy) > 10 << 20, sizes(copy) + " bytes");
      storage.threads.clear();
      write(store, tree, 1);
      assertFalse(storage.threads.isEmpty());
    }
    try (Store store = Store.open(copy, OPTIONS)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < ENTRIES; i++) {
        assertArrayEquals(value(i, 0), tree.get(key(i)));
      }
    }
  }

  private List<String> sstables() throws IOException {
    try (Stream<Path> files = Files.list(dir)) {
      return new ArrayList<>(
          files
              .map(file -> file.getFileName().toString())
              .filter(n -> n.endsWith(".sst"))
              .toList());
    }
  }

  private static long sizes(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      long sum = 0;
      for (Path file : files.filter(f -> f.toString().endsWith(".sst")).toList()) {
        sum += Files.size(file);
      }
      return sum;
    }
  }
}
