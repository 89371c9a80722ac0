package io.isobardb.lsm.model;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.model.MergeOperatorTest.number;
import static io.isobardb.lsm.model.MergeOperatorTest.options;
import static io.isobardb.lsm.model.MergeOperatorTest.tree;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.option.MergeOperator;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * How many operands are folded at once, and that none is folded twice or left out, however many
 * there are.
 *
 * <p>{@code -Disobar.merge.increments=N} sets how many increments 8 threads make; 1,000,000 for the
 * long form.
 */
@Tag("any-jdk")
class OperandFoldingTest {
  private static final int INCREMENTS = Integer.getInteger("isobar.merge.increments", 100_000);
  private static final int COUNTERS = 1000;
  private static final int THREADS = 8;

  /** Appends, and keeps the last 50,000 bytes. */
  private static final MergeOperator TAIL_OF_LARGE =
      new MergeOperator() {
        @Override
        public String name() {
          return "tail-of-large";
        }

        @Override
        public byte[] merge(byte[] key, byte @Nullable [] base, List<byte[]> operands) {
          byte[] all = APPEND.merge(key, base, operands);
          return Arrays.copyOfRange(all, Math.max(0, all.length - 50_000), all.length);
        }
      };

  @TempDir private Path dir;

  /**
   * Does as another one, save that it does not combine, and knows how many operands it was given.
   */
  private static final class Counted implements MergeOperator {
    private final MergeOperator as;

    /** At once. */
    private final AtomicInteger most = new AtomicInteger();

    /** In all, by the thread that made it. */
    private final AtomicInteger all = new AtomicInteger();

    private final Thread maker = Thread.currentThread();

    Counted(MergeOperator as) {
      this.as = as;
    }

    @Override
    public String name() {
      return "counted";
    }

    @Override
    public byte @Nullable [] merge(byte[] key, byte @Nullable [] base, List<byte[]> operands) {
      most.accumulateAndGet(operands.size(), Math::max);
      all.addAndGet(Thread.currentThread() == maker ? operands.size() : 0);
      return as.merge(key, base, operands);
    }
  }

  @Test
  void threadsThatCountAtOnceCountExactly() throws InterruptedException {
    Counted operator = new Counted(MergeOperator.ADD_LONG);
    StoreOptions options = options().mergeOperator(operator).build();
    try (Store store = Store.open(dir.resolve("store"), options)) {
      Tree tree = tree(store, operator);
      Thread[] threads = new Thread[THREADS];
      List<Throwable> failures = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        int thread = t;
        threads[t] = new Thread(() -> count(store, tree, thread, failures));
        threads[t].start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(List.of(), failures);
      checkCounted(tree);
      assertTrue(operator.most.get() <= 64, () -> operator.most + " operands at once");
    }
    try (Store store = Store.open(dir.resolve("store"), options)) {
      checkCounted(store.tree("t"));
      store.flush();
      store.awaitQuiet();
      checkCounted(store.tree("t"));
    }
  }

  @Test
  void aReadOfACounterFoldsFewOperandsHoweverManyWereWritten() {
    Counted operator = new Counted(MergeOperator.ADD_LONG);
    StoreOptions options = options().mergeOperator(operator).build();
    try (Store store = Store.open(dir.resolve("store"), options)) {
      Tree tree = tree(store, operator);
      byte[] key = number(7);
      for (int i = 1; i <= 10_000; i++) {
        tree.merge(key, number(1));
        if (i % 1000 == 0) {
          store.flush();
        }
        if (i % 37 == 0) {
          int before = operator.all.get();
          assertArrayEquals(number(i), tree.get(key));
          int folded = operator.all.get() - before;
          assertTrue(folded <= MergeOperator.MAX_OPERANDS, folded + " operands after " + i);
        }
      }
    }
  }

  /** Neither to learn its length first, nor because it does not fit where small ones go. */
  @Test
  void aReadFoldsAValueOnceHoweverLongItIs() {
    AtomicInteger calls = new AtomicInteger();
    MergeOperator operator =
        new MergeOperator() {
          @Override
          public String name() {
            return "appends and counts";
          }

          @Override
          public byte[] merge(byte[] key, byte @Nullable [] base, List<byte[]> operands) {
            calls.incrementAndGet();
            return APPEND.merge(key, base, operands);
          }
        };
    StoreOptions options = options().mergeOperator(operator).build();
    try (Store store = Store.open(dir.resolve("store"), options)) {
      Tree tree = tree(store, operator);
      for (int length : new int[] {1, 100, 5000, 100_000}) {
        byte[] key = number(length);
        tree.merge(key, new byte[length]);
        tree.merge(key, new byte[] {1});
        for (boolean flushed : new boolean[] {false, true}) {
          if (flushed) {
            store.flush();
            store.awaitQuiet(); // Merges of L0 fold, too, and would be counted.
            tree.merge(key, new byte[] {2});
          }
          byte[] expected = tree.get(key);
          assertEquals(length + (flushed ? 2 : 1), expected.length);
          String what = length + (flushed ? " flushed" : " in memory");
          calls.set(0);
          assertArrayEquals(expected, tree.get(key), what);
          assertOneCall(flushed, calls, what + ", get");
          assertArrayEquals(expected, tree.multiGet(List.of(key)).get(0), what);
          assertOneCall(flushed, calls, what + ", multiGet");
          byte[] read = tree.read(key, HistoryEntries::copy);
          assertArrayEquals(expected, read, what);
          assertOneCall(flushed, calls, what + ", read");
          assertArrayEquals(expected, tree.putIfAbsent(key, number(0)), what);
          assertOneCall(flushed, calls, what + ", putIfAbsent");
          try (Snapshot snapshot = store.snapshot()) {
            assertArrayEquals(expected, tree.get(key, snapshot), what);
            assertOneCall(flushed, calls, what + ", snapshot");
          }
        }
      }
    }
  }

  /** What memory holds may have been folded when it was written. */
  private static void assertOneCall(boolean flushed, AtomicInteger calls, String what) {
    int made = calls.getAndSet(0);
    assertTrue(made == 1 || made == 0 && !flushed, what + ": " + made + " calls");
  }

  /** It is larger than a leaf of memory takes, and so may its operands be. */
  @Test
  void norDoesAReadOfALargeValue() {
    for (int length : new int[] {100, 9000}) {
      Counted operator = new Counted(TAIL_OF_LARGE);
      StoreOptions options = options().memoryBudget(32 << 20).mergeOperator(operator).build();
      Path path = dir.resolve("store" + length);
      byte[] expected = new byte[0];
      try (Store store = Store.open(path, options)) {
        Tree tree = tree(store, operator);
        byte[] key = bytes("large");
        SplittableRandom random = new SplittableRandom(length);
        ByteBuffer target = ByteBuffer.allocate(50_000);
        byte[] then = expected;
        Snapshot snapshot = store.snapshot();
        for (int i = 1; i <= 3000; i++) {
          byte[] operand = new byte[length];
          random.nextBytes(operand);
          tree.merge(key, operand);
          expected = TAIL_OF_LARGE.merge(key, expected, List.of(operand));
          if (i % 37 == 0) {
            int before = operator.all.get();
            target.clear();
            assertEquals(expected.length, tree.get(key, target));
            assertArrayEquals(expected, Arrays.copyOf(target.array(), expected.length));
            int folded = operator.all.get() - before;
            assertTrue(folded <= MergeOperator.MAX_OPERANDS, folded + " operands after " + i);
          }
          if (i % 700 == 0) {
            store.flush();
          }
          if (i % 230 == 0) {
            byte[] seen = tree.get(key, snapshot);
            assertArrayEquals(then, seen == null ? new byte[0] : seen);
            snapshot.close();
            snapshot = store.snapshot();
            then = expected;
          }
        }
        snapshot.close();
      }
      try (Store store = Store.open(path, options)) {
        assertArrayEquals(expected, store.tree("t").get(bytes("large")));
      }
    }
  }

  /**
   * They are of one batch; snapshots between them make no difference to a reader of the last one.
   */
  @Test
  void aThousandOperandsThatCantBeFoldedBeforeAreFoldedInPieces() {
    Counted operator = new Counted(MergeOperator.ADD_LONG);
    StoreOptions options = options().mergeOperator(operator).build();
    try (Store store = Store.open(dir.resolve("store"), options)) {
      Tree tree = tree(store, operator);
      WriteBatch batch = store.newBatch();
      List<Snapshot> snapshots = new ArrayList<>();
      for (int i = 0; i < 1000; i++) {
        tree.merge(bytes("apart"), number(1));
        snapshots.add(store.snapshot());
        batch.merge(tree, bytes("batch"), number(1));
      }
      store.write(batch);
      int before = operator.all.get();
      assertArrayEquals(number(1000), tree.get(bytes("batch")));
      assertEquals(1000, operator.all.get() - before);
      assertArrayEquals(number(1000), tree.get(bytes("apart")));
      assertTrue(operator.all.get() - before <= 1000 + MergeOperator.MAX_OPERANDS);
      for (int again = 0; again < 3; again++) {
        for (int i = 0; i < 1000; i += 99) {
          assertArrayEquals(number(i + 1), tree.get(bytes("apart"), snapshots.get(i)));
        }
        try (Cursor cursor = tree.cursor()) {
          assertTrue(cursor.first());
          assertArrayEquals(number(1000), cursor.value());
          assertTrue(cursor.next());
          assertArrayEquals(number(1000), cursor.value());
        }
        store.flush();
      }
      assertTrue(operator.most.get() <= MergeOperator.MAX_OPERANDS, operator.most + " at once");
      snapshots.forEach(Snapshot::close);
    }
  }

  private static void count(Store store, Tree tree, int thread, List<Throwable> failures) {
    try {
      for (int i = thread; i < INCREMENTS; i += THREADS) {
        byte[] key = number(i % COUNTERS);
        if (i % 50 == thread) {
          store.write(store.newBatch().merge(tree, key, number(1)));
        } else {
          tree.merge(key, number(1));
        }
        if (i % 20_000 == thread) {
          store.flush();
        }
      }
    } catch (Throwable e) {
      synchronized (failures) {
        failures.add(e);
      }
    }
  }

  private static void checkCounted(Tree tree) {
    long each = INCREMENTS / COUNTERS;
    for (int i = 0; i < COUNTERS; i++) {
      assertArrayEquals(number(each), tree.get(number(i)), "counter " + i);
    }
    try (Cursor cursor = tree.cursor()) {
      int seen = 0;
      for (boolean more = cursor.last(); more; more = cursor.previous()) {
        assertArrayEquals(number(each), cursor.value());
        seen++;
      }
      assertEquals(COUNTERS, seen);
    }
  }
}
