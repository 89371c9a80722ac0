package io.isobardb.lsm.threads;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.error.TransactionAbortedException;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.ThreadScheduler;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.Watchdog;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A store is closed while threads do everything with it; again and again, on one disk.
 *
 * <p>They hear that it is closed, and nothing else; nobody hangs; what was acknowledged is there
 * when it is opened again. {@code -Disobar.close.rounds=N} makes it longer, {@code -Disobar.seed=S}
 * other.
 */
class CloseStormTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_261_122L);
  private static final int ROUNDS = Integer.getInteger("isobar.close.rounds", 30);
  private static final int KEYS = 300;

  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(4 << 20).pageSize(4096).logLimit(1 << 20).build();

  private final SimulatedStorage storage = new SimulatedStorage(new SimulatedClock());
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  /** What the writer of the one tree and that of the other have acknowledged, and begun. */
  private final AtomicLong[] acknowledged = {new AtomicLong(), new AtomicLong()};

  private final AtomicLong[] begun = {new AtomicLong(), new AtomicLong()};

  private interface Work {
    void run(SplittableRandom random);
  }

  private Store open(int round) {
    SimulatedStorage disk = storage;
    return Inside.open(
        new Environment(
            disk,
            Clock.SYSTEM,
            new ThreadScheduler("close-" + round, 2),
            new SplittableRandom(SEED + round)),
        OPTIONS);
  }

  private static byte[] value(long count) {
    byte[] value = new byte[100 + (int) (count % 900)];
    Arrays.fill(value, (byte) count);
    return ByteBuffer.wrap(value).putLong(0, count).array();
  }

  private static long count(byte[] value) {
    long count = ByteBuffer.wrap(value).getLong();
    assertTrue(Arrays.equals(value(count), value), "a mixture of values at " + count);
    return count;
  }

  private void write(Tree tree, int number) {
    long count = begun[number].incrementAndGet();
    tree.put(key((int) (count % KEYS)), value(count));
    acknowledged[number].set(count);
  }

  private void batch(Store store, Tree tree, int number) {
    long count = begun[number].incrementAndGet();
    WriteBatch batch = store.newBatch();
    batch.put(tree, key((int) (count % KEYS)), value(count));
    batch.put(tree, bytes("batch"), value(count));
    store.write(batch, count % 20 == 0 ? Durability.SYNC : Durability.ASYNC);
    acknowledged[number].set(count);
  }

  private static void scan(Tree tree, SplittableRandom random) {
    // Left open at times: closing the store closes it.
    Cursor cursor = tree.cursor();
    boolean more = cursor.seek(key(random.nextInt(KEYS)));
    for (int i = 0; more && i < 100; i++) {
      count(cursor.value());
      more = random.nextInt(4) == 0 ? cursor.previous() : cursor.next();
    }
    if (random.nextInt(4) != 0) {
      cursor.close();
    }
  }

  private static void transact(Store store, Tree tree, SplittableRandom random) {
    Isolation[] isolations = Isolation.values();
    TransactionOptions options =
        TransactionOptions.builder()
            .isolation(isolations[random.nextInt(isolations.length)])
            .locking(random.nextBoolean() ? Locking.PESSIMISTIC : Locking.OPTIMISTIC)
            .build();
    try (Transaction transaction = store.begin(options)) {
      byte[] key = bytes("t" + random.nextInt(3));
      if (random.nextInt(4) == 0) {
        try (Cursor cursor = transaction.cursor(tree)) {
          cursor.seek(key(random.nextInt(KEYS)));
        }
      }
      byte[] old =
          random.nextBoolean() ? transaction.get(tree, key) : transaction.getForUpdate(tree, key);
      transaction.put(tree, key, value(old == null ? 1 : count(old) + 1));
      transaction.commit();
    } catch (TransactionAbortedException e) {
      assertFalse(e.getMessage().isEmpty());
    }
  }

  private static void manage(Store store, SplittableRandom random) {
    switch (random.nextInt(8)) {
      case 0 -> store.flush();
      case 1 -> store.checkpoint();
      case 2 -> store.sync();
      case 3 -> store.setMemoryBudget((4L + random.nextInt(3)) << 20);
      case 4 -> store.openTree("more" + random.nextInt(3)).put(bytes("k"), value(1));
      case 5 -> {
        try {
          store.dropTree("more" + random.nextInt(3));
        } catch (IllegalArgumentException e) {
          assertTrue(e.getMessage().contains("no tree"), e.getMessage());
        }
      }
      default -> {
        try (Snapshot snapshot = store.snapshot()) {
          store.tree("one").get(key(1), snapshot);
        }
      }
    }
  }

  private Thread start(Watchdog watchdog, Work work, long seed, CountDownLatch started) {
    return watchdog.start(
        "work " + seed,
        () -> {
          SplittableRandom random = new SplittableRandom(seed);
          started.countDown();
          try {
            for (long call = 0; ; call++) {
              Watchdog.mark(call);
              work.run(random);
            }
          } catch (StoreClosedException e) {
            return;
          } catch (RuntimeException | Error e) {
            failure.compareAndSet(null, e);
          }
        });
  }

  private void check(Store store) {
    for (int number = 0; number < 2; number++) {
      Tree tree = store.openTree(number == 0 ? "one" : "two");
      long last = acknowledged[number].get();
      for (long count = Math.max(1, last - KEYS + 1); count <= last; count++) {
        byte[] value = tree.get(key((int) (count % KEYS)));
        long found = value == null ? 0 : count(value);
        // One more may have been begun when the store was closed.
        assertTrue(
            found == count || (found == count + KEYS && found == begun[number].get()),
            "write " + count + " of tree " + number + " is lost, found " + found);
      }
      // What was begun and not acknowledged is settled now.
      long doubtful = begun[number].get();
      byte[] value = tree.get(key((int) (doubtful % KEYS)));
      if (value != null && count(value) == doubtful) {
        acknowledged[number].set(doubtful);
      } else {
        begun[number].set(last);
      }
    }
  }

  @Test
  void aStoreCanBeClosedAtAnyMomentWhateverGoesOn() {
    System.out.println("isobar.seed=" + SEED);
    Watchdog.run(
        "-Disobar.seed=" + SEED,
        watchdog -> {
          try {
            closeAgainAndAgain(watchdog);
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        });
  }

  private void closeAgainAndAgain(Watchdog watchdog) throws InterruptedException {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int round = 0; round < ROUNDS; round++) {
      Watchdog.mark("round " + round);
      Store store = open(round);
      check(store);
      Tree one = store.tree("one");
      Tree two = store.tree("two");
      List<Work> works =
          List.of(
              r -> write(one, 0),
              r -> batch(store, two, 1),
              r -> one.get(key(r.nextInt(KEYS))),
              r -> two.read(key(r.nextInt(KEYS)), value -> value.remaining()),
              r -> one.multiGet(List.of(key(r.nextInt(KEYS)), key(r.nextInt(KEYS)))),
              r -> scan(r.nextBoolean() ? one : two, r),
              r -> transact(store, two, r),
              r -> manage(store, r));
      CountDownLatch started = new CountDownLatch(works.size());
      List<Thread> threads = new ArrayList<>();
      for (Work work : works) {
        threads.add(start(watchdog, work, random.nextLong(), started));
      }
      started.await();
      Thread.sleep(random.nextInt(20), random.nextInt(1_000_000));
      if (random.nextInt(3) == 0) {
        Thread other = new Thread(store::close);
        other.start();
        threads.add(other);
      }
      store.close();
      for (Thread thread : threads) {
        thread.join();
      }
      if (failure.get() != null) {
        throw new AssertionError("seed " + SEED + ", round " + round, failure.get());
      }
      assertEquals(0, storage.openFiles(), "files left open in round " + round);
    }
    try (Store store = open(ROUNDS)) {
      check(store);
    }
  }

  /** Opens cursors until that is refused; whatever was opened last is to be closed by then. */
  private static Cursor lastCursor(Tree tree, CountDownLatch started) {
    Cursor last = null;
    started.countDown();
    while (true) {
      try {
        Cursor next = tree.cursor();
        if (last != null) {
          last.close();
        }
        last = next;
      } catch (StoreClosedException e) {
        return last;
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void cursorsOpenedWhileTheStoreIsClosedOrTheTreeDroppedAreClosedToo(boolean drop)
      throws Exception {
    SplittableRandom random = new SplittableRandom(SEED);
    ExecutorService readers = Executors.newFixedThreadPool(4);
    try {
      for (int round = 0; round < 3 * ROUNDS; round++) {
        Store store = open(round);
        Tree tree = store.openTree("t");
        CountDownLatch started = new CountDownLatch(4);
        List<Future<Cursor>> last = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
          last.add(readers.submit(() -> lastCursor(tree, started)));
        }
        started.await();
        Thread.sleep(0, random.nextInt(500_000));
        if (drop) {
          store.dropTree("t");
        } else {
          store.close();
        }
        for (Future<Cursor> future : last) {
          Cursor cursor = future.get();
          assertTrue(cursor == null || Inside.isClosed(cursor), "open in round " + round);
        }
        assertEquals(0, Inside.of(store).cursors().count());
        store.close();
      }
    } finally {
      readers.shutdownNow();
    }
  }
}
