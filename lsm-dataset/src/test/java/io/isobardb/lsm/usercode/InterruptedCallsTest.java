package io.isobardb.lsm.usercode;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Backup;
import io.isobardb.lsm.Backups;
import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Recording;
import io.isobardb.lsm.RecordingOptions;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.dataset.BuildProgress;
import io.isobardb.lsm.dataset.Dataset;
import io.isobardb.lsm.dataset.DatasetOptions;
import io.isobardb.lsm.dataset.Index;
import io.isobardb.lsm.dataset.Maintenance;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.recipe.Queue;
import io.isobardb.lsm.typed.Codec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A thread that is interrupted, and stays so, makes the calls that write files of their own. */
class InterruptedCallsTest {
  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).logLimit(4 << 20).build();

  private static final int KEYS = 3000;

  @TempDir Path temp;

  private interface Call {
    void run() throws Exception;
  }

  private static byte[] key(int i) {
    return String.format("%06d", i).getBytes(UTF_8);
  }

  private static byte[] value(int i) {
    byte[] value = new byte[500];
    System.arraycopy(key(i), 0, value, 0, 6);
    return value;
  }

  private static void check(Tree tree, int count) {
    for (int i = 0; i < count; i++) {
      assertArrayEquals(value(i), tree.get(key(i)), "key " + i);
    }
  }

  /** Interrupted all the time, with the flag kept. */
  private static void interrupted(String what, Call call) throws Exception {
    Thread.currentThread().interrupt();
    try {
      call.run();
    } catch (Exception e) {
      throw new AssertionError(what, e);
    }
    assertTrue(Thread.currentThread().isInterrupted(), what);
  }

  @AfterEach
  void clear() {
    Thread.interrupted();
  }

  @Test
  void whatWritesFilesOfItsOwnIsDone() throws Exception {
    Store[] opened = new Store[1];
    interrupted("open", () -> opened[0] = Store.open(temp.resolve("store"), OPTIONS));
    Store store = opened[0];
    Tree tree = store.openTree("t");
    Tree unlogged = store.openTree("u", TreeOptions.builder().logged(false).build());
    for (int i = 0; i < KEYS; i++) {
      tree.put(key(i), value(i));
      unlogged.put(key(i), value(i));
    }
    Recording[] recording = new Recording[1];
    interrupted(
        "record",
        () ->
            recording[0] =
                store.startRecording(temp.resolve("recording"), RecordingOptions.defaults()));
    interrupted("compact", () -> tree.compact(null, null));
    interrupted("quiet", store::awaitQuiet);
    interrupted("settings", () -> tree.setRuns(Runs.leveled()));
    interrupted("life", () -> tree.setTimeToLive(Duration.ofDays(100)));
    Tree loaded = store.openTree("loaded");
    interrupted(
        "load",
        () -> {
          try (BulkLoad load = store.bulkLoad(loaded)) {
            for (int i = 0; i < KEYS; i++) {
              load.add(loaded, key(i), value(i));
            }
            load.commit();
          }
        });
    interrupted("copy", () -> store.checkpointTo(temp.resolve("copy")));
    interrupted(
        "backup",
        () -> {
          try (Backups backups = Backups.open(temp.resolve("backups"))) {
            Backup backup = backups.create(store);
            backups.create(store);
            assertEquals(2, backups.list().size());
            assertEquals(List.of(), backups.verify());
            backups.restore(backup.id(), temp.resolve("restored"));
            backups.delete(backup.id());
            assertEquals(0, backups.keep(1));
          }
        });
    interrupted(
        "transactions",
        () ->
            store.runInTransaction(
                transaction -> {
                  transaction.put(tree, key(KEYS), value(KEYS));
                  transaction.delete(tree, key(KEYS));
                  tree.putIfAbsent(key(KEYS + 1), value(1));
                }));
    Queue<Long> queue = Queue.open(store, "q", Codec.int64());
    interrupted(
        "queue",
        () -> {
          queue.add(1L);
          assertEquals(1L, queue.poll());
          assertNull(queue.poll());
        });
    Index index = Index.builder("i").key((key, value) -> List.of(key)).build();
    Index late =
        Index.builder("late")
            .key((key, value) -> List.of(key))
            .maintenance(Maintenance.VALIDATION)
            .build();
    interrupted(
        "dataset",
        () -> {
          Dataset data = Dataset.open(store, "d", DatasetOptions.builder().index(index).build());
          for (int i = 0; i < 300; i++) {
            data.put(key(i), value(i));
          }
          data.createIndex(late, BuildProgress.NONE);
          assertEquals(1, data.find("late", key(7)).size());
          assertTrue(data.check().isSound());
          data.dropIndex("i");
        });
    interrupted("drop", () -> store.dropTree("q"));
    interrupted("recorded", () -> recording[0].close());
    interrupted("budget", () -> store.setMemoryBudget(6 << 20));
    tree.put(key(KEYS), value(KEYS), Durability.SYNC);
    interrupted("close", store::close);
    Thread.interrupted();
    for (String name : List.of("store", "copy", "restored")) {
      try (Store reopened = Store.open(temp.resolve(name), OPTIONS)) {
        check(reopened.tree("t"), KEYS);
        check(reopened.tree("u"), KEYS);
        check(reopened.tree("loaded"), KEYS);
      }
    }
    Store[] reading = new Store[1];
    interrupted("read only", () -> reading[0] = Store.openReadOnly(temp.resolve("copy"), OPTIONS));
    try (Store store2 = reading[0]) {
      check(store2.tree("t"), KEYS);
    }
  }

  @Test
  void aTransactionIsCommittedAndRolledBack() throws Exception {
    try (Store store = Store.open(temp.resolve("store"), OPTIONS)) {
      Tree tree = store.openTree("t");
      interrupted(
          "commit",
          () -> {
            try (Transaction transaction = store.begin()) {
              transaction.put(tree, key(1), value(1));
              transaction.commit();
            }
            try (Transaction transaction = store.begin()) {
              transaction.put(tree, key(1), value(2));
              transaction.rollback();
            }
            store.sync();
          });
      assertArrayEquals(value(1), tree.get(key(1)));
    }
  }
}
