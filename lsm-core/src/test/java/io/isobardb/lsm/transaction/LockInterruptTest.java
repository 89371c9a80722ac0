package io.isobardb.lsm.transaction;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.LockInterruptedException;
import io.isobardb.lsm.schedule.WaitNotes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An interrupt ends a wait for a record lock, and no other wait. */
@Timeout(60)
class LockInterruptTest {
  private static final byte[] KEY = bytes("a");
  private static final byte[] MINE = bytes("mine");
  private static final byte[] HELD = bytes("held");

  @TempDir Path directory;
  private Store store;
  private Tree tree;
  private Transaction holder;

  @BeforeEach
  void hold() {
    store = Store.open(directory, SimulatedStores.SMALL);
    tree = store.openTree("t");
    holder = store.begin();
    holder.put(tree, KEY, HELD);
  }

  @AfterEach
  void close() {
    holder.close();
    store.close();
  }

  private static TransactionOptions patient(Locking locking) {
    return TransactionOptions.builder()
        .locking(locking)
        .isolation(Isolation.READ_COMMITTED)
        .lockTimeout(Duration.ofDays(1))
        .build();
  }

  private void optimistic() {
    store.runInTransaction(patient(Locking.OPTIMISTIC), own -> own.put(tree, KEY, MINE));
  }

  private List<Runnable> writes() {
    return List.of(
        () -> tree.put(KEY, MINE),
        () -> store.write(store.newBatch().put(tree, KEY, MINE)),
        () -> tree.deleteRange(KEY, null),
        () -> tree.putIfAbsent(KEY, MINE),
        () -> store.runInTransaction(patient(Locking.PESSIMISTIC), t -> t.put(tree, KEY, MINE)),
        this::optimistic);
  }

  /** What a write ended with in a thread of its own, which must be interrupted then. */
  private static CompletableFuture<LockInterruptedException> ended(Runnable write) {
    CompletableFuture<LockInterruptedException> end = new CompletableFuture<>();
    try {
      LockInterruptedException told = assertThrows(LockInterruptedException.class, write::run);
      assertTrue(Thread.currentThread().isInterrupted(), "the flag is gone");
      end.complete(told);
    } catch (Throwable e) {
      end.completeExceptionally(e);
    }
    return end;
  }

  @Test
  void whoeverIsInterruptedBeforeDoesNotWait() throws Exception {
    for (Runnable write : writes()) {
      CompletableFuture<LockInterruptedException> end =
          CompletableFuture.supplyAsync(
                  () -> {
                    Thread.currentThread().interrupt();
                    return ended(write);
                  },
                  task -> new Thread(task).start())
              .thenCompose(told -> told);
      LockInterruptedException told = end.get(50, TimeUnit.SECONDS);
      assertEquals("t", told.tree());
      assertArrayEquals(KEY, told.key());
    }
    assertNull(tree.get(KEY));
  }

  @Test
  void anInterruptEndsTheWaitAndTheWriteIsNotDone() throws Exception {
    WaitNotes.start();
    try {
      for (Runnable write : List.of(writes().get(4), writes().get(5))) {
        CompletableFuture<LockInterruptedException> end = new CompletableFuture<>();
        Thread waiter =
            new Thread(
                () ->
                    ended(write)
                        .whenComplete(
                            (told, e) -> {
                              if (e == null) {
                                end.complete(told);
                              } else {
                                end.completeExceptionally(e);
                              }
                            }));
        waiter.start();
        while (!String.valueOf(WaitNotes.of(waiter)).startsWith("a record lock")) {
          Thread.onSpinWait();
        }
        waiter.interrupt();
        end.get(50, TimeUnit.SECONDS);
      }
    } finally {
      WaitNotes.stop();
    }
    holder.commit();
    assertArrayEquals(HELD, tree.get(KEY));
  }

  @Test
  void aTransactionStandsAsBeforeAndGoesOn() {
    try (Transaction own = store.begin(patient(Locking.PESSIMISTIC))) {
      own.put(tree, bytes("b"), MINE);
      Thread.currentThread().interrupt();
      try {
        assertThrows(LockInterruptedException.class, () -> own.put(tree, KEY, MINE));
      } finally {
        assertTrue(Thread.interrupted());
      }
      assertTrue(own.isOpen());
      holder.commit();
      own.put(tree, KEY, MINE);
      own.commit();
    }
    assertArrayEquals(MINE, tree.get(KEY));
    assertArrayEquals(MINE, tree.get(bytes("b")));
  }

  @Test
  void withoutAWaitTheFlagIsHarmless() {
    holder.close();
    Thread.currentThread().interrupt();
    try {
      writes().forEach(Runnable::run);
    } finally {
      assertTrue(Thread.interrupted());
    }
    assertArrayEquals(MINE, tree.get(KEY));
    assertFalse(Thread.currentThread().isInterrupted());
  }
}
