package io.isobardb.lsm.read;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.option.KeyOrder;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads while a batch replaces all entries, by a range delete and puts: no key is ever absent. */
@Tag("any-jdk")
class ReplacedEntriesTest {
  private static final int KEYS = 1000;

  @TempDir Path temp;

  /** Bytes in their order, with a pause of the reader where it compares its key with another. */
  private static final class PausingOrder implements KeyOrder {
    volatile @Nullable Runnable pause;

    @Override
    public String name() {
      return "pausing";
    }

    @Override
    public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
      Runnable once = pause;
      if (once != null && a != b && Thread.currentThread().getName().equals("reader")) {
        pause = null;
        once.run();
      }
      return Arrays.compareUnsigned(a, aOffset, aOffset + aLength, b, bOffset, bOffset + bLength);
    }
  }

  private final PausingOrder order = new PausingOrder();

  private Store open() {
    StoreOptions options =
        StoreOptions.builder()
            .memoryBudget(8 << 20)
            .pageSize(4096)
            .memoryTuner(false)
            .keyOrder(order)
            .build();
    return Store.open(temp.resolve("s"), options);
  }

  private static void replace(Store store, Tree tree) {
    WriteBatch batch = store.newBatch();
    batch.deleteRange(tree, null, null);
    for (int i = 0; i < KEYS; i++) {
      batch.put(tree, key(i), value(i, 100));
    }
    store.write(batch);
  }

  @Test
  void aKeyThatMissesThePageOfItsOldEntryIsThereAllTheTime() throws Exception {
    try (Store store = open()) {
      Tree tree = store.createTree("t", TreeOptions.builder().keyOrder(order).build());
      replace(store, tree);
      store.flush();
    }
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      byte[][] found = new byte[1][];
      Thread reader = new Thread(() -> found[0] = tree.get(key(7)), "reader");
      Thread writer = new Thread(() -> replace(store, tree));
      order.pause =
          () -> {
            writer.start();
            join(writer);
          };
      reader.start();
      join(reader);
      assertNull(order.pause, "the reader was not paused");
      assertNotNull(found[0]);
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
