package io.isobardb.lsm.read;

import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import io.isobardb.memory.stats.Purpose;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Point reads of SSTables that have an index over their entries. */
class IndexedReadsTest {
  private static final long SEED = Long.getLong("isobar.seed", 20261128L);
  private static final int KEYS = 3000;

  @TempDir Path temp;

  private static StoreOptions.Builder options(int activeBytes) {
    return ExperimentalOptions.set(
            StoreOptions.builder().memoryBudget(16 << 20).pageSize(4096),
            e -> e.activeTableSize(activeBytes))
        .memoryTuner(false);
  }

  /** Those of files are made as soon as the cache has all of one. */
  private static StoreOptions.Builder cached(int activeBytes) {
    return ExperimentalOptions.set(options(activeBytes), e -> e.indexLookups(0));
  }

  /** SSTables in memory that have an index. */
  private static int indexed(Tree tree) {
    return indexed(Inside.handle(tree).states().current().memory());
  }

  /** SSTables on disk that have an index. */
  private static int indexedOnDisk(Tree tree) {
    return indexed(Inside.handle(tree).states().current().disk());
  }

  private static int indexed(List<Run> runs) {
    int indexed = 0;
    for (Run run : runs) {
      for (Table table : run.tables()) {
        indexed += table instanceof Table.Stored s && s.content().isIndexed(Lsn.MAX) ? 1 : 0;
      }
    }
    return indexed;
  }

  private static byte[] value(int n, SplittableRandom random) {
    byte[] value = new byte[100 + random.nextInt(200)];
    ByteBuffer.wrap(value).putInt(n);
    return value;
  }

  @Test
  void readsOfAllKindsAgreeWithAModelAcrossMergesAndFlushes() {
    checkReads(options(128 << 10).build(), 8, IndexedReadsTest::indexed);
  }

  @Test
  void readsOfCachedFilesAgreeWithAModelAcrossMergesAndFlushes() {
    checkReads(cached(128 << 10).build(), 2, IndexedReadsTest::indexedOnDisk);
  }

  private static void checkReads(
      StoreOptions options, int flushOneIn, ToIntFunction<Tree> countIndexed) {
    for (int round = 0; round < 3; round++) {
      SplittableRandom random = new SplittableRandom(SEED + round);
      SimulatedWorld world = new SimulatedWorld(SEED + round);
      Map<Integer, byte[]> model = new HashMap<>();
      int indexed = 0;
      try (Store store = world.open(options)) {
        Tree tree = store.openTree("t");
        for (int step = 0; step < 24; step++) {
          for (int i = 0; i < 400; i++) {
            int n = random.nextInt(KEYS);
            if (random.nextInt(8) == 0) {
              tree.delete(key(n));
              model.remove(n);
            } else {
              byte[] value = value(step, random);
              tree.put(key(n), value);
              model.put(n, value);
            }
          }
          Map<Integer, byte[]> then = new HashMap<>(model);
          try (Snapshot snapshot = store.snapshot()) {
            for (int i = 0; i < 100; i++) {
              int n = random.nextInt(KEYS);
              byte[] value = value(step, random);
              tree.put(key(n), value);
              model.put(n, value);
            }
            world.background(random.nextInt(20));
            if (random.nextInt(3) == 0) {
              store.awaitQuiet();
            }
            if (random.nextInt(flushOneIn) == 0) {
              store.flush();
            }
            if (step % 3 == 0) {
              // What was flushed comes into the cache, and then the store has time.
              check(tree, model, random);
              world.pass(TimeUnit.SECONDS.toNanos(1));
              store.awaitQuiet();
            }
            indexed += countIndexed.applyAsInt(tree);
            check(tree, model, random);
            for (int i = 0; i < 200; i++) {
              int n = random.nextInt(KEYS + 100);
              assertArrayEquals(then.get(n), tree.get(key(n), snapshot), "seed " + SEED);
            }
            checkMany(then, random, keys -> tree.multiGet(keys, snapshot));
          }
        }
      }
      assertTrue(indexed > 0, "seed " + SEED + " round " + round + ": no index was read");
    }
  }

  private static void check(Tree tree, Map<Integer, byte[]> model, SplittableRandom random) {
    for (int i = 0; i < 400; i++) {
      int n = random.nextInt(KEYS + 100);
      assertArrayEquals(model.get(n), tree.get(key(n)), "seed " + SEED + " key " + n);
    }
    checkMany(model, random, tree::multiGet);
  }

  /** Asks for up to some hundred keys at once, some of them absent, some asked for twice. */
  private static void checkMany(
      Map<Integer, byte[]> model,
      SplittableRandom random,
      Function<List<byte[]>, List<byte @Nullable []>> multiGet) {
    int[] numbers = random.ints(random.nextInt(200), 0, KEYS + 100).toArray();
    List<byte @Nullable []> values =
        multiGet.apply(Arrays.stream(numbers).mapToObj(SimulatedStores::key).toList());
    assertEquals(numbers.length, values.size());
    for (int i = 0; i < numbers.length; i++) {
      assertArrayEquals(
          model.get(numbers[i]), values.get(i), "seed " + SEED + " key " + numbers[i]);
    }
  }

  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void readersBesideMergesAndFlushesNeverSeeAnOlderVersionNorAnotherKey() throws Exception {
    checkBesideWrites(options(256 << 10).build(), 15_000, IndexedReadsTest::indexed);
  }

  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void soDoReadersOfCachedFilesWhoseIndexesComeAndGo() throws Exception {
    checkBesideWrites(cached(256 << 10).build(), 2_000, IndexedReadsTest::indexedOnDisk);
  }

  private void checkBesideWrites(
      StoreOptions options, int flushEach, ToIntFunction<Tree> countIndexed) throws Exception {
    try (Store store = Store.open(temp.resolve("store"), options)) {
      Tree tree = store.openTree("t");
      AtomicLongArray acknowledged = new AtomicLongArray(KEYS);
      AtomicBoolean done = new AtomicBoolean();
      AtomicReference<Throwable> failed = new AtomicReference<>();
      Thread[] readers = new Thread[2];
      for (int t = 0; t < readers.length; t++) {
        SplittableRandom random = new SplittableRandom(SEED + t);
        readers[t] =
            new Thread(
                () -> {
                  try {
                    while (!done.get()) {
                      checkOne(tree, random.nextInt(KEYS), acknowledged);
                    }
                  } catch (Throwable e) {
                    failed.set(e);
                  }
                });
        readers[t].start();
      }
      SplittableRandom random = new SplittableRandom(SEED + 10);
      int indexed = 0;
      for (int i = 1; i <= 40_000 && failed.get() == null; i++) {
        int n = random.nextInt(KEYS);
        byte[] value = new byte[120];
        ByteBuffer.wrap(value).putInt(n).putLong(i);
        tree.put(key(n), value);
        acknowledged.set(n, i);
        if (i % 10_000 == 0) {
          store.awaitQuiet();
          indexed += countIndexed.applyAsInt(tree);
        }
        if (i % flushEach == 0) {
          store.flush();
          store.setMemoryBudget(i / flushEach % 2 == 0 ? 16 << 20 : 8 << 20);
        }
      }
      done.set(true);
      for (Thread reader : readers) {
        reader.join();
      }
      if (failed.get() != null) {
        throw new AssertionError("seed " + SEED, failed.get());
      }
      assertTrue(indexed > 0, "no index was read");
    }
  }

  private static void checkOne(Tree tree, int n, AtomicLongArray acknowledged) {
    long least = acknowledged.get(n);
    byte[] value = tree.get(key(n));
    if (value == null) {
      assertEquals(0, least, "key " + n + " has gone");
      return;
    }
    ByteBuffer read = ByteBuffer.wrap(value);
    assertEquals(n, read.getInt());
    long seen = read.getLong();
    assertTrue(seen >= least, "version " + seen + " of key " + n + " after " + least);
    assertNull(tree.get(key(n + KEYS)));
  }

  @Test
  void lookupsOfCachedFilesPayForTheirIndexes() {
    for (boolean many : new boolean[] {false, true}) {
      SimulatedWorld world = new SimulatedWorld(SEED);
      try (Store store = world.open(options(128 << 10).build())) {
        Tree tree = store.openTree("t");
        SplittableRandom random = new SplittableRandom(SEED);
        Map<Integer, byte[]> model = new HashMap<>();
        for (int n = 0; n < KEYS; n++) {
          model.put(n, value(n, random));
          tree.put(key(n), model.get(n));
        }
        store.flush();
        store.awaitQuiet();
        for (int n = 0; n < KEYS; n++) {
          assertArrayEquals(model.get(n), tree.get(key(n)));
        }
        int rounds = 0;
        while (indexedOnDisk(tree) == 0) {
          assertTrue(rounds++ < 100, "no index, after " + rounds + " rounds");
          if (many) {
            checkMany(model, random, tree::multiGet);
          } else {
            check(tree, model, random);
          }
          store.awaitQuiet();
          world.pass(TimeUnit.MILLISECONDS.toNanos(200));
        }
        long bytes = store.stats().ledger().bytes(Purpose.INDEXES);
        assertTrue(bytes > 0, store.stats()::toJson);
        check(tree, model, random);
        // They go with their files.
        tree.delete(key(1));
        model.remove(1);
        store.flush();
        tree.compact(null, null);
        store.awaitQuiet();
        long files = Inside.handle(tree).states().current().version().tableCount();
        assertTrue(files > 0 && indexedOnDisk(tree) == 0, "indexes of what has gone");
        assertEquals(0, store.stats().ledger().bytes(Purpose.INDEXES));
        check(tree, model, random);
      }
    }
  }

  @Test
  void filtersAreAskedFirstWhileKeysAreNotThere() {
    Probe probe = new Probe(0);
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < 20; i++) {
        probe.onIndexAsked(true);
      }
      assertTrue(!probe.doubtsIndexes());
      for (int i = 0; i < 20; i++) {
        probe.onIndexAsked(false);
      }
      assertTrue(probe.doubtsIndexes());
    }
    probe.onIndexAsked(true);
    assertTrue(probe.doubtsIndexes(), "one key that is there proves little");
  }
}
