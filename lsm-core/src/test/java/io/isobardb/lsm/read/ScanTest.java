package io.isobardb.lsm.read;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.DeflateCodec;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Cursors over long ways: back as forth, and with few reads. */
class ScanTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_261_121L);
  private static final int PAGE = 4096;
  private static final int RECORDS = 20_000;
  private static final int LARGE = 1 << 20;

  private final SimulatedWorld world = new SimulatedWorld(SEED);

  private Store open(long budget) {
    return world.open(
        StoreOptions.builder().memoryBudget(budget).pageSize(PAGE).logLimit(4 << 20).build());
  }

  private static byte[] random(SplittableRandom random, int length) {
    byte[] value = new byte[length];
    random.nextBytes(value);
    return value;
  }

  private static void fill(Tree tree) {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < RECORDS; i++) {
      tree.put(key(i), random(random, 500));
    }
  }

  private static TreeOptions compressed(String codec) {
    return TreeOptions.builder().compression(Compression.of(codec)).build();
  }

  @ParameterizedTest
  @ValueSource(strings = {"NONE", "LZ4", DeflateCodec.NAME})
  void aLongScanReadsLargePieces(String compression) {
    try (Store store = open(16 << 20)) {
      Tree tree = store.createTree("t", compressed(compression));
      fill(tree);
      store.flush();
      store.awaitQuiet();
    }
    try (Store store = open(16 << 20)) {
      SimulatedStorage disk = world.storage();
      long before = disk.operations();
      int found = 0;
      try (Cursor cursor = store.tree("t").cursor()) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          found++;
        }
      }
      long operations = disk.operations() - before;
      assertEquals(RECORDS, found);
      assertTrue(operations < RECORDS * 500L / PAGE / 6, operations + " reads");
    }
  }

  @Test
  void aShortScanReadsPagesOneByOne() {
    try (Store store = open(16 << 20)) {
      Tree tree = store.createTree("t", TreeOptions.defaults());
      fill(tree);
      store.flush();
      store.awaitQuiet();
    }
    try (Store store = open(16 << 20)) {
      Tree tree = store.tree("t");
      tree.get(key(5_000));
      long before = world.storage().operations();
      try (Cursor cursor = tree.cursor()) {
        cursor.seek(key(10_000));
        for (int i = 0; i < 10; i++) {
          assertTrue(cursor.next());
        }
      }
      long operations = world.storage().operations() - before;
      // A file to open, pages of the index, the page and perhaps the next one, in each of two
      // levels.
      assertTrue(operations <= 12, operations + " reads");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"NONE", "LZ4", DeflateCodec.NAME})
  void aLargeValueIsReadInLargePieces(String compression) {
    byte[] large = random(new SplittableRandom(SEED), LARGE);
    putFirst(large, compressed(compression));
    for (boolean scan : new boolean[] {false, true}) {
      try (Store store = open(64 << 20)) {
        long operations = readsOf(store.tree("t"), large, scan);
        assertTrue(operations < LARGE / PAGE / 8, operations + " reads");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void aValueOfFewPagesIsReadAtOnce(int pages) {
    byte[] value = random(new SplittableRandom(SEED), pages * PAGE - 300);
    putFirst(value, TreeOptions.defaults());
    for (boolean scan : new boolean[] {false, true}) {
      try (Store store = open(64 << 20)) {
        Tree tree = store.tree("t");
        tree.get(bytes("b"));
        assertEquals(1, readsOf(tree, value, scan));
      }
    }
  }

  /** A store whose one tree has the value at its first key, and a small one behind it. */
  private void putFirst(byte[] value, TreeOptions options) {
    try (Store store = open(64 << 20)) {
      Tree tree = store.createTree("t", options);
      tree.put(bytes("a"), value);
      tree.put(bytes("b"), bytes("small"));
      store.flush();
      store.awaitQuiet();
    }
  }

  /** How many calls of the storage the first value takes. */
  private long readsOf(Tree tree, byte[] first, boolean scan) {
    long before = world.storage().operations();
    if (scan) {
      try (Cursor cursor = tree.cursor()) {
        assertTrue(cursor.first());
        assertArrayEquals(first, cursor.value());
      }
    } else {
      assertArrayEquals(first, tree.get(bytes("a")));
    }
    return world.storage().operations() - before;
  }

  @Test
  void aScanReadsLongValuesThatFollowOneAnotherTogether() {
    SplittableRandom random = new SplittableRandom(SEED);
    int count = 40;
    byte[][] values = new byte[count][];
    try (Store store = open(64 << 20)) {
      Tree tree = store.createTree("t", TreeOptions.defaults());
      for (int i = 0; i < count; i++) {
        values[i] = random(random, PAGE + random.nextInt(PAGE));
        tree.put(bytes("key" + (100 + i)), values[i]);
      }
      store.flush();
      store.awaitQuiet();
    }
    try (Store store = open(64 << 20)) {
      Tree tree = store.tree("t");
      long before = world.storage().operations();
      try (Cursor cursor = tree.cursor()) {
        int at = 0;
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          assertArrayEquals(values[at++], cursor.value());
        }
        assertEquals(count, at);
      }
      long calls = world.storage().operations() - before;
      assertTrue(calls <= count / 2, calls + " reads of " + count + " values");
    }
  }

  private static List<Map.Entry<String, Integer>> forth(Cursor cursor) {
    List<Map.Entry<String, Integer>> all = new ArrayList<>();
    for (boolean more = cursor.first(); more; more = cursor.next()) {
      all.add(entry(cursor));
    }
    return all;
  }

  private static Map.Entry<String, Integer> entry(Cursor cursor) {
    byte[] value = cursor.value();
    assertEquals(value.length, cursor.valueLength());
    return Map.entry(new String(cursor.key(), UTF_8), Arrays.hashCode(value) * 31 + value.length);
  }

  /**
   * What several versions, delete markers and values of all sizes leave in all kinds of SSTables.
   */
  private static void change(Store store, Tree tree, SplittableRandom random, int round) {
    for (int i = 0; i < 1_500; i++) {
      byte[] key = key(random.nextInt(400));
      int what = random.nextInt(20);
      if (what < 6) {
        tree.delete(key);
      } else {
        tree.put(key, random(random, what == 19 ? 9_000 : random.nextInt(80)));
      }
      if (i == 700 && round % 2 == 0) {
        store.flush();
      }
    }
  }

  @Test
  void goingBackSeesWhatGoingForthSees() {
    SplittableRandom random = new SplittableRandom(SEED);
    try (Store store = open(16 << 20)) {
      Tree tree = store.openTree("t");
      List<Snapshot> snapshots = new ArrayList<>();
      for (int round = 0; round < 4; round++) {
        change(store, tree, random, round);
        snapshots.add(store.snapshot());
      }
      for (Snapshot snapshot : snapshots) {
        CursorOptions options = CursorOptions.all().snapshot(snapshot);
        try (Cursor cursor = tree.cursor(options)) {
          List<Map.Entry<String, Integer>> forth = forth(cursor);
          List<Map.Entry<String, Integer>> back = new ArrayList<>();
          for (boolean more = cursor.last(); more; more = cursor.previous()) {
            back.add(entry(cursor));
          }
          Collections.reverse(back);
          assertEquals(forth, back);
          wander(store, cursor, forth, random);
        }
        snapshot.close();
      }
    }
  }

  /** Steps to and fro, sometimes without looking at the value, sometimes with much in between. */
  private void wander(
      Store store, Cursor cursor, List<Map.Entry<String, Integer>> all, SplittableRandom random) {
    int at = all.size() / 2;
    cursor.seek(all.get(at).getKey().getBytes(UTF_8));
    for (int step = 0; step < 2_000; step++) {
      boolean up = random.nextInt(100) < 45 ? at + 1 < all.size() : at == 0;
      at += up ? 1 : -1;
      assertTrue(up ? cursor.next() : cursor.previous());
      if (random.nextInt(3) > 0) {
        assertEquals(all.get(at), entry(cursor), "step " + step + ", seed " + SEED);
      }
      if (random.nextInt(200) == 0) {
        store.flush();
        world.background(1_000);
      }
    }
  }
}
