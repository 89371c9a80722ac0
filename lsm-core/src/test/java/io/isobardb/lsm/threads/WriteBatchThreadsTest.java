package io.isobardb.lsm.threads;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.simulation.Watchdog;
import io.isobardb.lsm.transaction.SimulatedTransactions;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A write batch that is touched while another thread writes it. */
class WriteBatchThreadsTest {
  @TempDir Path dir;

  @Test
  void nobodyElseGetsAtABatchThatIsBeingWritten() {
    // A batch that was changed can leave a record in the log that never ends: nor does close().
    Watchdog.run("a batch", watchdog -> changedWhileWritten());
  }

  private void changedWhileWritten() {
    CountDownLatch stopped = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    KeyOrder order =
        new KeyOrder() {
          @Override
          public String name() {
            return "stopping";
          }

          @Override
          public int compare(byte[] a, int aAt, int aLength, byte[] b, int bAt, int bLength) {
            if (Thread.currentThread().getName().equals("writer") && stopped.getCount() > 0) {
              stopped.countDown();
              await(goOn);
            }
            return KeyOrder.BYTES.compare(a, aAt, aLength, b, bAt, bLength);
          }
        };
    StoreOptions options =
        StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).keyOrder(order).build();
    try (Store store = Store.open(dir, options)) {
      Tree tree = store.openTree("t", TreeOptions.builder().keyOrder(order).build());
      tree.put(key(0), bytes("0"));
      WriteBatch batch = store.newBatch();
      for (int i = 0; i < 100; i++) {
        batch.put(tree, key(i), bytes("1"));
      }
      CompletableFuture<Void> write = new CompletableFuture<>();
      Runnable writing =
          () -> {
            try {
              store.write(batch);
              write.complete(null);
            } catch (RuntimeException | Error e) {
              write.completeExceptionally(e);
            }
          };
      Thread writer = new Thread(writing, "writer");
      writer.setDaemon(true);
      writer.start();
      await(stopped);
      assertThrows(IllegalStateException.class, batch::clear);
      assertThrows(IllegalStateException.class, () -> batch.put(tree, key(1), bytes("2")));
      assertThrows(IllegalStateException.class, () -> batch.delete(tree, key(1)));
      assertThrows(IllegalStateException.class, () -> store.write(batch));
      goOn.countDown();
      write.join();
      assertEquals(100, batch.size());
      batch.clear();
      store.write(batch.delete(tree, key(99)));
    }
    try (Store store = Store.open(dir, options)) {
      Tree tree = store.tree("t");
      for (int i = 0; i < 100; i++) {
        assertEquals(i < 99 ? "1" : null, SimulatedTransactions.text(tree.get(key(i))));
      }
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(30, TimeUnit.SECONDS), "the other thread is late");
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
