package io.isobardb.lsm.transaction;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.contents;
import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.transaction.SimulatedTransactions.options;
import static io.isobardb.lsm.transaction.SimulatedTransactions.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.error.ConflictException;
import io.isobardb.lsm.error.DeadlockException;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.simulation.Inside;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Transactions of many threads, on real ones. */
@Timeout(60)
class TransactionThreadsTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_261_121L);

  @TempDir Path directory;

  private Store open() {
    return Store.open(directory, SimulatedStores.SMALL);
  }

  private final TransactionOptions patient =
      TransactionOptions.builder().lockTimeout(Duration.ofSeconds(30)).build();

  /** What a commit says is not written is not there, whenever the store is closed. */
  @Test
  void aCommitBesideTheEndOfTheStoreSaysWhatIsThere() throws Exception {
    TransactionOptions synced = TransactionOptions.builder().durability(Durability.SYNC).build();
    SplittableRandom random = new SplittableRandom(SEED);
    int committed = 0;
    for (int round = 0; round < 30; round++) {
      Store store = open();
      Tree t = store.openTree("t");
      assertEquals(committed, contents(t).size(), "round " + round);
      AtomicInteger done = new AtomicInteger(committed);
      CompletableFuture<Void> writer =
          CompletableFuture.runAsync(
              () -> {
                while (true) {
                  try (Transaction transaction = store.begin(synced)) {
                    transaction.put(t, key(done.get()), bytes("v"));
                    transaction.commit();
                    done.incrementAndGet();
                  } catch (StoreClosedException e) {
                    return;
                  }
                }
              });
      Thread.sleep(0, random.nextInt(1_000_000));
      store.close();
      writer.get(30, TimeUnit.SECONDS);
      committed = done.get();
    }
  }

  @Test
  void ofACircleOneIsToldToGiveUpAndTheOtherGoesOn() throws Exception {
    try (Store threaded = open()) {
      Tree t = threaded.openTree("t");
      for (int round = 0; round < 20; round++) {
        Transaction one = threaded.begin(patient);
        Transaction two = threaded.begin(patient);
        one.put(t, bytes("a"), bytes("1"));
        two.put(t, bytes("b"), bytes("2"));
        CompletableFuture<Boolean> other =
            CompletableFuture.supplyAsync(
                () -> {
                  boolean gaveUp = deadlocked(() -> two.put(t, bytes("a"), bytes("2")));
                  two.close();
                  return gaveUp;
                });
        boolean mine = deadlocked(() -> one.put(t, bytes("b"), bytes("1")));
        one.close();
        assertTrue(mine ^ other.get(50, TimeUnit.SECONDS), "exactly one must give up");
      }
      assertEquals(20, threaded.stats().transactions().deadlocks());
    }
  }

  private boolean deadlocked(Runnable action) {
    try {
      action.run();
      return false;
    } catch (DeadlockException e) {
      assertTrue(e.getMessage().contains("waits for this one"), e.getMessage());
      return true;
    }
  }

  @Test
  void aWaiterGetsTheLockWhenItsOwnerEnds() throws Exception {
    try (Store threaded = open()) {
      Tree t = threaded.openTree("t");
      Transaction one = threaded.begin(patient);
      one.put(t, bytes("a"), bytes("1"));
      CompletableFuture<Void> plain =
          CompletableFuture.runAsync(() -> t.delete(bytes("a"), Durability.ASYNC));
      CompletableFuture<String> two =
          CompletableFuture.supplyAsync(
              () -> threaded.inTransaction(patient, tx -> text(tx.getForUpdate(t, bytes("a")))));
      one.commit();
      plain.get(50, TimeUnit.SECONDS);
      String seen = two.get(50, TimeUnit.SECONDS);
      assertTrue(seen == null || seen.equals("1"), seen);
    }
  }

  @Test
  void batchesAreNotInEachOthersWayWhateverTheOrderOfTheirKeys() throws Exception {
    try (Store threaded = open()) {
      List<Tree> trees = List.of(threaded.openTree("t"), threaded.openTree("u"));
      threaded.begin(patient).close();
      CompletableFuture<Void> other =
          CompletableFuture.runAsync(() -> writeBatches(threaded, trees, true));
      writeBatches(threaded, trees, false);
      other.get(50, TimeUnit.SECONDS);
      assertEquals(0, threaded.stats().transactions().deadlocks());
    }
  }

  private static void writeBatches(Store threaded, List<Tree> trees, boolean backwards) {
    int keys = 40;
    for (int round = 0; round < 2_000; round++) {
      WriteBatch batch = threaded.newBatch();
      for (int i = 0; i < keys; i++) {
        int number = backwards ? keys - 1 - i : i;
        batch.put(trees.get(number % 2), key(number), bytes("" + round));
      }
      threaded.write(batch, Durability.ASYNC);
    }
  }

  /**
   * The order of bytes; a thread that compares "stop" with another key waits until it is told to go
   * on.
   */
  private static final class StoppingOrder implements KeyOrder {
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);

    @Override
    public String name() {
      return "stopping";
    }

    @Override
    public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
      if ((aLength == 4) != (bLength == 4)) {
        stopped.countDown();
        try {
          goOn.await();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
      return BYTES.compare(a, aOffset, aLength, b, bOffset, bLength);
    }
  }

  @Test
  void twoFirstTransactionsBothWaitForAWriteThatHasLockedNothing() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(3);
    StoppingOrder order = new StoppingOrder();
    try (Store threaded = open()) {
      Tree t = threaded.openTree("t", TreeOptions.builder().keyOrder(order).build());
      t.put(bytes("a"), bytes("1"));
      Future<?> write = threads.submit(() -> t.put(bytes("stop"), bytes("1")));
      assertTrue(order.stopped.await(50, TimeUnit.SECONDS));
      Future<Transaction> one = threads.submit(() -> threaded.begin(patient));
      while (!Inside.of(threaded).transactions().inUse()) {
        Thread.onSpinWait();
      }
      Future<Transaction> two = threads.submit(() -> threaded.begin(patient));
      try {
        assertThrows(TimeoutException.class, () -> two.get(200, TimeUnit.MILLISECONDS));
        assertFalse(one.isDone());
      } finally {
        order.goOn.countDown();
      }
      write.get(50, TimeUnit.SECONDS);
      one.get(50, TimeUnit.SECONDS).close();
      two.get(50, TimeUnit.SECONDS).close();
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void closingTheStoreEndsWaitsForLocks() throws Exception {
    Store threaded = open();
    Tree t = threaded.openTree("t");
    Transaction one = threaded.begin(patient);
    one.put(t, bytes("a"), bytes("1"));
    CountDownLatch started = new CountDownLatch(1);
    AtomicReference<Throwable> told = new AtomicReference<>();
    Thread waiter =
        new Thread(
            () -> {
              try (Transaction two = threaded.begin(patient)) {
                started.countDown();
                two.put(t, bytes("a"), bytes("2"));
              } catch (RuntimeException e) {
                told.set(e);
              }
            });
    waiter.start();
    started.await();
    threaded.close();
    waiter.join();
    assertEquals(StoreClosedException.class, told.get().getClass());
    one.close();
    assertFalse(one.isOpen());
  }

  @Test
  void twoThreadsAtOnceAreNoticed() throws Exception {
    try (Store threaded = open()) {
      Tree t = threaded.openTree("t");
      Transaction holder = threaded.begin(patient);
      holder.put(t, bytes("a"), bytes("1"));
      Transaction shared = threaded.begin(patient);
      CountDownLatch started = new CountDownLatch(1);
      CompletableFuture<Void> waiting =
          CompletableFuture.runAsync(
              () -> {
                started.countDown();
                shared.put(t, bytes("a"), bytes("2"));
              });
      started.await();
      // The transaction that comes second is told.
      Throwable told = null;
      while (told == null) {
        try {
          shared.get(t, bytes("b"));
          told = waiting.handle((done, e) -> e == null ? null : e.getCause()).getNow(null);
        } catch (IllegalStateException e) {
          told = e;
        }
      }
      assertTrue(told.getMessage().contains("in use by another thread"), told.getMessage());
      holder.close();
      waiting.handle((done, e) -> null).get(50, TimeUnit.SECONDS);
      shared.close();
    }
  }

  /** Two that commit at the same moment: at least one must see the other. */
  @ParameterizedTest
  @EnumSource(Locking.class)
  void writeSkewIsExcludedAtTheSameMoment(Locking locking) throws Exception {
    try (Store threaded = open()) {
      Tree t = threaded.openTree("t");
      TransactionOptions serializable = options(Isolation.SERIALIZABLE, locking);
      CyclicBarrier barrier = new CyclicBarrier(2);
      AtomicInteger commits = new AtomicInteger();
      for (int round = 0; round < 2_000; round++) {
        boolean scan = round % 2 == 0;
        CompletableFuture<Void> other =
            CompletableFuture.runAsync(
                () -> skew(threaded, t, serializable, scan, "b", "a", barrier, commits));
        skew(threaded, t, serializable, scan, "a", "b", barrier, commits);
        other.get(50, TimeUnit.SECONDS);
        assertTrue(commits.getAndSet(0) < 2, "both committed in round " + round);
        t.delete(bytes("a"));
        t.delete(bytes("b"));
      }
    }
  }

  private void skew(
      Store threaded,
      Tree t,
      TransactionOptions options,
      boolean scan,
      String read,
      String written,
      CyclicBarrier barrier,
      AtomicInteger commits) {
    try (Transaction tx = threaded.begin(options)) {
      if (scan) {
        try (Cursor cursor = tx.cursor(t)) {
          assertFalse(cursor.seek(bytes(read)) && text(cursor.key()).equals(read));
        }
      } else {
        assertNull(tx.get(t, bytes(read)));
      }
      tx.put(t, bytes(written), bytes("1"));
      barrier.await(50, TimeUnit.SECONDS);
      tx.commit();
      commits.incrementAndGet();
    } catch (ConflictException e) {
      assertEquals("t", e.tree());
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** Money moves between accounts by all means; the sum stays, and every reader sees it. */
  @ParameterizedTest
  @EnumSource(Locking.class)
  void transfersKeepTheSum(Locking locking) throws Exception {
    int accounts = 8;
    try (Store threaded = open()) {
      Tree t = threaded.openTree("t");
      for (int i = 0; i < accounts; i++) {
        t.put(key(i), bytes("100"));
      }
      List<CompletableFuture<Void>> all = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        SplittableRandom random = new SplittableRandom(SEED + thread);
        Isolation isolation = Isolation.values()[thread % 3];
        all.add(
            CompletableFuture.runAsync(
                () -> {
                  for (int i = 0; i < 300; i++) {
                    transfer(threaded, t, options(isolation, locking), random, accounts);
                  }
                }));
      }
      for (CompletableFuture<Void> one : all) {
        one.get(50, TimeUnit.SECONDS);
      }
      int sum = contents(t).values().stream().mapToInt(Integer::parseInt).sum();
      assertEquals(100 * accounts, sum, "seed " + SEED);
      assertEquals(0, threaded.stats().transactions().open());
    }
  }

  private void transfer(
      Store threaded, Tree t, TransactionOptions options, SplittableRandom random, int accounts) {
    int from = random.nextInt(accounts);
    int to = (from + 1 + random.nextInt(accounts - 1)) % accounts;
    threaded.inTransaction(
        options,
        tx -> {
          int have = Integer.parseInt(text(tx.getForUpdate(t, key(from))));
          int had = Integer.parseInt(text(tx.getForUpdate(t, key(to))));
          tx.put(t, key(from), bytes("" + (have - 1)));
          tx.put(t, key(to), bytes("" + (had + 1)));
          if (options.isolation() != Isolation.READ_COMMITTED) {
            int sum = 0;
            try (Cursor cursor = tx.cursor(t)) {
              for (boolean more = cursor.first(); more; more = cursor.next()) {
                sum += Integer.parseInt(text(cursor.value()));
              }
            }
            assertEquals(100 * accounts, sum);
          }
          return null;
        });
  }
}
