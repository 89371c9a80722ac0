package io.isobardb.lsm.model;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.model.LinearChecker.Call;
import io.isobardb.lsm.simulation.Watchdog;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Short histories of a running store, with real threads on a few keys while flushes and merges go
 * on, each checked for an order of its calls.
 *
 * <p>{@code -Disobar.linear.histories=N} makes more of them, {@code -Disobar.seed=S} others. What
 * threads do follows from the seed, but not how they interleave.
 */
class LinearHistoriesTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_261_121L);
  private static final Watchdog WATCHDOG =
      new Watchdog("-Disobar.seed=" + SEED, Watchdog.BOUND, Watchdog::halt);
  private static final int HISTORIES = Integer.getInteger("isobar.linear.histories", 1500);
  private static final int THREADS = 3;
  private static final int CALLS = 7;

  /** Keys of a history: so few that threads meet. */
  private static final int KEYS = 3;

  /** Different histories have different keys, but come back to them. */
  private static final int GROUPS = 40;

  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(4 << 20).pageSize(4096).logLimit(1 << 20).build();

  @TempDir Path temp;

  private final AtomicLong clock = new AtomicLong();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  private static byte[] key(int group, int register) {
    return String.format("g%03d-%d", group, register).getBytes(US_ASCII);
  }

  private static byte[] value(long number) {
    // Some in place, some in overflow pages; all of it must be of one write.
    byte[] value = new byte[(int) (number % 13 == 0 ? 3000 : 20 + number % 300)];
    Arrays.fill(value, (byte) (number ^ number >>> 8));
    ByteBuffer.wrap(value).putLong(0, number);
    return value;
  }

  private static byte[] copy(ByteBuffer view) {
    byte[] value = new byte[view.remaining()];
    view.get(value);
    return value;
  }

  private static long number(byte @Nullable [] value) {
    if (value == null) {
      return 0;
    }
    long number = ByteBuffer.wrap(value).getLong();
    assertTrue(Arrays.equals(value(number), value), () -> "a mixture of values at " + number);
    return number;
  }

  /** What a group holds before a history, as a call before all others. */
  private Call state(Tree tree, int group) {
    Map<Integer, Long> held = new TreeMap<>();
    for (int register = 0; register < KEYS; register++) {
      held.put(register, number(tree.get(key(group, register))));
    }
    long now = clock.incrementAndGet();
    return new Call(-1, now, clock.incrementAndGet(), Map.of(), held);
  }

  private Call call(Store store, Tree tree, int thread, int group, SplittableRandom random) {
    int register = random.nextInt(KEYS);
    byte[] key = key(group, register);
    long number = clock.incrementAndGet();
    Map<Integer, Long> reads = new TreeMap<>();
    Map<Integer, Long> writes = new TreeMap<>();
    int dice = random.nextInt(100);
    long begin = clock.incrementAndGet();
    if (dice < 25) {
      tree.put(key, value(number), dice == 0 ? Durability.SYNC : Durability.ASYNC);
      writes.put(register, number);
    } else if (dice < 33) {
      tree.delete(key);
      writes.put(register, 0L);
    } else if (dice < 60) {
      byte[] found =
          random.nextBoolean() ? tree.get(key) : tree.read(key, LinearHistoriesTest::copy);
      reads.put(register, number(found));
    } else if (dice < 75) {
      WriteBatch batch = store.newBatch();
      boolean replaces = random.nextBoolean();
      if (replaces) {
        batch.deleteRange(tree, key(group, 0), key(group, KEYS));
      }
      for (int i = 0; i < KEYS; i++) {
        if (i == register) {
          if (!replaces) {
            batch.delete(tree, key(group, i));
          }
        } else {
          batch.put(tree, key(group, i), value(number));
        }
        writes.put(i, i == register ? 0 : number);
      }
      store.write(batch);
    } else if (dice < 85) {
      scan(tree, group, random.nextBoolean(), reads);
    } else if (dice < 92) {
      List<byte[]> keys = List.of(key(group, 0), key(group, 1), key(group, 2));
      List<byte @Nullable []> values = tree.multiGet(keys);
      for (int i = 0; i < KEYS; i++) {
        reads.put(i, number(values.get(i)));
      }
    } else {
      try (Snapshot snapshot = store.snapshot()) {
        for (int i = 0; i < KEYS; i++) {
          reads.put(i, number(tree.get(key(group, i), snapshot)));
        }
      }
    }
    return new Call(thread, begin, clock.incrementAndGet(), reads, writes);
  }

  private static void scan(Tree tree, int group, boolean forward, Map<Integer, Long> reads) {
    for (int i = 0; i < KEYS; i++) {
      reads.put(i, 0L);
    }
    byte[] prefix = Arrays.copyOf(key(group, 0), 5);
    try (Cursor cursor = tree.cursor(CursorOptions.prefix(prefix))) {
      boolean more = forward ? cursor.first() : cursor.last();
      while (more) {
        byte[] key = cursor.key();
        reads.put(key[key.length - 1] - '0', number(cursor.value()));
        more = forward ? cursor.next() : cursor.previous();
      }
    }
  }

  /** One thread's part of all histories. */
  private List<List<Call>> part(Store store, Tree tree, int thread, CyclicBarrier barrier)
      throws Exception {
    SplittableRandom random = new SplittableRandom(SEED * 31 + thread);
    List<List<Call>> histories = new ArrayList<>();
    for (int history = 0; history < HISTORIES; history++) {
      int group = history % GROUPS;
      List<Call> calls = new ArrayList<>();
      if (thread == 0) {
        if (history % 50 == 49) {
          // What memory holds changes its shape; the flush goes on during the history.
          for (int i = 0; i < 300; i++) {
            tree.put(
                String.format("filler%05d", random.nextInt(4000)).getBytes(US_ASCII),
                new byte[400]);
          }
        }
        calls.add(state(tree, group));
      }
      barrier.await();
      for (int i = 0; i < CALLS; i++) {
        Watchdog.mark("a call of history " + history);
        calls.add(call(store, tree, thread, group, random));
      }
      Watchdog.unmark();
      barrier.await();
      histories.add(calls);
    }
    return histories;
  }

  @Test
  void everyHistoryIsAsIfCallsHadHappenedOneAfterAnother() throws Exception {
    System.out.println("isobar.seed=" + SEED);
    ExecutorService threads =
        Executors.newFixedThreadPool(
            THREADS, part -> new Thread(() -> WATCHDOG.watch(part), "part"));
    try (Store store = Store.open(temp.resolve("store"), OPTIONS)) {
      Tree tree = store.openTree("t");
      CyclicBarrier barrier = new CyclicBarrier(THREADS);
      List<Callable<List<List<Call>>>> parts = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        int thread = i;
        parts.add(
            () -> {
              try {
                return part(store, tree, thread, barrier);
              } catch (RuntimeException | Error e) {
                failure.compareAndSet(null, e);
                barrier.reset();
                throw e;
              }
            });
      }
      List<List<List<Call>>> seen = new ArrayList<>();
      List<Future<List<List<Call>>>> running = new ArrayList<>();
      parts.forEach(part -> running.add(threads.submit(part)));
      for (Future<List<List<Call>>> part : running) {
        try {
          seen.add(part.get());
        } catch (ExecutionException e) {
          throw new AssertionError("seed " + SEED, failure.get() == null ? e : failure.get());
        }
      }
      int overlaps = 0;
      for (int history = 0; history < HISTORIES; history++) {
        List<Call> calls = new ArrayList<>();
        for (List<List<Call>> part : seen) {
          calls.addAll(part.get(history));
        }
        overlaps += overlaps(calls) ? 1 : 0;
        String violation = LinearChecker.violation(calls);
        if (violation != null) {
          throw new AssertionError("seed " + SEED + ", history " + history + ": " + violation);
        }
      }
      System.out.println(
          HISTORIES
              + " histories, "
              + overlaps
              + " with calls that overlapped; "
              + store.stats().flushes()
              + " flushes");
      assertTrue(overlaps > HISTORIES / 20, () -> "threads hardly met");
      assertTrue(store.stats().flushes() > 0, "nothing was flushed");
    } finally {
      threads.shutdownNow();
    }
  }

  private static boolean overlaps(List<Call> calls) {
    for (Call a : calls) {
      for (Call b : calls) {
        if (a.thread() != b.thread() && a.begin() < b.begin() && b.begin() < a.end()) {
          return true;
        }
      }
    }
    return false;
  }
}
