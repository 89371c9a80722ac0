package io.isobardb.lsm.threads;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.commit.Snapshots;
import io.isobardb.lsm.dataset.Dataset;
import io.isobardb.lsm.dataset.DatasetOptions;
import io.isobardb.lsm.dataset.Index;
import io.isobardb.lsm.dataset.IndexCursor;
import io.isobardb.lsm.dataset.IndexEntry;
import io.isobardb.lsm.dataset.IndexRange;
import io.isobardb.lsm.simulation.Inside;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * An index is dropped, and a record written without it, just when a reader has found the index and
 * is about to take its snapshot. The snapshot then shows an index that is not whole.
 *
 * <p>The reader is held there by the monitor of {@link Snapshots}, the drop by a lock on the
 * index's place in the catalog.
 */
@Timeout(60)
class IndexDropRaceTest {
  private static final byte[] KEY = bytes("record");
  private static final byte[] OLD = bytes("old");
  private static final byte[] NEW = bytes("new");

  @TempDir Path temp;

  /** Reads by the index; gives what does not fit. */
  private interface Reader {
    List<String> read(Store store, Dataset dataset);
  }

  private static <T> FutureTask<T> start(FutureTask<T> task) {
    Thread thread = new Thread(task, "beside");
    thread.setDaemon(true);
    thread.start();
    return task;
  }

  private static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      Thread.onSpinWait();
    }
  }

  private static List<String> misfits(List<IndexEntry> found) {
    List<String> misfits = new ArrayList<>();
    for (IndexEntry entry : found) {
      if (!new String(entry.indexKey()).equals(new String(entry.value()))) {
        misfits.add(new String(entry.indexKey()) + " leads to " + new String(entry.value()));
      }
    }
    if (found.isEmpty()) {
      misfits.add("nothing is found");
    }
    return misfits;
  }

  private static List<IndexEntry> all(IndexCursor opened) {
    List<IndexEntry> entries = new ArrayList<>();
    try (IndexCursor cursor = opened) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        entries.add(new IndexEntry(cursor.indexKey(), cursor.key(), cursor.value()));
      }
    }
    return entries;
  }

  /** What the reader made of it. */
  private FutureTask<List<String>> race(Reader reader) throws Exception {
    Index index = Index.builder("i").key((key, value) -> List.of(value)).build();
    DatasetOptions options =
        DatasetOptions.builder().index(index).changeTimeout(Duration.ofSeconds(50)).build();
    StoreOptions small = StoreOptions.builder().memoryBudget(8 << 20).build();
    try (Store store = Store.open(temp, small)) {
      Dataset dataset = Dataset.open(store, "d", options);
      dataset.put(KEY, OLD);
      Transaction earlier = store.begin();
      dataset.put(earlier, bytes("other"), bytes("other"));
      Transaction catalogLock = store.begin();
      catalogLock.getForUpdate(store.tree("d/catalog"), bytes("index/i"));
      Snapshots snapshots = Inside.of(store).engine().snapshots();
      Thread[] dropping = {null};
      FutureTask<Void> drop =
          start(
              new FutureTask<>(
                  () -> {
                    dropping[0] = Thread.currentThread();
                    dataset.dropIndex("i");
                    return null;
                  }));
      await(() -> waitsForALock(dropping[0]));
      Thread[] reading = {null};
      FutureTask<List<String>> read =
          new FutureTask<>(
              () -> {
                reading[0] = Thread.currentThread();
                return reader.read(store, dataset);
              });
      // So that nobody reads at the visible LSN: the reader would join without the monitor.
      store.openTree("elsewhere").put(KEY, NEW);
      synchronized (snapshots) {
        start(read);
        await(() -> reading[0] != null && reading[0].getState() == Thread.State.BLOCKED);
        catalogLock.close();
        // Writers have been told. The drop waits for the transaction that began before.
        await(() -> dataset.indexes().isEmpty());
        dataset.put(KEY, NEW);
      }
      await(read::isDone);
      earlier.close();
      drop.get();
      return read;
    }
  }

  private static boolean waitsForALock(Thread thread) {
    if (thread == null) {
      return false;
    }
    for (StackTraceElement frame : thread.getStackTrace()) {
      if (frame.getClassName().endsWith(".LockTable")
          || frame.getClassName().endsWith(".RecordLock")) {
        return thread.getState() == Thread.State.TIMED_WAITING;
      }
    }
    return false;
  }

  private void assertTold(Reader reader) throws Exception {
    FutureTask<List<String>> read = race(reader);
    ExecutionException e =
        assertThrows(ExecutionException.class, () -> assertEquals(List.of(), read.get()));
    assertInstanceOf(IllegalArgumentException.class, e.getCause());
  }

  @Test
  void aCheckLeavesItOut() throws Exception {
    Reader check =
        (store, dataset) ->
            dataset.check().indexes().stream().flatMap(each -> each.findings().stream()).toList();
    assertEquals(List.of(), race(check).get());
  }

  @Test
  void aSearchSaysThatThereIsNoSuchIndex() throws Exception {
    assertTold((store, dataset) -> misfits(dataset.find("i", OLD)));
  }

  @Test
  void aCursorSaysThatThereIsNoSuchIndex() throws Exception {
    assertTold((store, dataset) -> misfits(all(dataset.cursor("i", IndexRange.all()))));
  }

  @Test
  void aSearchOfATransactionSaysThatThereIsNoSuchIndex() throws Exception {
    assertTold(
        (store, dataset) ->
            store.inTransaction(
                TransactionOptions.builder().isolation(Isolation.READ_COMMITTED).build(),
                transaction -> misfits(dataset.find(transaction, "i", NEW))));
  }

  @Test
  void aCursorOfATransactionSaysThatThereIsNoSuchIndex() throws Exception {
    assertTold(
        (store, dataset) ->
            store.inTransaction(
                TransactionOptions.builder().isolation(Isolation.READ_COMMITTED).build(),
                transaction -> misfits(all(dataset.cursor(transaction, "i", IndexRange.all())))));
  }
}
