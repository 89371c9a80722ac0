package io.isobardb.lsm.threads;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.Watchdog;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A snapshot is closed by another thread while one reads from it, and all it saw is overwritten. A
 * read that has begun sees what the snapshot saw.
 */
class SnapshotCloseTest {
  private static final int KEYS = 1000;
  private static final Duration BOUND = Duration.ofSeconds(20);

  @TempDir Path dir;

  /** An order of keys in which one thread stops with its first comparison of two keys, once. */
  private static final class Stopping implements KeyOrder {
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private volatile Thread victim;

    @Override
    public String name() {
      return "stopping";
    }

    @Override
    public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
      int compared = KeyOrder.BYTES.compare(a, aOffset, aLength, b, bOffset, bLength);
      if (compared != 0 && Thread.currentThread() == victim && stopped.getCount() > 0) {
        stopped.countDown();
        await(goOn);
      }
      return compared;
    }
  }

  private enum Read {
    GET,
    GET_INTO,
    MULTI_GET,
    CURSOR
  }

  private static List<String> read(Read how, Tree tree, Snapshot snapshot, List<byte[]> keys) {
    List<String> values = new ArrayList<>();
    switch (how) {
      case GET -> values.add(text(tree.get(keys.get(5), snapshot)));
      case GET_INTO -> {
        ByteBuffer target = ByteBuffer.allocate(10);
        tree.get(keys.get(5), target, snapshot);
        values.add(new String(target.array(), 0, target.position(), UTF_8));
      }
      case MULTI_GET -> tree.multiGet(keys, snapshot).forEach(value -> values.add(text(value)));
      case CURSOR -> {
        try (Cursor cursor = tree.cursor(CursorOptions.all().snapshot(snapshot))) {
          for (boolean more = cursor.seek(keys.get(0)); more; more = cursor.next()) {
            values.add(text(cursor.value()));
          }
        }
      }
    }
    return values;
  }

  private static String text(byte[] value) {
    return value == null ? "null" : new String(value, UTF_8);
  }

  private void closedMeanwhile(Read how, Consumer<Store> afterwards) {
    // A read that hangs would keep the store from being closed, and the test from failing.
    Watchdog.run(
        how.name(),
        BOUND,
        watchdog -> {
          Watchdog.unmark();
          closedMeanwhile(how, afterwards, watchdog);
        });
  }

  private void closedMeanwhile(Read how, Consumer<Store> afterwards, Watchdog watchdog) {
    Stopping order = new Stopping();
    StoreOptions options =
        StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).keyOrder(order).build();
    try (Store store = Store.open(dir, options)) {
      Tree tree = store.openTree("t", TreeOptions.builder().keyOrder(order).build());
      List<byte[]> keys = new ArrayList<>();
      for (int i = 0; i < KEYS; i++) {
        keys.add(key(i));
        tree.put(key(i), bytes("old"));
      }
      Snapshot snapshot = store.snapshot();
      CompletableFuture<List<String>> seen = new CompletableFuture<>();
      watchdog.start(
          "reader",
          () -> {
            Watchdog.mark(how);
            order.victim = Thread.currentThread();
            try {
              seen.complete(read(how, tree, snapshot, keys));
            } catch (RuntimeException | Error e) {
              seen.completeExceptionally(e);
            }
          });
      await(order.stopped);
      snapshot.close();
      for (int round = 0; round < 2; round++) {
        for (byte[] key : keys) {
          tree.put(key, bytes("new" + round));
        }
      }
      afterwards.accept(store);
      order.goOn.countDown();
      int expected = how == Read.MULTI_GET || how == Read.CURSOR ? KEYS : 1;
      assertEquals(Collections.nCopies(expected, "old"), seen.join());
      assertEquals(0, Inside.of(store).engine().snapshots().live().length, "LSNs still registered");
      assertThrows(StoreClosedException.class, () -> tree.get(key(1), snapshot));
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(30, TimeUnit.SECONDS), "the other thread is late");
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aReadThatHasBegunSeesWhatTheSnapshotSaw(Read how) {
    closedMeanwhile(how, store -> {});
  }

  @ParameterizedTest
  @EnumSource
  void andSoItDoesIfMemoryIsFlushedMeanwhile(Read how) {
    closedMeanwhile(how, Store::flush);
  }

  @Test
  void aSnapshotReadsNothingOfAnotherStore() {
    StoreOptions options = StoreOptions.builder().memoryBudget(8 << 20).build();
    try (Store one = Store.open(dir.resolve("one"), options);
        Store two = Store.open(dir.resolve("two"), options);
        Snapshot snapshot = one.snapshot()) {
      Tree tree = two.openTree("t");
      assertThrows(IllegalArgumentException.class, () -> tree.get(key(1), snapshot));
      assertThrows(IllegalArgumentException.class, () -> tree.multiGet(List.of(), snapshot));
    }
  }
}
