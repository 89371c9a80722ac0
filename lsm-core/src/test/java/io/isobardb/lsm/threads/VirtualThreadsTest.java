package io.isobardb.lsm.threads;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.LockTimeoutException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Many more threads than there are processors; virtual ones where the JDK has them. */
class VirtualThreadsTest {
  private static final int THREADS = 1000;
  private static final int KEYS = 10;

  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(6 << 20).pageSize(4096).logLimit(2 << 20).build();

  @TempDir Path temp;

  private static ExecutorService virtualThreads() throws ReflectiveOperationException {
    try {
      return (ExecutorService)
          Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    } catch (NoSuchMethodException e) {
      return Assumptions.abort("this JDK has no virtual threads");
    }
  }

  /** Everything that may wait: for memory, for a sync, for a lock, for a page. */
  private static void work(Store store, Tree tree, int number) {
    for (int i = 0; i < KEYS; i++) {
      byte[] key = key(number * KEYS + i);
      tree.put(key, value(number, 600), i == 0 ? Durability.SYNC : Durability.ASYNC);
      assertArrayEquals(value(number, 600), tree.get(key));
    }
    store.inTransaction(
        transaction -> {
          byte[] shared = key(-1 - number % 10);
          byte[] old = transaction.getForUpdate(tree, shared);
          transaction.put(tree, shared, value(0, old == null ? 1 : old.length + 1));
          return null;
        });
    try (Cursor cursor = tree.cursor()) {
      assertTrue(cursor.seek(key(number * KEYS)));
      for (int i = 0; i < KEYS; i++) {
        assertArrayEquals(value(number, 600), cursor.value());
        cursor.next();
      }
    }
  }

  @Test
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void aThousandVirtualThreadsComeToTheirEnd() throws Exception {
    ExecutorService threads = virtualThreads();
    try (Store store = Store.open(temp.resolve("store"), OPTIONS)) {
      Tree tree = store.openTree("t");
      List<Future<?>> done = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        int number = i;
        done.add(threads.submit(() -> work(store, tree, number)));
      }
      for (Future<?> each : done) {
        each.get();
      }
      for (int i = 0; i < THREADS * KEYS; i++) {
        assertArrayEquals(value(i / KEYS, 600), tree.get(key(i)));
      }
      int counted = 0;
      for (int i = 0; i < 10; i++) {
        counted += tree.get(key(-1 - i)).length;
      }
      assertTrue(counted == THREADS, "increments were lost: " + counted);
    } finally {
      threads.shutdownNow();
    }
  }

  /**
   * Threads that wait inside the store keep no other out, such as the one that has what they wait
   * for.
   */
  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void whoHoldsALockCanCommitHoweverManyWaitForIt() throws Exception {
    int waiters = 150;
    ExecutorService threads = Executors.newFixedThreadPool(waiters);
    try (Store store = Store.open(temp.resolve("store"), OPTIONS)) {
      Tree tree = store.openTree("t");
      Transaction holder = store.begin();
      holder.put(tree, key(1), value(1, 10));
      List<Future<?>> done = new ArrayList<>();
      CountDownLatch begun = new CountDownLatch(waiters);
      for (int i = 0; i < waiters; i++) {
        int number = i;
        done.add(
            threads.submit(
                () -> {
                  begun.countDown();
                  try {
                    tree.put(key(1), value(number, 20));
                  } catch (LockTimeoutException e) {
                    // The machine is slow; nobody is kept out for that.
                    tree.get(key(1));
                  }
                }));
      }
      begun.await();
      Thread.sleep(100);
      holder.commit();
      for (Future<?> each : done) {
        each.get();
      }
      assertTrue(tree.get(key(1)).length >= 10);
    } finally {
      threads.shutdownNow();
    }
  }
}
