package io.isobardb.lsm.threads;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.schedule.FailingLog;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.store.LeakWatch;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What users forget to close is counted, and named if they ask for it. */
class LeakWatchTest {
  private final SimulatedWorld world = new SimulatedWorld(20_261_122);
  private final Queue<StoreListener.Leak> told = new ConcurrentLinkedQueue<>();

  @AfterEach
  void switchOff() {
    System.clearProperty(LeakWatch.SWITCH);
  }

  private Store open() {
    Store store = world.open(SimulatedStores.SMALL);
    store.addListener(
        new StoreListener() {
          @Override
          public void onLeaked(Leak event) {
            told.add(event);
          }
        });
    return store;
  }

  private List<String> whats() {
    return told.stream().map(StoreListener.Leak::what).sorted().toList();
  }

  private void assertOrigins(String method) {
    for (StoreListener.Leak leak : told) {
      assertTrue(
          Arrays.stream(leak.origin().getStackTrace())
              .anyMatch(frame -> frame.getMethodName().equals(method)),
          () -> leak.what() + " does not come from " + method);
    }
  }

  private static void forget(Store store) {
    Tree tree = store.openTree("t");
    store.snapshot();
    tree.cursor();
    store.begin();
  }

  private static void useAndClose(Store store) {
    Tree tree = store.openTree("t");
    try (Snapshot snapshot = store.snapshot();
        Cursor cursor = tree.cursor(CursorOptions.all().snapshot(snapshot));
        Transaction first = store.begin();
        Transaction second = store.begin()) {
      cursor.first();
      first.put(tree, bytes("k"), bytes("v"));
      first.commit();
      second.cursor(tree, CursorOptions.all()).first();
    }
  }

  @Test
  void whatIsLeftWhenTheStoreIsClosedIsToldWithItsOrigin() {
    System.setProperty(LeakWatch.SWITCH, "true");
    Store store = open();
    useAndClose(store);
    forget(store);
    world.pass(TimeUnit.SECONDS.toNanos(7));
    List<String> open = Inside.of(store).openHandles();
    assertEquals(4, open.size(), open.toString());
    assertTrue(open.get(0).startsWith("the store, for 7 s"), open.toString());
    assertTrue(told.isEmpty());
    store.close();
    assertEquals(List.of("a cursor over tree t", "a snapshot", "a transaction"), whats());
    assertOrigins("forget");
    store.close();
    assertEquals(3, told.size(), "told twice");
  }

  @Test
  void aStoreIsClosedThoughTheLogFails() {
    Store store = open();
    forget(store);
    try (FailingLog log = new FailingLog(LeakWatch.class)) {
      store.close();
      assertTrue(log.isAsked());
    }
    world.open(SimulatedStores.SMALL).close();
  }

  @Test
  void nothingIsToldOfAStoreWhoseUsersCloseAll() {
    System.setProperty(LeakWatch.SWITCH, "true");
    try (Store store = open()) {
      useAndClose(store);
      assertEquals(1, Inside.of(store).openHandles().size());
    }
    assertEquals(List.of(), whats());
  }

  @Test
  void withoutTheSwitchOnlyNumbersAreKept() {
    Store store = open();
    useAndClose(store);
    assertEquals(new StoreStats.ReaderStats(0, 0, 0, 0), store.stats().readers());
    forget(store);
    assertEquals(1, store.stats().readers().snapshots());
    assertEquals(1, store.stats().readers().cursors());
    assertEquals(1, store.stats().transactions().open());
    assertEquals(List.of(), Inside.of(store).openHandles());
    store.close();
    assertEquals(List.of(), whats());
  }

  @Test
  void theOldestReaderIsToldWithItsAgeAndWhatItHoldsBack() {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      tree.put(bytes("k"), bytes("1"));
      Snapshot snapshot = store.snapshot();
      world.pass(TimeUnit.SECONDS.toNanos(5));
      Snapshot same = store.snapshot();
      tree.put(bytes("k"), new byte[1000]);
      world.pass(TimeUnit.SECONDS.toNanos(5));
      Cursor cursor = tree.cursor(CursorOptions.all().snapshot(snapshot));
      Snapshot later = store.snapshot();
      snapshot.close();
      same.close();
      StoreStats.ReaderStats readers = store.stats().readers();
      assertEquals(1, readers.snapshots());
      assertTrue(readers.oldestNanos() >= TimeUnit.SECONDS.toNanos(10), readers.toString());
      assertTrue(readers.behindBytes() >= 1000, readers.toString());
      cursor.close();
      world.pass(TimeUnit.SECONDS.toNanos(1));
      readers = store.stats().readers();
      assertTrue(readers.oldestNanos() < TimeUnit.SECONDS.toNanos(2), readers.toString());
      assertEquals(0, readers.behindBytes());
      later.close();
      try (Transaction transaction = store.begin()) {
        transaction.get(tree, bytes("k"));
        world.pass(TimeUnit.SECONDS.toNanos(3));
        assertTrue(store.stats().readers().oldestNanos() >= TimeUnit.SECONDS.toNanos(3));
      }
      assertEquals(new StoreStats.ReaderStats(0, 0, 0, 0), store.stats().readers());
    }
  }

  @Test
  void aSnapshotThatIsLostIsToldOfWhileTheStoreIsOpen() {
    System.setProperty(LeakWatch.SWITCH, "true");
    try (Store store = open()) {
      lose(Store::snapshot, store);
      awaitTold();
      assertEquals(List.of("a snapshot"), whats());
      assertOrigins("lose");
    }
    assertEquals(1, told.size(), "told again by closing");
  }

  @Test
  void aStoreThatIsLostIsToldOf() {
    System.setProperty(LeakWatch.SWITCH, "true");
    openAndLose();
    awaitTold();
    assertEquals(List.of("the store"), whats());
    assertOrigins("openAndLose");
  }

  private static void lose(Consumer<Store> taking, Store store) {
    taking.accept(store);
  }

  private void openAndLose() {
    useAndClose(open());
  }

  /** Until garbage collection has noticed; it has many chances. */
  private void awaitTold() {
    for (int i = 0; i < 500 && told.isEmpty(); i++) {
      System.gc();
      Thread.yield();
    }
  }
}
