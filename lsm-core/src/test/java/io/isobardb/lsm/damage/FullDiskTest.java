package io.isobardb.lsm.damage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of a write that a full disk refuses: nothing, at once and for ever. */
class FullDiskTest {
  private static final int VALUE = 700;
  private static final int MOST = 10_000;

  /** The ways to write two keys. */
  enum Way {
    PUT {
      @Override
      void write(Store store, Tree tree, int n) {
        tree.put(SimulatedStores.key(n), SimulatedStores.value(n, VALUE), Durability.SYNC);
      }
    },
    BATCH {
      @Override
      void write(Store store, Tree tree, int n) {
        WriteBatch batch = store.newBatch();
        batch.put(tree, SimulatedStores.key(n), SimulatedStores.value(n, VALUE));
        store.write(batch, Durability.SYNC);
      }
    },
    TRANSACTION {
      @Override
      void write(Store store, Tree tree, int n) {
        TransactionOptions sync = TransactionOptions.builder().durability(Durability.SYNC).build();
        try (Transaction transaction = store.begin(sync)) {
          transaction.put(tree, SimulatedStores.key(n), SimulatedStores.value(n, VALUE));
          transaction.commit();
        }
      }
    };

    abstract void write(Store store, Tree tree, int n);
  }

  private final SimulatedClock clock = new SimulatedClock();
  private final SimulatedStorage storage = new SimulatedStorage(clock);
  private final List<Integer> written = new ArrayList<>();
  private final List<Integer> refused = new ArrayList<>();

  @ParameterizedTest
  @EnumSource
  void whatIsRefusedIsNotThereAndWhatIsAcknowledgedIsDurable(Way way) {
    int next = 0;
    SimulatedScheduler scheduler = new SimulatedScheduler(clock, 1);
    try (Store store = SimulatedStores.open(storage, clock, scheduler, 1)) {
      Tree tree = store.openTree("t");
      for (int round = 0; round < 12; round++) {
        storage.capacityBytes(storage.usedBytes() + round * 24_000L);
        int end = next + MOST;
        boolean full = false;
        while (!full && next < end) {
          full = !write(way, store, tree, next++);
        }
        assertTrue(full, "the disk is never full");
        check(tree);
        checkAfterPowerFailure();
        storage.capacityBytes(Long.MAX_VALUE);
        if (round % 2 == 0) {
          store.sync();
        }
        clock.advance(1_000_000_000L);
        scheduler.runUntilIdle();
        store.flush();
        assertTrue(write(way, store, tree, next++), "there is room again");
        check(tree);
      }
    }
    try (Store store = SimulatedStores.open(storage, clock, 2)) {
      check(store.tree("t"));
    }
  }

  /** Whichever step of its commit finds no room. */
  @Test
  void aLoadWhoseCommitFindsNoRoomHasFailed() {
    SimulatedScheduler scheduler = new SimulatedScheduler(clock, 1);
    try (Store store = SimulatedStores.open(storage, clock, scheduler, 1)) {
      Tree tree = store.openTree("t");
      for (int n = 0; n < 1000; n++) {
        tree.put(SimulatedStores.key(n), SimulatedStores.value(n, VALUE));
      }
      BulkLoad load = store.bulkLoad(tree);
      load.add(tree, SimulatedStores.key(5000), SimulatedStores.value(1, VALUE));
      // For the SSTable of the load, but not for what is flushed before it.
      storage.capacityBytes(storage.usedBytes() + 100_000);
      assertThrows(DiskFullException.class, load::commit);
      storage.capacityBytes(Long.MAX_VALUE);
      clock.advance(1_000_000_000L);
      scheduler.runUntilIdle();
      IllegalStateException ended = assertThrows(IllegalStateException.class, load::commit);
      assertEquals("the bulk load has failed", ended.getMessage());
      byte[] next = SimulatedStores.key(5001);
      assertThrows(IllegalStateException.class, () -> load.add(tree, next, next));
      load.close();
      store.flush();
      assertNull(tree.get(SimulatedStores.key(5000)));
      assertArrayEquals(SimulatedStores.value(7, VALUE), tree.get(SimulatedStores.key(7)));
    }
  }

  private boolean write(Way way, Store store, Tree tree, int n) {
    try {
      way.write(store, tree, n);
      written.add(n);
      return true;
    } catch (DiskFullException e) {
      refused.add(n);
      return false;
    }
  }

  private void checkAfterPowerFailure() {
    SimulatedStorage left = storage.crash(new SplittableRandom(1), CrashMode.ONLY_SYNCED);
    left.capacityBytes(Long.MAX_VALUE);
    try (Store store = SimulatedStores.open(left, clock, 3)) {
      check(store.tree("t"));
    }
  }

  private void check(Tree tree) {
    for (int n : refused) {
      assertNull(tree.get(SimulatedStores.key(n)), "refused, and there: " + n);
    }
    for (int n : written) {
      assertArrayEquals(
          SimulatedStores.value(n, VALUE), tree.get(SimulatedStores.key(n)), "lost: " + n);
    }
  }
}
