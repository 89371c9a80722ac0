package io.isobardb.lsm.read;

import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.option.KeyOrder;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Values that are larger than what a thread keeps for its reads. */
@Tag("any-jdk")
class LargeValueTest {
  private static final int[] SIZES = {4096, 4097, 6000, 20_000, 200_000};

  /** Counts how often it is asked. */
  private static final class Counting implements KeyOrder {
    private int asked;

    @Override
    public String name() {
      return "counting";
    }

    @Override
    public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
      asked++;
      return BYTES.compare(a, aOffset, aLength, b, bOffset, bLength);
    }
  }

  private static byte[] value(int size) {
    byte[] value = new byte[size];
    Arrays.fill(value, (byte) size);
    return value;
  }

  /** A get into a buffer that is large enough looks once; so does one without a buffer. */
  @Test
  void aValueOfAnySizeTakesOneLookup(@TempDir Path directory) {
    Counting order = new Counting();
    StoreOptions options =
        StoreOptions.builder().memoryBudget(32 << 20).pageSize(16384).keyOrder(order).build();
    try (Store store = Store.open(directory.resolve("store"), options)) {
      Tree tree = store.openTree("tree", TreeOptions.builder().keyOrder(order).build());
      for (int i = 0; i < 500; i++) {
        tree.put(key(i), i < SIZES.length ? value(SIZES[i]) : value(100));
      }
      assertOneLookup(tree, order);
      store.flush();
      store.awaitQuiet();
      for (int size = 0; size < SIZES.length; size++) {
        // The first time a page is loaded.
        assertArrayEquals(value(SIZES[size]), tree.get(key(size)));
      }
      assertOneLookup(tree, order);
    }
  }

  private static void assertOneLookup(Tree tree, Counting order) {
    ByteBuffer target = ByteBuffer.allocate(SIZES[SIZES.length - 1]);
    for (int i = 0; i < SIZES.length; i++) {
      int before = order.asked;
      assertEquals(SIZES[i], tree.get(key(i), target.clear()));
      int once = order.asked - before;
      before = order.asked;
      assertArrayEquals(value(SIZES[i]), tree.get(key(i)));
      assertEquals(once, order.asked - before, "comparisons for " + SIZES[i] + " bytes");
    }
  }
}
