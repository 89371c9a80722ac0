package io.isobardb.lsm.budget;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What hurts users of such stores elsewhere, each as a test with the name of the pain.
 *
 * <p>The rest of that list has tests of its own: an idle or empty tree is small in {@code
 * ManyTreesTest}; reads do not fail for want of memory in {@code SmallBudgetTest}; a writer goes on
 * when a reader lets go in {@code WriterStallTest}; the log stays within its limit in {@code
 * LogLimitTest}; the budget changes while running in {@code MemoryBudgetTest}; use after close in
 * {@code StoreErrorsTest}; virtual threads in {@code VirtualThreadsTest}.
 */
@Tag("any-jdk")
class FieldTest {
  private static final long BUDGET = 8 << 20;

  private static StoreOptions.Builder options() {
    return StoreOptions.builder().memoryBudget(BUDGET).pageSize(4096).logLimit(16 << 20);
  }

  private static StoreStats.TreeStats stats(Store store, String tree) {
    return store.stats().trees().stream()
        .filter(stats -> stats.name().equals(tree))
        .findFirst()
        .orElseThrow();
  }

  private static void assertWithinBudget(Store store) {
    long peak = store.stats().ledger().peakBytes();
    long limit = store.stats().ledger().limitBytes();
    assertTrue(peak <= limit, () -> peak + " bytes of " + limit + " were allocated");
  }

  /** Writers of one tree hang, since all memory belongs to another, which nobody writes to. */
  @Test
  void anIdleTreeThatOwnsTheWriteMemoryIsFlushedForTheOthers() {
    SimulatedWorld world = new SimulatedWorld(1);
    try (Store store = world.open(options().build())) {
      Tree idle = store.openTree("idle");
      long limit = store.stats().writeMemoryLimitBytes();
      for (int i = 0; stats(store, "idle").memoryBytes() < limit / 4 * 3; i++) {
        idle.put(key(i), value(i, 400));
      }
      long owned = stats(store, "idle").memoryBytes();
      Tree busy = store.openTree("busy");
      for (int i = 0; i < 20_000; i++) {
        busy.put(key(i % 8000), value(i, 400));
        world.background(1);
      }
      long left = stats(store, "idle").memoryBytes();
      assertTrue(left < owned / 4, () -> "the idle tree keeps " + left + " of " + owned);
      assertArrayEquals(value(0, 400), idle.get(key(0)));
      assertWithinBudget(store);
    }
  }

  /** Writers wait, nothing is under way that would wake them, and no counter tells of it. */
  @Test
  void nobodyStallsWithoutAFlushUnderWayAndEveryStallIsCounted() throws IOException {
    for (long seed = 1; seed <= 3; seed++) {
      SimulatedClock clock = new SimulatedClock();
      StallWatch watch = new StallWatch(new SimulatedScheduler(clock, seed));
      Environment environment =
          new Environment(new SimulatedStorage(clock), clock, watch, new SplittableRandom(seed));
      List<StoreListener.Stall> told = new ArrayList<>();
      try (Store store = Inside.open(environment, options().build())) {
        store.addListener(
            new StoreListener() {
              @Override
              public void onStalled(Stall event) {
                told.add(event);
              }
            });
        List<Tree> trees = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
          trees.add(store.openTree("t" + i));
        }
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 30_000; i++) {
          trees.get(Math.min(3, random.nextInt(8))).put(key(random.nextInt(9000)), value(i, 400));
        }
        assertEquals(List.of(), watch.alone());
        assertTrue(watch.waits() > 0, "no writer had to wait");
        long counted = 0;
        long nanos = 0;
        for (StallReason reason : StallReason.values()) {
          counted += store.stats().stalls().get(reason).count();
          nanos += store.stats().stalls().get(reason).nanos();
        }
        assertEquals(told.size(), counted);
        assertEquals(told.stream().mapToLong(StoreListener.Stall::nanos).sum(), nanos);
        assertTrue(nanos > 0, "the waits took no time");
      }
    }
  }

  /** A thousand stores with memory of their own outgrow the machine; trees share one budget. */
  @Test
  void aThousandTreesThatAreAllWrittenStayWithinOneBudget() {
    int count = 1000;
    int rounds = 24;
    SimulatedWorld world = new SimulatedWorld(2);
    StoreOptions options = options().memoryBudget(16 << 20).build();
    try (Store store = world.open(options)) {
      List<Tree> trees = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        trees.add(store.openTree("t" + i));
      }
      for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < count; i++) {
          trees.get(i).put(key(round), value(i + round, 400));
        }
      }
      assertWithinBudget(store);
      assertTrue(store.stats().flushes() > 0, "all fits into memory");
      for (int i = 0; i < count; i += 7) {
        assertArrayEquals(value(i + rounds - 1, 400), trees.get(i).get(key(rounds - 1)));
        assertArrayEquals(value(i, 400), trees.get(i).get(key(0)));
      }
      assertWithinBudget(store);
    }
    try (Store store = world.open(options)) {
      assertEquals(count, store.treeNames().size());
      assertArrayEquals(value(5, 400), store.tree("t5").get(key(0)));
      assertWithinBudget(store);
    }
  }

  /** A partition is added where memory is full, and from then on writers stall. */
  @Test
  void treesThatAreAddedUnderLoadStallNobodyForLong() {
    SimulatedWorld world = new SimulatedWorld(3);
    List<Long> stalls = new ArrayList<>();
    try (Store store = world.open(options().build())) {
      store.addListener(
          new StoreListener() {
            @Override
            public void onStalled(Stall event) {
              stalls.add(event.nanos());
            }
          });
      List<Tree> trees = new ArrayList<>();
      SplittableRandom random = new SplittableRandom(3);
      long[] nanos = new long[3];
      for (int phase = 0; phase < 3; phase++) {
        trees.add(store.openTree("t" + trees.size()));
        trees.add(store.openTree("t" + trees.size()));
        long start = world.clock().nanos();
        for (int i = 0; i < 10_000; i++) {
          trees.get(random.nextInt(trees.size())).put(key(random.nextInt(20_000)), value(i, 400));
          world.background(2);
        }
        nanos[phase] = world.clock().nanos() - start;
        // The new ones get their share of the memory.
        long newest = stats(store, "t" + (trees.size() - 1)).memoryBytes();
        assertTrue(newest > 0, "phase " + phase + ": the newest tree holds nothing");
      }
      long longest = stalls.stream().mapToLong(stall -> stall).max().orElse(0);
      assertTrue(longest < 1_000_000_000, () -> "somebody waited for " + longest + " ns");
      assertTrue(
          nanos[2] < 4 * nanos[0] + 1_000_000_000,
          () -> "slower: " + List.of(nanos[0], nanos[1], nanos[2]));
      assertWithinBudget(store);
    }
  }

  /** Trees that were written once keep the log of all the others from being cut. */
  @Test
  void coldTreesDoNotPinTheLog() {
    long limit = 1 << 20;
    SimulatedWorld world = new SimulatedWorld(4);
    StoreOptions options = options().logLimit(limit).build();
    long longest = 0;
    try (Store store = world.open(options)) {
      for (int i = 0; i < 300; i++) {
        store.openTree("cold" + i).put(bytes("k"), value(i, 10));
      }
      Tree hot = store.openTree("hot");
      for (int i = 0; i < 40_000; i++) {
        hot.put(key(i % 50), value(i, 200));
        world.background(2);
        if (i % 50 == 0) {
          longest = Math.max(longest, store.stats().logSizeBytes());
        }
        if (i % 5000 == 0) {
          store.tree("cold" + i / 5000).put(bytes("k2"), value(i, 10));
        }
      }
      for (int i = 0; i < 300; i++) {
        assertArrayEquals(value(i, 10), store.tree("cold" + i).get(bytes("k")));
      }
    }
    long size = longest;
    assertTrue(size < 2 * limit, () -> "the log grew to " + size + " bytes");
  }

  /** A cursor that is left open keeps memory and files of all that has been replaced since. */
  @Test
  void aLongCursorPinsNeitherMemoryNorFiles() throws IOException {
    SimulatedWorld world = new SimulatedWorld(5);
    try (Store store = world.open(options().build())) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 3000; i++) {
        tree.put(key(i), value(1, 400));
      }
      try (Cursor cursor = tree.cursor()) {
        assertTrue(cursor.seek(key(100)));
        for (int round = 0; round < 8; round++) {
          for (int i = 0; i < 3000; i++) {
            tree.put(key(i), value(round, 400));
            world.background(1);
          }
        }
        store.flush();
        store.awaitQuiet();
        assertWithinBudget(store);
        int live = stats(store, "t").tables();
        long files = world.storage().list().stream().filter(name -> name.endsWith(".sst")).count();
        assertTrue(files <= live + 2, () -> files + " files, but " + live + " SSTables are live");
        long held = stats(store, "t").memoryBytes();
        assertTrue(held < BUDGET / 8, () -> "all is flushed, but " + held + " bytes are held");
        // And still it sees what it saw when it was opened.
        for (int i = 100; i < 3000; i++) {
          assertArrayEquals(key(i), cursor.key());
          assertArrayEquals(value(1, 400), cursor.value());
          assertEquals(i < 2999, cursor.next());
        }
      }
    }
    world.checkClosed();
  }

  /** What was taken from a store is closed after it, in whatever order. */
  @Test
  void closingInTheWrongOrderHarmsNothing() throws IOException {
    for (long seed = 1; seed <= 20; seed++) {
      SimulatedWorld world = new SimulatedWorld(seed);
      SplittableRandom random = new SplittableRandom(seed);
      List<AutoCloseable> open = new ArrayList<>();
      Store store = world.open(options().build());
      Tree tree = store.openTree("t");
      for (int i = 0; i < 200; i++) {
        tree.put(key(i), value(i, 400));
      }
      Snapshot snapshot = store.snapshot();
      Cursor plain = tree.cursor();
      plain.first();
      Cursor old = tree.cursor(CursorOptions.all().snapshot(snapshot));
      old.last();
      Transaction transaction = store.begin();
      transaction.put(tree, bytes("t"), bytes("never"));
      Cursor own = transaction.cursor(tree);
      own.first();
      open.addAll(List.of(snapshot, plain, old, transaction, own, store));
      while (!open.isEmpty()) {
        AutoCloseable next = open.remove(random.nextInt(open.size()));
        try {
          next.close();
          if (random.nextBoolean()) {
            next.close();
          }
        } catch (Exception e) {
          throw new AssertionError("seed " + seed + ": closing " + next, e);
        }
      }
      assertThrows(StoreClosedException.class, () -> tree.get(key(1)));
      assertThrows(StoreClosedException.class, plain::first);
      world.checkClosed();
      try (Store again = world.open(options().build())) {
        assertEquals(200, SimulatedStores.contents(again.tree("t")).size(), "seed " + seed);
      }
    }
  }

  /** Objects of a closed store, transactions and their cursors included, tell what is wrong. */
  @Test
  void useOfATransactionAfterItsStoreWasClosedIsAnException() {
    SimulatedWorld world = new SimulatedWorld(6);
    Store store = world.open(options().build());
    Tree tree = store.openTree("t");
    tree.put(bytes("k"), bytes("v"));
    Transaction transaction = store.begin();
    transaction.put(tree, bytes("k"), bytes("w"));
    Cursor cursor = transaction.cursor(tree);
    assertTrue(cursor.first());
    store.close();
    assertThrows(StoreClosedException.class, () -> transaction.get(tree, bytes("k")));
    assertThrows(StoreClosedException.class, () -> transaction.put(tree, bytes("k"), bytes("x")));
    assertThrows(StoreClosedException.class, transaction::commit);
    assertThrows(StoreClosedException.class, cursor::next);
    assertThrows(StoreClosedException.class, store::begin);
    transaction.close();
    try (Store again = world.open(options().build())) {
      assertArrayEquals(bytes("v"), again.tree("t").get(bytes("k")));
    }
  }

  /** With memory full of pinned pages, reads fail; so users switch the limit off. */
  @Test
  void aStrictLimitFailsNoReadAndNoCursor() {
    SimulatedWorld world = new SimulatedWorld(7);
    try (Store store = world.open(options().memoryBudget(4 << 20).build())) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 20_000; i++) {
        tree.put(key(i), value(i, 400));
      }
      List<Cursor> cursors = new ArrayList<>();
      for (int i = 0; i < 400; i++) {
        Cursor cursor = tree.cursor();
        assertTrue(cursor.seek(key(i * 50)));
        cursors.add(cursor);
      }
      for (int i = 0; i < 20_000; i += 97) {
        assertArrayEquals(value(i, 400), tree.get(key(i)));
        tree.put(key(i), value(i + 1, 400));
      }
      for (int i = 0; i < 400; i++) {
        assertTrue(cursors.get(i).next());
        assertArrayEquals(value(i * 50 + 1, 400), cursors.get(i).value());
        cursors.get(i).close();
      }
      assertWithinBudget(store);
    }
  }

  /** Memory that is off the heap is not given back, a little with each store. */
  @Test
  void aStoreThatIsClosedGivesAllItsMemoryBack() {
    long before = -1;
    for (int round = 0; round < 5; round++) {
      SimulatedWorld world = new SimulatedWorld(round);
      try (Store store = world.open(options().build())) {
        Tree tree = store.openTree("t");
        for (int i = 0; i < 8000; i++) {
          tree.put(key(i), value(i, 400));
        }
        tree.cursor().first();
        assertFalse(tree.get(key(1)).length == 0);
      }
      long used = io.isobardb.memory.system.Region.heldBytes();
      if (round > 0) {
        assertEquals(before, used, "bytes off the heap after round " + round);
      }
      before = used;
    }
  }
}
