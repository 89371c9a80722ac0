package io.isobardb.lsm.state;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.TooManyRangeDeletesException;
import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.range.RangeMemory;
import io.isobardb.lsm.range.TreeRanges;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.memory.stats.Purpose;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The memory of range deletes: counted in the ledger, bounded, waited for, refused. */
@Tag("any-jdk")
class RangeMemoryTest {
  private static final long FIRST_SEED = Long.getLong("isobar.seed", 1);
  private static final int SEEDS = 2;
  private static final byte[] VALUE = new byte[50];

  private static final StoreOptions LARGE =
      StoreOptions.builder().memoryBudget(32 << 20).pageSize(4096).build();

  private SimulatedWorld world;
  private Store store;
  private Tree tree;

  private void open(SimulatedWorld in, StoreOptions options) {
    world = in;
    store = world.open(options);
    tree = store.openTree("t");
  }

  private void open(StoreOptions options) {
    open(new SimulatedWorld(1), options);
  }

  /** Keys of 80 bytes: a range delete counts for about 400 bytes. */
  private static byte[] key(int i) {
    return bytes(String.format("%080d", i));
  }

  private RangeMemory memory() {
    return Inside.of(store).parts().engine().catalog().rangeMemory();
  }

  private long stalls() {
    return store.stats().stalls().get(StallReason.RANGE_DELETES).count();
  }

  private void assertCounted() {
    long kept = 0;
    for (TreeHandle handle : Inside.of(store).parts().engine().catalog().trees()) {
      kept += handle.states().current().rangeBytes();
    }
    assertEquals(kept, memory().bytes());
    long counted = store.stats().ledger().bytes(Purpose.RANGE_DELETES);
    assertEquals(Math.min(kept, memory().mostBytes()), counted);
  }

  private void delete(int number) {
    tree.deleteRange(key(2 * number), key(2 * number + 1), Durability.ASYNC);
  }

  /** Disjoint range deletes until one is refused; gives how many were not. */
  private int deleteUntilRefused() {
    int count = 0;
    while (true) {
      try {
        delete(count);
      } catch (TooManyRangeDeletesException e) {
        assertTrue(e.getMessage().contains("tree 't'"), e.getMessage());
        assertTrue(e.getMessage().contains(memory().mostBytes() + " bytes"), e.getMessage());
        return count;
      }
      count++;
    }
  }

  @Test
  void aWriterWaitsForAFlushAndIsRefusedWhileASnapshotKeepsAll() {
    open(SimulatedStores.SMALL);
    tree.put(key(0), VALUE);
    Snapshot snapshot = store.snapshot();
    int count = deleteUntilRefused();
    assertTrue(stalls() > 0, "nobody waited for a flush");
    assertTrue(memory().bytes() <= memory().mostBytes(), "beyond the bound");
    assertTrue(memory().bytes() > memory().mostBytes() / 10 * 9, "refused too early");
    TreeRanges ranges = Inside.handle(tree).states().current().ranges();
    assertTrue(ranges.unsaved().isEmpty(), "a flush would have freed some");
    assertCounted();

    tree.put(key(1), VALUE);
    tree.delete(key(3));
    store.flush();
    tree.compact(null, null);
    assertNull(tree.get(key(0)));
    assertArrayEquals(VALUE, tree.get(key(1)));
    assertArrayEquals(VALUE, tree.get(key(0), snapshot));
    // Nothing was written of what was refused.
    tree.put(key(2 * count), VALUE);
    assertThrows(TooManyRangeDeletesException.class, () -> delete(count));
    assertNotNull(tree.get(key(2 * count)));

    // One that waits finds what nobody needs any more.
    snapshot.close();
    long before = stalls();
    delete(count);
    assertEquals(before + 1, stalls());
    assertTrue(memory().bytes() < memory().mostBytes() / 10, "nothing was given back");
    assertNull(tree.get(key(2 * count)));
    assertCounted();
    store.close();
  }

  @Test
  void closedSnapshotsGiveTheirMomentsBack() {
    open(SimulatedStores.SMALL);
    List<Snapshot> snapshots = new ArrayList<>();
    assertThrows(
        TooManyRangeDeletesException.class,
        () -> {
          while (true) {
            snapshots.add(store.snapshot());
            tree.deleteRange(null, key(snapshots.size()), Durability.ASYNC);
          }
        });
    snapshots.forEach(Snapshot::close);
    long flushes = store.stats().flushes();
    tree.deleteRange(null, key(snapshots.size()));
    assertEquals(flushes, store.stats().flushes(), "no flush is needed for that");
    assertTrue(memory().bytes() < memory().mostBytes() / 10, "nothing was given back");
    store.flush();
    assertTrue(memory().bytes() < 200, "of a tree that holds nothing");
    assertCounted();
    store.close();
  }

  @Test
  void whatHidesNothingGoesOnceTheSnapshotIsClosed() {
    open(SimulatedStores.SMALL);
    Snapshot snapshot = store.snapshot();
    int count = deleteUntilRefused();
    snapshot.close();
    delete(count);
    assertTrue(memory().bytes() < memory().mostBytes() / 10, "nothing was given back");
    store.close();
  }

  @Test
  void beyondHalfOfItWhatIsUnsavedIsFlushedWithoutAWait() {
    open(SimulatedStores.SMALL);
    tree.put(key(0), VALUE);
    Snapshot snapshot = store.snapshot();
    long before = 0;
    for (int i = 0; store.stats().flushes() == 0; i++) {
      before = memory().bytes();
      delete(i);
      world.background(1);
    }
    assertTrue(before > memory().mostBytes() / 10 * 4, "too early: " + before);
    assertTrue(before < memory().mostBytes() / 10 * 8, "too late: " + before);
    assertEquals(0, stalls());
    snapshot.close();
    store.close();
  }

  @Test
  void aTransactionThatIsRefusedHasWrittenNothing() {
    open(SimulatedStores.SMALL);
    tree.put(key(0), VALUE);
    Snapshot snapshot = store.snapshot();
    int count = deleteUntilRefused();
    Transaction transaction = store.begin();
    transaction.put(tree, key(7), VALUE);
    transaction.deleteRange(tree, key(2 * count), key(2 * count + 1));
    assertThrows(TooManyRangeDeletesException.class, transaction::commit);
    transaction.close();
    assertNull(tree.get(key(7)));
    // With the transaction's lock gone, one without range deletes commits.
    store.runInTransaction(other -> other.put(tree, key(7), VALUE));
    assertArrayEquals(VALUE, tree.get(key(7)));
    snapshot.close();
    store.close();
  }

  @Test
  void aBatchPassesWholeOrNotAtAll() {
    open(LARGE);
    tree.put(key(0), VALUE);
    Snapshot snapshot = store.snapshot();
    int batches = 0;
    while (batches < 10 && write(batch(10_000 * batches, 10_000))) {
      batches++;
    }
    assertEquals(1, batches, "of 4 MB for all");
    assertTrue(write(batch(1_000_000, 500)), "a smaller one has room");
    assertCounted();
    snapshot.close();
    store.close();
  }

  @Test
  void aWriteThatCanNeverPassIsRefusedAtOnce() {
    open(SimulatedStores.SMALL);
    WriteBatch batch = batch(0, 2_000);
    Exception refused = assertThrows(IllegalArgumentException.class, () -> store.write(batch));
    assertTrue(refused.getMessage().contains("memoryBudget"), refused.getMessage());
    assertEquals(0, stalls());
    assertEquals(0, memory().bytes());
    store.close();
  }

  private WriteBatch batch(int from, int count) {
    WriteBatch batch = store.newBatch();
    for (int i = from; i < from + count; i++) {
      batch.deleteRange(tree, key(2 * i), key(2 * i + 1));
    }
    return batch;
  }

  private boolean write(WriteBatch batch) {
    try {
      store.write(batch);
      return true;
    } catch (TooManyRangeDeletesException e) {
      return false;
    }
  }

  @Test
  void aReplayGoesBeyondTheBound() {
    open(LARGE);
    store.write(batch(0, 5_000), Durability.SYNC);
    SimulatedStorage disk = world.storage().crash(new SplittableRandom(1), CrashMode.ONLY_SYNCED);
    store.close();

    open(new SimulatedWorld(disk, 1), SimulatedStores.SMALL);
    assertTrue(memory().bytes() > 2 * memory().mostBytes(), "nothing to be beyond");
    assertCounted();
    tree.put(key(0), VALUE);
    assertArrayEquals(VALUE, tree.get(key(0)));
    delete(0);
    assertEquals(1, stalls());
    assertNull(tree.get(key(0)));
    store.close();
  }

  @Test
  void aFullDiskEndsTheWait() {
    open(SimulatedStores.SMALL);
    tree.put(key(0), VALUE);
    Snapshot snapshot = store.snapshot();
    int count = 0;
    while (memory().bytes() < memory().mostBytes() / 10 * 4) {
      delete(count++);
    }
    world.storage().capacityBytes(0);
    int first = count;
    assertThrows(
        DiskFullException.class,
        () -> {
          for (int i = first; ; i++) {
            delete(i);
          }
        });
    world.storage().capacityBytes(Long.MAX_VALUE);
    snapshot.close();
    store.close();
  }

  @Test
  void aLargerBudgetHasRoomForMore() {
    open(SimulatedStores.SMALL);
    tree.put(key(0), VALUE);
    Snapshot snapshot = store.snapshot();
    int count = deleteUntilRefused();
    store.setMemoryBudget(8 << 20);
    for (int i = 0; i < 100; i++) {
      delete(count + i);
    }
    assertCounted();
    store.setMemoryBudget(4 << 20);
    assertCounted();
    snapshot.close();
    store.close();
  }

  @Test
  void theLedgerHasWhatTheTreesKeep() {
    open(SimulatedStores.SMALL);
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<Snapshot> snapshots = new ArrayList<>();
      for (int step = 0; step < 200; step++) {
        step(random, snapshots);
        assertCounted();
      }
      snapshots.forEach(Snapshot::close);
    }
    store.dropTree("t");
    assertCounted();
    store.close();
  }

  private void step(SplittableRandom random, List<Snapshot> snapshots) {
    int from = random.nextInt(100);
    switch (random.nextInt(12)) {
      case 0 -> snapshots.add(store.snapshot());
      case 1 -> snapshots.forEach(Snapshot::close);
      case 2 -> store.flush();
      case 3 -> tree.compact(null, null);
      case 4 -> store.write(batch(from, 1 + random.nextInt(20)));
      case 5 -> tree.deleteRange(null, key(from), Durability.ASYNC);
      case 6 -> reopen(snapshots);
      case 7, 8 -> tree.put(key(from), VALUE);
      default -> tree.deleteRange(key(from), key(from + 1 + random.nextInt(20)));
    }
  }

  private void reopen(List<Snapshot> snapshots) {
    snapshots.clear();
    store.close();
    open(world, SimulatedStores.SMALL);
  }
}
