package io.isobardb.lsm.model;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Backups;
import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Isolation;
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
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.schedule.Service;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.repair.StoreInspector;
import io.isobardb.repair.StoreRepair;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Entries that expire, as users see them. */
class ExpiryTest {
  private static final StoreOptions OPTIONS =
      SimulatedStores.SMALL.toBuilder().durability(Durability.SYNC).build();

  private static final TreeOptions SHORT =
      TreeOptions.builder().timeToLive(Duration.ofMillis(100)).build();

  private static final TransactionOptions LATEST =
      TransactionOptions.builder()
          .isolation(Isolation.READ_COMMITTED)
          .locking(Locking.OPTIMISTIC)
          .build();

  private SimulatedWorld world = new SimulatedWorld(1);
  private Store store;
  private Tree tree;

  private void open() {
    store = world.open(OPTIONS);
    tree = store.openTree("t");
  }

  private void reopen() {
    store.close();
    open();
  }

  private void pass(long millis) {
    world.pass(millis * 1_000_000);
  }

  private Instant in(long millis) {
    return Instant.ofEpochMilli(world.clock().wallMillis() + millis);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static byte[] key(int i) {
    return SimulatedStores.key(i);
  }

  private void fill(int from, int to, Instant expires) {
    for (int i = from; i < to; i++) {
      tree.put(key(i), new byte[200], expires);
    }
  }

  private StoreStats.TreeStats stats() {
    return store.stats().trees().get(0);
  }

  @Test
  void anEntryIsThereUntilItsMillisecond() {
    open();
    tree.put(bytes("k"), bytes("old"));
    tree.put(bytes("k"), bytes("v"), in(10));
    pass(9);
    assertArrayEquals(bytes("v"), tree.get(bytes("k")));
    pass(1);
    assertNull(tree.get(bytes("k")), "it hides what is older");
    assertFalse(tree.contains(bytes("k")));
    assertNull(tree.multiGet(List.of(bytes("k"))).get(0));
    assertFalse(tree.cursor().first());
    store.flush();
    assertNull(tree.get(bytes("k")));
    store.close();
  }

  @Test
  void aTreesTimeToLiveCountsFromTheCallAndAnInstantGoesBeforeIt() {
    open();
    tree = store.openTree("short", SHORT);
    assertEquals(Duration.ofMillis(100), tree.options().timeToLive());
    tree.put(bytes("a"), bytes("1"));
    tree.put(bytes("b"), bytes("2"), Instant.MAX);
    tree.put(bytes("c"), bytes("3"), in(150));
    WriteBatch batch = store.newBatch().put(tree, bytes("d"), bytes("4"));
    batch.put(tree, bytes("e"), bytes("5"), Instant.MIN);
    pass(50);
    store.write(batch);
    try (Cursor cursor = tree.cursor()) {
      assertTrue(cursor.first());
      assertEquals(in(50), cursor.expires());
      assertTrue(cursor.next());
      assertNull(cursor.expires());
    }
    pass(50);
    assertEquals("{b=2, c=3}", SimulatedStores.contents(tree).toString());
    pass(50);
    assertEquals("{b=2}", SimulatedStores.contents(tree).toString());
    store.close();
  }

  @Test
  void anotherTimeToLiveIsForWhatIsWrittenFromThenOn() {
    open();
    tree = store.openTree("short", SHORT);
    tree.put(bytes("a"), bytes("1"));
    tree.setTimeToLive(Duration.ZERO);
    tree.put(bytes("b"), bytes("2"));
    reopen();
    tree = store.openTree("short");
    assertEquals(Duration.ZERO, tree.timeToLive());
    tree = store.openTree("short", SHORT);
    assertEquals(Duration.ofMillis(100), tree.timeToLive());
    pass(101);
    assertEquals("{b=2}", SimulatedStores.contents(tree).toString());
    store.dropTree("short");
    assertEquals(Duration.ZERO, store.createTree("short", TreeOptions.defaults()).timeToLive());
    Duration longest = Duration.ofDays(36_500);
    for (Duration bad :
        List.of(
            Duration.ofMillis(-1),
            Duration.ofNanos(5),
            Duration.ofNanos(999_999),
            longest.plusNanos(1),
            Duration.ofSeconds(Long.MAX_VALUE),
            Duration.ofSeconds(Long.MIN_VALUE))) {
      String message =
          assertThrows(IllegalArgumentException.class, () -> tree.setTimeToLive(bad)).getMessage();
      assertTrue(message.startsWith("timeToLive must be from a millisecond to 36500 days, or 0"));
      TreeOptions.Builder options = TreeOptions.builder().timeToLive(bad);
      assertThrows(IllegalArgumentException.class, options::build);
    }
    tree = store.tree("short");
    tree.setTimeToLive(longest);
    assertEquals(longest, tree.timeToLive());
    store.close();
  }

  @Test
  void anInstantMayBeAsEarlyOrAsLateAsThereAre() {
    open();
    Instant lastMillis = Instant.ofEpochMilli(Long.MAX_VALUE);
    List<Instant> past =
        List.of(
            Instant.MIN,
            Instant.ofEpochMilli(Long.MIN_VALUE),
            Instant.EPOCH.minusNanos(1),
            Instant.EPOCH,
            in(0));
    List<Instant> future =
        List.of(
            in(1), lastMillis.minusSeconds(1), lastMillis, lastMillis.plusNanos(1), Instant.MAX);
    List<Instant> all = new ArrayList<>(past);
    all.addAll(future);
    for (int i = 0; i < all.size(); i++) {
      tree.put(key(i), bytes("old"));
      tree.put(key(i), bytes("put"), all.get(i));
      store.write(store.newBatch().put(tree, key(100 + i), bytes("batch"), all.get(i)));
      try (Transaction transaction = store.begin()) {
        transaction.put(tree, key(200 + i), bytes("transaction"), all.get(i));
        transaction.commit();
      }
    }
    Tree loaded = store.openTree("loaded");
    try (BulkLoad load = store.bulkLoad(loaded)) {
      for (int i = 0; i < all.size(); i++) {
        load.add(loaded, key(i), bytes("loaded"), all.get(i));
      }
      load.commit();
    }
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < all.size(); i++) {
        boolean there = i >= past.size();
        for (int kind = 0; kind < 300; kind += 100) {
          assertEquals(there, tree.contains(key(kind + i)), all.get(i) + " by " + kind);
        }
        assertEquals(there, loaded.contains(key(i)), all.get(i) + " loaded");
      }
      if (round == 0) {
        reopen();
      } else {
        store.flush();
      }
      loaded = store.openTree("loaded");
    }
    pass(1);
    assertEquals(3 * (future.size() - 1), SimulatedStores.contents(tree).size());
    store.close();
  }

  @Test
  void conditionalWritesSeeNoExpiredKey() {
    open();
    tree.put(bytes("k"), bytes("v"), in(10));
    assertArrayEquals(bytes("v"), tree.putIfAbsent(bytes("k"), bytes("w")));
    pass(10);
    assertFalse(tree.compareAndSet(bytes("k"), bytes("v"), bytes("x")));
    assertNull(tree.putIfAbsent(bytes("k"), bytes("w")));
    assertArrayEquals(bytes("w"), tree.get(bytes("k")));
    store.close();
  }

  @Test
  void aMergedValueExpiresWithItsYoungestOperand() {
    open();
    TreeOptions options = SHORT.toBuilder().mergeOperator(MergeOperator.APPEND).build();
    tree = store.openTree("appended", options);
    tree.merge(bytes("k"), bytes("a"));
    pass(60);
    tree.merge(bytes("k"), bytes("b"));
    pass(60);
    assertArrayEquals(bytes("ab"), tree.get(bytes("k")));
    store.flush();
    assertArrayEquals(bytes("ab"), tree.get(bytes("k")));
    pass(40);
    assertNull(tree.get(bytes("k")));
    tree.merge(bytes("k"), bytes("c"));
    assertArrayEquals(bytes("c"), tree.get(bytes("k")), "merged with nothing");
    store.close();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aTransactionsCursorSeesItsOwnExpiredPutsBothWays(boolean operator) {
    open();
    if (operator) {
      TreeOptions append = TreeOptions.builder().mergeOperator(MergeOperator.APPEND).build();
      tree = store.openTree("merged", append);
    }
    tree.put(key(0), bytes("stored"), in(10));
    tree.put(key(3), bytes("stored"), in(10));
    try (Transaction transaction =
        store.begin(TransactionOptions.builder().isolation(Isolation.READ_COMMITTED).build())) {
      transaction.put(tree, key(1), bytes("a"), in(10));
      transaction.put(tree, key(2), bytes("b"), in(10));
      if (operator) {
        transaction.merge(tree, key(2), bytes("c"));
      }
      pass(20);
      Cursor cursor = transaction.cursor(tree);
      for (boolean back : new boolean[] {false, true}) {
        assertTrue(back ? cursor.last() : cursor.first());
        assertArrayEquals(key(back ? 2 : 1), cursor.key());
        assertArrayEquals(transaction.get(tree, cursor.key()), cursor.value());
        assertTrue(back ? cursor.previous() : cursor.next());
        assertArrayEquals(key(back ? 1 : 2), cursor.key());
        assertArrayEquals(transaction.get(tree, cursor.key()), cursor.value());
        assertFalse(back ? cursor.previous() : cursor.next());
      }
    }
    store.close();
  }

  private Tree appended() {
    return appended(true);
  }

  private Tree appended(boolean logged) {
    TreeOptions.Builder options = TreeOptions.builder().mergeOperator(MergeOperator.APPEND);
    return store.openTree("appended", options.logged(logged).build());
  }

  /** Has something happen while the next call waits, which finds no other work to wait for. */
  private void meanwhile(Runnable action) {
    AtomicBoolean done = new AtomicBoolean();
    Service once =
        new Service() {
          @Override
          public String name() {
            return "meanwhile";
          }

          @Override
          public boolean ready() {
            return !done.get();
          }

          @Override
          public void run() {
            if (done.compareAndSet(false, true)) {
              action.run();
            }
          }

          @Override
          public void onFailed(Throwable cause) {
            throw new AssertionError(cause);
          }
        };
    Inside.of(store).engine().environment().scheduler().start(once);
  }

  @ParameterizedTest
  @CsvSource({"3, true", "3, false", "9000, true", "9000, false"})
  void anOperandThatWaitsForALockIsMergedWithWhatIsThereAfterwards(int length, boolean logged) {
    open();
    tree = appended(logged);
    byte[] operand = new byte[length];
    tree.put(bytes("k"), bytes("base"), in(50));
    Transaction holder = store.begin();
    holder.getForUpdate(tree, bytes("k"));
    meanwhile(
        () -> {
          pass(100);
          assertNull(tree.get(bytes("k")));
          holder.rollback();
        });
    tree.merge(bytes("k"), operand);
    assertArrayEquals(operand, tree.get(bytes("k")));
    store.flush();
    assertArrayEquals(operand, tree.get(bytes("k")));
    store.close();
  }

  @Test
  void anOperandThatWaitsMayFindThatSomethingExpiresSince() {
    open();
    tree = appended();
    Transaction holder = store.begin();
    holder.getForUpdate(tree, bytes("k"));
    meanwhile(
        () -> {
          holder.put(tree, bytes("k"), bytes("base"), in(50));
          holder.commit();
          pass(100);
        });
    tree.merge(bytes("k"), bytes("+op"));
    assertArrayEquals(bytes("+op"), tree.get(bytes("k")));
    store.close();
  }

  @Test
  void anOperandWaitsInABatchOrTransactionUntilItIsWritten() {
    open();
    tree = appended();
    WriteBatch batch = store.newBatch();
    byte[] large = new byte[9_000];
    batch.merge(tree, bytes("a"), bytes("+op")).merge(tree, bytes("b"), large);
    Transaction transaction = store.begin(LATEST);
    transaction.merge(tree, bytes("c"), bytes("+op"));
    transaction.merge(tree, bytes("d"), large);
    for (String key : List.of("a", "b", "c", "d")) {
      tree.put(bytes(key), bytes("base"), in(50));
    }
    pass(100);
    assertEquals("{}", SimulatedStores.contents(tree).toString());
    store.write(batch);
    transaction.commit();
    for (int round = 0; round < 2; round++) {
      assertArrayEquals(bytes("+op"), tree.get(bytes("a")));
      assertArrayEquals(large, tree.get(bytes("b")));
      assertArrayEquals(bytes("+op"), tree.get(bytes("c")));
      assertArrayEquals(large, tree.get(bytes("d")));
      reopen();
      tree = appended();
    }
    store.close();
  }

  @Test
  void aBatchThatWaitsIsWrittenAsOfItsPlace() {
    open();
    tree = appended();
    tree.put(bytes("a"), bytes("base"), in(50));
    Transaction holder = store.begin();
    holder.getForUpdate(tree, bytes("a"));
    WriteBatch batch = store.newBatch().merge(tree, bytes("a"), bytes("+op"));
    batch.put(tree, bytes("b"), bytes("base"), in(50)).merge(tree, bytes("b"), bytes("+op"));
    batch.put(tree, bytes("c"), bytes("base"), in(500)).merge(tree, bytes("c"), bytes("+op"));
    meanwhile(
        () -> {
          pass(100);
          holder.rollback();
        });
    store.write(batch);
    assertEquals("{a=+op, b=+op, c=base+op}", SimulatedStores.contents(tree).toString());
    reopen();
    tree = appended();
    assertEquals("{a=+op, b=+op, c=base+op}", SimulatedStores.contents(tree).toString());
    store.close();
  }

  @Test
  void whatABatchPutsMayExpireBeforeItIsWritten() {
    open();
    TreeOptions options = TreeOptions.builder().mergeOperator(MergeOperator.APPEND).build();
    tree = store.openTree("appended", options);
    WriteBatch batch = store.newBatch();
    batch.put(tree, bytes("k"), bytes("a"), in(10)).merge(tree, bytes("k"), bytes("b"));
    store.write(batch);
    assertArrayEquals(bytes("ab"), tree.get(bytes("k")));
    batch.clear();
    batch.put(tree, bytes("l"), bytes("a"), in(10)).merge(tree, bytes("l"), bytes("b"));
    pass(10);
    store.write(batch);
    assertArrayEquals(bytes("b"), tree.get(bytes("l")));
    try (Transaction transaction = store.begin()) {
      transaction.put(tree, bytes("m"), bytes("a"), in(10));
      transaction.merge(tree, bytes("m"), bytes("b"));
      pass(10);
      assertArrayEquals(bytes("ab"), transaction.get(tree, bytes("m")), "as long as it does");
      try (Cursor cursor = transaction.cursor(tree, CursorOptions.prefix(bytes("m")))) {
        assertTrue(cursor.first());
        assertArrayEquals(bytes("ab"), cursor.value());
      }
      transaction.commit();
    }
    assertArrayEquals(bytes("b"), tree.get(bytes("m")));
    store.close();
  }

  @Test
  void aSnapshotSeesWhatHadNotExpiredWhenItWasTaken() {
    open();
    fill(0, 500, in(50));
    try (Snapshot snapshot = store.snapshot()) {
      pass(1000);
      store.flush();
      store.awaitQuiet();
      assertNull(tree.get(key(7)));
      assertNotNull(tree.get(key(7), snapshot));
    }
    store.awaitQuiet();
    assertEquals(0, stats().diskBytes());
    store.close();
  }

  @Test
  void nothingOfWhatHasExpiredIsLeftOnceItIsQuiet() {
    open();
    fill(0, 2000, in(60_000));
    store.flush();
    fill(2000, 3000, in(60_000));
    store.awaitQuiet();
    assertTrue(stats().diskBytes() > 400_000, stats().toString());
    pass(30_000);
    store.awaitQuiet();
    assertTrue(stats().diskBytes() > 400_000, stats().toString());
    pass(30_000);
    long read = store.stats().mergeBytesRead();
    store.awaitQuiet();
    assertEquals(0, stats().diskBytes());
    assertEquals(0, tree.approximateEntries());
    assertEquals(read, store.stats().mergeBytesRead(), "SSTables of which all has expired");
    store.close();
  }

  @Test
  void anIdleTreeLosesWhatHasExpiredByItself() {
    open();
    fill(0, 2000, in(20_000));
    store.flush();
    store.awaitQuiet();
    assertTrue(stats().diskBytes() > 0);
    pass(25_000);
    assertEquals(0, stats().diskBytes());
    store.close();
  }

  @Test
  void aFewExpiredEntriesAmongManyGoWhenItIsAskedFor() {
    open();
    for (int i = 0; i < 2000; i++) {
      tree.put(key(i), new byte[200], i % 50 == 0 ? in(20_000) : Instant.MAX);
    }
    store.flush();
    store.awaitQuiet();
    pass(25_000);
    assertEquals(2000, tree.approximateEntries(), "too few to rewrite the others for them");
    store.awaitQuiet();
    assertEquals(1960, tree.approximateEntries());
    store.close();
  }

  @Test
  void anExpiredEntryIsKeptAsADeleteWhileItHidesAnOlderOne() {
    open();
    fill(0, 500, Instant.MAX);
    store.flush();
    store.awaitQuiet();
    fill(0, 500, in(10));
    pass(10);
    store.flush();
    assertFalse(tree.cursor().first());
    store.awaitQuiet();
    assertFalse(tree.cursor().first());
    reopen();
    assertFalse(tree.cursor().first());
    store.close();
  }

  /** As with a clock that has lost its battery, or has counted seconds beyond 32 bits. */
  @Test
  void aStoreUnderAClockBeforeTheEpochCanBeOpenedAndEntriesExpireOnceTheClockIsRight() {
    long right = world.clock().wallMillis();
    world.clock().jumpWall(-2 * right);
    open();
    tree = store.openTree("short", SHORT);
    tree.put(bytes("k"), bytes("v"));
    store.flush();
    store.close();
    open();
    tree = store.tree("short");
    assertArrayEquals(bytes("v"), tree.get(bytes("k")));
    world.clock().jumpWall(2 * right);
    pass(1);
    assertNull(tree.get(bytes("k")));
    store.close();
  }

  @Test
  void theClockIsNotSetBackByARestart() {
    open();
    tree.put(bytes("k"), bytes("v"), in(100));
    pass(100);
    assertNull(tree.get(bytes("k")));
    store.close();
    world.clock().jumpWall(-60_000);
    open();
    assertNull(tree.get(bytes("k")), "it was gone already");
    tree.put(bytes("l"), bytes("v"), in(60_000).plusMillis(1));
    assertNotNull(tree.get(bytes("l")));
    pass(59_999);
    assertNotNull(tree.get(bytes("l")), "the clock stands still until the machine's is there");
    pass(2);
    assertNull(tree.get(bytes("l")));
    store.close();
  }

  @Test
  void aClockThatWasAheadIsForgotten() {
    for (long leap : new long[] {3_600_000, 10 * 365 * 86_400_000L}) {
      world = new SimulatedWorld(1);
      world.clock().jumpWall(leap);
      open();
      tree.put(bytes("old"), bytes("v"), in(100));
      pass(100);
      assertNull(tree.get(bytes("old")));
      store.flush();
      store.close();
      world.clock().jumpWall(-leap);
      open();
      assertEquals(1, store.stats().clockLeaps());
      putInEachWay(600_000);
      pass(599_000);
      assertEquals(6, SimulatedStores.contents(tree).size());
      store.flush();
      store.awaitQuiet();
      assertEquals(6, SimulatedStores.contents(tree).size());
      pass(1_000);
      assertEquals("{}", SimulatedStores.contents(tree).toString());
      reopen();
      assertEquals(0, store.stats().clockLeaps(), "it was noted");
      store.close();
    }
  }

  /** In six ways, over keys that do not expire. */
  private void putInEachWay(long millis) {
    Tree timed =
        store.openTree("t", TreeOptions.builder().timeToLive(Duration.ofMillis(millis)).build());
    for (int i = 0; i < 5; i++) {
      tree.put(key(i), bytes("old"), Instant.MAX);
    }
    timed.put(key(0), bytes("v"));
    tree.put(key(1), bytes("v"), in(millis));
    store.write(store.newBatch().put(tree, key(2), bytes("v"), in(millis)));
    try (Transaction transaction = store.begin()) {
      transaction.put(tree, key(3), bytes("v"), in(millis));
      transaction.commit();
    }
    assertTrue(tree.compareAndSet(key(4), bytes("old"), bytes("v")));
    try (BulkLoad load = store.bulkLoad(tree)) {
      load.add(tree, key(5), bytes("v"), in(millis));
      load.commit();
    }
  }

  @Test
  void whatHasExpiredByALeapOnlyIsThereAgainIfTheClockIsSetRight() {
    open();
    fill(0, 500, in(600_000));
    store.flush();
    fill(500, 1000, in(600_000));
    world.clock().jumpWall(86_400_000);
    assertNull(tree.get(key(1)));
    store.awaitQuiet();
    assertEquals("{}", SimulatedStores.contents(tree).toString());
    world.clock().jumpWall(-86_400_000);
    assertEquals(1000, SimulatedStores.contents(tree).size());
    assertEquals(2, store.stats().clockLeaps());
    world.clock().jumpWall(86_400_000);
    assertNull(tree.get(key(1)));
    pass(3_600_000);
    store.awaitQuiet();
    assertEquals(0, stats().diskBytes(), "a leap that stays is believed after an hour");
    store.close();
  }

  @Test
  void aSnapshotAfterTheClockWasSetBackKeepsWhatItSees() {
    for (boolean written : new boolean[] {false, true}) {
      world = new SimulatedWorld(1);
      open();
      fill(0, 500, in(600_000));
      world.clock().jumpWall(86_400_000);
      try (Snapshot ahead = store.snapshot()) {
        assertNull(tree.get(key(1), ahead));
        world.clock().jumpWall(-86_400_000);
        if (written) {
          tree.put(bytes("k"), bytes("v"));
        }
        try (Snapshot back = store.snapshot()) {
          store.snapshot().close();
          assertNotNull(tree.get(key(1), back));
          pass(600_000);
          store.flush();
          store.awaitQuiet();
          assertNull(tree.get(key(1)));
          assertNull(tree.get(key(1), ahead));
          assertNotNull(tree.get(key(1), back));
        }
      }
      store.close();
    }
  }

  /** The log alone says what counts, whatever the clock is when it is replayed. */
  @Test
  void aReplayUnderAnotherClockGivesWhatTheStoreHad() {
    for (long day : new long[] {0, 86_400_000, -86_400_000}) {
      world = new SimulatedWorld(1);
      open();
      tree = appended();
      tree.setTimeToLive(Duration.ofSeconds(700));
      for (long leap : new long[] {86_400_000, -30_000, -86_400_000, 20_000, -7_200_000}) {
        writeAll();
        world.clock().jumpWall(leap);
        assertNotNull(tree.get(key(0)));
        writeAll();
      }
      SimulatedWorld live = world;
      Store first = store;
      Tree before = tree;
      SimulatedWorld after =
          new SimulatedWorld(
              world.storage().crash(new SplittableRandom(1), CrashMode.ONLY_SYNCED), 2);
      after.clock().jumpWall(live.clock().wallMillis() - after.clock().wallMillis() + day);
      world = after;
      open();
      assertTrue(store.stats().clockLeaps() <= 1);
      after.clock().jumpWall(-day);
      tree = appended();
      assertTrue(SimulatedStores.contents(tree).size() > 5);
      for (int i = 0; i < 40; i++) {
        assertEquals(
            SimulatedStores.contents(before).toString(), SimulatedStores.contents(tree).toString());
        live.clock().advance(20_000_000_000L);
        after.clock().advance(20_000_000_000L);
      }
      store.close();
      first.close();
    }
  }

  /** Operands and what they are merged with, some of which expires soon. */
  private void writeAll() {
    tree.put(key(0), bytes("0"), Instant.MAX);
    for (int i = 1; i < 10; i++) {
      Instant soon = in(60_000L * i);
      tree.put(key(i), bytes("a"), soon);
      tree.merge(key(i), bytes("b"));
      store.write(store.newBatch().put(tree, key(10 + i), bytes("c"), soon));
      store.write(store.newBatch().merge(tree, key(10 + i), bytes("d")));
      try (Transaction transaction = store.begin()) {
        transaction.put(tree, key(20 + i), bytes("e"), soon);
        transaction.merge(tree, key(20 + i), bytes("f"));
        transaction.commit();
      }
      tree.merge(key(30), bytes("g"));
    }
  }

  @Test
  void whatThePutsClockHasYetToComeToIsNoDelete() {
    open();
    tree.put(bytes("k"), bytes("v"), in(10));
    world.clock().jumpWall(-30_000);
    putInEachWay(10_000);
    assertEquals(7, SimulatedStores.contents(tree).size());
    pass(10_000);
    assertNotNull(tree.get(key(1)), "it lives a minute longer");
    pass(60_000);
    assertEquals("{}", SimulatedStores.contents(tree).toString());
    assertEquals(0, store.stats().clockLeaps());
    store.close();
  }

  @Test
  void norByACrashBehindWhatAMergeWentBy() {
    open();
    fill(0, 500, in(100));
    pass(100);
    store.flush();
    SimulatedWorld after =
        new SimulatedWorld(
            world.storage().crash(new SplittableRandom(1), CrashMode.ONLY_SYNCED), 2);
    store.close();
    world = after;
    open();
    tree.put(bytes("first"), bytes("looks at the clock"), Instant.MAX);
    assertFalse(tree.cursor(CursorOptions.prefix(bytes("key"))).first());
    store.close();
  }

  /** The machine's clock is set back, too. */
  @Test
  void norByACrashBehindWhatAReadWentByASecondBefore() {
    open();
    tree.put(bytes("k"), bytes("v"), in(100));
    pass(100);
    assertNull(tree.get(bytes("k")));
    pass(2_000);
    SimulatedWorld after =
        new SimulatedWorld(
            world.storage().crash(new SplittableRandom(1), CrashMode.ONLY_SYNCED), 2);
    store.close();
    world = after;
    world.clock().jumpWall(-60_000);
    open();
    assertNull(tree.get(bytes("k")), "it was gone already");
    store.close();
  }

  @Test
  void theTimeIsNotNotedWhileNobodyAsksForIt() {
    open();
    tree.put(bytes("k"), bytes("v"), in(3_600_000));
    assertNotNull(tree.get(bytes("k")));
    pass(5_000);
    long before = world.storage().mutations();
    pass(40_000); // the memory tuner writes its file after a minute
    assertEquals(before, world.storage().mutations());
    assertNotNull(tree.get(bytes("k")));
    pass(5_000);
    assertTrue(world.storage().mutations() > before, "that a read asked was not noted");
    store.close();
  }

  @Test
  void copiesAndRepairedStoresKeepTheTimes(@TempDir Path temp) {
    Path original = temp.resolve("original");
    Instant late = Instant.parse("2100-01-01T00:00:00Z");
    StoreOptions real = OPTIONS.toBuilder().durability(Durability.ASYNC).build();
    try (Store made = Store.open(original, real)) {
      Tree timed = made.openTree("t", SHORT);
      timed.put(bytes("a"), new byte[9000], late);
      made.flush();
      timed.put(bytes("b"), bytes("2"), late.plusMillis(1));
      timed.put(bytes("c"), bytes("3"), Instant.MAX);
      made.checkpointTo(temp.resolve("copy"));
    }
    StoreRepair.run(original, temp.resolve("repaired"), real, CheckProgress.NONE);
    for (String name : List.of("original", "copy", "repaired")) {
      try (Store found = Store.open(temp.resolve(name), real)) {
        Tree kept = found.tree("t");
        assertEquals(SHORT.timeToLive(), kept.timeToLive(), name);
        try (Cursor cursor = kept.cursor()) {
          assertTrue(cursor.first());
          assertEquals(late, cursor.expires(), name);
          assertEquals(9000, cursor.valueLength());
          assertTrue(cursor.next());
          assertEquals(late.plusMillis(1), cursor.expires(), name);
          assertTrue(cursor.next());
          assertNull(cursor.expires(), name);
        }
      }
    }
  }

  /** Copies of a store whose clock is wrong go by the machine's clock. */
  @Test
  void copiesOfAStoreWhoseClockWasAheadAreNot(@TempDir Path temp) throws IOException {
    world.clock().jumpWall(100 * 365 * 86_400_000L);
    open();
    tree.put(bytes("old"), bytes("v"), in(100));
    tree.put(bytes("lasting"), bytes("v"), Instant.MAX);
    pass(100);
    assertNull(tree.get(bytes("old")));
    store.flush();
    store.checkpointTo(temp.resolve("copy"));
    try (Backups backups = Backups.open(temp.resolve("backups"))) {
      backups.restore(backups.create(store).id(), temp.resolve("restored"));
    }
    store.close();
    StoreOptions real = OPTIONS.toBuilder().durability(Durability.ASYNC).build();
    StoreRepair.run(temp.resolve("copy"), temp.resolve("repaired"), real, CheckProgress.NONE);
    for (String name : List.of("copy", "restored", "repaired")) {
      Path directory = temp.resolve(name);
      String note = notes(directory).toString();
      assertTrue(note.contains("clock was ahead"), name + ": " + note);
      try (Store found = Store.openReadOnly(directory, real)) {
        assertEquals("{lasting=v}", SimulatedStores.contents(found.tree("t")).toString(), name);
      }
      try (Store found = Store.open(directory, real)) {
        assertEquals(1, found.stats().clockLeaps(), name);
        Tree copied = found.tree("t");
        copied.put(bytes("k"), bytes("v"), Instant.now().plusSeconds(86_400));
        assertEquals("{k=v, lasting=v}", SimulatedStores.contents(copied).toString(), name);
      }
      assertFalse(notes(directory).toString().contains("clock was ahead"), name);
    }
  }

  private static List<String> notes(Path directory) throws IOException {
    try (StoreInspector inspector = StoreInspector.open(directory, OPTIONS)) {
      return inspector.check(CheckProgress.NONE).notes();
    }
  }
}
