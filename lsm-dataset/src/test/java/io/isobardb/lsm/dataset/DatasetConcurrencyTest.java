package io.isobardb.lsm.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class DatasetConcurrencyTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_261_121L);
  private static final int THREADS = 4;

  @TempDir Path dir;
  private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
  private Store store;

  @BeforeEach
  void openStore() {
    store = Store.open(dir, StoreOptions.builder().memoryBudget(16 << 20).build());
  }

  @AfterEach
  void closeStore() {
    threads.shutdownNow();
    store.close();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private Dataset open(Index... indexes) {
    DatasetOptions.Builder options = DatasetOptions.builder();
    Arrays.stream(indexes).forEach(options::index);
    return Dataset.open(store, "d", options.build());
  }

  private List<Future<Integer>> start(int count, Callable<Integer> task) {
    List<Future<Integer>> results = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      results.add(threads.submit(task));
    }
    return results;
  }

  private static int sum(List<Future<Integer>> results) throws Exception {
    int sum = 0;
    for (Future<Integer> result : results) {
      sum += result.get();
    }
    return sum;
  }

  private static TransactionOptions anyOptions(SplittableRandom random) {
    return TransactionOptions.builder()
        .isolation(Isolation.values()[random.nextInt(3)])
        .locking(Locking.values()[random.nextInt(2)])
        .build();
  }

  /** A random write of one, or of some in a transaction of any kind; duplicates are refused. */
  private void write(Dataset dataset, SplittableRandom random, int keys, int numbers) {
    try {
      if (random.nextInt(3) == 0) {
        store.<Void, RuntimeException>inTransaction(
            anyOptions(random),
            transaction -> {
              for (int i = 1 + random.nextInt(3); i > 0; i--) {
                writeOne(dataset, transaction, random, keys, numbers);
              }
              return null;
            });
      } else if (random.nextInt(5) == 0) {
        dataset.delete(bytes("k" + random.nextInt(keys)));
      } else {
        dataset.put(bytes("k" + random.nextInt(keys)), Records.random(random, numbers));
      }
    } catch (DuplicateKeyException e) {
      assertNotEquals(0, e.holder().length);
    }
  }

  private static void writeOne(
      Dataset dataset, Transaction transaction, SplittableRandom random, int keys, int numbers) {
    byte[] key = bytes("k" + random.nextInt(keys));
    if (random.nextInt(5) == 0) {
      dataset.delete(transaction, key);
    } else {
      dataset.put(transaction, key, Records.random(random, numbers));
    }
  }

  @Test
  void writersOfTheSameRecordsKeepAllIndexesInStepWhileReadersAndRepairsGoOn() throws Exception {
    Dataset dataset =
        open(
            Records.tagIndex("tags-eager", Maintenance.EAGER),
            Records.tagIndex("tags-lazy", Maintenance.VALIDATION),
            Records.numberIndex("number-eager", Maintenance.EAGER),
            Records.numberIndex("number-lazy", Maintenance.VALIDATION));
    AtomicBoolean stop = new AtomicBoolean();
    AtomicInteger seeds = new AtomicInteger();
    List<Future<Integer>> writers =
        start(
            THREADS - 1,
            () -> {
              SplittableRandom random = new SplittableRandom(SEED + seeds.getAndIncrement());
              for (int i = 0; i < 250; i++) {
                write(dataset, random, 12, 10);
              }
              return 0;
            });
    Future<Integer> others =
        threads.submit(
            () -> {
              int checks = 0;
              while (!stop.get() || checks == 0) {
                try (Snapshot snapshot = store.snapshot();
                    IndexCursor eager = dataset.cursor(snapshot, "tags-eager", IndexRange.all());
                    IndexCursor lazy = dataset.cursor(snapshot, "tags-lazy", IndexRange.all())) {
                  assertEquals(Records.forward(eager), Records.forward(lazy));
                }
                dataset.repair("tags-lazy");
                dataset.repair("number-lazy");
                DatasetCheck check = dataset.check();
                assertTrue(check.isSound(), check::toString);
                checks++;
              }
              return checks;
            });
    sum(writers);
    stop.set(true);
    assertTrue(others.get() > 0);
    DatasetCheck check = dataset.check();
    assertTrue(check.isSound(), check::toString);
  }

  @Test
  void mergesLeaveOutNothingThatAReaderFinds() throws Exception {
    Index tags = Records.tagIndex("tags", Maintenance.VALIDATION);
    Dataset dataset = open(tags);
    AtomicBoolean stop = new AtomicBoolean();
    AtomicInteger seeds = new AtomicInteger();
    List<Future<Integer>> writers =
        start(
            2,
            () -> {
              SplittableRandom random = new SplittableRandom(SEED + seeds.getAndIncrement());
              int writes = 0;
              for (; !stop.get(); writes++) {
                write(dataset, random, 200, 1);
              }
              return writes;
            });
    Future<Integer> readers =
        threads.submit(
            () -> {
              int reads = 0;
              while (!stop.get()) {
                try (Snapshot snapshot = store.snapshot();
                    IndexCursor first = dataset.cursor(snapshot, "tags", IndexRange.all())) {
                  List<IndexEntry> found = Records.forward(first);
                  for (int i = 0; i < 10; i++, reads++) {
                    SortedMap<byte[], byte[]> records = Records.newModel();
                    try (Cursor cursor = dataset.cursor(CursorOptions.all().snapshot(snapshot));
                        IndexCursor again = dataset.cursor(snapshot, "tags", IndexRange.all())) {
                      for (boolean more = cursor.first(); more; more = cursor.next()) {
                        records.put(cursor.key(), cursor.value());
                      }
                      assertEquals(Records.entries(tags, records), Records.forward(again));
                    }
                    assertEquals(Records.entries(tags, records), found);
                  }
                }
              }
              return reads;
            });
    long dropped = 0;
    try {
      for (int i = 0; i < 40 || dropped == 0; i++) {
        store.flush();
        dropped = dataset.indexes().get(0).staleDropped();
      }
    } finally {
      stop.set(true);
    }
    assertTrue(sum(writers) > 0);
    assertTrue(readers.get() > 0);
    DatasetCheck check = dataset.check();
    assertTrue(check.isSound(), check::toString);
  }

  @ParameterizedTest
  @CsvSource({
    "EAGER, PESSIMISTIC, READ_COMMITTED",
    "EAGER, PESSIMISTIC, SNAPSHOT",
    "EAGER, OPTIMISTIC, SNAPSHOT",
    "VALIDATION, PESSIMISTIC, READ_COMMITTED",
    "VALIDATION, OPTIMISTIC, READ_COMMITTED",
    "VALIDATION, OPTIMISTIC, SERIALIZABLE"
  })
  void ofManyThatWantOneUniqueKeyOneGetsIt(
      Maintenance maintenance, Locking locking, Isolation isolation) throws Exception {
    Dataset dataset = open(Records.numberIndex("number", maintenance));
    TransactionOptions options =
        TransactionOptions.builder().locking(locking).isolation(isolation).build();
    int rounds = 25;
    CyclicBarrier barrier = new CyclicBarrier(THREADS);
    AtomicInteger names = new AtomicInteger();
    int won =
        sum(
            start(
                THREADS,
                () -> {
                  String name = "t" + names.getAndIncrement() + "-";
                  int wins = 0;
                  for (int round = 0; round < rounds; round++) {
                    byte[] key = bytes(name + round);
                    byte[] value = Records.of(round);
                    barrier.await();
                    try {
                      store.<Void, RuntimeException>inTransaction(
                          options,
                          transaction -> {
                            dataset.put(transaction, key, value);
                            return null;
                          });
                      wins++;
                    } catch (DuplicateKeyException e) {
                      assertEquals(round, e.indexKey()[0]);
                    }
                  }
                  return wins;
                }));
    assertEquals(rounds, won);
    DatasetCheck check = dataset.check();
    assertTrue(check.isSound(), check::toString);
    assertEquals(rounds, check.records());
  }

  @ParameterizedTest
  @EnumSource(Maintenance.class)
  void indexesComeAndGoWhileRecordsAreWritten(Maintenance maintenance) throws Exception {
    Dataset dataset = open(Records.numberIndex("number", Maintenance.EAGER));
    SplittableRandom filling = new SplittableRandom(SEED);
    for (int i = 0; i < 1500; i++) {
      dataset.put(
          bytes("k" + i), Records.of(Records.NONE, Records.tag(filling), Records.tag(filling)));
    }
    AtomicBoolean stop = new AtomicBoolean();
    AtomicInteger seeds = new AtomicInteger();
    List<Future<Integer>> writers =
        start(
            THREADS - 1,
            () -> {
              SplittableRandom random = new SplittableRandom(SEED + seeds.getAndIncrement());
              int writes = 0;
              while (!stop.get()) {
                write(dataset, random, 1600, 20);
                writes++;
              }
              return writes;
            });
    Index index = Records.tagIndex("tags", maintenance);
    try {
      for (int i = 0; i < 3; i++) {
        dataset.createIndex(index);
        DatasetCheck check = dataset.check();
        assertTrue(check.isSound(), check::toString);
        assertEquals(2, check.indexes().size());
        dataset.dropIndex("tags");
      }
    } finally {
      stop.set(true);
    }
    assertTrue(sum(writers) > 0);
    dataset.createIndex(index);
    DatasetCheck check = dataset.check();
    assertTrue(check.isSound(), check::toString);
  }
}
