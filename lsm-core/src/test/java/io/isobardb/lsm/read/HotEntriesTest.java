package io.isobardb.lsm.read;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A few entries all over a tree that memory can't hold are read most of the time. */
@Tag("any-jdk")
class HotEntriesTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_261_121L);
  private static final int KEYS = 60_000;
  private static final int HOT = 2_000;

  @TempDir Path temp;

  private final SplittableRandom random = new SplittableRandom(SEED);
  private final int[] versions = new int[KEYS];

  private static byte[] key(int i) {
    // Neighbours in number are far from each other in the order of keys.
    return ByteBuffer.allocate(8).putInt(Integer.reverse(i)).putInt(i).array();
  }

  private static byte[] value(int key, int version) {
    byte[] value = new byte[100];
    Arrays.fill(value, (byte) (31 * key + version));
    ByteBuffer.wrap(value).putInt(key).putInt(version);
    return value;
  }

  private StoreOptions options() {
    return StoreOptions.builder()
        .memoryBudget(4 << 20)
        .pageSize(4096)
        .memoryTuner(false)
        .durability(Durability.ASYNC)
        .build();
  }

  private void put(Tree tree, int key) {
    tree.put(key(key), value(key, ++versions[key]));
  }

  private int draw() {
    return random.nextInt(10) < 8 ? random.nextInt(HOT) : random.nextInt(KEYS);
  }

  private void read(Tree tree, int reads) {
    for (int i = 0; i < reads; i++) {
      int key = draw();
      assertArrayEquals(value(key, versions[key]), tree.get(key(key)), "key " + key);
    }
  }

  private void load(Store store, Tree tree) {
    for (int i = 0; i < KEYS; i++) {
      put(tree, i);
    }
    store.checkpoint();
    store.awaitQuiet();
  }

  @Test
  void hotEntriesAreHeldWithoutTheirPages() {
    System.out.println("isobar.seed=" + SEED);
    try (Store store = Store.open(temp.resolve("s"), options())) {
      Tree tree = store.openTree("t");
      load(store, tree);
      read(tree, 60_000);
      long misses = store.stats().cache().queryMisses();
      long hits = store.stats().cache().entryHits();
      read(tree, 20_000);
      // Their pages alone are more than twice the memory.
      assertTrue(store.stats().cache().entryHits() - hits > 8_000, store.stats()::toJson);
      assertTrue(store.stats().cache().queryMisses() - misses < 9_000, store.stats()::toJson);
      assertTrue(store.stats().ledger().peakBytes() <= 4 << 20, store.stats()::toJson);
    }
  }

  @Test
  void whatIsWrittenIsReadFromThenOnWhereverItLies() {
    System.out.println("isobar.seed=" + SEED);
    try (Store store = Store.open(temp.resolve("s"), options())) {
      Tree tree = store.openTree("t");
      load(store, tree);
      for (int round = 0; round < 30; round++) {
        read(tree, 3_000);
        for (int i = 0; i < 1_000; i++) {
          put(tree, draw());
        }
        if (round % 4 == 0) {
          store.checkpoint();
        }
        if (round == 3) {
          // Most hot keys lie where loading left them: later, flushes put them side by side in
          // pages
          // that are worth their memory, and entries of their own are hardly held any more.
          assertTrue(store.stats().cache().entryHits() > 2_000, store.stats()::toJson);
        }
      }
    }
  }

  @Test
  void aReadInThePastLeavesNothingForThePresent() {
    try (Store store = Store.open(temp.resolve("s"), options())) {
      Tree tree = store.openTree("t");
      load(store, tree);
      read(tree, 20_000);
      try (Snapshot past = store.snapshot()) {
        int[] before = versions.clone();
        for (int i = 0; i < KEYS; i++) {
          put(tree, i);
        }
        // Both versions of a key now lie in one file.
        store.checkpoint();
        store.awaitQuiet();
        for (int i = 0; i < 20_000; i++) {
          int key = draw();
          assertArrayEquals(value(key, before[key]), tree.get(key(key), past));
        }
        read(tree, 20_000);
        for (int i = 0; i < 5_000; i++) {
          int key = draw();
          assertArrayEquals(value(key, before[key]), tree.get(key(key), past));
        }
      }
    }
  }

  /** What a filter lets pass in vain: a few keys in a hundred, which lie on most pages. */
  @Test
  void absentKeysAreReadForOnce() {
    try (Store store = Store.open(temp.resolve("s"), options())) {
      Tree tree = store.openTree("t");
      load(store, tree);
      read(tree, 20_000);
      for (int round = 0; round < 4; round++) {
        readAbsent(tree);
      }
      long misses = store.stats().cache().queryMisses();
      readAbsent(tree);
      long now = store.stats().cache().queryMisses() - misses;
      assertTrue(now < KEYS / 2_000, now + " pages read in vain; " + store.stats().toJson());
    }
  }

  private static void readAbsent(Tree tree) {
    for (int i = 0; i < KEYS; i++) {
      assertNull(tree.get(absentKey(i)));
    }
  }

  private static byte[] absentKey(int i) {
    return ByteBuffer.allocate(8).putInt(Integer.reverse(i)).putInt(~i).array();
  }

  /** Of a key that is only newer, a reader in the past finds nothing in the file. */
  @Test
  void whatAReaderInThePastDoesNotFindIsThereForThePresent() {
    try (Store store = Store.open(temp.resolve("s"), options())) {
      Tree tree = store.openTree("t");
      load(store, tree);
      read(tree, 20_000);
      try (Snapshot past = store.snapshot()) {
        for (int i = 0; i < KEYS / 4; i++) {
          tree.put(absentKey(i), value(i, 1));
        }
        store.checkpoint();
        store.awaitQuiet();
        read(tree, 20_000); // So that pages have to be read again.
        for (int i = 0; i < KEYS / 4; i++) {
          assertNull(tree.get(absentKey(i), past));
          assertArrayEquals(value(i, 1), tree.get(absentKey(i)), "key " + i);
        }
        for (int from = 0; from < KEYS / 4; from += 500) {
          List<byte[]> keys =
              IntStream.range(from, from + 500).mapToObj(HotEntriesTest::absentKey).toList();
          assertEquals(Collections.nCopies(500, null), tree.multiGet(keys, past));
          List<byte[]> values = tree.multiGet(keys);
          for (int i = 0; i < 500; i++) {
            assertArrayEquals(value(from + i, 1), values.get(i), "key " + (from + i));
          }
        }
      }
    }
  }

  @Test
  void manyAbsentKeysAtOnceAreReadForOnceToo() {
    try (Store store = Store.open(temp.resolve("s"), options())) {
      Tree tree = store.openTree("t");
      load(store, tree);
      read(tree, 20_000);
      long misses = 0;
      for (int round = 0; round < 5; round++) {
        misses = store.stats().cache().queryMisses();
        for (int from = 0; from < KEYS; from += 500) {
          List<byte[]> keys =
              IntStream.range(from, from + 500).mapToObj(HotEntriesTest::absentKey).toList();
          assertEquals(Collections.nCopies(500, null), tree.multiGet(keys));
        }
      }
      long now = store.stats().cache().queryMisses() - misses;
      assertTrue(now < KEYS / 2_000, now + " pages read in vain; " + store.stats().toJson());
    }
  }
}
