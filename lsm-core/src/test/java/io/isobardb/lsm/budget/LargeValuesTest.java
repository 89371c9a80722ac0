package io.isobardb.lsm.budget;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Values of 64 MB, in memory, in the log, and in SSTables that were flushed and merged. */
@Tag("any-jdk")
class LargeValuesTest {
  private static final int LENGTH = 64 << 20;
  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(600 << 20).memoryTuner(false).build();

  @TempDir Path dir;

  private final byte[] one = random(1);
  private final byte[] two = random(2);

  private static byte[] random(long seed) {
    byte[] value = new byte[LENGTH];
    new SplittableRandom(seed).nextBytes(value);
    return value;
  }

  @Test
  void valuesOf64MegabytesAreKeptWhereverTheyLie() {
    try (Store store = Store.open(dir, OPTIONS)) {
      Tree tree = store.openTree("t");
      tree.put(bytes("large"), two);
      for (int i = 0; i < 200; i++) {
        tree.put(key(i), new byte[i]);
      }
      check(tree, two);
      store.flush();
      check(tree, two);
      tree.put(bytes("large"), one);
      store.flush();
      // Small runs above make the policy merge the large ones.
      for (int run = 0; run < 6; run++) {
        tree.put(bytes("zz"), bytes("run" + run));
        tree.put(key(0), new byte[0]);
        store.flush();
      }
      store.awaitQuiet();
      assertTrue(store.stats().merges() > 0);
      check(tree, one);
      long disk = store.stats().trees().get(0).diskBytes();
      assertTrue(disk < 2L * LENGTH, disk + " bytes: what was replaced is still there");
      tree.put(bytes("large"), two, Durability.SYNC);
    }
    try (Store store = Store.open(dir, OPTIONS)) {
      Tree tree = store.tree("t");
      check(tree, two);
      store.flush();
      tree.delete(bytes("large"));
      store.flush();
      assertNull(tree.get(bytes("large")));
    }
  }

  private static void check(Tree tree, byte[] expected) {
    assertTrue(Arrays.equals(expected, tree.get(bytes("large"))));
    ByteBuffer buffer = ByteBuffer.allocateDirect(LENGTH);
    assertEquals(LENGTH, tree.get(bytes("large"), buffer));
    assertEquals(ByteBuffer.wrap(expected), buffer.flip());
    Boolean same = tree.read(bytes("large"), ByteBuffer.wrap(expected)::equals);
    assertEquals(Boolean.TRUE, same);
    try (Cursor cursor = tree.cursor()) {
      assertTrue(cursor.last());
      assertTrue(cursor.seek(bytes("large")));
      assertEquals(LENGTH, cursor.valueLength());
      assertTrue(Arrays.equals(expected, cursor.value()));
    }
  }

  @Test
  void aStoreWithTooLittleWriteMemorySaysHowMuchItWouldTake() {
    StoreOptions small = StoreOptions.builder().memoryBudget(32 << 20).build();
    try (Store store = Store.open(dir, small)) {
      Tree tree = store.openTree("t");
      String told =
          String.valueOf(
              assertThrows(IllegalArgumentException.class, () -> tree.put(bytes("large"), one))
                  .getMessage());
      assertTrue(told.contains("limit of " + (4 << 20) + " bytes"), told);
      assertTrue(told.contains("writeMemory") && told.contains("" + 4L * LENGTH), told);
      byte[] most = new byte[tree.maxValueBytes()];
      tree.put(bytes("large"), most);
      assertArrayEquals(most, tree.get(bytes("large")));
    }
  }
}
