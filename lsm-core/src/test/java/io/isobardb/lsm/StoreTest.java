package io.isobardb.lsm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.observe.StoreListener;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreTest {
  @TempDir Path dir;

  private static byte[] bytes(String s) {
    return s.getBytes(UTF_8);
  }

  @Test
  void whatIsPutIsThereAndStillThereAfterReopening() {
    try (Store store = Store.open(dir.resolve("s"))) {
      Tree tree = store.openTree("users");
      tree.put(bytes("ada"), bytes("1815"));
      tree.put(bytes("alan"), bytes("1912"));
      tree.delete(bytes("alan"));
      assertArrayEquals(bytes("1815"), tree.get(bytes("ada")));
      assertNull(tree.get(bytes("alan")));
    }
    try (Store store = Store.open(dir.resolve("s"))) {
      Tree tree = store.tree("users");
      assertArrayEquals(bytes("1815"), tree.get(bytes("ada")));
      assertNull(tree.get(bytes("alan")));
    }
  }

  @Test
  void manyEntriesGoThroughFlushesAndMergesAndComeBack() {
    StoreOptions options = StoreOptions.builder().memoryBudget(8 << 20).build();
    int count = 80_000;
    try (Store store = Store.open(dir.resolve("s"), options)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < count; i++) {
        tree.put(key(i), bytes("value-" + i + "-".repeat(50)));
      }
      check(tree, count);
      assertTrue(store.stats().flushes() > 0);
    }
    try (Store store = Store.open(dir.resolve("s"), options)) {
      check(store.tree("t"), count);
    }
  }

  private static byte[] key(int i) {
    return bytes("user" + Long.toString((i * 0x9E3779B97F4A7C15L) >>> 1));
  }

  private static void check(Tree tree, int count) {
    for (int i = 0; i < count; i++) {
      assertArrayEquals(bytes("value-" + i + "-".repeat(50)), tree.get(key(i)), "key " + i);
    }
    int seen = 0;
    try (Cursor cursor = tree.cursor()) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        seen++;
      }
    }
    assertEquals(count, seen);
  }

  @Test
  void aThreadKeepsNothingOfAStoreThatItHasWrittenToAndClosed() {
    WeakReference<StoreListener> leftOver = writeAndClose();
    for (int i = 0; i < 100 && leftOver.get() != null; i++) {
      System.gc();
    }
    assertNull(leftOver.get(), "the store is still reachable");
  }

  /** A listener that can be reached through the closed store alone. */
  private WeakReference<StoreListener> writeAndClose() {
    StoreListener listener = new StoreListener() {};
    try (Store store = Store.open(dir.resolve("s"))) {
      store.addListener(listener);
      store.openTree("t").put(bytes("k"), bytes("v"));
      store.write(store.newBatch().put(store.tree("t"), bytes("k"), bytes("w")));
      assertArrayEquals(bytes("w"), store.tree("t").get(bytes("k")));
    }
    return new WeakReference<>(listener);
  }
}
