package io.isobardb.lsm.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.error.SelfDeadlockException;
import io.isobardb.lsm.error.TreeDroppedException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/** What was reading by an index when that was dropped. */
@Timeout(value = 60, threadMode = ThreadMode.SAME_THREAD) // which the simulation belongs to
class DroppedIndexTest {
  private static final int RECORDS = 600;

  private final SimulatedDatasets world = new SimulatedDatasets(1);
  private Store store;

  /** Extractor calls until {@link #then} is run. */
  private int calls = -1;

  private Runnable then = () -> {};

  @BeforeEach
  @Timeout(value = 60, threadMode = ThreadMode.SAME_THREAD)
  void open() {
    store = world.open();
  }

  @AfterEach
  @Timeout(value = 60, threadMode = ThreadMode.SAME_THREAD)
  void close() {
    store.close();
  }

  private List<byte[]> keys(byte[] value) {
    if (calls-- == 0) {
      then.run();
    }
    return List.of(value);
  }

  private Dataset dataset() {
    DatasetOptions.Builder options = DatasetOptions.builder();
    for (String name : List.of("kept", "dropped")) {
      options.index(Index.builder(name).key((key, value) -> keys(value)).build());
    }
    Dataset dataset = Dataset.open(store, "d", options.build());
    for (int i = 0; i < RECORDS; i++) {
      dataset.put(bytes("r" + i), bytes("v" + i % 7));
    }
    return dataset;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static Index dropped(Dataset dataset, DroppedIndexTest test) {
    return Index.builder("dropped").key((key, value) -> test.keys(value)).build();
  }

  @Test
  void aCheckLeavesOutAnIndexThatIsDroppedMeanwhile() {
    Dataset dataset = dataset();
    // In a check each index's keys are asked for twice, for the record and for the entry.
    for (int at = 0; at < 4 * RECORDS; at += 97) {
      then = () -> dataset.dropIndex("dropped");
      calls = at;
      DatasetCheck check = dataset.check();
      assertTrue(calls < 0, "the check had ended before call " + at);
      calls = -1;
      assertEquals(RECORDS, check.records());
      for (DatasetCheck.IndexCheck index : check.indexes()) {
        assertEquals(0, index.errors(), () -> index.findings().toString());
      }
      // It is in the result only if the check was done with it.
      boolean there = check.indexes().stream().anyMatch(index -> index.index().equals("dropped"));
      assertTrue(!there || at > 3 * RECORDS, "dropped at call " + at + ", and checked");
      assertTrue(check.indexes().stream().anyMatch(index -> index.index().equals("kept")));
      dataset.createIndex(dropped(dataset, this));
    }
  }

  @Test
  void readersOfADroppedIndexHearOfItByItsName() {
    Dataset dataset = dataset();
    IndexCursor cursor = dataset.cursor("dropped", IndexRange.all());
    assertTrue(cursor.first());
    dataset.dropIndex("dropped");
    for (var call : List.<Runnable>of(cursor::next, cursor::first, cursor::isValid, cursor::key)) {
      TreeDroppedException e = assertThrows(TreeDroppedException.class, call::run);
      assertTrue(e.tree().startsWith("d/index/dropped/"), e.getMessage());
    }
    cursor.close();
    assertThrows(IllegalArgumentException.class, () -> dataset.find("dropped", bytes("v1")));
    assertEquals(0, store.stats().readers().cursors());
    assertEquals(0, store.stats().readers().snapshots());
  }

  @Test
  void whenThePrimaryTreeIsDroppedBeneathAllSaySo() {
    Dataset dataset = dataset();
    IndexCursor cursor = dataset.cursor("kept", IndexRange.all());
    assertTrue(cursor.first());
    store.dropTree("d");
    byte[] key = bytes("r1");
    for (var call :
        List.<Runnable>of(
            () -> dataset.get(key),
            () -> dataset.put(key, key),
            () -> dataset.delete(key),
            () -> dataset.write(new RecordBatch().put(key, key)),
            () -> dataset.find("kept", bytes("v1")),
            () -> cursor.value(),
            () -> dataset.check())) {
      TreeDroppedException e = assertThrows(TreeDroppedException.class, call::run);
      assertEquals("d", e.tree());
    }
    cursor.close();
  }

  @Test
  void aWriteBesideTheThreadsOwnTransactionSaysWhatToUse() {
    Dataset dataset = dataset();
    store.inTransaction(
        transaction -> {
          dataset.put(transaction, bytes("r1"), bytes("v2"));
          SelfDeadlockException e =
              assertThrows(
                  SelfDeadlockException.class, () -> dataset.put(bytes("r1"), bytes("v3")));
          assertTrue(e.getMessage().contains("method that takes it"), e.getMessage());
          return null;
        });
    assertEquals("v2", new String(dataset.get(bytes("r1")), UTF_8));
    assertEquals(0, dataset.check().indexes().get(0).errors());
  }
}
