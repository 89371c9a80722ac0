package io.isobardb.lsm.threads;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.error.TreeDroppedException;
import io.isobardb.lsm.observe.StoreListener;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;

/** A tree that holds nearly all write memory goes while writers wait for memory. */
class DropUnderPressureTest {
  @TempDir Path temp;

  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = ThreadMode.SEPARATE_THREAD)
  void writersThatWaitForTheTreesMemoryGetIt() throws Exception {
    StoreOptions options =
        StoreOptions.builder()
            .memoryBudget(8 << 20)
            .writeMemory(1 << 20)
            .backgroundThreads(1)
            .memoryTuner(false)
            .durability(Durability.ASYNC)
            .build();
    CountDownLatch flushing = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    try (Store store = Store.open(temp.resolve("s"), options)) {
      // The only thread for flushes stands still after the first one, until the drop is under way.
      store.addListener(
          new StoreListener() {
            @Override
            public void onFlushed(Flush event) {
              flushing.countDown();
              awaitUninterruptibly(goOn);
            }
          });
      Tree large = store.openTree("large");
      Thread filler = new Thread(() -> fill(large));
      filler.start();
      flushing.await();
      while (filler.getState() != Thread.State.WAITING) {
        Thread.onSpinWait();
      }
      Thread dropper = new Thread(() -> store.dropTree("large"));
      dropper.start();
      while (!isRefused(large)) {
        Thread.onSpinWait();
      }
      // Nobody gets in any more, to wait for memory that nobody will free.
      byte[] key = {1};
      assertThrows(StoreClosedException.class, () -> large.put(key, key));
      WriteBatch batch = store.newBatch();
      batch.put(large, key, key);
      FutureTask<TreeDroppedException> late =
          new FutureTask<>(
              () -> assertThrows(TreeDroppedException.class, () -> store.write(batch)));
      new Thread(late).start();
      goOn.countDown();
      dropper.join();
      filler.join();
      assertTrue(late.get().getMessage().contains("dropped"), late.get().getMessage());
      Tree other = store.openTree("other");
      other.put(new byte[] {1}, new byte[100_000]);
      assertNotNull(other.get(new byte[] {1}));
    }
  }

  /** Writes until the tree is gone. */
  private static void fill(Tree tree) {
    try {
      for (int i = 0; ; i++) {
        tree.put(new byte[] {(byte) (i >> 16), (byte) (i >> 8), (byte) i}, new byte[100]);
      }
    } catch (StoreClosedException dropped) {
      // As it should be.
    }
  }

  private static boolean isRefused(Tree tree) {
    try {
      tree.get(new byte[] {1});
      return false;
    } catch (StoreClosedException refused) {
      return true;
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
