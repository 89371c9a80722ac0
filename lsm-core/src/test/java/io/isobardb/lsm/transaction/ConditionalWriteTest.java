package io.isobardb.lsm.transaction;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.error.ConflictException;
import io.isobardb.lsm.error.TransactionAbortedException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code putIfAbsent} and {@code compareAndSet}, alone, beside others, and in transactions. */
class ConditionalWriteTest {
  private static final int THREADS = 4;
  private static final int COUNTERS = 3;
  private static final int INCREMENTS = 400;

  @TempDir Path directory;

  private Store open() {
    return Store.open(directory, StoreOptions.builder().memoryBudget(8 << 20).build());
  }

  private static byte[] number(long value) {
    return ByteBuffer.allocate(8).putLong(value).array();
  }

  private static long number(byte[] value) {
    return ByteBuffer.wrap(value).getLong();
  }

  @Test
  void aKeyIsSetOnceAndComparedByItsBytes() {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      assertNull(tree.putIfAbsent(bytes("a"), bytes("1")));
      assertArrayEquals(bytes("1"), tree.putIfAbsent(bytes("a"), bytes("2"), Durability.SYNC));
      assertArrayEquals(bytes("1"), tree.get(bytes("a")));
      assertFalse(tree.compareAndSet(bytes("a"), null, bytes("3")));
      assertFalse(tree.compareAndSet(bytes("a"), bytes("2"), bytes("3")));
      assertTrue(tree.compareAndSet(bytes("a"), bytes("1"), bytes("3"), Durability.SYNC));
      assertArrayEquals(bytes("3"), tree.get(bytes("a")));
      assertTrue(tree.compareAndSet(bytes("a"), bytes("3"), null));
      assertNull(tree.get(bytes("a")));
      assertTrue(tree.compareAndSet(bytes("a"), null, null));
      assertTrue(tree.compareAndSet(bytes("a"), null, new byte[0]));
      assertFalse(tree.compareAndSet(bytes("a"), null, bytes("4")));
      assertArrayEquals(new byte[0], tree.get(bytes("a")));
    }
  }

  @Test
  void whatIsOnDiskCountsAndLargeValuesDo() {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      byte[] large = new byte[100_000];
      new SplittableRandom(1).nextBytes(large);
      tree.put(bytes("a"), large);
      store.flush();
      assertArrayEquals(large, tree.putIfAbsent(bytes("a"), bytes("1")));
      byte[] other = large.clone();
      other[99_999]++;
      assertFalse(tree.compareAndSet(bytes("a"), other, bytes("1")));
      assertTrue(tree.compareAndSet(bytes("a"), large, other));
      store.flush();
      assertTrue(tree.contains(bytes("a")));
      assertTrue(tree.compareAndSet(bytes("a"), other, null));
      assertFalse(tree.contains(bytes("a")));
    }
  }

  @Test
  void buffersAreKeysToo() {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      ByteBuffer key = ByteBuffer.wrap(bytes("xkeyx"), 1, 3);
      ByteBuffer direct = ByteBuffer.allocateDirect(3).put(bytes("key")).flip();
      WriteBatch batch = store.newBatch().put(tree, key, ByteBuffer.wrap(bytes("value")));
      store.write(batch);
      assertArrayEquals(bytes("value"), tree.get(key));
      assertArrayEquals(bytes("value"), tree.get(direct));
      assertTrue(tree.contains(direct));
      assertEquals(5, tree.get(direct, ByteBuffer.allocate(8)));
      assertEquals("value", tree.read(direct, value -> text(value)));
      try (Snapshot snapshot = store.snapshot();
          Cursor cursor = tree.cursor()) {
        assertTrue(cursor.seek(direct));
        assertEquals("value", cursor.read(value -> text(value)));
        assertFalse(cursor.seekBefore(key));
        tree.delete(key);
        assertFalse(tree.contains(direct));
        assertTrue(tree.contains(bytes("key"), snapshot));
      }
      try (Transaction transaction = store.begin()) {
        transaction.put(tree, key, direct);
        assertArrayEquals(bytes("key"), transaction.get(tree, direct));
        transaction.delete(tree, direct);
        assertFalse(transaction.contains(tree, bytes("key")));
      }
      assertEquals(1, key.position());
      assertEquals(0, direct.position());
    }
  }

  private static String text(ByteBuffer value) {
    byte[] copy = new byte[value.remaining()];
    value.get(copy);
    return new String(copy, java.nio.charset.StandardCharsets.UTF_8);
  }

  @Test
  void aLookAtTheValueMayMoveTheCursorAndOthers() {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 10; i++) {
        tree.put(bytes("k" + i), new byte[i * 1000]);
      }
      try (Cursor cursor = tree.cursor()) {
        cursor.first();
        int[] lengths = new int[2];
        lengths[0] =
            cursor.read(
                outer -> {
                  cursor.last();
                  lengths[1] = cursor.read(ByteBuffer::remaining);
                  return outer.remaining();
                });
        assertArrayEquals(new int[] {0, 9000}, lengths);
      }
    }
  }

  @Test
  void sizesAreToldAbout() {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      assertEquals(0, tree.approximateEntries());
      assertEquals(0, tree.approximateBytes(null, null));
      for (int i = 0; i < 10_000; i++) {
        tree.put(SimulatedStores.key(i), new byte[100]);
      }
      assertEquals(10_000, tree.approximateEntries(), 100);
      store.flush();
      store.awaitQuiet();
      assertEquals(10_000, tree.approximateEntries(), 100);
      long all = tree.approximateBytes(null, null);
      assertEquals(1.1e6, all, 0.3e6);
      long tenth = tree.approximateBytes(SimulatedStores.key(2000), SimulatedStores.key(3000));
      assertEquals(all / 10.0, tenth, all / 20.0);
      assertEquals(0, tree.approximateBytes(bytes("x"), null));
      assertEquals(0, tree.approximateBytes(bytes("k5"), bytes("k1")));
    }
  }

  @Test
  void inATransactionTheyArePartOfIt() {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      tree.put(bytes("a"), bytes("1"));
      try (Transaction transaction = store.begin()) {
        assertArrayEquals(bytes("1"), transaction.putIfAbsent(tree, bytes("a"), bytes("2")));
        assertNull(transaction.putIfAbsent(tree, bytes("b"), bytes("2")));
        assertTrue(transaction.compareAndSet(tree, bytes("b"), bytes("2"), bytes("3")));
        assertFalse(transaction.compareAndSet(tree, bytes("b"), bytes("2"), bytes("4")));
        assertTrue(transaction.compareAndSet(tree, bytes("a"), bytes("1"), null));
        assertNull(tree.get(bytes("b")));
        transaction.commit();
      }
      assertNull(tree.get(bytes("a")));
      assertArrayEquals(bytes("3"), tree.get(bytes("b")));
    }
  }

  @Test
  void whatWasComparedInATransactionMustNotChangeBeforeItsCommit() {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      try (Transaction transaction =
          store.begin(TransactionOptions.builder().locking(Locking.OPTIMISTIC).build())) {
        assertFalse(transaction.compareAndSet(tree, bytes("a"), bytes("1"), bytes("2")));
        transaction.put(tree, bytes("b"), bytes("2"));
        assertTrue(tree.compareAndSet(bytes("a"), null, bytes("1")));
        assertThrows(ConflictException.class, transaction::commit);
      }
      assertNull(tree.get(bytes("b")));
    }
  }

  /** Each increment takes place once, whoever makes it, by whichever way. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void countersMissNoIncrementBesidePlainWritesAndTransactions(boolean logged) throws Exception {
    try (Store store = open()) {
      Tree tree = store.openTree("t", TreeOptions.builder().logged(logged).build());
      AtomicLong batched = new AtomicLong();
      List<Callable<Long>> work = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        int thread = i;
        work.add(() -> increment(store, tree, thread, batched));
      }
      long done = 0;
      for (long increments : run(work)) {
        done += increments;
      }
      long sum = 0;
      for (int i = 0; i < COUNTERS; i++) {
        sum += number(tree.get(bytes("c" + i)));
      }
      assertEquals(done, sum);
      assertEquals(THREADS * INCREMENTS, done);
    }
  }

  private static long increment(Store store, Tree tree, int thread, AtomicLong others) {
    SplittableRandom random = new SplittableRandom(thread);
    for (int i = 0; i < INCREMENTS; i++) {
      byte[] key = bytes("c" + random.nextInt(COUNTERS));
      // Plain writes of other keys, of the same leaf, go on beside.
      tree.put(bytes("x" + others.incrementAndGet() % 50), key);
      if (thread == 0) {
        store.inTransaction(
            TransactionOptions.defaults(),
            transaction -> {
              byte[] value = transaction.getForUpdate(tree, key);
              transaction.put(tree, key, number(value == null ? 1 : number(value) + 1));
              return 0;
            });
      } else {
        while (!attempt(tree, key)) {
          Thread.onSpinWait();
        }
      }
    }
    return INCREMENTS;
  }

  private static boolean attempt(Tree tree, byte[] key) {
    byte[] value = tree.get(key);
    try {
      return value == null
          ? tree.putIfAbsent(key, number(1)) == null
          : tree.compareAndSet(key, value, number(number(value) + 1));
    } catch (TransactionAbortedException e) {
      return false;
    }
  }

  /** A plain put is never taken for absent: of two that race, one is seen by the other. */
  @Test
  void aPlainPutAndAPutIfAbsentDontMissEachOther() throws Exception {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      tree.putIfAbsent(bytes("warm"), bytes("up"));
      for (int i = 0; i < 2000; i++) {
        byte[] key = bytes("k" + i);
        List<Object> results =
            run(
                List.of(
                    () -> {
                      tree.put(key, bytes("plain"));
                      return "";
                    },
                    () -> {
                      byte[] before = tree.putIfAbsent(key, bytes("conditional"));
                      return before == null ? "set" : new String(before);
                    }));
        // If it was set, the plain put came after it; in either case that is what stays.
        assertArrayEquals(bytes("plain"), tree.get(key), "after " + results);
      }
    }
  }

  private static <T> List<T> run(List<Callable<T>> work)
      throws InterruptedException, ExecutionException {
    ExecutorService threads = Executors.newFixedThreadPool(work.size());
    try {
      List<T> results = new ArrayList<>();
      for (Future<T> result : threads.invokeAll(work)) {
        results.add(result.get());
      }
      return results;
    } finally {
      threads.shutdown();
    }
  }
}
