package io.isobardb.lsm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.policy.FlushPolicy;
import io.isobardb.lsm.policy.FlushStrategy;
import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.policy.WriteMemoryAllocation;
import io.isobardb.lsm.setting.OptionLimits;
import io.isobardb.lsm.simulation.Watchdog;
import io.isobardb.memory.stats.Ledger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Writers under any options that are allowed, with values and batches up to the limits that the
 * store tells: nothing hangs, what was written opens again under the same options and under others,
 * and no more memory is taken than the budget.
 *
 * <p>{@code -Disobar.crossed.seeds=200} makes it longer, {@code -Disobar.seed=S} sets the first.
 * How threads interleave does not follow from the seed.
 */
@Tag("any-jdk")
class CrossedOptionsTest {
  private static final long SEED = Long.getLong("isobar.seed", 1);
  private static final int SEEDS = Integer.getInteger("isobar.crossed.seeds", 3);
  private static final int TREES = 4;
  private static final int MOST_KEYS = 3_000;

  @TempDir Path temp;

  /** The lengths of the values that were acknowledged, by tree and key. */
  private final List<Map<String, Integer>> written = new ArrayList<>();

  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

  @ParameterizedTest
  @CsvSource({
    "65536, 8388608, 8",
    "65536, 8388608, 1",
    "65536, 16777216, 12",
    "32768, 4194304, 8",
    "16384, 4194304, 12",
    "8192, 4194304, 12",
    "4096, 4194304, 1"
  })
  void valuesOfTheLargestSizeAreWritten(int pageSize, long budget, int sixteenths) {
    StoreOptions options =
        StoreOptions.builder()
            .pageSize(pageSize)
            .memoryBudget(budget)
            .writeMemory((budget * sixteenths + 15) / 16)
            .build();
    Path dir = temp.resolve("largest");
    Watchdog.run(
        options.toString(),
        watchdog -> {
          byte[] value;
          try (Store store = Store.open(dir, options)) {
            Tree tree = store.openTree("t");
            value = new byte[tree.maxValueBytes()];
            for (int i = 0; i < 30; i++) {
              Watchdog.mark("put " + i + " of " + value.length + " bytes");
              value[0] = (byte) i;
              tree.put(key(i), value);
            }
          }
          Watchdog.mark("opening again");
          try (Store store = Store.open(dir, options)) {
            assertArrayEquals(value, store.openTree("t").get(key(29)));
          }
        });
  }

  @Test
  void sstablesOfLargePagesHaveMoreThanAnEntry() {
    long budget = 8 << 20;
    StoreOptions options =
        StoreOptions.builder()
            .pageSize(65536)
            .memoryBudget(budget)
            .writeMemory(budget / 16)
            .memoryTuner(false)
            .build();
    try (Store store = Store.open(temp.resolve("tables"), options)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 20_000; i++) {
        tree.put(key(i * 7919 % 20_000), new byte[100]);
      }
      store.flush();
      StoreStats stats = store.stats();
      assertTrue(stats.flushes() < 100, stats.flushes() + " SSTables were flushed");
    }
  }

  @Test
  void aBatchOfHalfOfTheWriteMemoryIsReplayed() {
    long budget = 8 << 20;
    StoreOptions options =
        StoreOptions.builder().memoryBudget(budget).writeMemory(budget / 4 * 3).build();
    Path dir = temp.resolve("batch");
    int count = 0;
    try (Store store = Store.open(dir, options)) {
      Tree tree = store.openTree("t");
      for (; count < 14_000; count++) {
        tree.put(key(count), new byte[400]);
      }
      WriteBatch batch = store.newBatch();
      for (long bytes = 0; bytes < 2_700_000; bytes += 1_100) {
        batch.put(tree, key(count++), new byte[1_000]);
      }
      store.write(batch, Durability.SYNC);
    }
    for (long reopened : new long[] {budget, 4 << 20}) {
      try (Store store = Store.open(dir, StoreOptions.builder().memoryBudget(reopened).build())) {
        Tree tree = store.openTree("t");
        for (int i = 0; i < count; i++) {
          assertEquals(i < 14_000 ? 400 : 1_000, tree.get(key(i)).length);
        }
      }
    }
  }

  /** Pages of such a tree hold few entries, and inner pages whole keys. */
  @ParameterizedTest
  @CsvSource({"65536, 8388608", "4096, 4194304"})
  void batchesOfLongKeysInAnOwnOrderKeepToTheMemory(int pageSize, long budget) {
    ReverseOrder order = new ReverseOrder();
    StoreOptions options =
        StoreOptions.builder().pageSize(pageSize).memoryBudget(budget).keyOrder(order).build();
    TreeOptions own = TreeOptions.builder().keyOrder(order).build();
    SplittableRandom random = new SplittableRandom(1);
    Watchdog.run(
        options.toString(),
        watchdog -> {
          try (Store store = Store.open(temp.resolve("long-keys"), options)) {
            Tree tree = store.openTree("t", own);
            int entries = 1;
            for (boolean fits = true; fits; entries *= 2) {
              for (int i = 0; i < 5 && fits; i++) {
                Watchdog.mark("a batch of " + entries);
                WriteBatch batch = store.newBatch();
                for (int j = 0; j < entries; j++) {
                  byte[] key = new byte[tree.maxKeyBytes()];
                  random.nextBytes(key);
                  batch.put(tree, key, new byte[100]);
                }
                fits = isWritten(store, batch);
              }
            }
            assertTrue(entries >= 16, "no batch of " + entries / 2);
          }
        });
  }

  private static boolean isWritten(Store store, WriteBatch batch) {
    try {
      store.write(batch);
    } catch (IllegalArgumentException e) {
      assertTrue(e.getMessage().contains("more than half of the write memory"), e.getMessage());
      return false;
    }
    Ledger ledger = store.stats().ledger();
    assertTrue(ledger.peakBytes() <= ledger.limitBytes(), ledger::toString);
    return true;
  }

  /** Keys by their bytes, the last ones first. */
  private static final class ReverseOrder implements KeyOrder {
    @Override
    public String name() {
      return "reverse";
    }

    @Override
    public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
      return BYTES.compare(b, bOffset, bLength, a, aOffset, aLength);
    }
  }

  @Test
  void aValueThatDoesNotFitIntoASmallerBudgetSaysWhichOneWillDo() {
    Path dir = temp.resolve("smaller");
    byte[] value = new byte[6 << 20];
    StoreOptions large = StoreOptions.builder().memoryBudget(64 << 20).build();
    try (Store store = Store.open(dir, large)) {
      Tree tree = store.openTree("t");
      tree.put(key(0), new byte[5 << 20]);
      tree.put(key(1), value, Durability.SYNC);
    }
    StoreOptions small = StoreOptions.builder().memoryBudget(4 << 20).build();
    IsobarException told = assertThrows(IsobarException.class, () -> Store.open(dir, small));
    StoreOptions enough = StoreOptions.builder().memoryBudget(told(told)).build();
    try (Store store = Store.open(dir, enough)) {
      assertArrayEquals(value, store.openTree("t").get(key(1)));
    }
    assertTrue(enough.memoryBudget() <= 16 << 20, told.getMessage());
  }

  @Test
  void aBudgetOfTooFewPagesIsRefused() {
    StoreOptions.Builder options = StoreOptions.builder().pageSize(65536).memoryBudget(4 << 20);
    assertTrue(
        assertThrows(IllegalArgumentException.class, options::build)
            .getMessage()
            .contains("at least 8388608 bytes"));
    Path dir = temp.resolve("large-pages");
    Store.open(dir, options.memoryBudget(8 << 20).build()).close();
    StoreOptions small = StoreOptions.builder().memoryBudget(4 << 20).build();
    String message =
        assertThrows(IllegalArgumentException.class, () -> Store.open(dir, small)).getMessage();
    assertTrue(message.contains("at least 8388608 bytes") && message.contains("65536"), message);
  }

  @Test
  void aBudgetThatIsLoweredAsFarAsItGoesStillTakesWrites() {
    StoreOptions options = StoreOptions.builder().pageSize(65536).memoryBudget(16 << 20).build();
    Watchdog.run(
        options.toString(),
        watchdog -> {
          try (Store store = Store.open(temp.resolve("lowered"), options)) {
            Tree tree = store.openTree("t");
            long least = leastBudget(store);
            store.setMemoryBudget(least);
            for (int i = 0; i < 20; i++) {
              Watchdog.mark("put " + i + " with " + least + " bytes");
              tree.put(key(i), new byte[tree.maxValueBytes()]);
            }
            store.setMemoryBudget(16 << 20);
            tree.put(key(0), new byte[tree.maxValueBytes()]);
          }
        });
  }

  /** The number that a budget of next to nothing is refused with. */
  private static long leastBudget(Store store) {
    String message =
        assertThrows(IllegalArgumentException.class, () -> store.setMemoryBudget(1)).getMessage();
    Matcher least = Pattern.compile("at least (\\d+) bytes").matcher(message);
    assertTrue(least.find(), message);
    return Long.parseLong(least.group(1));
  }

  @Test
  void nothingHangsAndAllIsThereAgainUnderAnyOptions() {
    for (long seed = SEED; seed < SEED + SEEDS; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Path dir = temp.resolve("seed-" + seed);
      Watchdog.run(
          "CrossedOptionsTest -Disobar.crossed.seeds=1 -Disobar.seed=" + seed,
          watchdog -> history(dir, random, watchdog));
    }
  }

  private void history(Path dir, SplittableRandom random, Watchdog watchdog) {
    written.clear();
    for (int i = 0; i < TREES; i++) {
      written.add(new ConcurrentHashMap<>());
    }
    int pageSize = 4096 << random.nextInt(5);
    StoreOptions options = someOptions(random, pageSize);
    for (int round = 0; round < 3; round++) {
      Watchdog.mark("opening with " + options);
      try (Store store = open(dir, options)) {
        verify(store);
        storm(store, random, watchdog);
        Watchdog.mark("closing, with " + options);
        Ledger ledger = store.stats().ledger();
        long most = Math.max(store.options().memoryBudget(), ledger.limitBytes());
        assertTrue(ledger.peakBytes() <= most, options + ": " + ledger);
      }
      if (random.nextBoolean()) {
        options = someOptions(random, pageSize);
      }
    }
  }

  private Store open(Path dir, StoreOptions options) {
    try {
      return Store.open(dir, options);
    } catch (IsobarException e) {
      return Store.open(dir, StoreOptions.builder().memoryBudget(told(e)).build());
    }
  }

  private static long told(IsobarException e) {
    Matcher told = Pattern.compile("a memoryBudget of (\\d+) bytes").matcher(e.getMessage());
    assertTrue(told.find(), e.toString());
    return Long.parseLong(told.group(1));
  }

  private static StoreOptions someOptions(SplittableRandom random, int pageSize) {
    long least = OptionLimits.leastBudget(pageSize);
    long budget =
        switch (random.nextInt(3)) {
          case 0 -> least;
          case 1 -> least + random.nextLong(least);
          default -> least + random.nextLong(32 << 20);
        };
    long writeMemory =
        switch (random.nextInt(4)) {
          case 0 -> (budget + 15) / 16;
          case 1 -> budget / 4 * 3;
          default -> budget / 16 * (1 + random.nextInt(12)) + 16;
        };
    int mostTrees = (int) Math.min(4, writeMemory / (8L * pageSize));
    boolean shares = mostTrees > 0 && random.nextInt(4) == 0;
    return ExperimentalOptions.set(
            StoreOptions.builder()
                .pageSize(pageSize)
                .memoryBudget(budget)
                .writeMemory(Math.min(writeMemory, budget / 4 * 3))
                .memoryTuner(random.nextInt(3) != 0),
            e ->
                e.flushPolicy(anyOf(random, FlushPolicy.values()))
                    .flushStrategy(anyOf(random, FlushStrategy.values()))
                    .memoryComponent(anyOf(random, MemoryComponent.values()))
                    .l0Structure(anyOf(random, L0Structure.values()))
                    .writeMemoryAllocation(
                        shares ? WriteMemoryAllocation.STATIC : WriteMemoryAllocation.DYNAMIC)
                    .staticTrees(1 + random.nextInt(Math.max(1, mostTrees))))
        .logLimit(random.nextBoolean() ? 1 << 20 : 16 << 20)
        .backgroundThreads(1 + random.nextInt(4))
        .build();
  }

  private static <E> E anyOf(SplittableRandom random, E[] values) {
    return values[random.nextInt(values.length)];
  }

  private void verify(Store store) {
    for (int i = 0; i < TREES; i++) {
      Tree tree = store.openTree("t" + i);
      for (Map.Entry<String, Integer> entry : written.get(i).entrySet()) {
        byte[] value = tree.get(entry.getKey().getBytes());
        assertEquals(entry.getValue(), value == null ? null : value.length, entry.getKey());
      }
    }
  }

  private void storm(Store store, SplittableRandom random, Watchdog watchdog) {
    int threads = 1 + random.nextInt(4);
    int trees = 1 + random.nextInt(TREES);
    long bytes = Math.min(2 * store.options().memoryBudget(), 12 << 20) / threads;
    List<Thread> writers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      String name = "w" + i;
      SplittableRandom own = random.split();
      Thread writer =
          new Thread(
              () -> {
                try {
                  watchdog.watch(() -> write(store, name, own, trees, bytes));
                } catch (RuntimeException | Error e) {
                  failures.add(e);
                }
              },
              name);
      writers.add(writer);
      writer.start();
    }
    if (random.nextInt(3) == 0) {
      Watchdog.mark("changing the budget");
      store.setMemoryBudget(Math.max(leastBudget(store), store.options().memoryBudget() / 2));
    }
    Watchdog.unmark();
    for (Thread writer : writers) {
      try {
        writer.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }
    Throwable failure = failures.poll();
    if (failure != null) {
      throw new AssertionError(store.options().toString(), failure);
    }
  }

  private void write(Store store, String thread, SplittableRandom random, int trees, long bytes) {
    int style = random.nextInt(5);
    int pageSize = store.options().pageSize();
    for (long sum = 0; sum < bytes; ) {
      int number = random.nextInt(trees);
      Tree tree = store.openTree("t" + number);
      int most = tree.maxValueBytes();
      int length =
          switch (style) {
            case 0 -> random.nextInt(200);
            case 1 -> random.nextInt(4) == 0 ? most - random.nextInt(3) : random.nextInt(1_000);
            case 2 -> pageSize / 2 - pageSize / 8 + random.nextInt(pageSize / 4);
            case 3 -> random.nextInt(most + 1);
            default -> pageSize / 3 + random.nextInt(100);
          };
      length = Math.min(length, most);
      Map<String, Integer> lengths = new HashMap<>();
      long size = random.nextInt(3) == 0 ? random.nextLong(2L * most) : 0;
      Watchdog.mark(new Doing(store, size + " bytes of values of " + length));
      WriteBatch batch = store.newBatch();
      try {
        do {
          String key = thread + "-" + random.nextInt(20_000);
          if (size == 0) {
            tree.put(key.getBytes(), new byte[length]);
          } else {
            batch.put(tree, key.getBytes(), new byte[length]);
          }
          lengths.put(key, length);
          sum += length + 100;
        } while (batch.sizeBytes() + length < size && lengths.size() < MOST_KEYS);
        store.write(batch, Durability.ASYNC);
        written.get(number).putAll(lengths);
      } catch (IllegalArgumentException e) {
        // The budget was lowered meanwhile; or near the limit, what entries cost besides counts.
        String message = String.valueOf(e.getMessage());
        assertTrue(
            message.contains("more than half") || message.contains("exceeds the limit"), message);
      }
    }
  }

  /** What a thread does; how the store is when somebody asks. */
  private record Doing(Store store, String what) {
    @Override
    public String toString() {
      return what + "; " + store.options() + "; " + store.stats().toJson();
    }
  }

  private static byte[] key(int i) {
    return String.format("%08d", i).getBytes();
  }
}
