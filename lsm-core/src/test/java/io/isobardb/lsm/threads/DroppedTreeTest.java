package io.isobardb.lsm.threads;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.MergeFilter;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.error.TreeDroppedException;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.transaction.SimulatedTransactions;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Whatever was taken from a tree says the same once that was dropped. */
class DroppedTreeTest extends SimulatedTransactions {
  private static final MergeFilter KEEPS_ALL =
      new MergeFilter() {
        @Override
        public byte[] recordKey(byte[] key) {
          return key;
        }

        @Override
        public boolean counts(byte[] key, byte @Nullable [] record) {
          return true;
        }
      };

  private final TransactionOptions optimistic =
      TransactionOptions.builder()
          .locking(Locking.OPTIMISTIC)
          .isolation(Isolation.SERIALIZABLE)
          .build();

  /** What a drop does that finds no room, again and again. */
  private static Thread drops(TreeHandle handle, AtomicBoolean over) {
    Thread thread =
        new Thread(
            () -> {
              while (!over.get()) {
                handle.refuse(TreeHandle.Refusal.DROPPED);
                handle.reopen();
              }
            });
    thread.start();
    return thread;
  }

  @Test
  void whileADropIsTakenBackCallsAreRefusedAsDroppedOrDone() throws InterruptedException {
    byte[] key = bytes("k");
    tree.put(key, bytes("v"));
    AtomicBoolean over = new AtomicBoolean();
    Thread dropping = drops(Inside.handle(tree), over);
    try (Transaction tx = store.begin()) {
      // For some time, too: the other thread may get little of the processor.
      tx.exclusively(
          () -> {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(3);
            for (int i = 0; i < 100_000 || System.nanoTime() < end; i++) {
              use(tx, key, i % 3);
            }
            assertTrue(isInUse(tx), "a call within this one has ended it");
          });
    } finally {
      over.set(true);
      dropping.join();
    }
  }

  private void use(Transaction tx, byte[] key, int which) {
    try {
      switch (which) {
        case 0 -> assertArrayEquals(bytes("v"), tree.multiGet(List.of(key)).get(0));
        case 1 -> assertArrayEquals(bytes("v"), tx.get(tree, key));
        default -> {
          try (Cursor cursor = tree.cursor()) {
            cursor.first();
          }
        }
      }
    } catch (TreeDroppedException e) {
      // So it was when it was asked.
    }
  }

  /** Whether another thread is refused. */
  private static boolean isInUse(Transaction tx) {
    boolean[] refused = {false};
    Thread other =
        new Thread(
            () -> {
              try {
                tx.savepoint();
              } catch (IllegalStateException e) {
                refused[0] = true;
              }
            });
    other.start();
    try {
      other.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return refused[0];
  }

  @Test
  void everyHandleOfADroppedTreeThrowsTheSameExceptionWhichNamesTheTree() {
    byte[] key = bytes("k");
    byte[] value = bytes("v");
    Tree kept = store.openTree("kept");
    kept.put(key, value);
    tree.put(key, value);
    Snapshot snapshot = store.snapshot();
    Cursor cursor = tree.cursor();
    assertTrue(cursor.first());
    Cursor closed = tree.cursor();
    closed.close();
    WriteBatch batch = store.newBatch().put(kept, key, value).put(tree, key, value);
    Transaction pessimistic = store.begin();
    pessimistic.put(tree, key, value);
    Transaction written = store.begin(optimistic);
    written.put(kept, key, value);
    written.put(tree, key, value);
    Transaction read = store.begin(optimistic);
    read.get(tree, key);
    read.put(kept, bytes("other"), value);
    Cursor inTransaction = read.cursor(tree);
    store.dropTree("t");

    Map<String, Executable> calls = new LinkedHashMap<>();
    calls.put("put", () -> tree.put(key, value));
    calls.put("put of buffers", () -> tree.put(ByteBuffer.wrap(key), ByteBuffer.wrap(value)));
    calls.put("delete", () -> tree.delete(key));
    calls.put("get", () -> tree.get(key));
    calls.put("get into a buffer", () -> tree.get(key, ByteBuffer.allocate(9)));
    calls.put("get of a snapshot", () -> tree.get(key, snapshot));
    calls.put("read", () -> tree.read(key, ByteBuffer::remaining));
    calls.put("multiGet", () -> tree.multiGet(List.of(key)));
    calls.put("multiGet of a snapshot", () -> tree.multiGet(List.of(key), snapshot));
    calls.put("cursor", tree::cursor);
    calls.put("setMergeFilter", () -> tree.setMergeFilter(kept, KEEPS_ALL));
    calls.put("setWriteMemoryFloor", () -> tree.setWriteMemoryFloor(0));
    calls.put("setWriteWeight", () -> tree.setWriteWeight(1));
    calls.put("a cursor's next", cursor::next);
    calls.put("a cursor's key", cursor::key);
    calls.put("a cursor's value", cursor::value);
    calls.put("a closed cursor", closed::first);
    calls.put("a transaction's cursor", inTransaction::first);
    calls.put("a batch", () -> store.write(batch));
    calls.put("a transaction's get", () -> pessimistic.get(tree, key));
    calls.put("a transaction's getForUpdate", () -> pessimistic.getForUpdate(tree, key));
    calls.put("a transaction's put", () -> pessimistic.put(tree, key, value));
    calls.put("a transaction's delete", () -> pessimistic.delete(tree, key));
    calls.put("opening a transaction's cursor", () -> pessimistic.cursor(tree));
    calls.put("a commit", pessimistic::commit);
    calls.put("an optimistic commit", written::commit);
    calls.put("a commit of what was read", read::commit);
    calls.forEach(
        (what, call) -> {
          TreeDroppedException e = assertThrows(TreeDroppedException.class, call, what);
          assertEquals("t", e.tree());
          assertTrue(e.getMessage().contains("tree 't' was dropped"), e.getMessage());
        });
    assertFalse(pessimistic.isOpen() || written.isOpen() || read.isOpen());
    // Nothing of what could not be written whole was written.
    assertEquals(Map.of("k", "v"), SimulatedStores.contents(kept));
    cursor.close();
    snapshot.close();
    assertEquals(0, Inside.of(store).engine().snapshots().live().length);
    assertEquals(0, Inside.of(store).cursors().count());
  }

  @Test
  void aTransactionThatNeverWroteToTheDroppedTreeGoesOn() {
    Tree dropped = store.openTree("dropped");
    try (Transaction transaction = begin(Isolation.SNAPSHOT, Locking.PESSIMISTIC)) {
      assertEquals(null, transaction.get(dropped, bytes("k")));
      store.dropTree("dropped");
      put(transaction, "a", "1");
      transaction.commit();
    }
    assertEquals("1", get("a"));
  }

  @Test
  void aTreeOfTheSameNameIsAnotherTree() {
    WriteBatch batch = store.newBatch().put(tree, bytes("k"), bytes("v"));
    store.dropTree("t");
    Tree fresh = store.openTree("t");
    assertThrows(TreeDroppedException.class, () -> store.write(batch));
    batch.clear();
    store.write(batch.put(fresh, bytes("k"), bytes("w")));
    assertEquals("w", text(fresh.get(bytes("k"))));
    assertThrows(TreeDroppedException.class, () -> tree.get(bytes("k")));
  }
}
