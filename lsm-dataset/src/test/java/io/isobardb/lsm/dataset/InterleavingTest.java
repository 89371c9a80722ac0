package io.isobardb.lsm.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.error.SelfDeadlockException;
import io.isobardb.lsm.error.TransactionAbortedException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * What happens if a record is written just while background work looks at it: the extractor, which
 * that calls, tells when. It may be refused then, but nothing may be wrong afterwards.
 */
class InterleavingTest {
  private static final byte[] KEY = {'1'};
  private static final byte[] OLD = "old".getBytes(UTF_8);
  private static final byte[] NEW = "new".getBytes(UTF_8);

  /** The call of the extractor at which the write comes; 0 for none. */
  private int at;

  private int calls;
  private Runnable write = () -> {};
  private int written;
  private int refused;

  private Index index(Maintenance maintenance, boolean unique) {
    return Index.builder("i")
        .key(
            (key, value) -> {
              if (at > 0 && ++calls == at) {
                at = 0;
                write.run();
              }
              return List.of(value);
            })
        .maintenance(maintenance)
        .unique(unique)
        .build();
  }

  private void write(Store store, Dataset dataset, byte[] value, Locking locking) {
    TransactionOptions options =
        TransactionOptions.builder()
            .isolation(Isolation.READ_COMMITTED)
            .locking(locking)
            .lockTimeout(Duration.ofMillis(1))
            .build();
    try (Transaction transaction = store.begin(options)) {
      dataset.put(transaction, KEY, value);
      transaction.commit();
      written++;
    } catch (TransactionAbortedException | SelfDeadlockException e) {
      refused++;
    }
  }

  @Test
  void aRepairRemovesNoEntryThatIsWrittenMeanwhile() {
    for (Locking locking : Locking.values()) {
      for (boolean unique : new boolean[] {false, true}) {
        for (int call = 1; call <= 5; call++) {
          try (Store store = new SimulatedDatasets(call).open()) {
            Dataset dataset =
                Dataset.open(
                    store,
                    "d",
                    DatasetOptions.builder().index(index(Maintenance.VALIDATION, unique)).build());
            dataset.put(KEY, OLD);
            dataset.put(KEY, NEW);
            // What is stale now, and is to be removed, comes to fit again.
            write = () -> write(store, dataset, OLD, locking);
            calls = 0;
            at = call;
            dataset.repair("i");
            at = 0;
            assertFits(dataset);
          }
        }
      }
    }
    assertTrue(written > 0 && refused > 0, written + " written, " + refused + " refused");
  }

  @Test
  void aBuildAddsNoEntryOfWhatIsReplacedMeanwhile() {
    for (Locking locking : Locking.values()) {
      for (boolean unique : new boolean[] {false, true}) {
        for (int call = 1; call <= 3; call++) {
          try (Store store = new SimulatedDatasets(call).open()) {
            Dataset dataset = Dataset.open(store, "d", DatasetOptions.defaults());
            dataset.put(KEY, OLD);
            write = () -> write(store, dataset, NEW, locking);
            calls = 0;
            at = call;
            dataset.createIndex(index(Maintenance.EAGER, unique));
            at = 0;
            assertFits(dataset);
          }
        }
      }
    }
    assertTrue(refused > 0, refused + " refused");
  }

  private static void assertFits(Dataset dataset) {
    DatasetCheck check = dataset.check();
    assertTrue(check.isSound(), check::toString);
    byte[] value = dataset.get(KEY);
    List<IndexEntry> found = dataset.find("i", value);
    assertEquals(1, found.size());
    assertArrayEquals(KEY, found.get(0).key());
  }
}
