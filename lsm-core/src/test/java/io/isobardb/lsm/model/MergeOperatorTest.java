package io.isobardb.lsm.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Savepoint;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.error.ConflictException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.error.MergeException;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.simulation.TailOperator;
import io.isobardb.repair.StoreRepair;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Merge operators, as users meet them. What holds through crashes, flushes and merges is for {@link
 * StoreModelTest} and the crash tests, which draw operands, too.
 */
@Tag("any-jdk")
class MergeOperatorTest {
  @TempDir private Path dir;

  static StoreOptions.Builder options() {
    return StoreOptions.builder()
        .memoryBudget(16 << 20)
        .durability(Durability.ASYNC)
        .mergeOperator(TailOperator.TAIL);
  }

  private Store open() {
    return Store.open(dir.resolve("store"), options().build());
  }

  static Tree tree(Store store, MergeOperator operator) {
    return store.openTree("t", TreeOptions.builder().mergeOperator(operator).build());
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static @Nullable String text(byte @Nullable [] bytes) {
    return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
  }

  static byte[] number(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  @Test
  void theBuiltInOperatorsAddKeepTheGreatestAndAppend() {
    try (Store store = open()) {
      Tree sums = tree(store, MergeOperator.ADD_LONG);
      byte[] a = bytes("a");
      sums.merge(a, number(5));
      sums.merge(a, number(-7));
      assertArrayEquals(number(-2), sums.get(a));
      sums.put(a, number(40));
      sums.merge(a, number(2));
      assertArrayEquals(number(42), sums.get(a));
      sums.delete(a);
      sums.merge(a, number(1));
      assertArrayEquals(number(1), sums.get(a));

      TreeOptions greatest = TreeOptions.builder().mergeOperator(MergeOperator.MAXIMUM).build();
      Tree most = store.openTree("most", greatest);
      for (String operand : List.of("b", "abc", "c", "ca", "a")) {
        most.merge(bytes("k"), bytes(operand));
      }
      assertEquals("ca", text(most.get(bytes("k"))));

      TreeOptions appending = TreeOptions.builder().mergeOperator(MergeOperator.APPEND).build();
      Tree list = store.openTree("list", appending);
      list.merge(bytes("k"), bytes("x,"));
      list.merge(bytes("k"), bytes("y,"), Durability.SYNC);
      store.flush();
      list.merge(bytes("k"), bytes("z"));
      assertEquals("x,y,z", text(list.get(bytes("k"))));
      assertTrue(list.contains(bytes("k")));
      ByteBuffer target = ByteBuffer.allocate(5);
      assertEquals(5, list.get(bytes("k"), target));
      assertEquals("x,y,z", text(target.array()));
      assertEquals("x,y,z", text(list.multiGet(List.of(bytes("k"))).get(0)));
      assertEquals(5, list.read(bytes("k"), ByteBuffer::remaining));
    }
  }

  @Test
  void aBatchTakesEffectInTheOrderItWasMade() {
    try (Store store = open()) {
      Tree tree = tree(store, MergeOperator.APPEND);
      tree.put(bytes("a"), bytes("0"));
      tree.put(bytes("b"), bytes("0"));
      tree.put(bytes("c"), bytes("0"));
      WriteBatch batch = store.newBatch();
      batch.merge(tree, bytes("a"), bytes("1")).merge(tree, bytes("a"), bytes("2"));
      batch.delete(tree, bytes("b")).merge(tree, bytes("b"), bytes("1"));
      batch.put(tree, bytes("c"), bytes("p")).merge(tree, bytes("c"), bytes("1"));
      batch.merge(tree, bytes("d"), bytes("1")).put(tree, bytes("d"), bytes("p"));
      batch.merge(tree, bytes("e"), bytes("1")).delete(tree, bytes("e"));
      batch.merge(tree, bytes("b"), bytes("2")).merge(tree, bytes("c"), bytes("2"));
      store.write(batch);
      for (int again = 0; again < 2; again++) {
        assertEquals("012", text(tree.get(bytes("a"))));
        assertEquals("12", text(tree.get(bytes("b"))));
        assertEquals("p12", text(tree.get(bytes("c"))));
        assertEquals("p", text(tree.get(bytes("d"))));
        assertNull(tree.get(bytes("e")));
        store.flush();
      }
    }
  }

  @Test
  void aTransactionSeesItsOwnOperandsAboveWhatTheStoreHas() {
    try (Store store = open()) {
      Tree tree = tree(store, MergeOperator.APPEND);
      tree.merge(bytes("a"), bytes("0"));
      tree.put(bytes("b"), bytes("0"));
      try (Transaction transaction = store.begin()) {
        transaction.merge(tree, bytes("a"), bytes("1"));
        Savepoint savepoint = transaction.savepoint();
        transaction.merge(tree, bytes("a"), bytes("2"));
        transaction.merge(tree, bytes("c"), bytes("1"));
        assertEquals("012", text(transaction.get(tree, bytes("a"))));
        transaction.rollbackTo(savepoint);
        assertEquals("01", text(transaction.get(tree, bytes("a"))));
        assertNull(transaction.get(tree, bytes("c")));
        transaction.delete(tree, bytes("b"));
        transaction.merge(tree, bytes("b"), bytes("1"));
        transaction.put(tree, bytes("d"), bytes("p"));
        transaction.merge(tree, bytes("d"), bytes("1"));
        assertEquals("1", text(transaction.getForUpdate(tree, bytes("b"))));
        try (Cursor cursor = transaction.cursor(tree)) {
          assertEquals("a=01 b=1 d=p1 ", forward(cursor));
          assertEquals("d=p1 b=1 a=01 ", backward(cursor));
        }
        assertEquals("0", text(tree.get(bytes("a"))));
        transaction.commit();
      }
      try (Cursor cursor = tree.cursor()) {
        assertEquals("a=01 b=1 d=p1 ", forward(cursor));
      }
    }
  }

  private static String forward(Cursor cursor) {
    StringBuilder seen = new StringBuilder();
    for (boolean more = cursor.first(); more; more = cursor.next()) {
      seen.append(text(cursor.key())).append('=').append(text(cursor.value())).append(' ');
    }
    return seen.toString();
  }

  private static String backward(Cursor cursor) {
    StringBuilder seen = new StringBuilder();
    for (boolean more = cursor.last(); more; more = cursor.previous()) {
      seen.append(text(cursor.key())).append('=').append(text(cursor.value())).append(' ');
    }
    return seen.toString();
  }

  @Test
  void snapshotsSeeTheOperandsUpToTheirs() {
    try (Store store = open()) {
      Tree tree = tree(store, MergeOperator.ADD_LONG);
      byte[] key = bytes("k");
      List<Snapshot> snapshots = new ArrayList<>();
      for (int i = 1; i <= 300; i++) {
        tree.merge(key, number(i));
        if (i % 7 == 0) {
          snapshots.add(store.snapshot());
        }
        if (i % 100 == 0) {
          store.flush();
          store.awaitQuiet();
        }
      }
      for (int s = 0; s < snapshots.size(); s++) {
        long n = 7L * (s + 1);
        assertArrayEquals(number(n * (n + 1) / 2), tree.get(key, snapshots.get(s)));
        try (Cursor cursor = tree.cursor(CursorOptions.all().snapshot(snapshots.get(s)))) {
          assertTrue(cursor.last());
          assertArrayEquals(number(n * (n + 1) / 2), cursor.value());
        }
      }
      snapshots.forEach(Snapshot::close);
    }
  }

  @Test
  void anOperatorThatIsNotGivenIsNamedByTheErrorAndAnotherIsRefused() {
    try (Store store = open()) {
      tree(store, TailOperator.TAIL).merge(bytes("k"), bytes("x"));
      TreeOptions other = TreeOptions.builder().mergeOperator(MergeOperator.APPEND).build();
      assertThrows(IllegalArgumentException.class, () -> store.openTree("t", other));
      Tree plain = store.openTree("plain");
      IllegalArgumentException none =
          assertThrows(IllegalArgumentException.class, () -> plain.merge(bytes("k"), bytes("x")));
      assertTrue(none.getMessage().contains("'plain' has no merge operator"), none.getMessage());
      assertThrows(
          IllegalArgumentException.class,
          () -> store.newBatch().merge(plain, bytes("k"), bytes("x")));
    }
    StoreOptions without = StoreOptions.builder().memoryBudget(16 << 20).build();
    FormatException e =
        assertThrows(FormatException.class, () -> Store.open(dir.resolve("store"), without));
    assertTrue(e.getMessage().contains("'tail'"), e.getMessage());
    try (Store store = open()) {
      assertEquals("x", text(store.openTree("t").get(bytes("k"))));
      assertEquals(TailOperator.TAIL, store.openTree("t").options().mergeOperator());
    }
  }

  @Test
  void whatAnOperatorCantMergeStaysUntilItIsPutOrDeleted() {
    try (Store store = open()) {
      Queue<MergeException> told = new ConcurrentLinkedQueue<>();
      store.addListener(
          new StoreListener() {
            @Override
            public void onOperatorFailed(OperatorFailure event) {
              told.add(event.cause());
            }
          });
      Tree tree = tree(store, MergeOperator.ADD_LONG);
      byte[] key = bytes("bad");
      tree.put(key, bytes("no number"));
      tree.merge(bytes("good"), number(3));
      for (int i = 0; i < 40; i++) {
        tree.merge(key, number(1));
      }
      for (int again = 0; again < 3; again++) {
        MergeException e = assertThrows(MergeException.class, () -> tree.get(key));
        assertEquals("t", e.tree());
        assertArrayEquals(key, e.key());
        assertEquals("add-long", e.operator());
        assertTrue(e.getMessage().contains("'bad'"), e.getMessage());
        assertArrayEquals(number(3), tree.get(bytes("good")));
        try (Cursor cursor = tree.cursor()) {
          assertThrows(MergeException.class, cursor::first);
          assertTrue(cursor.seek(bytes("c")));
          assertArrayEquals(number(3), cursor.value());
        }
        assertEquals(again == 0, told.isEmpty());
        store.flush();
        store.awaitQuiet();
        tree.put(bytes("other" + again), number(again));
      }
      assertArrayEquals(key, told.element().key());
      // Three gets and three cursors, at least.
      assertTrue(store.stats().trees().get(0).failedFolds() >= 6);
      tree.put(key, number(1));
      tree.merge(key, number(1));
      assertArrayEquals(number(2), tree.get(key));
    }
  }

  @Test
  void aCursorStepsPastAKeyThatCanNotBeMerged() {
    try (Store store = open()) {
      Tree tree = tree(store, MergeOperator.ADD_LONG);
      for (String key : List.of("b", "d", "e")) {
        tree.put(bytes(key), bytes("no number"));
        tree.merge(bytes(key), number(1));
      }
      tree.put(bytes("a"), number(1));
      tree.merge(bytes("c"), number(3));
      for (int again = 0; again < 2; again++) {
        try (Cursor cursor = tree.cursor()) {
          assertEquals("a !b c !d !e ", passing(cursor, true));
          assertEquals("!e !d c !b a ", passing(cursor, false));
          assertThrows(MergeException.class, () -> cursor.seek(bytes("b")));
          assertThrows(MergeException.class, cursor::value);
          assertEquals("b", text(cursor.key()));
          assertTrue(cursor.previous());
          assertEquals("a", text(cursor.key()));
          assertThrows(MergeException.class, cursor::next);
          assertTrue(cursor.next());
          assertArrayEquals(number(3), cursor.value());
        }
        TransactionOptions serializable =
            TransactionOptions.builder().isolation(Isolation.SERIALIZABLE).build();
        try (Transaction transaction = store.begin(serializable)) {
          transaction.merge(tree, bytes("c"), number(1));
          try (Cursor cursor = transaction.cursor(tree)) {
            assertEquals("a !b c !d !e ", passing(cursor, true));
            assertEquals("!e !d c !b a ", passing(cursor, false));
          }
        }
        try (Transaction reader = store.begin(serializable)) {
          try (Cursor cursor = reader.cursor(tree)) {
            assertTrue(cursor.first());
            assertThrows(MergeException.class, cursor::next);
          }
          reader.put(tree, bytes("z"), number(1));
          // It has seen that nothing is there, though what comes next can't be merged.
          tree.put(bytes("aa"), number(again));
          tree.delete(bytes("aa"));
          assertThrows(ConflictException.class, reader::commit);
        }
        store.flush();
      }
    }
  }

  /** All keys one way, those that can't be merged with a mark. */
  private static String passing(Cursor cursor, boolean forward) {
    StringBuilder seen = new StringBuilder();
    boolean begun = false;
    boolean more = true;
    while (more) {
      String mark = "";
      try {
        more =
            begun
                ? forward ? cursor.next() : cursor.previous()
                : forward ? cursor.first() : cursor.last();
      } catch (MergeException e) {
        mark = "!";
      }
      begun = true;
      seen.append(more ? mark + text(cursor.key()) + " " : "");
    }
    return seen.toString();
  }

  @Test
  void anOperandThatCanNeverBeMergedIsRefused() {
    try (Store store = open()) {
      Tree tree = tree(store, MergeOperator.ADD_LONG);
      byte[] key = bytes("k");
      byte[] bad = bytes("no");
      tree.merge(key, number(1));
      IllegalArgumentException e =
          assertThrows(IllegalArgumentException.class, () -> tree.merge(key, bad));
      assertTrue(e.getMessage().contains("'add-long' of tree 't' refuses"), e.getMessage());
      WriteBatch batch = store.newBatch();
      assertThrows(IllegalArgumentException.class, () -> batch.merge(tree, key, bad));
      store.write(batch.merge(tree, key, number(1)));
      store.runInTransaction(
          transaction -> {
            assertThrows(IllegalArgumentException.class, () -> transaction.merge(tree, key, bad));
            transaction.merge(tree, key, number(1));
          });
      assertArrayEquals(number(3), tree.get(key));
    }
  }

  @Test
  void operandsLargerThanAPageAreMerged() {
    try (Store store = open()) {
      Tree tree = tree(store, MergeOperator.APPEND);
      byte[] expected = new byte[0];
      SplittableRandom random = new SplittableRandom(5);
      for (int i = 0; i < 40; i++) {
        byte[] operand = new byte[random.nextInt(20_000)];
        random.nextBytes(operand);
        tree.merge(bytes("k"), operand);
        int at = expected.length;
        expected = Arrays.copyOf(expected, at + operand.length);
        System.arraycopy(operand, 0, expected, at, operand.length);
        if (i % 9 == 8) {
          store.flush();
        }
        assertArrayEquals(expected, tree.get(bytes("k")));
      }
      try (Cursor cursor = tree.cursor()) {
        assertTrue(cursor.last());
        assertArrayEquals(expected, cursor.value());
      }
    }
  }

  @Test
  void aRepairedStoreHasTheOperandsOfTablesAndLog() throws IOException {
    try (Store store = open()) {
      Tree tree = tree(store, TailOperator.TAIL);
      tree.put(bytes("a"), bytes("0"));
      tree.merge(bytes("a"), bytes("1"));
      tree.merge(bytes("b"), bytes("1"));
      store.flush();
      tree.merge(bytes("a"), bytes("2"));
      tree.merge(bytes("b"), bytes("2"));
      tree.merge(bytes("c"), bytes("2"));
      store.flush();
      tree.merge(bytes("a"), bytes("3"));
      tree.merge(bytes("c"), bytes("3"));
    }
    StoreOptions options = options().build();
    Path repaired = dir.resolve("repaired");
    StoreRepair.run(dir.resolve("store"), repaired, options, CheckProgress.NONE);
    try (Store store = Store.open(repaired, options)) {
      Tree tree = store.tree("t");
      assertEquals("0123", text(tree.get(bytes("a"))));
      assertEquals("12", text(tree.get(bytes("b"))));
      assertEquals("23", text(tree.get(bytes("c"))));
    }
  }

  @Test
  void aCopyOfAnOpenStoreHasTheOperandsOfItsMemory() throws IOException {
    StoreOptions options = options().build();
    Path copy = dir.resolve("copy");
    try (Store store = open()) {
      Tree tree = tree(store, TailOperator.TAIL);
      tree.put(bytes("a"), bytes("0"));
      tree.merge(bytes("b"), bytes("0"));
      store.flush();
      for (int i = 1; i <= 9; i++) {
        tree.merge(bytes("a"), bytes("" + i));
        tree.merge(bytes("b"), bytes("" + i));
      }
      store.checkpointTo(copy);
      tree.merge(bytes("a"), bytes("later"));
    }
    try (Store store = Store.open(copy, options)) {
      assertEquals("0123456789", text(store.tree("t").get(bytes("a"))));
      assertEquals("0123456789", text(store.tree("t").get(bytes("b"))));
      try (Cursor cursor = store.tree("t").cursor()) {
        assertEquals("a=0123456789 b=0123456789 ", forward(cursor));
      }
    }
  }

  /** Flushes take slices, so the log has operands of keys that SSTables have folded already. */
  @Test
  void aReplayMergesNothingTwice() {
    StoreOptions options =
        options()
            .memoryBudget(8 << 20)
            .writeMemory(1 << 20)
            .memoryTuner(false)
            .pageSize(4096)
            .build();
    SplittableRandom random = new SplittableRandom(11);
    SimulatedWorld world = new SimulatedWorld(11);
    long[] sums = new long[4000];
    try (Store store = world.open(options)) {
      Tree tree = tree(store, MergeOperator.ADD_LONG);
      for (int i = 1; i <= 24_000; i++) {
        // Half of them go to few counters, which have several operands between two flushes.
        int any = random.nextInt(sums.length);
        int counter = random.nextBoolean() ? any : any / 20 * 20;
        tree.merge(longKey(counter), number(i));
        sums[counter] += i;
        world.background(i % 4 == 0 ? 1 : 0);
        if (i % 3000 == 0) {
          world.background(1000);
          SimulatedWorld killed = new SimulatedWorld(world.storage().copy(), i);
          try (Store again = killed.open(options)) {
            for (int k = 0; k < sums.length; k++) {
              byte[] found = again.tree("t").get(longKey(k));
              assertEquals(sums[k], found == null ? 0 : ByteBuffer.wrap(found).getLong());
            }
          }
        }
      }
      assertTrue(store.stats().flushes() > 3, store.stats().flushes() + " flushes");
    }
  }

  /** A fold in memory has the newest LSN of its operands; the log is needed from the oldest on. */
  @Test
  void theLogKeepsTheOperandsThatAFoldInMemoryIsMadeOf() {
    StoreOptions options =
        ExperimentalOptions.set(
                options()
                    .memoryBudget(8 << 20)
                    .writeMemory(4 << 20)
                    .logLimit(64 << 20)
                    .memoryTuner(false)
                    .pageSize(4096),
                e -> e.activeTableSize(64 << 10))
            .build();
    SimulatedWorld world = new SimulatedWorld(7);
    int rounds = 4;
    int counters = 300;
    try (Store store = world.open(options)) {
      Tree tree = tree(store, MergeOperator.ADD_LONG);
      Tree other = store.openTree("other");
      for (int i = 0; i < rounds * counters; i++) {
        tree.merge(longKey(i % counters), number(1));
        world.background(4);
      }
      world.background(1000);
      StoreStats stats = store.stats();
      assertTrue(stats.memoryMerges() > 0, "nothing was folded in memory");
      assertEquals(0, stats.flushes());
      // The manifest learns where the log begins, but nothing of the counters is on disk.
      try (BulkLoad load = store.bulkLoad(other)) {
        load.add(other, bytes("a"), bytes("b"));
        load.commit();
      }
      SimulatedWorld killed = new SimulatedWorld(world.storage().copy(), 8);
      try (Store again = killed.open(options)) {
        for (int k = 0; k < counters; k++) {
          byte[] found = again.tree("t").get(longKey(k));
          assertEquals(rounds, found == null ? 0 : ByteBuffer.wrap(found).getLong());
        }
      }
    }
  }

  private static byte[] longKey(int counter) {
    return ByteBuffer.allocate(900).putInt(896, counter * 0x9E3779B1).array();
  }
}
