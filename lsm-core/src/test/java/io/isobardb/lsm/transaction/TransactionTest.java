package io.isobardb.lsm.transaction;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.contents;
import static io.isobardb.lsm.SimulatedStores.key;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.EntryReader;
import io.isobardb.lsm.ForwardingScheduler;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Savepoint;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.ConflictException;
import io.isobardb.lsm.error.LockTimeoutException;
import io.isobardb.lsm.error.MergeException;
import io.isobardb.lsm.error.SelfDeadlockException;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Service;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class TransactionTest extends SimulatedTransactions {
  private static final TransactionOptions READ_COMMITTED =
      options(Isolation.READ_COMMITTED, Locking.OPTIMISTIC);

  // ---- readers of its cursors

  /** How a transaction ends while a reader of its cursor writes to it. */
  private enum EndInReader {
    CONFLICT,
    CONFLICT_CAUGHT,
    ROLLBACK,
    CLOSE
  }

  @ParameterizedTest
  @EnumSource
  void whatEndsItInAReaderOfItsCursorFreesItsLocksAndTheCursor(EndInReader how) {
    put("a", "1");
    put("b", "1");
    put("c", "1");
    Transaction tx = begin(Isolation.SERIALIZABLE, Locking.PESSIMISTIC);
    Cursor cursor = tx.cursor(tree);
    put(tx, "a", "2");
    put("b", "theirs");
    assertTrue(cursor.first());
    List<String> seen = new ArrayList<>();
    EntryReader reader =
        (key, value) -> {
          String name = UTF_8.decode(key).toString();
          seen.add(name);
          if (name.equals("b")) {
            end(tx, how);
          }
          return true;
        };
    if (how == EndInReader.CONFLICT) {
      assertThrows(ConflictException.class, () -> cursor.forEach(10, reader));
    } else {
      assertEquals(2, cursor.forEach(10, reader));
    }
    assertEquals(List.of("a", "b"), seen);
    assertFalse(tx.isOpen());
    assertThrows(StoreClosedException.class, cursor::key);
    assertEquals(0, store.stats().readers().cursors());
    assertEquals(0, store.stats().readers().snapshots());
    put("a", "free");
    assertEquals("free", get("a"));
  }

  private void end(Transaction tx, EndInReader how) {
    switch (how) {
      case CONFLICT -> put(tx, "b", "mine");
      case CONFLICT_CAUGHT -> assertThrows(ConflictException.class, () -> put(tx, "b", "mine"));
      case ROLLBACK -> tx.rollback();
      case CLOSE -> tx.close();
    }
  }

  @Test
  void aConflictInAReaderOfItsCursorIsTriedAgain() {
    put("a", "1");
    put("b", "1");
    AtomicInteger attempts = new AtomicInteger();
    store.runInTransaction(
        tx -> {
          Cursor cursor = tx.cursor(tree);
          assertTrue(cursor.first());
          if (attempts.incrementAndGet() == 1) {
            put("b", "2");
          }
          cursor.forEach(
              Long.MAX_VALUE,
              (key, value) -> {
                put(tx, UTF_8.decode(key).toString(), UTF_8.decode(value) + "+");
                return true;
              });
        });
    assertEquals(2, attempts.get());
    assertEquals(Map.of("a", "1+", "b", "2+"), contents(tree));
  }

  @Test
  void aReaderOfItsCursorCantCommitIt() {
    put("a", "1");
    put("b", "1");
    try (Transaction tx = store.begin()) {
      put(tx, "a", "2");
      Cursor cursor = tx.cursor(tree);
      assertTrue(cursor.first());
      long done =
          cursor.forEach(
              10,
              (key, value) -> {
                String message = assertThrows(IllegalStateException.class, tx::commit).getMessage();
                assertTrue(message.contains("can't be committed by an EntryReader"), message);
                return true;
              });
      assertEquals(2, done);
      assertTrue(tx.isOpen());
      tx.commit();
    }
    assertEquals("2", get("a"));
  }

  // ---- what one sees and does

  @Test
  void anActionAtItsEndMayCloseTheStore() {
    Transaction tx = store.begin(TransactionOptions.builder().durability(Durability.SYNC).build());
    put(tx, "a", "1");
    tx.onEnd(store::close);
    tx.commit();
    store = world.open(SimulatedStores.SMALL);
    tree = store.tree("t");
    assertEquals("1", get("a"));
  }

  @Test
  void aBodyThatHasCommittedIsNotRunAgain() {
    put("n", "0");
    AtomicInteger runs = new AtomicInteger();
    try (Transaction other = begin(Isolation.READ_COMMITTED, Locking.PESSIMISTIC)) {
      put(other, "theirs", "1");
      assertThrows(
          LockTimeoutException.class,
          () ->
              store.runInTransaction(
                  READ_COMMITTED,
                  tx -> {
                    put(tx, "n", getForUpdate(tx, "n") + "+");
                    tx.commit();
                    runs.incrementAndGet();
                    try (Transaction next = begin(Isolation.SNAPSHOT, Locking.PESSIMISTIC)) {
                      getForUpdate(next, "theirs");
                    }
                  }));
    }
    assertEquals(1, runs.get());
    assertEquals("0+", get("n"));
  }

  @ParameterizedTest
  @EnumSource(Isolation.class)
  void itSeesItsOwnWritesAndOthersDoNotUntilItCommits(Isolation isolation) {
    put("a", "1");
    for (Locking locking : Locking.values()) {
      try (Transaction tx = begin(isolation, locking)) {
        tx.delete(tree, bytes("a"));
        put(tx, "b", "2");
        assertNull(get(tx, "a"));
        assertNull(getForUpdate(tx, "a"));
        assertEquals("2", get(tx, "b"));
        assertEquals(List.of("b"), scan(tx));
        assertEquals("1", get("a"));
        assertNull(get("b"));
        tx.commit();
        assertFalse(tx.isOpen());
      }
      assertEquals(Map.of("b", "2"), contents(tree));
      tree.delete(bytes("b"));
      put("a", "1");
    }
  }

  @Test
  void whatIsRolledBackOrClosedLeavesNothing() {
    for (boolean close : new boolean[] {false, true}) {
      Transaction tx = store.begin();
      put(tx, "a", "1");
      if (close) {
        tx.close();
      } else {
        tx.rollback();
      }
      tx.close();
      assertTrue(contents(tree).isEmpty());
      put("a", "free");
      tree.delete(bytes("a"));
    }
    assertEquals(2, store.stats().transactions().rolledBack());
    assertEquals(0, store.stats().transactions().open());
  }

  /** The first read keeps what tells of it, the second one has a later moment. */
  @Test
  void aChangeAfterAReadForUpdateIsFoundWhateverWasMergedMeanwhile() {
    for (String how : List.of("put", "delete", "deleteRange")) {
      put("a", "1");
      put("b", "1");
      Transaction tx = store.begin(READ_COMMITTED);
      assertEquals("1", getForUpdate(tx, "a"));
      put("c", "1");
      assertEquals("1", getForUpdate(tx, "b"));
      switch (how) {
        case "put" -> put("b", "2");
        case "delete" -> tree.delete(bytes("b"));
        default -> tree.deleteRange(bytes("b"), bytes("c"));
      }
      store.flush();
      tree.compact(null, null);
      store.awaitQuiet();
      put(tx, "d", how);
      assertThrows(ConflictException.class, tx::commit, how);
    }
  }

  @Test
  void aCommitOverManyTreesIsOneBatch() {
    Tree other = store.openTree("other");
    store.runInTransaction(
        tx -> {
          put(tx, "a", "1");
          tx.put(other, bytes("a"), bytes("2"));
        });
    assertEquals("1", get("a"));
    assertEquals(Map.of("a", "2"), contents(other));
    assertEquals(1, store.stats().transactions().committed());
  }

  @Test
  void lambdasOfAllKindsHaveTheirMethod() throws IOException {
    store.runInTransaction(tx -> put(tx, "a", "1"));
    store.runInTransaction(TransactionOptions.defaults(), tx -> tx.get(tree, bytes("a")));
    assertEquals("1", text(store.inTransaction(tx -> tx.get(tree, bytes("a")))));
    assertEquals(
        "1",
        text(store.inTransaction(TransactionOptions.defaults(), tx -> tx.get(tree, bytes("a")))));
    assertThrows(
        IOException.class,
        () ->
            store.runInTransaction(
                tx -> {
                  put(tx, "a", "2");
                  throw new IOException("no");
                }));
    assertEquals("1", get("a"));
  }

  @Test
  void commitsSurviveReopeningAndOpenTransactionsDoNot() {
    store.inTransaction(
        tx -> {
          put(tx, "a", "1");
          return null;
        });
    Transaction open = store.begin();
    put(open, "b", "2");
    store.close();
    open.close();
    store = world.open(SimulatedStores.SMALL);
    tree = store.tree("t");
    assertEquals(Map.of("a", "1"), contents(tree));
  }

  @Test
  void aValueGoesIntoTheCallersBufferIfItFits() {
    put("a", "12345");
    try (Transaction tx = store.begin()) {
      put(tx, "b", "678");
      tx.delete(tree, bytes("c"));
      ByteBuffer target = ByteBuffer.allocate(8);
      assertEquals(5, tx.get(tree, bytes("a"), target));
      assertEquals(3, tx.get(tree, bytes("b"), target));
      assertEquals(8, target.position());
      assertEquals(5, tx.get(tree, bytes("a"), target));
      assertEquals(3, tx.get(tree, bytes("b"), target));
      assertEquals(8, target.position());
      assertArrayEquals(bytes("12345678"), target.array());
      assertEquals(Tree.NOT_FOUND, tx.get(tree, bytes("c"), target));
      assertEquals(Tree.NOT_FOUND, tx.get(tree, bytes("d"), target));
    }
  }

  @Test
  void whatNobodyCanTakeBackIsNotKept() {
    int length = 20_000;
    int rounds = 5000;
    try (Transaction tx = store.begin()) {
      put(tx, "a", "1");
      tx.savepoint(); // Nobody has it.
      long before = usedHeap();
      for (int i = 0; i < rounds; i++) {
        tx.put(tree, bytes("b"), new byte[length]);
        if (i % 500 == 0) {
          System.gc();
        }
      }
      long more = usedHeap() - before;
      assertTrue(more < (long) rounds * length / 2, more + " bytes are kept");
      // A later one still goes back.
      Savepoint later = tx.savepoint();
      tx.delete(tree, bytes("a"));
      put(tx, "b", "2");
      System.gc();
      put(tx, "b", "3");
      tx.rollbackTo(later);
      assertEquals("1", get(tx, "a"));
      assertArrayEquals(new byte[length], tx.get(tree, bytes("b")));
    }
  }

  private static long usedHeap() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  @Test
  void savepointsAreGoneBackToAsOftenAsIsWanted() {
    try (Transaction tx = store.begin()) {
      put(tx, "a", "1");
      Savepoint first = tx.savepoint();
      put(tx, "a", "2");
      put(tx, "b", "2");
      Savepoint second = tx.savepoint();
      tx.delete(tree, bytes("a"));
      put(tx, "b", "3");
      tx.rollbackTo(second);
      assertEquals("2", get(tx, "a"));
      assertEquals("2", get(tx, "b"));
      put(tx, "c", "3");
      tx.rollbackTo(second);
      assertNull(get(tx, "c"));
      tx.rollbackTo(first);
      assertEquals("1", get(tx, "a"));
      assertNull(get(tx, "b"));
      assertThrows(IllegalArgumentException.class, () -> tx.rollbackTo(second));
      try (Transaction other = store.begin()) {
        assertThrows(IllegalArgumentException.class, () -> other.rollbackTo(first));
      }
      tx.commit();
    }
    assertEquals(Map.of("a", "1"), contents(tree));
  }

  /** All of the merged view against a map, while own writes go on between steps. */
  @ParameterizedTest
  @EnumSource(Isolation.class)
  void cursorsGoOverStoreAndOwnWritesAlike(Isolation isolation) {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int round = 0; round < 20; round++) {
      for (int i = 0; i < 60; i++) {
        tree.put(key(random.nextInt(50)), bytes("s" + i));
        if (random.nextInt(4) == 0) {
          tree.delete(key(random.nextInt(50)));
        }
        if (random.nextInt(40) == 0) {
          store.flush();
        }
      }
      TreeMap<String, String> model = new TreeMap<>(contents(tree));
      try (Transaction tx = begin(isolation, Locking.PESSIMISTIC);
          Cursor cursor = tx.cursor(tree)) {
        for (int i = 0; i < 300; i++) {
          int k = random.nextInt(50);
          String name = new String(key(k), UTF_8);
          switch (random.nextInt(9)) {
            case 0, 1 -> {
              tx.put(tree, key(k), bytes("t" + i));
              model.put(name, "t" + i);
            }
            case 2 -> {
              tx.delete(tree, key(k));
              model.remove(name);
            }
            case 3 -> agree(cursor, cursor.seek(key(k)), model.ceilingEntry(name));
            case 4 -> agree(cursor, cursor.seekBefore(key(k)), model.lowerEntry(name));
            case 5 -> agree(cursor, cursor.first(), model.firstEntry());
            case 6 -> agree(cursor, cursor.last(), model.lastEntry());
            default -> {
              if (cursor.isValid()) {
                String here = new String(cursor.key(), UTF_8);
                if (random.nextBoolean()) {
                  agree(cursor, cursor.next(), model.higherEntry(here));
                } else {
                  agree(cursor, cursor.previous(), model.lowerEntry(here));
                }
              }
            }
          }
        }
        tx.commit();
      }
      assertEquals(model, contents(tree));
    }
  }

  @Test
  void aCursorShowsWhatIsWrittenToTheKeyItStandsOn() {
    for (int i = 0; i < 5; i++) {
      put("k" + i, "0");
    }
    for (boolean back : new boolean[] {false, true}) {
      try (Transaction tx = store.begin();
          Cursor cursor = tx.cursor(tree)) {
        assertTrue(back ? cursor.seekBefore(bytes("k3")) : cursor.seek(bytes("k2")));
        put(tx, "k2", "new");
        assertEquals("new", text(cursor.value()));
        tx.delete(tree, bytes("k2"));
        assertThrows(IllegalStateException.class, cursor::value);
        assertTrue(back ? cursor.previous() : cursor.next());
        assertEquals(back ? "k1" : "k3", text(cursor.key()));
      }
    }
  }

  /** Deletes by each kind of write what a cursor stands on, and looks at it before the step. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aKeyThatIsDeletedUnderACursorStaysWithoutAValueAndIsSteppedFrom(boolean operator) {
    if (operator) {
      tree = store.openTree("merged", TreeOptions.builder().mergeOperator(EMPTY_REMOVES).build());
    }
    List<BiConsumer<Transaction, Savepoint>> removals = new ArrayList<>();
    removals.add((tx, start) -> tx.delete(tree, bytes("k2")));
    removals.add((tx, start) -> tx.deleteRange(tree, bytes("k2"), bytes("k3")));
    removals.add((tx, start) -> tx.rollbackTo(start));
    if (operator) {
      removals.add((tx, start) -> tx.merge(tree, bytes("k2"), new byte[0]));
    }
    for (BiConsumer<Transaction, Savepoint> removal : removals) {
      for (int variant = 0; variant < 8; variant++) {
        boolean back = (variant & 1) != 0;
        boolean forward = (variant & 2) != 0;
        boolean own = removals.indexOf(removal) == 2 || (variant & 4) != 0;
        for (String key : List.of("k1", "k2", "k3")) {
          tree.delete(bytes(key));
        }
        try (Transaction tx = store.begin(READ_COMMITTED)) {
          Savepoint start = tx.savepoint();
          for (String key : List.of("k1", "k2", "k3")) {
            if (!own) {
              put(key, "of " + key);
            } else if (operator) {
              tx.merge(tree, bytes(key), bytes("of " + key));
            } else {
              put(tx, key, "of " + key);
            }
          }
          Cursor cursor = tx.cursor(tree);
          assertTrue(back ? cursor.seekBefore(bytes("k3")) : cursor.seek(bytes("k2")));
          removal.accept(tx, start);
          if (removals.indexOf(removal) == 2) {
            put(tx, "k1", "anew");
            put(tx, "k3", "anew");
          }
          for (int look = 0; look < 2; look++) {
            assertThrows(IllegalStateException.class, cursor::value);
            assertThrows(IllegalStateException.class, cursor::valueLength);
            assertThrows(IllegalStateException.class, cursor::expires);
            assertThrows(IllegalStateException.class, () -> cursor.value(ByteBuffer.allocate(100)));
            assertEquals("k2", text(cursor.key()));
          }
          assertTrue(forward ? cursor.next() : cursor.previous());
          assertEquals(forward ? "k3" : "k1", text(cursor.key()));
          assertNotNull(cursor.value());
        }
      }
    }
  }

  @Test
  void aKeyThatIsPutAgainUnderACursorHasTheNewValue() {
    put("k1", "old");
    try (Transaction tx = store.begin();
        Cursor cursor = tx.cursor(tree)) {
      assertTrue(cursor.first());
      tx.delete(tree, bytes("k1"));
      assertThrows(IllegalStateException.class, cursor::value);
      put(tx, "k1", "new");
      assertEquals("new", text(cursor.value()));
    }
  }

  /** Appends; an empty operand removes what is there. */
  private static final MergeOperator EMPTY_REMOVES =
      new MergeOperator() {
        @Override
        public String name() {
          return "empty-removes";
        }

        @Override
        public byte[] merge(byte[] key, byte[] base, List<byte[]> operands) {
          byte[] value = base;
          for (byte[] operand : operands) {
            boolean first = value == null;
            value =
                operand.length == 0
                    ? null
                    : bytes(first ? text(operand) : text(value) + text(operand));
          }
          return value;
        }
      };

  /** A look at a value that fails leaves the cursor where it is, for the next look. */
  @Test
  void aLookThatAnOperatorFailsLeavesTheCursorOnItsKey() {
    MergeOperator picky =
        new MergeOperator() {
          @Override
          public String name() {
            return "picky";
          }

          @Override
          public byte[] merge(byte[] key, byte[] base, List<byte[]> operands) {
            if (operands.get(operands.size() - 1).length == 0) {
              throw new IllegalArgumentException("empty");
            }
            return operands.get(0);
          }
        };
    tree = store.openTree("merged", TreeOptions.builder().mergeOperator(picky).build());
    for (String key : List.of("k1", "k2", "k3")) {
      put(key, "of " + key);
    }
    try (Transaction tx = store.begin();
        Cursor cursor = tx.cursor(tree)) {
      assertTrue(cursor.seek(bytes("k2")));
      tx.merge(tree, bytes("k2"), new byte[0]);
      for (int look = 0; look < 2; look++) {
        assertThrows(MergeException.class, cursor::value);
      }
      assertTrue(cursor.next());
      assertEquals("k3", text(cursor.key()));
      assertEquals("of k3", text(cursor.value()));
    }
  }

  private static void agree(Cursor cursor, boolean on, Map.Entry<String, String> expected) {
    assertEquals(expected != null, on, "seed " + SEED);
    if (on) {
      assertEquals(expected.getKey(), new String(cursor.key(), UTF_8), "seed " + SEED);
      assertEquals(expected.getValue(), new String(cursor.value(), UTF_8), "seed " + SEED);
      assertEquals(expected.getValue().length(), cursor.valueLength());
    }
  }

  // ---- locks

  @Test
  void whoIsLockedOutLearnsByWhomAndCanGoOn() {
    try (Transaction one = begin(Isolation.SNAPSHOT, Locking.PESSIMISTIC);
        Transaction two = begin(Isolation.SNAPSHOT, Locking.PESSIMISTIC)) {
      put(one, "a", "1");
      LockTimeoutException e = assertThrows(LockTimeoutException.class, () -> put(two, "a", "2"));
      assertTrue(e.getMessage().contains("key 'a' of tree 't'"), e.getMessage());
      assertTrue(e.getMessage().contains(one.toString()), e.getMessage());
      assertEquals("t", e.tree());
      SelfDeadlockException self =
          assertThrows(SelfDeadlockException.class, () -> put("a", "plain"));
      assertTrue(self.getMessage().contains("key 'a' of tree 't'"), self.getMessage());
      assertTrue(self.getMessage().contains(one.toString()), self.getMessage());
      assertThrows(
          SelfDeadlockException.class,
          () ->
              store.write(
                  store
                      .newBatch()
                      .put(tree, bytes("b"), bytes("1"))
                      .put(tree, bytes("a"), bytes("1"))));
      put(two, "b", "2");
      two.commit();
      one.commit();
    }
    assertEquals(Map.of("a", "1", "b", "2"), contents(tree));
    assertEquals(1, store.stats().transactions().lockTimeouts());
  }

  @Test
  void aSnapshotIsTakenOnlyWithTheFirstLock() {
    put("a", "0");
    try (Transaction tx = begin(Isolation.SNAPSHOT, Locking.PESSIMISTIC)) {
      put("a", "1");
      assertEquals("1", getForUpdate(tx, "a"));
      put(tx, "a", "2");
      tx.commit();
    }
    assertEquals("2", get("a"));
  }

  @Test
  void unchangedKeysThatWereFlushedAndMergedDoNotConflict() {
    for (int i = 0; i < 2_000; i++) {
      tree.put(key(i), bytes("0"));
    }
    try (Transaction tx = begin(Isolation.SERIALIZABLE, Locking.OPTIMISTIC)) {
      scan(tx);
      get(tx, "nothing");
      store.flush();
      store.awaitQuiet();
      tx.put(tree, key(5), bytes("1"));
      tx.commit();
    }
    try (Transaction tx = begin(Isolation.SERIALIZABLE, Locking.OPTIMISTIC)) {
      tx.get(tree, key(7));
      tree.put(key(7), bytes("2"));
      store.flush();
      store.awaitQuiet();
      tx.put(tree, key(5), bytes("3"));
      assertThrows(ConflictException.class, tx::commit);
    }
  }

  // ---- bad use

  @Test
  void useAfterItsEndIsRefusedWithTheReason() {
    Transaction committed = store.begin();
    committed.commit();
    assertTrue(refusal(() -> get(committed, "a")).contains("was committed"));
    assertTrue(refusal(committed::commit).contains("was committed"));
    Transaction rolledBack = store.begin();
    rolledBack.rollback();
    assertTrue(refusal(() -> put(rolledBack, "a", "1")).contains("was rolled back"));
    Transaction cursors = store.begin();
    Cursor cursor = cursors.cursor(tree);
    cursors.commit();
    assertThrows(StoreClosedException.class, cursor::first);
    cursor.close();
    try (Transaction loser = begin(Isolation.SNAPSHOT, Locking.PESSIMISTIC)) {
      get(loser, "a");
      put("a", "plain");
      assertThrows(ConflictException.class, () -> put(loser, "a", "1"));
      assertTrue(refusal(() -> get(loser, "a")).contains("was changed by others"));
    }
  }

  private static String refusal(Runnable action) {
    String message = assertThrows(IllegalStateException.class, action::run).getMessage();
    assertTrue(message.startsWith("transaction "), message);
    return message;
  }

  @Test
  void badArgumentsAreRefusedAndLeaveItUsable() {
    Tree unlogged = store.createTree("unlogged", TreeOptions.builder().logged(false).build());
    try (Transaction tx = store.begin();
        Snapshot snapshot = store.snapshot();
        Store second = new SimulatedWorld(1).open(SimulatedStores.SMALL)) {
      Tree foreign = second.openTree("foreign");
      assertThrows(IllegalArgumentException.class, () -> tx.get(foreign, bytes("a")));
      assertThrows(
          IllegalArgumentException.class,
          () -> tx.put(tree, new byte[tree.maxKeyBytes() + 1], bytes("")));
      assertThrows(
          IllegalArgumentException.class,
          () -> tx.put(tree, bytes("a"), new byte[tree.maxValueBytes() + 1]));
      assertThrows(
          IllegalArgumentException.class,
          () -> tx.cursor(tree, CursorOptions.all().snapshot(snapshot)));
      put(tx, "a", "1");
      assertThrows(IllegalArgumentException.class, () -> tx.put(unlogged, bytes("a"), bytes("1")));
      tx.commit();
    }
    assertEquals(Map.of("a", "1"), contents(tree));
    assertThrows(
        IllegalArgumentException.class,
        () -> TransactionOptions.builder().lockTimeout(Duration.ofMillis(-1)).build());
    assertThrows(
        IllegalArgumentException.class, () -> TransactionOptions.builder().maxAttempts(0).build());
  }

  @Test
  void oneThatIsOpenForLongIsReportedOnce() {
    List<StoreListener.LongTransaction> reports = new ArrayList<>();
    store.addListener(
        new StoreListener() {
          @Override
          public void onLongTransaction(LongTransaction event) {
            reports.add(event);
          }
        });
    Transaction tx = store.begin();
    store.begin().close();
    assertTrue(reports.isEmpty());
    world.pass(TimeUnit.SECONDS.toNanos(40));
    assertTrue(store.stats().transactions().oldestNanos() >= TimeUnit.SECONDS.toNanos(40));
    assertEquals(1, reports.size());
    world.pass(TimeUnit.SECONDS.toNanos(100));
    store.begin().close();
    store.begin().close();
    tx.close();
    assertEquals(1, reports.size());
    assertEquals(tx.id(), reports.get(0).id());
  }

  @Test
  void oneBeginsAlsoIfNoThreadWouldTellOfIt() {
    SimulatedClock clock = new SimulatedClock();
    AtomicInteger refused = new AtomicInteger();
    Scheduler scheduler =
        new ForwardingScheduler(new SimulatedScheduler(clock, SEED)) {
          @Override
          public Service.Handle start(Service service) {
            if (service.name().equals("transactions") && refused.incrementAndGet() < 3) {
              throw new OutOfMemoryError("unable to create native thread");
            }
            return super.start(service);
          }
        };
    Environment environment =
        new Environment(new SimulatedStorage(clock), clock, scheduler, new SplittableRandom(SEED));
    try (Store few = Inside.open(environment, SimulatedStores.SMALL)) {
      Tree there = few.openTree("t");
      for (int i = 1; i <= 4; i++) {
        byte[] key = {(byte) i};
        few.runInTransaction(tx -> tx.put(there, key, key));
        assertArrayEquals(key, there.get(key));
      }
    } catch (OutOfMemoryError e) {
      fail(e); // The error itself would end all tests.
    }
    assertEquals(3, refused.get());
  }

  @Test
  void aBodyIsRunAgainUntilItCommitsAndItsExceptionsRollBack() {
    put("a", "0");
    AtomicInteger runs = new AtomicInteger();
    String result =
        store.inTransaction(
            options(Isolation.SNAPSHOT, Locking.OPTIMISTIC),
            tx -> {
              String seen = get(tx, "a");
              if (runs.incrementAndGet() < 4) {
                put("a", "plain" + runs.get());
              }
              put(tx, "a", seen + "+");
              return seen;
            });
    assertEquals(4, runs.get());
    assertEquals("plain3", result);
    assertEquals("plain3+", get("a"));
    assertThrows(
        IOException.class,
        () ->
            store.inTransaction(
                tx -> {
                  put(tx, "a", "never");
                  throw new IOException("the body's own");
                }));
    assertEquals("plain3+", get("a"));
    TransactionOptions twice =
        TransactionOptions.builder().locking(Locking.OPTIMISTIC).maxAttempts(2).build();
    runs.set(0);
    assertThrows(
        ConflictException.class,
        () ->
            store.inTransaction(
                twice,
                tx -> {
                  put(tx, "a", "1");
                  put("a", "plain" + runs.incrementAndGet());
                  return null;
                }));
    assertEquals(2, runs.get());
  }

  @Test
  void aBodyThatCatchesWhatEndedItsTransactionIsRunAgain() {
    put("a", "0");
    AtomicInteger runs = new AtomicInteger();
    store.runInTransaction(
        tx -> {
          String seen = get(tx, "a");
          if (runs.incrementAndGet() == 1) {
            put("a", "theirs");
          }
          try {
            put(tx, "a", seen + "+");
          } catch (ConflictException e) {
            assertFalse(tx.isOpen());
          }
        });
    assertEquals(2, runs.get());
    assertEquals("theirs+", get("a"));
    // What the body has ended itself, it has.
    store.runInTransaction(
        tx -> {
          put(tx, "a", "never");
          tx.rollback();
        });
    assertEquals("theirs+", get("a"));
  }

  @Test
  void whatABodyHasCommittedItselfIsNotRunAgain() {
    put("a", "0");
    AtomicInteger runs = new AtomicInteger();
    ConflictException late =
        assertThrows(
            ConflictException.class,
            () ->
                store.inTransaction(
                    tx -> {
                      runs.incrementAndGet();
                      put(tx, "a", get(tx, "a") + "+");
                      tx.commit();
                      // Such as of a second transaction, which lost against others.
                      throw new ConflictException("t", bytes("b"), "another one");
                    }));
    assertEquals("another one", late.getMessage());
    assertEquals(1, runs.get());
    assertEquals("0+", get("a"));
  }

  /** Whatever is stored: what is wrong with the call does not hang on that. */
  @Test
  void aConditionalWriteOfTooLongAValueIsRefusedBeforeItReads() {
    put("a", "1");
    byte[] tooLong = new byte[tree.maxValueBytes() + 1];
    try (Transaction tx = store.begin()) {
      for (String key : List.of("a", "b")) {
        assertThrows(
            IllegalArgumentException.class, () -> tx.putIfAbsent(tree, bytes(key), tooLong));
        assertThrows(
            IllegalArgumentException.class,
            () -> tx.compareAndSet(tree, bytes(key), bytes("other"), tooLong));
        put(key, "2"); // It was not locked.
      }
      tx.put(tree, bytes("c"), bytes("3"));
      tx.commit();
    }
    assertEquals("3", get("c"));
  }
}
