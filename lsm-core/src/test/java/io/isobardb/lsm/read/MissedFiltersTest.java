package io.isobardb.lsm.read;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A tree whose filters alone are more than the cache holds, all of it in one run. */
@Tag("any-jdk")
class MissedFiltersTest {
  private static final int KEYS = 1_000_000;
  private static final int READS = 4_000;

  /** Reads until a thread has seen where its keys are. */
  private static final int FIRST = 100;

  @TempDir Path temp;

  private final SplittableRandom random = new SplittableRandom(1);
  private Store store;
  private Tree tree;

  private static byte[] key(int i) {
    return ByteBuffer.allocate(8).putInt(2 * i).putInt(i).array();
  }

  private static byte[] absent(int i) {
    return ByteBuffer.allocate(8).putInt(2 * i + 1).putInt(i).array();
  }

  private static byte[] value(int i) {
    return ByteBuffer.allocate(16).putInt(i).array();
  }

  @BeforeEach
  void load() {
    StoreOptions options =
        StoreOptions.builder()
            .memoryBudget(4 << 20)
            .writeMemory(1 << 20)
            .pageSize(4096)
            .memoryTuner(false)
            .build();
    store = Store.open(temp.resolve("s"), options);
    tree = store.createTree("t", TreeOptions.builder().filterBitsPerKey(24).build());
    try (BulkLoad load = store.bulkLoad(tree)) {
      for (int i = 0; i < KEYS; i++) {
        load.add(tree, key(i), value(i));
      }
      load.commit();
    }
    store.awaitQuiet();
  }

  @AfterEach
  void close() {
    store.close();
  }

  private void get(int key) {
    assertArrayEquals(value(key), tree.get(key(key)));
  }

  private void getAbsent(int key) {
    assertNull(tree.get(absent(key)));
  }

  private void getOrNot(int key) {
    if (random.nextBoolean()) {
      get(key);
    } else {
      getAbsent(key);
    }
  }

  private void getMany(int key) {
    List<Integer> keys = IntStream.range(0, 10).mapToObj(i -> (key + i * 99_991) % KEYS).toList();
    List<byte[]> found = tree.multiGet(keys.stream().map(MissedFiltersTest::key).toList());
    for (int i = 0; i < keys.size(); i++) {
      assertArrayEquals(value(keys.get(i)), found.get(i));
    }
  }

  /** How many pages such reads miss, in the mean, once the first are over. */
  private double missed(int reads, Consumer<Integer> read) {
    IntStream.range(0, FIRST).forEach(i -> read.accept(random.nextInt(KEYS)));
    long before = store.stats().cache().queryMisses();
    IntStream.range(0, reads).forEach(i -> read.accept(random.nextInt(KEYS)));
    return (double) (store.stats().cache().queryMisses() - before) / reads;
  }

  @Test
  void keysThatAreThereNeedNoFilter() {
    double missed = missed(READS, this::get);
    assertTrue(missed < 1.2, missed + " pages a read");
    missed = missed(READS / 10, this::getMany) / 10;
    assertTrue(missed < 1.2, missed + " pages a key of many");
  }

  @Test
  void keysThatAreNotThereNeedTheFilterAlone() {
    double missed = missed(READS, this::getAbsent);
    assertTrue(missed < 1.1, missed + " pages a read");
    // Half of the keys are there: no reason to read more than the filters ask for.
    double half = missed(READS, this::getOrNot);
    assertTrue(half < 1.2, half + " pages a read");
    assertTrue(missed(READS, this::getAbsent) < 1.1);
  }
}
