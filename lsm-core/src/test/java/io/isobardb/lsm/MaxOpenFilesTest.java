package io.isobardb.lsm;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.repair.StoreInspector;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store with many more SSTables than it may keep open. */
class MaxOpenFilesTest {
  private static final int TREES = 200;
  private static final int KEYS = 20;
  private static final int LIMIT = 20;

  @TempDir Path dir;

  private static StoreOptions options() {
    return StoreOptions.builder()
        .memoryBudget(4 << 20)
        .pageSize(4096)
        .maxOpenFiles(LIMIT)
        .backgroundThreads(2)
        .build();
  }

  /** Long enough that the trees' pages do not fit into the cache. */
  private static byte[] value(int tree, int key, int round) {
    byte[] value = bytes(tree + "/" + key + "/" + round + " ");
    return Arrays.copyOf(value, 900);
  }

  private static void write(Store store, int round) {
    for (int t = 0; t < TREES; t++) {
      Tree tree = store.openTree("t" + t);
      for (int k = 0; k < KEYS; k++) {
        tree.put(key(k), value(t, k, round));
      }
    }
  }

  private static long tables(Store store) {
    return store.stats().tables();
  }

  @Test
  void readersMergesAndDropsGoOnWithFewFilesOpen() throws Exception {
    try (Store store = Store.open(dir, options())) {
      write(store, 0);
      store.flush();
      assertTrue(tables(store) >= TREES, tables(store) + " SSTables");
      AtomicReference<Throwable> failure = new AtomicReference<>();
      AtomicInteger done = new AtomicInteger();
      List<Thread> readers = new ArrayList<>();
      for (int r = 0; r < 3; r++) {
        SplittableRandom random = new SplittableRandom(r);
        readers.add(
            new Thread(
                () -> {
                  try {
                    while (done.get() == 0) {
                      read(store, random);
                    }
                  } catch (Throwable e) {
                    failure.compareAndSet(null, e);
                  }
                }));
      }
      readers.forEach(Thread::start);
      for (int round = 1; round < 3 && failure.get() == null; round++) {
        write(store, round);
        store.flush();
        Tree passing = store.openTree("passing");
        passing.put(key(1), bytes("value"));
        store.flush();
        assertArrayEquals(bytes("value"), passing.get(key(1)));
        store.dropTree("passing");
        int open = store.stats().files().open();
        assertTrue(open <= LIMIT, open + " SSTables are open");
      }
      done.set(1);
      for (Thread reader : readers) {
        reader.join();
      }
      if (failure.get() != null) {
        throw new AssertionError(failure.get());
      }
      store.awaitQuiet();
      for (int t = 0; t < TREES; t++) {
        assertArrayEquals(value(t, 3, 2), store.tree("t" + t).get(key(3)), "tree " + t);
      }
    }
    try (StoreInspector inspector = StoreInspector.open(dir, options())) {
      assertEquals(List.of(), inspector.check(CheckProgress.NONE).findings());
    }
  }

  private static void read(Store store, SplittableRandom random) {
    int t = random.nextInt(TREES);
    int k = random.nextInt(KEYS);
    Tree tree = store.tree("t" + t);
    String found = new String(tree.get(key(k)), UTF_8);
    assertTrue(found.startsWith(t + "/" + k + "/"), found);
    if (random.nextInt(8) == 0) {
      int keys = 0;
      try (Cursor cursor = tree.cursor()) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          keys++;
        }
      }
      assertEquals(KEYS, keys, "tree " + t);
    }
  }

  @Test
  void theLimitIsValidatedAndHasADefault() {
    int chosen = StoreOptions.defaults().maxOpenFiles();
    assertTrue(chosen >= 16 && chosen <= 10_000, "" + chosen);
    for (int wrong : new int[] {-1, 15, 1_000_001}) {
      StoreOptions.Builder builder = StoreOptions.builder().maxOpenFiles(wrong);
      IllegalArgumentException e = assertThrows(IllegalArgumentException.class, builder::build);
      assertTrue(e.getMessage().contains("16 to 1000000, not " + wrong), e::toString);
    }
  }
}
