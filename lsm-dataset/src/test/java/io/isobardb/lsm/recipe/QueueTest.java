package io.isobardb.lsm.recipe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.TreeDroppedException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.typed.Codec;
import io.isobardb.lsm.typed.KeyCodec;
import io.isobardb.lsm.typed.KeyRange;
import io.isobardb.lsm.typed.TypedTree;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code -Disobar.seed=S} sets the first seed of the model. */
class QueueTest {
  private static final long FIRST_SEED = Long.getLong("isobar.seed", 1);
  private static final int SEEDS = 30;
  private static final StoreOptions SYNCED =
      StoreOptions.builder()
          .memoryBudget(4 << 20)
          .pageSize(4096)
          .logLimit(1 << 20)
          .durability(Durability.SYNC)
          .build();

  @TempDir Path directory;

  private Store open() {
    return Store.open(directory, StoreOptions.builder().memoryBudget(8 << 20).build());
  }

  private static final class WorkerFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /**
   * A queue beside a sorted map. A consumer holds its job while others run within its call, and all
   * of it may crash in between.
   */
  private static final class Model {
    private final SplittableRandom random;
    private final SimulatedWorld world;
    private Store store;
    private Queue<Long> queue;
    private long added;

    /** By the order in which they were added, which their own numbers have, too. */
    private final TreeMap<Long, Long> jobs = new TreeMap<>();

    private final Set<Long> held = new HashSet<>();
    private final Map<Transaction, List<Long>> open = new LinkedHashMap<>();

    Model(long seed) {
      random = new SplittableRandom(seed);
      world = new SimulatedWorld(seed);
      store = world.open(SYNCED);
      queue = Queue.open(store, "q", Codec.int64());
    }

    void run() {
      for (int i = 0; i < 60; i++) {
        step(0);
        if (held.isEmpty() && open.isEmpty() && random.nextInt(10) == 0) {
          store.close();
          store = world.open(SYNCED);
          queue = Queue.open(store, "q", Codec.int64());
        }
      }
      new ArrayList<>(open.keySet()).forEach(this::end);
      while (!jobs.isEmpty()) {
        work(9);
      }
      assertTrue(queue.isEmpty());
      store.close();
    }

    private void step(int depth) {
      switch (random.nextInt(12)) {
        case 0, 1, 2 -> {
          jobs.put(added, added);
          queue.add(added++);
        }
        case 3 -> open.put(store.begin(), new ArrayList<>());
        case 4, 5 -> anyOpen().ifPresent(this::addWithin);
        case 6 -> anyOpen().ifPresent(this::end);
        case 7 -> {
          Long oldest = oldest();
          assertEquals(oldest, queue.poll());
          if (oldest != null) {
            jobs.remove(oldest);
          }
        }
        case 8 -> crash();
        case 9 -> queue = Queue.open(store, "q", Codec.int64());
        default -> work(depth);
      }
      assertEquals(jobs.size(), queue.size());
      assertEquals(jobs.isEmpty(), queue.isEmpty());
    }

    private Optional<Transaction> anyOpen() {
      int any = open.isEmpty() ? 0 : random.nextInt(open.size());
      return open.keySet().stream().skip(any).findFirst();
    }

    private void addWithin(Transaction transaction) {
      open.getOrDefault(transaction, List.of()).add(added);
      queue.add(transaction, added++);
    }

    private void end(Transaction transaction) {
      List<Long> its = open.remove(transaction);
      if (random.nextBoolean()) {
        its.forEach(job -> jobs.put(job, job));
        transaction.commit();
      }
      transaction.close();
    }

    private Long oldest() {
      return jobs.keySet().stream().filter(job -> !held.contains(job)).findFirst().orElse(null);
    }

    private void work(int depth) {
      Long oldest = oldest();
      boolean fails = depth < 9 && random.nextInt(3) == 0;
      try {
        boolean any =
            queue.work(
                (transaction, job) -> {
                  assertEquals(oldest, job);
                  held.add(job);
                  for (int i = random.nextInt(5); i > 0 && depth < 3; i--) {
                    step(depth + 1);
                  }
                  if (fails) {
                    throw new WorkerFailure();
                  }
                });
        assertEquals(oldest != null, any);
        jobs.remove(oldest == null ? -1L : oldest);
      } catch (WorkerFailure e) {
        assertTrue(fails && oldest != null);
      }
      held.remove(oldest);
    }

    /** After a crash now all jobs are there that are not done, those that consumers have, too. */
    private void crash() {
      CrashMode mode = CrashMode.values()[random.nextInt(CrashMode.values().length)];
      SimulatedWorld after =
          new SimulatedWorld(world.storage().crash(random.split(), mode), random.nextLong());
      try (Store reopened = after.open(SYNCED)) {
        Queue<Long> again = Queue.open(reopened, "q", Codec.int64());
        List<Long> found = new ArrayList<>();
        for (Long job = again.poll(); job != null; job = again.poll()) {
          found.add(job);
        }
        assertEquals(new ArrayList<>(jobs.keySet()), found);
      }
    }
  }

  @Test
  void consumersGetWhatAModelSays() {
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      try {
        new Model(seed).run();
      } catch (RuntimeException | Error e) {
        throw new AssertionError("-Disobar.seed=" + seed + ": " + e, e);
      }
    }
  }

  @Test
  void noTwoConsumersGetOneJobAndNoneIsLost() throws Exception {
    int jobs = 400;
    try (Store store = open()) {
      Queue<Long> queue = Queue.open(store, "q", Codec.int64());
      TypedTree<Long, Long> done =
          TypedTree.of(store.openTree("done"), KeyCodec.ofLong(), Codec.int64());
      ExecutorService pool = Executors.newFixedThreadPool(6);
      List<Future<?>> threads = new ArrayList<>();
      for (int p = 0; p < 2; p++) {
        long first = p;
        threads.add(
            pool.submit(
                () -> {
                  for (long job = first; job < jobs; job += 2) {
                    long added = job;
                    if (job % 3 == 0) {
                      store.runInTransaction(transaction -> queue.add(transaction, added));
                    } else {
                      queue.add(job);
                    }
                  }
                }));
      }
      for (int c = 0; c < 4; c++) {
        SplittableRandom random = new SplittableRandom(c);
        // Each has one of its own, as modules of a program would.
        Queue<Long> own = Queue.open(store, "q", Codec.int64());
        threads.add(
            pool.submit(
                () -> {
                  while (done.tree().approximateEntries() < jobs && count(done) < jobs) {
                    try {
                      own.work(
                          (transaction, job) -> {
                            assertNull(done.getForUpdate(transaction, job), "done twice");
                            done.put(transaction, job, job);
                            if (random.nextInt(5) == 0) {
                              throw new WorkerFailure();
                            }
                          });
                    } catch (WorkerFailure e) {
                      // It comes again.
                    }
                  }
                }));
      }
      for (Future<?> thread : threads) {
        thread.get();
      }
      pool.shutdown();
      assertEquals(jobs, count(done));
      assertTrue(queue.isEmpty());
    }
  }

  private static long count(TypedTree<Long, Long> tree) {
    try (var entries = tree.entries(KeyRange.all())) {
      return entries.count();
    }
  }

  @Test
  void aQueueIsThatOfItsTreeWhateverTheTreesName() {
    try (Store store = open()) {
      Queue<Long> done = Queue.open(store, "q", Codec.int64());
      for (long job = 0; job < 5; job++) {
        done.add(job);
        assertEquals(job, done.poll());
      }
      Queue<Long> renamed = Queue.open(store, "next", Codec.int64());
      renamed.add(7L);
      store.renameTree("q", "before");
      store.renameTree("next", "q");
      Queue<Long> opened = Queue.open(store, "q", Codec.int64());
      renamed.add(8L);
      opened.add(9L);
      for (long job = 7; job < 10; job++) {
        assertEquals(job, opened.poll());
      }
      assertTrue(opened.isEmpty());
    }
  }

  /** Counts how many keys are looked at. */
  private static final class CountingOrder implements KeyOrder {
    private final AtomicLong comparisons = new AtomicLong();

    @Override
    public String name() {
      return "counting";
    }

    @Override
    public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
      comparisons.incrementAndGet();
      return BYTES.compare(a, aOffset, aLength, b, bOffset, bLength);
    }
  }

  /** One consumer has a job for long, or a transaction adds one. Others go past what was done. */
  @Test
  void jobsThatWereDoneAreNotLookedAtAgain() {
    CountingOrder order = new CountingOrder();
    try (Store store = open()) {
      store.createTree("q", TreeOptions.builder().keyOrder(order).build());
      Queue<Long> queue = Queue.open(store, "q", Codec.int64());
      queue.add(-1L);
      try (Transaction adding = store.begin()) {
        queue.add(adding, -2L);
        queue.work((transaction, slow) -> whatAHundredJobsTake(queue, order));
        adding.rollback();
      }
      assertTrue(queue.isEmpty());
    }
  }

  private static void whatAHundredJobsTake(Queue<Long> queue, CountingOrder order) {
    long first = 0;
    for (long job = 0; job < 2000; job++) {
      if (job % 100 == 0) {
        order.comparisons.set(0);
      }
      queue.add(job);
      assertEquals(job, queue.poll());
      assertFalse(queue.isEmpty());
      if (job % 100 == 99) {
        long count = order.comparisons.get();
        first = job == 99 ? count : first;
        assertTrue(count < 3 * first, "at first " + first + ", after " + job + ": " + count);
      }
    }
  }

  @Test
  void jobsOfAProcessThatEndsComeBackInTheirOrder() {
    try (Store store = open()) {
      Queue<String> queue = Queue.open(store, "q", Codec.string());
      queue.add("a");
      queue.add("b");
      assertThrows(
          WorkerFailure.class,
          () ->
              queue.work(
                  (transaction, job) -> {
                    throw new WorkerFailure();
                  }));
      assertEquals(2, queue.size());
    }
    try (Store store = open()) {
      Queue<String> queue = Queue.open(store, "q", Codec.string());
      queue.add("c");
      assertEquals("a", queue.poll());
      assertTrue(queue.work((transaction, job) -> queue.add(transaction, job + " again")));
      assertEquals("c", queue.poll());
      assertEquals("b again", queue.poll());
      assertNull(queue.poll());
      assertFalse(queue.work((transaction, job) -> {}));
    }
  }

  @Test
  void aJobThatCannotBeDecodedStays() {
    try (Store store = open()) {
      Queue.open(store, "q", Codec.string()).add("abc");
      Queue<Long> numbers = Queue.open(store, "q", Codec.int64());
      assertThrows(IllegalArgumentException.class, numbers::poll);
      assertEquals("abc", Queue.open(store, "q", Codec.string()).poll());
    }
  }

  @Test
  void aJobWhoseWorkerRollsBackStays() {
    try (Store store = open()) {
      Queue<String> queue = Queue.open(store, "q", Codec.string());
      queue.add("a");
      queue.add("b");
      var told =
          assertThrows(
              IllegalStateException.class,
              () -> queue.work((transaction, job) -> transaction.rollback()));
      assertTrue(told.getMessage().contains("queue 'q'"), told.getMessage());
      assertEquals(2, queue.size());
      assertEquals("a", queue.poll());
      assertThrows(
          IllegalStateException.class,
          () -> queue.work((transaction, job) -> transaction.commit()));
      assertTrue(queue.isEmpty());
      assertNull(queue.poll());
    }
  }

  /** Its numbers go with the tree, by whatever name that was opened. */
  @Test
  void aQueueWhoseTreeGetsAnotherNameStaysOneQueue() {
    try (Store store = open()) {
      Queue<String> before = Queue.open(store, "q", Codec.string());
      before.add("a");
      store.renameTree("q", "r");
      Queue<String> after = Queue.open(store, "r", Codec.string());
      before.add("b");
      after.add("c");
      before.add("d");
      assertEquals(4, after.size());
      assertTrue(
          before.work(
              (transaction, first) -> {
                assertEquals("a", first);
                assertEquals("b", after.poll());
              }));
      assertEquals("c", after.poll());
      assertEquals("d", before.poll());
      // Another one under the old name.
      Queue<String> other = Queue.open(store, "q", Codec.string());
      other.add("e");
      assertNull(before.poll());
      assertEquals("e", other.poll());
    }
  }

  @Test
  void aQueueThatIsMadeAnewUnderItsNameIsEmptyAndWorks() {
    try (Store store = open()) {
      Queue<String> dropped = Queue.open(store, "q", Codec.string());
      dropped.add("a");
      store.dropTree("q");
      Queue<String> made = Queue.open(store, "q", Codec.string());
      assertNull(made.poll());
      made.add("b");
      assertThrows(TreeDroppedException.class, () -> dropped.add("c"));
      assertEquals("b", made.poll());
    }
  }
}
