package io.isobardb.lsm.threads;

import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.error.TreeDroppedException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.read.VersionReader;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a transaction looks at when it commits is not freed meanwhile. */
@Timeout(60)
class ValidationAtCloseTest {
  @TempDir private Path dir;

  /** Bytes, but one thread stops in the first comparison of its search for changes. */
  private static final class Stopping implements KeyOrder {
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private volatile Thread victim = Thread.currentThread();
    private volatile boolean armed;

    @Override
    public String name() {
      return "stopping";
    }

    @Override
    public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
      if (armed && Thread.currentThread() == victim && isSearching()) {
        armed = false;
        stopped.countDown();
        try {
          goOn.await();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
      return KeyOrder.BYTES.compare(a, aOffset, aLength, b, bOffset, bLength);
    }
  }

  private static boolean isSearching() {
    return StackWalker.getInstance()
        .walk(
            frames ->
                frames.anyMatch(
                    frame -> frame.getClassName().equals(VersionReader.class.getName())));
  }

  private void stopped(boolean range, boolean drop) throws Exception {
    Stopping order = new Stopping();
    StoreOptions options =
        StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).keyOrder(order).build();
    AtomicReference<Throwable> commit = new AtomicReference<>();
    try (Store store = Store.open(dir, options)) {
      Tree tree = store.openTree("t", TreeOptions.builder().keyOrder(order).build());
      tree.put(key(1), new byte[100]);
      Transaction transaction =
          store.begin(
              TransactionOptions.builder()
                  .isolation(range ? Isolation.SERIALIZABLE : Isolation.SNAPSHOT)
                  .locking(Locking.OPTIMISTIC)
                  .build());
      transaction.get(tree, key(1));
      if (range) {
        try (Cursor cursor = transaction.cursor(tree)) {
          assertTrue(cursor.first());
        }
      }
      transaction.put(tree, key(1), new byte[50]);
      tree.put(key(2), new byte[100]);
      store.flush();
      Thread committer =
          new Thread(
              () -> {
                try {
                  transaction.commit();
                } catch (RuntimeException | Error e) {
                  commit.set(e);
                }
              });
      order.victim = committer;
      order.armed = true;
      committer.start();
      assertTrue(order.stopped.await(30, TimeUnit.SECONDS), "nothing was compared");
      Thread taker = new Thread(drop ? () -> store.dropTree("t") : store::close);
      taker.start();
      taker.join(300);
      boolean waits = taker.isAlive();
      order.goOn.countDown();
      committer.join();
      taker.join();
      assertTrue(waits, "what the transaction looks at was taken away");
    }
    Class<? extends Exception> told =
        drop ? TreeDroppedException.class : StoreClosedException.class;
    assertInstanceOf(told, commit.get());
  }

  private enum What {
    KEY,
    RANGE
  }

  @ParameterizedTest
  @EnumSource
  void aStoreIsNotClosedBelowATransactionThatLooksForChanges(What what) throws Exception {
    stopped(what == What.RANGE, false);
  }

  @Test
  void aTreeIsNotDroppedBelowATransactionThatLooksForChanges() throws Exception {
    stopped(false, true);
  }
}
