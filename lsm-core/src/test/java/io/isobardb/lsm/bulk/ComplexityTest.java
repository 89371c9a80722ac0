package io.isobardb.lsm.bulk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Backups;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Savepoint;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.ForwardingStorage;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What grows with n takes four times as many steps for four times as much, and a little more: five
 * times at most. Steps are calls of a {@link KeyOrder}, or bytes that the calling thread allocates
 * on the heap.
 */
class ComplexityTest {
  private static final int FEW = 2_000;
  private static final double MOST = 5;

  /** No flush comes earlier than asked for. */
  private static final long ROOMY = 64 << 20;

  /** Numbers, which it counts the comparisons of. */
  private static final class Counting implements KeyOrder {
    private final LongAdder calls = new LongAdder();

    @Override
    public String name() {
      return "counting";
    }

    @Override
    public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
      calls.increment();
      return KeyOrder.BYTES.compare(a, aOffset, aLength, b, bOffset, bLength);
    }
  }

  /** How range deletes may overlap. */
  enum Shape {
    DISJOINT,
    SAME,
    GROWING,
    SHRINKING,
    NESTED,
    NESTED_AT_ONE_END,
    SLIDING,
    RANDOM;

    void delete(Tree tree, int i, int count, SplittableRandom random) {
      int end = 10 * count;
      switch (this) {
        case DISJOINT -> tree.deleteRange(key(10 * i), key(10 * i + 5));
        case SAME -> tree.deleteRange(key(5), key(end));
        case GROWING -> tree.deleteRange(null, key(i));
        case SHRINKING -> tree.deleteRange(null, key(end - i));
        case NESTED -> tree.deleteRange(key(i), key(end - i));
        case NESTED_AT_ONE_END -> tree.deleteRange(key(i), key(end));
        case SLIDING -> tree.deleteRange(key(i), key(i + count));
        case RANDOM -> {
          int from = random.nextInt(end);
          tree.deleteRange(key(from), key(from + 1 + random.nextInt(count)));
        }
        default -> throw new IllegalStateException();
      }
    }
  }

  private static byte[] key(int i) {
    return ByteBuffer.allocate(4).putInt(i).array();
  }

  @TempDir Path dir;

  @ParameterizedTest
  @EnumSource
  void rangeDeletes(Shape shape) {
    double few = rangeDeletes(shape, FEW);
    double more = rangeDeletes(shape, 4 * FEW);
    assertTrue(more < MOST * few, shape + ": " + few + " steps, then " + more);
  }

  /** Comparisons that it takes to write range deletes, to flush them twice and to replay them. */
  private long rangeDeletes(Shape shape, int count) {
    Counting order = new Counting();
    StoreOptions options =
        StoreOptions.builder()
            .memoryBudget(ROOMY)
            .keyOrder(order)
            .durability(Durability.ASYNC)
            .build();
    Path path = dir.resolve(shape + "-" + count);
    try (Store store = Store.open(path, options)) {
      Tree tree = store.openTree("t", TreeOptions.builder().keyOrder(order).build());
      for (int i = 0; i < 100; i++) {
        tree.put(key(i * count / 10), new byte[10]);
      }
      store.flush();
      order.calls.reset();
      SplittableRandom random = new SplittableRandom(1);
      for (int i = 0; i < count; i++) {
        shape.delete(tree, i, count, random);
      }
      store.flush();
      tree.put(key(1), new byte[1]);
      store.flush();
      tree.get(key(2));
    }
    try (Store store = Store.open(path, options)) {
      assertEquals(1, store.tree("t").get(key(1)).length);
    }
    return order.calls.sum();
  }

  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** Something that is done {@code count} times. */
  private interface Work {
    void run(Store store, Tree tree, int count) throws Exception;
  }

  private void allocates(String what, int few, Work work) throws Exception {
    // Classes are loaded, and threads have their buffers, before it counts.
    bytes("warm", few, work);
    double once = bytes("few", few, work);
    double more = bytes("more", 4 * few, work);
    assertTrue(more < MOST * once, what + ": " + once + " bytes, then " + more);
  }

  private long bytes(String name, int count, Work work) throws Exception {
    StoreOptions options =
        StoreOptions.builder().memoryBudget(ROOMY).durability(Durability.ASYNC).build();
    try (Store store = Store.open(dir.resolve(name), options)) {
      Tree tree =
          store.openTree("t", TreeOptions.builder().mergeOperator(MergeOperator.ADD_LONG).build());
      long before = THREADS.getCurrentThreadAllocatedBytes();
      work.run(store, tree, count);
      return THREADS.getCurrentThreadAllocatedBytes() - before;
    }
  }

  private static byte[] one() {
    return ByteBuffer.allocate(Long.BYTES).putLong(1).array();
  }

  private static long sum(byte[] value) {
    return ByteBuffer.wrap(value).getLong();
  }

  @Test
  void mergesOfOneKeyInABatch() throws Exception {
    allocates(
        "batch",
        FEW,
        (store, tree, count) -> {
          WriteBatch batch = store.newBatch();
          for (int i = 0; i < count; i++) {
            batch.merge(tree, key(7), one());
          }
          store.write(batch);
          assertEquals(count, sum(tree.get(key(7))));
        });
  }

  @Test
  void mergesOfOneKeyInATransaction() throws Exception {
    allocates(
        "transaction",
        FEW,
        (store, tree, count) -> {
          try (Transaction transaction = store.begin()) {
            for (int i = 0; i < count; i++) {
              transaction.merge(tree, key(7), one());
            }
            transaction.commit();
          }
          assertEquals(count, sum(tree.get(key(7))));
        });
  }

  @Test
  void readsForUpdate() throws Exception {
    TransactionOptions latest =
        TransactionOptions.builder()
            .locking(Locking.OPTIMISTIC)
            .isolation(Isolation.READ_COMMITTED)
            .build();
    allocates(
        "getForUpdate",
        FEW,
        (store, tree, count) -> {
          try (Transaction transaction = store.begin(latest)) {
            for (int i = 0; i < count; i++) {
              transaction.getForUpdate(tree, key(i));
              tree.put(key(i + count), one());
            }
            transaction.commit();
          }
        });
  }

  @Test
  void openSnapshotsAndCursors() throws Exception {
    allocates(
        "snapshots",
        FEW / 4,
        (store, tree, count) -> {
          List<Snapshot> snapshots = new ArrayList<>();
          List<Cursor> cursors = new ArrayList<>();
          for (int i = 0; i < count; i++) {
            tree.put(key(i), one());
            snapshots.add(store.snapshot());
            cursors.add(tree.cursor());
          }
          store.flush();
          assertEquals(1, sum(tree.get(key(count - 1))));
          cursors.forEach(Cursor::close);
          snapshots.forEach(Snapshot::close);
        });
  }

  @ParameterizedTest
  @EnumSource
  void writesOfATransaction(Locking locking) throws Exception {
    allocates(
        "writes",
        FEW,
        (store, tree, count) -> {
          try (Transaction transaction =
              store.begin(TransactionOptions.builder().locking(locking).build())) {
            for (int i = 0; i < count; i++) {
              Savepoint before = transaction.savepoint();
              transaction.put(tree, key(i), one());
              if (i % 4 == 0) {
                transaction.rollbackTo(before);
              }
            }
            transaction.commit();
          }
          assertEquals(1, sum(tree.get(key(1))));
        });
  }

  @ParameterizedTest
  @EnumSource(Locking.class)
  void rangeDeletesOfATransaction(Locking locking) throws Exception {
    allocates(
        "ranges of a transaction",
        FEW,
        (store, tree, count) -> {
          tree.put(key(7), one());
          tree.put(key(8), one());
          try (Transaction transaction =
              store.begin(TransactionOptions.builder().locking(locking).build())) {
            for (int i = 0; i < count; i++) {
              transaction.deleteRange(tree, key(10 * i), key(10 * i + 8));
              transaction.put(tree, key(10 * i + 1), one());
            }
            transaction.commit();
          }
          assertNull(tree.get(key(7)));
          assertEquals(1, sum(tree.get(key(8))));
        });
  }

  @Test
  void rangeDeletesBetweenSnapshots() throws Exception {
    allocates(
        "ranges and snapshots",
        FEW / 8,
        (store, tree, count) -> {
          List<Snapshot> snapshots = new ArrayList<>();
          for (int i = 0; i < count; i++) {
            tree.put(key(i), one());
            snapshots.add(store.snapshot());
            tree.deleteRange(key(Math.max(0, i - 10)), key(i + 1));
          }
          assertEquals(1, sum(tree.get(key(count / 2), snapshots.get(count / 2))));
          store.flush();
          snapshots.forEach(Snapshot::close);
        });
  }

  @Test
  void trees() throws Exception {
    allocates("trees", 50, (store, tree, count) -> openTrees(store, count));
  }

  private static void openTrees(Store store, int count) {
    for (int i = 0; i < count; i++) {
      store.openTree("tree " + i, TreeOptions.builder().build());
    }
  }

  @Test
  void openingAStoreOfManyTrees() throws Exception {
    opens("warm", 25);
    double few = opens("few", 25);
    double more = opens("more", 100);
    assertTrue(more < MOST * few, "opening: " + few + " bytes, then " + more);
  }

  private long opens(String name, int trees) {
    StoreOptions options = StoreOptions.builder().memoryBudget(16 << 20).build();
    try (Store store = Store.open(dir.resolve(name), options)) {
      openTrees(store, trees);
    }
    long before = THREADS.getCurrentThreadAllocatedBytes();
    Store store = Store.open(dir.resolve(name), options);
    long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
    store.close();
    return bytes;
  }

  /** A search among more tables takes longer, by a few steps. */
  @Test
  void aFlushAndAMergeBesideManyTables() {
    double few = tables(20);
    double more = tables(80);
    assertTrue(more < 2 * few, "beside tables: " + few + " steps, then " + more);
  }

  /** Comparisons of ten flushes, a merge and the commits of both. */
  private long tables(int count) {
    Counting order = new Counting();
    StoreOptions options =
        StoreOptions.builder()
            .memoryBudget(16 << 20)
            .keyOrder(order)
            .durability(Durability.ASYNC)
            .build();
    try (Store store = Store.open(dir.resolve("tables-" + count), options)) {
      Tree tree = store.openTree("t", TreeOptions.builder().keyOrder(order).build());
      for (int i = 0; i < count; i++) {
        tree.put(key(i), one());
        store.flush();
      }
      order.calls.reset();
      for (int i = 0; i < 10; i++) {
        tree.put(key(count / 2 + i), one());
        store.flush();
      }
      tree.compact(key(count / 2), key(count / 2 + 9));
      return order.calls.sum();
    }
  }

  @Test
  void backups() throws Exception {
    double few = backup(5, 5);
    double beside = backup(20, 5);
    double larger = backup(5, 20);
    assertTrue(beside < MOST * few, "beside others: " + few + " bytes, then " + beside);
    assertTrue(larger < MOST * few, "of more tables: " + few + " bytes, then " + larger);
  }

  @Test
  void filesOpenedByManyBackups() throws Exception {
    long few = filesOpened(6);
    long more = filesOpened(24);
    assertTrue(more < MOST * few, "6 open " + few + " files, 24 open " + more);
  }

  /** Files among the backups that are opened while two stores are backed up so often, in turns. */
  private static long filesOpened(int count) throws Exception {
    LongAdder opened = new LongAdder();
    Storage place =
        new ForwardingStorage(new SimulatedStorage()) {
          @Override
          protected DataFile wrap(DataFile file, IoMode mode) {
            opened.increment();
            return file;
          }
        };
    SimulatedClock clock = new SimulatedClock();
    try (Store first = SimulatedStores.open(new SimulatedStorage(clock), clock, 1);
        Store second = SimulatedStores.open(new SimulatedStorage(clock), clock, 2);
        Backups backups = Inside.backups(place, Long.MAX_VALUE)) {
      for (int i = 0; i < count; i++) {
        for (Store store : List.of(first, second)) {
          store.openTree("t").put(key(i), one());
          backups.create(store);
        }
      }
    }
    return opened.sum();
  }

  @Test
  void transactionsBesideOpenOnes() {
    double few = transactions(FEW / 4);
    double more = transactions(FEW);
    assertTrue(more < MOST * few, few + " looks at the clock, then " + more);
  }

  /** Looks at the clock while so many transactions are begun, and none is ended. */
  private static long transactions(int count) {
    LongAdder looks = new LongAdder();
    SimulatedClock clock = new SimulatedClock();
    Clock counting =
        new Clock() {
          @Override
          public long nanos() {
            looks.increment();
            return clock.nanos();
          }

          @Override
          public long wallMillis() {
            return clock.wallMillis();
          }
        };
    Environment environment =
        new Environment(
            new SimulatedStorage(clock),
            counting,
            new SimulatedScheduler(clock, 1),
            new SplittableRandom(1));
    try (Store store = Inside.open(environment, StoreOptions.defaults())) {
      looks.reset();
      List<Transaction> open = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        open.add(store.begin());
      }
      long sum = looks.sum();
      open.forEach(Transaction::close);
      return sum;
    }
  }

  /** What a backup of a store with so many tables allocates beside others of the same. */
  private long backup(int others, int tables) throws Exception {
    StoreOptions options = StoreOptions.builder().memoryBudget(16 << 20).build();
    String name = others + " of " + tables;
    try (Store store = Store.open(dir.resolve("store " + name), options);
        Backups backups = Backups.open(dir.resolve("backups " + name))) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < tables; i++) {
        tree.put(key(i), one());
        store.flush();
      }
      for (int i = 0; i < others; i++) {
        backups.create(store);
      }
      long before = THREADS.getCurrentThreadAllocatedBytes();
      backups.create(store);
      long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
      assertEquals(others + 1, backups.list().size());
      return bytes;
    }
  }
}
