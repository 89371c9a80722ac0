package io.isobardb.lsm.threads;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.CheckReport;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.simulation.Watchdog;
import io.isobardb.repair.StoreInspector;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Threads make every call there is while another one interrupts them: none is harmed by it. */
class InterruptStormTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_241_122L);
  private static final Watchdog WATCHDOG =
      new Watchdog("-Disobar.seed=" + SEED, Watchdog.BOUND, Watchdog::halt);
  private static final int OPERATIONS = Integer.getInteger("isobar.storm.operations", 2500);
  private static final int KEYS = 3000;
  private static final int VALUE_BYTES = 400;
  private static final String[] TREES = {"one", "two", "unlogged"};

  /** Reads miss the cache and writes wait for memory. */
  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(6 << 20).pageSize(4096).logLimit(2 << 20).build();

  @TempDir Path temp;

  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  /** A thread with keys of its own. */
  private final class Worker extends Thread {
    private final Store store;
    private final int number;
    private final SplittableRandom random;
    private final List<TreeMap<String, Integer>> model = new ArrayList<>();

    /** Interrupts sent by the storm, one more than {@link #seen} at most. */
    private volatile int sent;

    private volatile int seen;
    private int made;

    Worker(Store store, int number) {
      this.store = store;
      this.number = number;
      this.random = new SplittableRandom(SEED + number);
      for (int i = 0; i < TREES.length; i++) {
        model.add(new TreeMap<>());
      }
    }

    @Override
    public void run() {
      WATCHDOG.watch(this::operateAll);
    }

    private void operateAll() {
      try {
        for (int n = 0; n < OPERATIONS && failure.get() == null; n++) {
          Watchdog.mark(n);
          operate(n);
          if (sent > seen) {
            assertTrue(isInterrupted(), "the flag of an interrupt is gone");
            if (random.nextInt(3) == 0) {
              interrupted();
              seen = sent;
            }
          }
        }
      } catch (RuntimeException | Error e) {
        failure.compareAndSet(null, e);
      }
    }

    private String key() {
      return number + "-" + String.format("%05d", random.nextInt(KEYS));
    }

    private void operate(int n) {
      int treeNumber = random.nextInt(TREES.length);
      Tree tree = store.tree(TREES[treeNumber]);
      TreeMap<String, Integer> mine = model.get(treeNumber);
      String key = key();
      int dice = random.nextInt(1000);
      if (dice < 600) {
        write(tree, mine, key, n, dice);
      } else if (dice < 900) {
        read(tree, key, mine.get(key), dice);
      } else if (dice < 960) {
        scan(tree, mine, key);
      } else if (dice < 985) {
        batch(key, n);
      } else {
        manage(dice);
      }
    }

    private void write(Tree tree, TreeMap<String, Integer> mine, String key, int n, int dice) {
      byte[] value = value(n);
      if (dice < 60) {
        tree.delete(bytes(key));
        mine.remove(key);
        return;
      }
      if (dice < 80) {
        tree.put(bytes(key), value, Durability.SYNC);
      } else if (dice < 150) {
        ByteBuffer direct = ByteBuffer.allocateDirect(value.length).put(0, value);
        tree.put(ByteBuffer.wrap(bytes(key)), direct);
      } else {
        tree.put(bytes(key), value);
      }
      mine.put(key, n);
    }

    private void read(Tree tree, String key, Integer expected, int dice) {
      if (dice < 750) {
        assertValue(expected, tree.get(bytes(key)));
      } else if (dice < 800) {
        ByteBuffer target = ByteBuffer.allocate(VALUE_BYTES);
        int length = tree.get(bytes(key), target);
        assertEquals(expected == null ? Tree.NOT_FOUND : VALUE_BYTES, length);
      } else if (dice < 850) {
        byte[] seenValue =
            tree.read(
                bytes(key),
                value -> {
                  byte[] copy = new byte[value.remaining()];
                  value.get(copy);
                  return copy;
                });
        assertValue(expected, seenValue);
      } else if (dice < 880) {
        assertValue(expected, tree.multiGet(List.of(bytes(key()), bytes(key))).get(1));
      } else {
        try (Snapshot snapshot = store.snapshot()) {
          tree.put(bytes(key), value(-1));
          assertValue(expected, tree.get(bytes(key), snapshot));
          if (expected == null) {
            tree.delete(bytes(key));
          } else {
            tree.put(bytes(key), value(expected));
          }
        }
      }
    }

    private void scan(Tree tree, TreeMap<String, Integer> mine, String from) {
      CursorOptions own = CursorOptions.prefix(bytes(number + "-"));
      try (Cursor cursor = tree.cursor(own)) {
        boolean more = cursor.seek(bytes(from));
        for (Map.Entry<String, Integer> entry : limited(mine.tailMap(from, true))) {
          assertTrue(more, entry.getKey());
          assertArrayEquals(bytes(entry.getKey()), cursor.key());
          assertValue(entry.getValue(), cursor.value());
          more = cursor.next();
        }
        boolean back = cursor.seekBefore(bytes(from));
        for (Map.Entry<String, Integer> entry :
            limited(mine.headMap(from, false).descendingMap())) {
          assertTrue(back, entry.getKey());
          assertArrayEquals(bytes(entry.getKey()), cursor.key());
          back = cursor.previous();
        }
        assertEquals(!mine.isEmpty(), cursor.last());
        assertEquals(!mine.isEmpty(), cursor.first());
      }
    }

    private static List<Map.Entry<String, Integer>> limited(Map<String, Integer> entries) {
      return entries.entrySet().stream().limit(50).toList();
    }

    private void batch(String key, int n) {
      WriteBatch batch = store.newBatch();
      for (int i = 0; i < 2; i++) {
        batch.put(store.tree(TREES[i]), bytes(key), value(n));
        model.get(i).put(key, n);
      }
      store.write(batch, n % 2 == 0 ? Durability.SYNC : Durability.ASYNC);
    }

    private void manage(int dice) {
      switch (dice) {
        case 985, 986 -> store.flush();
        case 987, 988 -> store.checkpoint();
        case 989, 990 -> store.sync();
        case 991, 992 -> store.setMemoryBudget((long) (6 + 2 * random.nextInt(3)) << 20);
        case 993, 994 -> {
          String name = "t-" + number + "-" + made++;
          Tree tree = store.openTree(name);
          tree.put(bytes("k"), value(made));
          assertTrue(store.treeNames().contains(name));
          store.dropTree(name);
        }
        default -> assertTrue(store.stats().toJson().startsWith("{"));
      }
    }

    void checkAll(Store reopened) {
      for (int i = 0; i < TREES.length; i++) {
        Tree tree = reopened.tree(TREES[i]);
        for (int k = 0; k < KEYS; k++) {
          String key = number + "-" + String.format("%05d", k);
          assertValue(model.get(i).get(key), tree.get(bytes(key)));
        }
      }
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static byte[] value(int n) {
    byte[] value = new byte[VALUE_BYTES];
    Arrays.fill(value, (byte) n);
    ByteBuffer.wrap(value).putInt(0, n);
    return value;
  }

  private static void assertValue(Integer expected, byte[] found) {
    if (expected == null) {
      assertNull(found);
    } else {
      assertArrayEquals(value(expected), found);
    }
  }

  private static int storm(List<Worker> workers) throws InterruptedException {
    SplittableRandom random = new SplittableRandom(SEED);
    int interrupts = 0;
    while (workers.stream().anyMatch(Thread::isAlive)) {
      Worker victim = workers.get(random.nextInt(workers.size()));
      if (victim.sent == victim.seen) {
        victim.interrupt();
        victim.sent++;
        interrupts++;
      }
      if (random.nextInt(4) == 0) {
        Thread.sleep(0, random.nextInt(1_000_000));
      }
    }
    return interrupts;
  }

  @Test
  void noCallFailsForAnInterruptAndNothingIsLost() throws Exception {
    System.out.println("isobar.seed=" + SEED);
    Path dir = temp.resolve("store");
    List<Worker> workers = new ArrayList<>();
    Store store = Store.open(dir, OPTIONS);
    try {
      store.addListener(
          new StoreListener() {
            @Override
            public void onFailed(Failure event) {
              failure.compareAndSet(null, event.cause());
            }
          });
      for (String name : TREES) {
        store.openTree(name, TreeOptions.builder().logged(!name.equals("unlogged")).build());
      }
      for (int i = 0; i < 3; i++) {
        workers.add(new Worker(store, i));
      }
      workers.forEach(Thread::start);
      System.out.println(storm(workers) + " interrupts");
      throwFailure();
      Thread.currentThread().interrupt();
      store.awaitQuiet();
      workers.forEach(worker -> worker.checkAll(store));
    } finally {
      store.close();
    }
    assertTrue(Thread.currentThread().isInterrupted());
    try (Store reopened = Store.open(dir, OPTIONS)) {
      workers.forEach(worker -> worker.checkAll(reopened));
    }
    assertTrue(Thread.currentThread().isInterrupted());
    checkFiles(dir);
    assertTrue(Thread.interrupted());
  }

  private void throwFailure() {
    if (failure.get() != null) {
      throw new AssertionError("seed " + SEED, failure.get());
    }
  }

  private static void checkFiles(Path dir) throws IOException {
    try (StoreInspector inspector = StoreInspector.open(dir, OPTIONS)) {
      CheckReport report = inspector.check(CheckProgress.NONE);
      assertEquals(List.of(), report.findings());
    }
  }
}
