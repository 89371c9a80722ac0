package io.isobardb.lsm.budget;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.DeflateCodec;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.memory.pool.AllocationFaults;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each allocation of a short life of a store fails, one per run: a page or a block that the pool
 * refuses, once or many times in a row.
 *
 * <p>A call may tell that, and then has done all or nothing, or wait. What was acknowledged is
 * there, the store goes on, no page is lost, and it can be closed and opened.
 *
 * <p>{@code -Disobar.allocation.stride=K} lets every K-th fail alone, {@code
 * -Disobar.allocation.first=N} begins with that one.
 */
@Tag("any-jdk")
class AllocationFaultsTest {
  private static final int STRIDE = Integer.getInteger("isobar.allocation.stride", 7);
  private static final int FIRST = Integer.getInteger("isobar.allocation.first", 0);

  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(4 << 20).pageSize(4096).logLimit(1 << 20).build();

  /** Fails the allocations from one on, so many of them. */
  private static final class Faults implements AllocationFaults {
    private final int from;
    private final int count;
    private int seen;
    private int failed;
    private boolean lifted;
    private @Nullable Purpose purpose;

    Faults(int from, int count) {
      this.from = from;
      this.count = count;
    }

    @Override
    public boolean refuses(Purpose of) {
      int number = seen++;
      if (lifted || number < from || failed == count) {
        return false;
      }
      failed++;
      purpose = of;
      return true;
    }

    @Override
    public String toString() {
      return "allocation " + from + " failed, for " + purpose + ", and " + failed + " in all";
    }
  }

  /** One life of a store, and what has to be there. */
  private static final class Life {
    private final SimulatedClock clock = new SimulatedClock();
    private final SimulatedStorage storage = new SimulatedStorage(clock);
    private final Faults faults;
    private final Map<String, byte[]> written = new HashMap<>();

    /** What a write that failed may have left, beside what was there. */
    private final Map<String, List<byte[]>> doubtful = new HashMap<>();

    private int told;

    Life(Faults faults) {
      this.faults = faults;
    }

    private Store open() {
      for (int attempt = 0; ; attempt++) {
        try {
          return Inside.open(
              new Environment(
                  storage,
                  clock,
                  new SimulatedScheduler(clock, 7),
                  new SplittableRandom(7),
                  faults),
              OPTIONS);
        } catch (OutOfBudgetException e) {
          told++;
          assertEquals(0, storage.openFiles(), "files left open by an open that failed");
          assertEquals(0, e.getSuppressed().length, () -> Arrays.toString(e.getSuppressed()));
          assertTrue(attempt <= faults.count, "never opens");
        }
      }
    }

    /** Makes a call that may fail for want of memory; whether it did not. */
    private boolean call(Runnable call) {
      try {
        call.run();
        return true;
      } catch (OutOfBudgetException e) {
        told++;
        return false;
      }
    }

    private void put(Store store, String tree, byte[] key, byte @Nullable [] value) {
      Tree to = store.tree(tree);
      String name = tree + "/" + new String(key);
      boolean done =
          call(
              () -> {
                if (value == null) {
                  to.delete(key);
                } else {
                  to.put(key, value);
                }
              });
      note(name, value, done);
    }

    private void note(String name, byte @Nullable [] value, boolean done) {
      if (done) {
        written.put(name, value);
        doubtful.remove(name);
      } else {
        doubtful.computeIfAbsent(name, k -> new ArrayList<>()).add(value);
      }
    }

    private void check(Store store) {
      for (Map.Entry<String, byte[]> entry : written.entrySet()) {
        String[] name = entry.getKey().split("/");
        byte[] found = store.tree(name[0]).get(name[1].getBytes());
        if (Arrays.equals(entry.getValue(), found)) {
          continue;
        }
        List<byte[]> others = doubtful.getOrDefault(entry.getKey(), List.of());
        assertTrue(
            others.stream().anyMatch(other -> Arrays.equals(other, found)),
            () -> entry.getKey() + " is lost or wrong");
      }
    }

    private void scan(Store store) {
      call(
          () -> {
            try (Snapshot snapshot = store.snapshot();
                Cursor cursor =
                    store.tree("plain").cursor(CursorOptions.all().snapshot(snapshot))) {
              int seen = 0;
              for (boolean more = cursor.first(); more && seen < 150; more = cursor.next()) {
                seen += cursor.value().length == 0 ? 0 : 1;
              }
              for (boolean more = cursor.last(); more && seen < 200; more = cursor.previous()) {
                seen++;
              }
              assertEquals(200, seen);
            }
          });
    }

    /** Everything that takes memory, in little time. */
    private void live() {
      try (Store store = open()) {
        call(() -> store.openTree("plain"));
        call(
            () ->
                store.openTree(
                    "packed",
                    TreeOptions.builder()
                        .compression(Compression.LZ4.last(DeflateCodec.NAME))
                        .build()));
        store.openTree("plain");
        store.openTree(
            "packed",
            TreeOptions.builder().compression(Compression.LZ4.last(DeflateCodec.NAME)).build());
        for (int i = 0; i < 200; i++) {
          put(store, "plain", key(i), value(i, 150));
        }
        put(store, "plain", bytes("large"), value(3, 30_000));
        for (int round = 0; round < 4; round++) {
          for (int i = 0; i < 40; i++) {
            put(store, "packed", key(i * 3), value(i + round, 300));
          }
          batch(store, round);
          call(store::flush);
        }
        put(store, "plain", key(3), null);
        put(store, "plain", bytes("large"), value(4, 20_000));
        scan(store);
        call(store::awaitQuiet);
        call(store::checkpoint);
        call(() -> store.setMemoryBudget(6 << 20));
        call(() -> store.tree("plain").get(bytes("large")));
        call(() -> store.tree("packed").multiGet(List.of(key(0), key(3), key(300))));
        call(() -> store.setMemoryBudget(4 << 20));
        for (int i = 0; i < 60; i++) {
          put(store, "plain", key(500 + i), value(i, 100));
        }
        faults.lifted = true;
        check(store);
      }
      assertEquals(0, storage.openFiles(), "files left open");
      try (Store store = open()) {
        check(store);
        put(store, "plain", key(1), value(9, 100));
        check(store);
      }
    }

    private void batch(Store store, int round) {
      WriteBatch batch = store.newBatch();
      for (int i = 0; i < 20; i++) {
        batch.put(store.tree("plain"), key(i), value(round, 100));
        batch.put(store.tree("packed"), key(i), value(round, 100));
      }
      boolean done = call(() -> store.write(batch));
      for (int i = 0; i < 20; i++) {
        String name = "/" + new String(key(i));
        note("plain" + name, value(round, 100), done);
        note("packed" + name, value(round, 100), done);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aCursorWhoseStateWasLetGoTriesAgainUntilItHasPages(boolean forward) {
    int[] refusals = {0};
    SimulatedClock clock = new SimulatedClock();
    Environment environment =
        new Environment(
            new SimulatedStorage(clock),
            clock,
            new SimulatedScheduler(clock, 7),
            new SplittableRandom(7),
            purpose -> purpose == Purpose.CURSOR && refusals[0]-- > 0);
    try (Store store = Inside.open(environment, OPTIONS)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 3; i++) {
        tree.put(key(i), new byte[100]);
      }
      try (Cursor cursor = tree.cursor()) {
        assertTrue(cursor.seek(key(1)));
        Inside.of(store).parts().cache().askOthers();
        refusals[0] = 200;
        assertTrue(forward ? cursor.next() : cursor.previous());
        assertArrayEquals(key(forward ? 2 : 0), cursor.key());
        assertTrue(refusals[0] <= 0, "no page was wanted");
      }
    }
  }

  @ParameterizedTest(name = "{0} in a row, every {1}th")
  @CsvSource({"1, 1", "12, 3", "300, 23"})
  void whicheverAllocationFailsNothingIsLostAndTheStoreGoesOn(int inARow, int stride)
      throws IOException {
    int runs = 0;
    int told = 0;
    for (int from = FIRST; ; from += stride * STRIDE) {
      Faults faults = new Faults(from, inARow);
      Life life = new Life(faults);
      try {
        life.live();
      } catch (RuntimeException | Error e) {
        throw new AssertionError(
            faults + "; replay with -Disobar.allocation.first=" + from + ": " + e, e);
      }
      if (faults.failed == 0) {
        break;
      }
      runs++;
      told += life.told;
      life.storage.close();
    }
    System.out.println(runs + " runs with " + inARow + " failures in a row, " + told + " told");
    assertTrue(runs > 10 / STRIDE, "only " + runs + " runs");
  }
}
