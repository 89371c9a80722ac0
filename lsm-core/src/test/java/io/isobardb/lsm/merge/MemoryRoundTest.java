package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.memory.pool.OutOfBudgetException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How far a merge in memory of all that is sealed goes on its way round the key space. */
@Tag("any-jdk")
class MemoryRoundTest {
  private static final int KEYS = 20_000;
  private static final int SLICE = 64 << 10;

  private final int[] values = new int[KEYS];
  private long merged;
  private Store store;
  private Tree tree;

  /** Called by each test itself, since a simulated store belongs to one thread. */
  private void open() {
    StoreOptions options =
        StoreOptions.builder()
            .memoryBudget(64 << 20)
            .pageSize(4096)
            .backgroundThreads(2)
            .logLimit(128 << 20)
            .build();
    store = new SimulatedWorld(11).open(options);
    tree = store.openTree("t");
    put(0, KEYS, 1);
    seal();
    merge(begin());
    assertEquals(1, runs());
    store.addListener(
        new StoreListener() {
          @Override
          public void onMerged(Merge event) {
            merged += event.bytesRead();
          }
        });
  }

  /** Versions differ in length, so that SSTables do not end by size where older ones do. */
  private static byte[] written(int i, int version) {
    return value(i + version * KEYS, 70 + 30 * version);
  }

  private void put(int from, int to, int version) {
    for (int i = from; i < to; i++) {
      values[i] = version;
      tree.put(key(i), written(i, version));
    }
  }

  private void seal() {
    Inside.of(store).parts().sealer().seal(Inside.handle(tree));
  }

  private int runs() {
    return Inside.handle(tree).states().current().memoryRunCount();
  }

  private MemoryMergeJob begin() {
    TreeHandle handle = Inside.handle(tree);
    assertTrue(handle.memory().tryTake());
    MemoryMergeChoice all =
        new MemoryMergeChoice(
            MemoryMergeChoice.Action.MERGE, runs(), 0, MemoryMergeChoice.ALL, SLICE, 0);
    return new MemoryMergeJob(
        Inside.of(store).parts().memoryMerger(), Inside.of(store).parts().engine(), handle, all);
  }

  private static void merge(MemoryMergeJob job) {
    try {
      boolean more = true;
      while (more) {
        more = job.step();
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** Bytes that a merge of all that is sealed reads. */
  private long mergedBytes() {
    merged = 0;
    merge(begin());
    return merged;
  }

  private void check() {
    int at = 0;
    try (Cursor cursor = tree.cursor()) {
      for (boolean more = cursor.first(); more; more = cursor.next(), at++) {
        while (values[at] == 0) {
          at++;
        }
        assertArrayEquals(key(at), cursor.key());
        assertArrayEquals(written(at, values[at]), cursor.value(), "key " + at);
      }
    }
    while (at < KEYS && values[at] == 0) {
      at++;
    }
    assertEquals(KEYS, at);
  }

  private long markers() {
    long markers = 0;
    for (Run run : Inside.handle(tree).states().current().memory()) {
      for (Table table : run.tables()) {
        markers += table instanceof Table.Stored stored ? stored.content().meta().deletes() : 0;
      }
    }
    return markers;
  }

  @Test
  void whatIsSealedMeanwhileIsMergedInWhatIsLeftOfTheRoundAndThenInTheRest() throws Exception {
    open();
    put(0, KEYS, 2);
    seal();
    merged = 0;
    MemoryMergeJob job = begin();
    for (int i = 0; i < 8; i++) {
      assertTrue(job.step());
    }
    put(0, KEYS, 3);
    seal();
    check();
    merge(job);
    long first = merged;
    assertEquals(2, runs());
    check();
    long rest = mergedBytes();
    assertTrue(rest > 0 && rest < first / 4, rest + " bytes after " + first);
    assertEquals(1, runs());
    for (Table table : Inside.handle(tree).states().current().memory().get(0).tables()) {
      assertFalse(table.range().low() != null || table.isBoundedAbove(), "a part of " + table);
    }
    check();
    store.close();
  }

  @Test
  void ofAPackedRunAloneItTakesAllForTheSakeOfDeleteMarkers() {
    open();
    try (Snapshot before = store.snapshot()) {
      for (int i = 5_000; i < 6_000; i++) {
        values[i] = 0;
        tree.delete(key(i));
      }
      seal();
      merge(begin());
      assertEquals(1, runs());
      assertEquals(1_000, markers());
      assertArrayEquals(written(5_500, 1), tree.get(key(5_500), before));
    }
    store.sync();
    merge(begin());
    assertEquals(0, markers());
    check();
    store.close();
  }

  @Test
  void aListenerThatNeverComesBackIsToldOnce() {
    open();
    put(0, KEYS, 2);
    seal();
    MemoryMergeJob job = begin();
    TreeHandle handle = Inside.handle(tree);
    int[] told = {0};
    store.addListener(
        new StoreListener() {
          @Override
          public void onMerged(Merge event) {
            if (told[0]++ == 0) {
              // Another worker ends what this thread has left behind.
              job.onFailed(new OutOfBudgetException("the thread is lost"));
              assertTrue(handle.memory().tryTake(), "others may have the memory now");
            }
          }
        });
    merge(job);
    assertEquals(1, told[0]);
    assertTrue(handle.memory().isTaken(), "it was left twice");
    handle.memory().leave();
    check();
  }
}
