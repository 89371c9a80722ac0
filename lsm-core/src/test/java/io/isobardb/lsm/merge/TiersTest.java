package io.isobardb.lsm.merge;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.option.Runs;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Trees with several runs on a level, with small memory, against a map. */
class TiersTest {
  private static final int KEYS = 6000;

  @TempDir Path directory;

  private final TreeMap<Integer, Integer> expected = new TreeMap<>();
  private final SplittableRandom random = new SplittableRandom(7);
  private int clock;

  private Store open() {
    return Store.open(
        directory, StoreOptions.builder().memoryBudget(4L << 20).writeMemory(256 << 10).build());
  }

  @Test
  void readsFindTheNewestWhateverRunsThereAre() throws Exception {
    List<Runs> shapes =
        List.of(Runs.lazy(2), Runs.leveled(), Runs.of(4, 2, 1), Runs.tiered(3), Runs.of(3, 1, 1));
    for (int round = 0; round < 6; round++) {
      try (Store store = open()) {
        Tree tree =
            store.openTree("t", TreeOptions.builder().runs(Runs.lazy(2)).maxSpace(2.5).build());
        assertEquals(Runs.lazy(2), tree.runs());
        Runs runs = shapes.get(round % shapes.size());
        tree.setRuns(runs);
        assertEquals(runs, tree.options().runs());
        write(tree, 4000);
        check(tree);
      }
    }
    try (Store store = open()) {
      Tree tree = store.tree("t");
      tree.setRuns(Runs.leveled());
      tree.compact(null, null);
      check(tree);
      assertEquals(List.of(), store.stats().trees().get(0).tierBytes());
    }
  }

  private void write(Tree tree, int writes) {
    for (int i = 0; i < writes; i++) {
      int key = random.nextInt(KEYS);
      if (random.nextInt(5) == 0) {
        expected.remove(key);
        tree.delete(key(key));
      } else {
        clock++;
        expected.put(key, clock);
        tree.put(key(key), value(clock));
      }
    }
  }

  private void check(Tree tree) {
    for (int key = 0; key < KEYS; key += 7) {
      Integer value = expected.get(key);
      byte[] found = tree.get(key(key));
      if (value == null) {
        assertNull(found, "key " + key);
      } else {
        assertArrayEquals(value(value), found, "key " + key);
      }
    }
    List<Integer> keys = new ArrayList<>();
    try (Cursor cursor = tree.cursor()) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        keys.add(ByteBuffer.wrap(cursor.key()).getInt());
      }
    }
    assertEquals(List.copyOf(expected.keySet()), keys);
  }

  private static byte[] key(int number) {
    return ByteBuffer.allocate(4).putInt(number).array();
  }

  private static byte[] value(int number) {
    return ByteBuffer.allocate(200).putInt(number).array();
  }
}
