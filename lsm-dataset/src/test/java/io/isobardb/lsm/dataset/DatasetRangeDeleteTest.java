package io.isobardb.lsm.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Deletes of ranges of records, with all their index entries. */
class DatasetRangeDeleteTest {
  @TempDir Path dir;

  private Store store;

  @BeforeEach
  void open() {
    StoreOptions options =
        StoreOptions.builder().memoryBudget(8 << 20).durability(Durability.SYNC).build();
    store = Store.open(dir, options);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private static byte[] key(int i) {
    return String.format("%08d", i).getBytes(UTF_8);
  }

  @Test
  void recordsOfADatasetGoForAllKindsOfIndexes() {
    int number = 0;
    for (Maintenance maintenance : Maintenance.values()) {
      for (boolean unique : new boolean[] {false, true}) {
        Index byValue =
            Index.builder("v")
                .key((key, value) -> List.of(value))
                .maintenance(maintenance)
                .unique(unique)
                .build();
        String name = "d" + number++;
        DatasetOptions options = DatasetOptions.builder().index(byValue).build();
        Dataset dataset = Dataset.open(store, name, options);
        for (int i = 0; i < 6; i++) {
          dataset.put(key(i), key(100 + i));
        }
        dataset.deleteRange(key(1), key(5));
        for (int i = 0; i < 6; i++) {
          int expected = i == 0 || i == 5 ? 1 : 0;
          assertEquals(expected, dataset.find("v", key(100 + i)).size(), name + ", " + i);
        }
        assertTrue(dataset.check().isSound(), dataset.check().toString());
        for (int i = 20; i < 120; i++) {
          dataset.put(key(i), key(1000 + i));
        }
        long logged = store.stats().logSizeBytes();
        dataset.deleteRange(key(20), key(120));
        logged = store.stats().logSizeBytes() - logged;
        boolean oneByOne = unique || maintenance == Maintenance.EAGER;
        assertEquals(!oneByOne, logged < 100, logged + " bytes of log for " + name);
        dataset.put(key(9), key(102));
        assertEquals(1, dataset.find("v", key(102)).size());
      }
    }
  }

  /** While the records of the range are read, somebody puts one where that is through already. */
  @ParameterizedTest
  @EnumSource
  void recordsPutMeanwhileWaitOrStayWithTheirIndexEntries(Locking locking) {
    AtomicReference<Runnable> meanwhile = new AtomicReference<>(() -> {});
    Index byValue =
        Index.builder("v")
            .key(
                (key, value) -> {
                  if (Arrays.equals(key, key(5))) {
                    meanwhile.getAndSet(() -> {}).run();
                  }
                  return List.of(value);
                })
            .build();
    DatasetOptions options = DatasetOptions.builder().index(byValue).build();
    Dataset dataset = Dataset.open(store, "d", options);
    for (int i = 0; i < 6; i += 2) {
      dataset.put(key(i), key(100 + i));
    }
    dataset.put(key(5), key(105));
    TransactionOptions impatient = TransactionOptions.builder().lockTimeout(Duration.ZERO).build();
    List<Throwable> refused = new ArrayList<>();
    meanwhile.set(
        () -> {
          Thread other =
              new Thread(
                  () -> {
                    try (Transaction transaction = store.begin(impatient)) {
                      dataset.put(transaction, key(1), key(101));
                      transaction.commit();
                    }
                  });
          other.setUncaughtExceptionHandler((thread, e) -> refused.add(e));
          other.start();
          assertDoesNotThrow(() -> other.join());
        });
    TransactionOptions latest =
        TransactionOptions.builder().locking(locking).isolation(Isolation.READ_COMMITTED).build();
    store.runInTransaction(latest, t -> dataset.deleteRange(t, key(0), key(6)));
    boolean waits = locking == Locking.PESSIMISTIC;
    assertEquals(waits ? 1 : 0, refused.size(), refused::toString);
    assertEquals(waits ? 0 : 1, dataset.find("v", key(101)).size());
    assertTrue(dataset.check().isSound(), dataset.check().toString());
    assertEquals(waits ? 0 : 1, dataset.check().records());
  }

  @Test
  void aRangeDeleteOfADatasetThatFailsLeavesNothingInTheTransaction() {
    Index byValue = Index.builder("v").key((key, value) -> List.of(value)).build();
    DatasetOptions options = DatasetOptions.builder().index(byValue).build();
    Dataset dataset = Dataset.open(store, "d", options);
    for (int i = 0; i < 6; i++) {
      dataset.put(key(i), key(100 + i));
    }
    byte[] tooLong = new byte[store.tree("d").maxKeyBytes() + 1];
    Arrays.fill(tooLong, (byte) '9');
    try (Transaction transaction = store.begin()) {
      assertThrows(
          IllegalArgumentException.class, () -> dataset.deleteRange(transaction, key(1), tooLong));
      transaction.commit();
    }
    assertEquals(6, dataset.check().records());
    assertTrue(dataset.check().isSound(), dataset.check().toString());
  }
}
