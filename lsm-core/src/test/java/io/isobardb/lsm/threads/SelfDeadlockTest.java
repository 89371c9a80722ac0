package io.isobardb.lsm.threads;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Locking;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.DeadlockException;
import io.isobardb.lsm.error.LockTimeoutException;
import io.isobardb.lsm.error.SelfDeadlockException;
import io.isobardb.lsm.transaction.SimulatedTransactions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Threads that want a lock which they hold themselves, and others that only seem to. */
class SelfDeadlockTest extends SimulatedTransactions {
  /** What a thread does outside of its transaction, with a key that this has locked. */
  private enum Outside {
    PUT,
    DELETE,
    BATCH,
    NESTED_TRANSACTION,
    NESTED_READ_FOR_UPDATE,
    NESTED_OPTIMISTIC
  }

  private void run(Outside what) {
    TransactionOptions optimistic =
        TransactionOptions.builder().locking(Locking.OPTIMISTIC).build();
    switch (what) {
      case PUT -> put("k", "outside");
      case DELETE -> tree.delete(bytes("k"));
      case BATCH ->
          store.write(
              store.newBatch().put(tree, bytes("j"), bytes("1")).put(tree, bytes("k"), bytes("1")));
      case NESTED_TRANSACTION -> inTransaction(TransactionOptions.defaults());
      case NESTED_READ_FOR_UPDATE ->
          store.inTransaction(nested -> nested.getForUpdate(tree, bytes("k")));
      case NESTED_OPTIMISTIC -> inTransaction(optimistic);
    }
  }

  private void inTransaction(TransactionOptions options) {
    store.inTransaction(
        options,
        nested -> {
          put(nested, "k", "outside");
          return null;
        });
  }

  private void assertTold(Transaction holder, Executable call) {
    SelfDeadlockException e = assertThrows(SelfDeadlockException.class, call);
    String text = e.getMessage();
    assertTrue(text.contains("key 'k' of tree 't'"), text);
    assertTrue(text.contains(holder.toString()), text);
    assertTrue(text.contains("'" + Thread.currentThread().getName() + "'"), text);
    assertTrue(text.contains("Transaction.put"), text);
    assertEquals("t", e.tree());
    assertEquals("k", text(e.key()));
  }

  private long millis() {
    return TimeUnit.NANOSECONDS.toMillis(world.clock().nanos());
  }

  @ParameterizedTest
  @EnumSource
  void withinABodyItIsToldAtOnceAndTheBodyIsNotRunAgain(Outside what) {
    long begun = millis();
    AtomicInteger runs = new AtomicInteger();
    String result =
        store.inTransaction(
            transaction -> {
              runs.incrementAndGet();
              put(transaction, "k", "inside");
              assertTold(transaction, () -> run(what));
              assertTrue(transaction.isOpen());
              return "done";
            });
    assertEquals("done", result);
    assertEquals(1, runs.get());
    assertEquals("inside", get("k"));
    assertEquals(null, get("j"), "a part of a batch");
    assertTrue(millis() - begun < 10, (millis() - begun) + " ms");
  }

  @ParameterizedTest
  @EnumSource
  void whatIsNotCaughtEndsTheOuterTransactionAndIsThrown(Outside what) {
    AtomicInteger runs = new AtomicInteger();
    assertThrows(
        SelfDeadlockException.class,
        () ->
            store.inTransaction(
                transaction -> {
                  runs.incrementAndGet();
                  put(transaction, "k", "inside");
                  run(what);
                  return null;
                }));
    assertEquals(1, runs.get());
    assertEquals(null, get("k"));
    put("k", "later");
  }

  @ParameterizedTest
  @EnumSource
  void besideATransactionThatWasBegunItIsToldAfterAMoment(Outside what) {
    try (Transaction transaction = store.begin()) {
      put(transaction, "k", "inside");
      long begun = millis();
      assertTold(transaction, () -> run(what));
      assertTrue(millis() - begun < 100, (millis() - begun) + " ms");
      transaction.commit();
    }
    assertEquals("inside", get("k"));
  }

  /** A transaction that another thread has used last, for {@code what}. It stays open. */
  private Transaction elsewhere(Consumer<Transaction> what) {
    Transaction transaction = store.begin(longWaits());
    CompletableFuture.runAsync(() -> what.accept(transaction)).join();
    return transaction;
  }

  private static TransactionOptions longWaits() {
    return TransactionOptions.builder().lockTimeout(Duration.ofSeconds(100)).build();
  }

  @Test
  void aTimeoutNamesTheHolderItsThreadAndSinceWhen() {
    String[] thread = new String[1];
    try (Transaction holder =
        elsewhere(
            transaction -> {
              thread[0] = Thread.currentThread().getName();
              put(transaction, "k", "theirs");
            })) {
      LockTimeoutException e = assertThrows(LockTimeoutException.class, () -> put("k", "mine"));
      String text = e.getMessage();
      assertTrue(text.contains("key 'k' of tree 't'"), text);
      assertTrue(text.contains(holder + ", begun 1000 ms ago"), text);
      assertTrue(text.contains("'" + thread[0] + "'"), text);
    }
  }

  @Test
  void allAttemptsTogetherAreBounded() {
    TransactionOptions options =
        TransactionOptions.builder()
            .lockTimeout(Duration.ofSeconds(1))
            .retryTimeout(Duration.ofMillis(2500))
            .build();
    try (Transaction holder = elsewhere(transaction -> put(transaction, "k", "theirs"))) {
      long begun = millis();
      assertThrows(LockTimeoutException.class, () -> inTransaction(options));
      long took = millis() - begun;
      assertTrue(took >= 2500 && took < 2600, took + " ms");
      assertTrue(holder.isOpen());
    }
  }

  @Test
  void retryTimeoutIsAtLeastTheLockTimeoutUnlessItIsGiven() {
    assertEquals(Duration.ofSeconds(10), TransactionOptions.defaults().retryTimeout());
    assertEquals(Duration.ofSeconds(100), longWaits().retryTimeout());
    assertEquals(
        Duration.ofMillis(1),
        TransactionOptions.builder().retryTimeout(Duration.ofMillis(1)).build().retryTimeout());
    assertThrows(
        IllegalArgumentException.class,
        () -> TransactionOptions.builder().retryTimeout(Duration.ofMillis(-1)).build());
  }

  // ---- with real threads

  private interface Threaded {
    void run(Store store, Tree tree, ExecutorService other) throws Exception;
  }

  private static void threaded(Path dir, Threaded test) throws Exception {
    ExecutorService other = Executors.newSingleThreadExecutor();
    try (Store store = Store.open(dir, SimulatedStores.SMALL)) {
      test.run(store, store.openTree("t"), other);
    } finally {
      other.shutdown();
      assertTrue(other.awaitTermination(30, TimeUnit.SECONDS));
    }
  }

  @Test
  void aTransactionThatWasHandedToAnotherThreadIsWaitedFor(@TempDir Path dir) throws Exception {
    threaded(
        dir,
        (real, t, other) -> {
          Transaction transaction = real.begin();
          transaction.put(t, bytes("k"), bytes("1"));
          other.submit(() -> transaction.get(t, bytes("k"))).get();
          CompletableFuture<Void> committed =
              CompletableFuture.runAsync(
                  transaction::commit,
                  CompletableFuture.delayedExecutor(200, TimeUnit.MILLISECONDS, other));
          t.put(bytes("k"), bytes("2"));
          // The lock is free before the call that frees it has returned.
          committed.get(30, TimeUnit.SECONDS);
          assertEquals("2", text(t.get(bytes("k"))));
        });
  }

  @Test
  void soIsOneThatIsHandedOnWhileTheThreadWaits(@TempDir Path dir) throws Exception {
    threaded(
        dir,
        (real, t, other) -> {
          Transaction transaction = real.begin();
          transaction.put(t, bytes("k"), bytes("1"));
          CompletableFuture.runAsync(
              () -> transaction.get(t, bytes("k")),
              CompletableFuture.delayedExecutor(5, TimeUnit.MILLISECONDS, other));
          CompletableFuture<Void> committed =
              CompletableFuture.runAsync(
                  transaction::commit,
                  CompletableFuture.delayedExecutor(200, TimeUnit.MILLISECONDS, other));
          t.put(bytes("k"), bytes("2"));
          committed.get(30, TimeUnit.SECONDS);
          assertFalse(transaction.isOpen());
          assertEquals("2", text(t.get(bytes("k"))));
        });
  }

  @Test
  void aCircleThroughTheThreadsOwnTransactionIsADeadlock(@TempDir Path dir) throws Exception {
    threaded(
        dir,
        (real, t, other) -> {
          Transaction theirs = other.submit(() -> real.begin(longWaits())).get();
          other.submit(() -> theirs.put(t, bytes("theirs"), bytes("1"))).get();
          AtomicInteger runs = new AtomicInteger();
          real.inTransaction(
              longWaits(),
              transaction -> {
                transaction.put(t, bytes("mine"), bytes("1"));
                if (runs.incrementAndGet() == 1) {
                  CompletableFuture.runAsync(
                      () -> {
                        theirs.put(t, bytes("mine"), bytes("2"));
                        theirs.commit();
                      },
                      other);
                  // The other one waits for this one's lock before long.
                  Thread.sleep(200);
                  assertThrows(DeadlockException.class, () -> t.put(bytes("theirs"), bytes("3")));
                }
                return null;
              });
          assertEquals(1, runs.get());
          other.submit(() -> {}).get();
          assertEquals("2", text(t.get(bytes("mine"))));
        });
  }
}
