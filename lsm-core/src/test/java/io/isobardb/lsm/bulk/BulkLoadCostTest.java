package io.isobardb.lsm.bulk;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.OperatingSystemMXBean;
import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a bulk load writes and what it costs. {@code -Disobar.bulk.entries=2000000} prints figures
 * that mean something; fewer show the same of the bytes.
 */
class BulkLoadCostTest {
  private static final int ENTRIES = Integer.getInteger("isobar.bulk.entries", 60_000);
  private static final int KEY_BYTES = 16;
  private static final int VALUE_BYTES = 100;
  private static final double MOST_WRITTEN = 1.1;

  @TempDir Path temp;

  private final byte[] key = new byte[KEY_BYTES];
  private final byte[] value = new byte[VALUE_BYTES];

  @Test
  void aLoadWritesEachByteOnce() {
    long[] written = new long[1];
    double loading =
        cpuSeconds(
            "load",
            store -> {
              Tree tree = store.tree("tree");
              try (BulkLoad load = store.bulkLoad(tree)) {
                entries(() -> load.add(tree, key, value));
                load.commit();
                written[0] = load.bytesWritten();
              }
            });
    double putting =
        cpuSeconds(
            "put",
            store -> {
              Tree tree = store.tree("tree");
              entries(() -> tree.put(key, value));
              store.flush();
            });
    double perByte = (double) written[0] / ENTRIES / (KEY_BYTES + VALUE_BYTES);
    System.out.printf(
        "%d entries of %d bytes: %.3f bytes written per byte; CPU %.2f s, by put %.2f s%n",
        ENTRIES, KEY_BYTES + VALUE_BYTES, perByte, loading, putting);
    assertTrue(perByte <= MOST_WRITTEN, perByte + " bytes written per byte");
  }

  private void entries(Runnable action) {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < ENTRIES; i++) {
      ByteBuffer.wrap(key).putLong(0, i * 1000L).putLong(8, random.nextLong());
      random.nextBytes(value);
      action.run();
    }
  }

  /** CPU time of the process, background work to its end included. */
  private double cpuSeconds(String name, Consumer<Store> work) {
    OperatingSystemMXBean system =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    StoreOptions options =
        StoreOptions.builder().createIfMissing(true).memoryBudget(64 << 20).build();
    try (Store store = Store.open(temp.resolve(name), options)) {
      store.openTree("tree");
      long begun = system.getProcessCpuTime();
      work.accept(store);
      store.awaitQuiet();
      return (system.getProcessCpuTime() - begun) / 1e9;
    }
  }
}
