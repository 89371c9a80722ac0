package io.isobardb.lsm.transaction;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Savepoint;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.LockTimeoutException;
import io.isobardb.lsm.error.TransactionAbortedException;
import io.isobardb.lsm.schedule.Watched;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.transaction.IsolationChecker.Event;
import io.isobardb.lsm.transaction.IsolationChecker.Read;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random transactions of all levels, in all interleavings, and what they saw: see {@link
 * IsolationChecker}. More of them: {@code -Disobar.histories=10000}; one of them: {@code
 * -Disobar.seed=N}.
 */
@Tag("any-jdk")
class TransactionHistoryTest {
  private static final Long SEED = Long.getLong("isobar.seed");
  private static final int HISTORIES = Integer.getInteger("isobar.histories", 400);
  private static final int KEYS = 5;
  private static final long CLOCK_STEP = 1;

  @TempDir Path directory;

  /** One transaction as it goes on, and what it has seen so far. */
  private static final class Run {
    final Tree tree;
    final Transaction tx;
    final Isolation isolation;
    final List<Read> reads = new ArrayList<>();
    final Map<Integer, List<Integer>> appends = new HashMap<>();
    final long begin;
    int steps;

    Run(Store store, Tree tree, TransactionOptions options, int steps, long begin) {
      this.tree = tree;
      this.tx = store.begin(options);
      this.isolation = options.isolation();
      this.steps = steps;
      this.begin = begin;
    }

    private List<Integer> elements(int key, byte[] value) {
      List<Integer> elements = new ArrayList<>();
      if (value != null && value.length > 0) {
        for (String element : new String(value, UTF_8).split(",")) {
          elements.add(Integer.parseInt(element));
        }
      }
      List<Integer> own = appends.getOrDefault(key, List.of());
      int others = elements.size() - own.size();
      assertTrue(
          others >= 0 && elements.subList(others, elements.size()).equals(own),
          () -> "own appends to key " + key + " not seen: " + elements + ", own " + own);
      return elements.subList(0, others);
    }

    void read(int key, boolean forUpdate) {
      byte[] value = forUpdate ? tx.getForUpdate(tree, key(key)) : tx.get(tree, key(key));
      reads.add(new Read(key, elements(key, value)));
    }

    void scan(int from, int to, boolean back) {
      CursorOptions options = CursorOptions.all().from(key(from)).to(key(to));
      Map<Integer, byte[]> found = new HashMap<>();
      try (Cursor cursor = tx.cursor(tree, options)) {
        boolean more = back ? cursor.last() : cursor.first();
        while (more) {
          found.put(Integer.parseInt(new String(cursor.key(), UTF_8).substring(3)), cursor.value());
          more = back ? cursor.previous() : cursor.next();
        }
      }
      for (int key = from; key < to; key++) {
        reads.add(new Read(key, elements(key, found.get(key))));
      }
    }

    void append(int key, int element, boolean forUpdate) {
      byte[] before = forUpdate ? tx.getForUpdate(tree, key(key)) : tx.get(tree, key(key));
      reads.add(new Read(key, elements(key, before)));
      String list = before == null ? "" : new String(before, UTF_8) + ",";
      tx.put(tree, key(key), bytes(list + element));
      appends.computeIfAbsent(key, k -> new ArrayList<>()).add(element);
    }

    Event ended(boolean committed, long end) {
      return new Event(isolation, reads, appends, committed, begin, end);
    }
  }

  private static TransactionOptions options(
      SplittableRandom random, List<Isolation> levels, Duration timeout) {
    return TransactionOptions.builder()
        .isolation(levels.get(random.nextInt(levels.size())))
        .locking(Locking.values()[random.nextInt(2)])
        .lockTimeout(timeout)
        .build();
  }

  private static List<Isolation> levels(SplittableRandom random) {
    return switch (random.nextInt(4)) {
      case 0 -> List.of(Isolation.SNAPSHOT);
      case 1 -> List.of(Isolation.SERIALIZABLE);
      case 2 -> List.of(Isolation.SNAPSHOT, Isolation.SERIALIZABLE);
      default -> List.of(Isolation.values());
    };
  }

  /** A step of a transaction; whether it has ended. */
  private static boolean step(Run run, SplittableRandom random, AtomicInteger elements) {
    if (run.steps-- == 0) {
      run.tx.commit();
      return true;
    }
    int key = random.nextInt(KEYS);
    switch (random.nextInt(8)) {
      case 0, 1 -> run.read(key, false);
      case 2 -> run.read(key, true);
      case 3 -> run.scan(random.nextInt(key + 1), key + 1, random.nextBoolean());
      case 4 -> {
        Savepoint savepoint = run.tx.savepoint();
        run.tx.put(run.tree, key(key), bytes("undone"));
        run.tx.rollbackTo(savepoint);
      }
      default -> {
        // What is read at READ_COMMITTED and written back would undo what others did meanwhile.
        boolean forUpdate = random.nextBoolean() || run.isolation == Isolation.READ_COMMITTED;
        run.append(key, elements.incrementAndGet(), forUpdate);
      }
    }
    return false;
  }

  private static Map<Integer, List<Integer>> lists(Tree tree) {
    Map<Integer, List<Integer>> lists = new HashMap<>();
    for (int key = 0; key < KEYS; key++) {
      List<Integer> list = new ArrayList<>();
      byte[] value = tree.get(key(key));
      if (value != null) {
        for (String element : new String(value, UTF_8).split(",")) {
          list.add(Integer.parseInt(element));
        }
      }
      lists.put(key, list);
    }
    return lists;
  }

  /** All on one thread: each step is one of a transaction that is drawn. */
  private static String interleaved(long seed) {
    String[] wrong = new String[1];
    Watched.call("-Disobar.seed=" + seed, () -> wrong[0] = interleavedOf(seed));
    return wrong[0];
  }

  private static String interleavedOf(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Event> events = new ArrayList<>();
    AtomicInteger elements = new AtomicInteger();
    SimulatedWorld world = new SimulatedWorld(seed);
    try (Store store = world.open(SimulatedStores.SMALL)) {
      Tree tree = store.openTree("t");
      List<Isolation> levels = levels(random);
      List<Run> running = new ArrayList<>();
      int left = 10 + random.nextInt(20);
      long clock = 0;
      while (left > 0 || !running.isEmpty()) {
        clock += CLOCK_STEP;
        if (left > 0 && (running.isEmpty() || running.size() < 4 && random.nextInt(3) == 0)) {
          left--;
          TransactionOptions options = options(random, levels, Duration.ZERO);
          running.add(new Run(store, tree, options, 1 + random.nextInt(6), clock));
        }
        Run run = running.get(random.nextInt(running.size()));
        try {
          if (step(run, random, elements)) {
            events.add(run.ended(true, clock));
            running.remove(run);
          }
        } catch (LockTimeoutException e) {
          // It may go on, or give up.
          if (!run.tx.isOpen() || random.nextInt(4) == 0) {
            run.tx.close();
            events.add(run.ended(false, clock));
            running.remove(run);
          }
        } catch (TransactionAbortedException e) {
          events.add(run.ended(false, clock));
          running.remove(run);
        }
        if (random.nextInt(30) == 0) {
          store.flush();
          world.background(random.nextInt(200));
        }
      }
      return IsolationChecker.check(events, lists(tree));
    }
  }

  @Test
  void interleavedTransactionsAreAsIsolatedAsTheySay() {
    if (SEED != null) {
      assertNull(interleaved(SEED));
      return;
    }
    for (int i = 0; i < HISTORIES; i++) {
      long seed = 7_000_000 + i;
      String wrong = interleaved(seed);
      assertNull(wrong, wrong + "; replay with -Disobar.seed=" + seed);
    }
  }

  @Test
  void transactionsOfManyThreadsAreAsIsolatedAsTheySay() throws Exception {
    long base = SEED != null ? SEED : 1;
    try (Store store = Store.open(directory, SimulatedStores.SMALL)) {
      for (int round = 0; round < Math.max(4, HISTORIES / 40); round++) {
        long seed = base + round;
        Tree tree = store.createTree("t" + round, TreeOptions.defaults());
        List<Isolation> levels = levels(new SplittableRandom(seed));
        List<Event> events = Collections.synchronizedList(new ArrayList<>());
        AtomicInteger elements = new AtomicInteger();
        AtomicLong clock = new AtomicLong();
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        for (int thread = 0; thread < 4; thread++) {
          SplittableRandom random = new SplittableRandom(seed * 31 + thread);
          threads.add(
              CompletableFuture.runAsync(
                  () -> {
                    for (int i = 0; i < 20; i++) {
                      TransactionOptions options =
                          options(random, levels, Duration.ofMillis(random.nextInt(20)));
                      long begin = clock.incrementAndGet();
                      Run run = new Run(store, tree, options, 1 + random.nextInt(6), begin);
                      boolean committed = false;
                      try {
                        while (!step(run, random, elements)) {
                          Thread.onSpinWait();
                        }
                        committed = true;
                      } catch (TransactionAbortedException e) {
                        run.tx.close();
                      }
                      events.add(run.ended(committed, clock.incrementAndGet()));
                    }
                  }));
        }
        for (CompletableFuture<Void> thread : threads) {
          thread.get(60, TimeUnit.SECONDS);
        }
        String wrong = IsolationChecker.check(events, lists(tree));
        assertNull(wrong, wrong + "; round " + round + ", seed " + seed);
        assertTrue(events.stream().anyMatch(Event::committed));
      }
    }
  }

  // ---- the checker itself

  private static Event event(
      Isolation isolation, long begin, List<Read> reads, Map<Integer, List<Integer>> appends) {
    return new Event(isolation, reads, appends, true, begin, 100);
  }

  private static Read read(int key, Integer... elements) {
    return new Read(key, List.of(elements));
  }

  @Test
  void theCheckerFindsEachAnomaly() {
    for (Isolation level : Isolation.values()) {
      boolean snapshot = level != Isolation.READ_COMMITTED;
      boolean serializable = level == Isolation.SERIALIZABLE;
      // Write skew.
      expect(
          serializable,
          List.of(
              event(level, 1, List.of(read(0), read(1)), Map.of(0, List.of(1))),
              event(level, 1, List.of(read(0), read(1)), Map.of(1, List.of(2)))),
          Map.of(0, List.of(1), 1, List.of(2)));
      // Read skew: sees one write of another, and not the other one.
      expect(
          snapshot,
          List.of(
              event(level, 1, List.of(read(0), read(1, 2)), Map.of()),
              event(level, 1, List.of(), Map.of(0, List.of(1), 1, List.of(2)))),
          Map.of(0, List.of(1), 1, List.of(2)));
      // A lost update.
      expect(
          true,
          List.of(
              event(level, 1, List.of(read(0)), Map.of(0, List.of(1))),
              event(level, 1, List.of(read(0)), Map.of(0, List.of(2)))),
          Map.of(0, List.of(2)));
      // Half of another's writes.
      expect(
          true,
          List.of(
              event(level, 1, List.of(read(0, 1)), Map.of()),
              event(level, 1, List.of(), Map.of(0, List.of(1, 2)))),
          Map.of(0, List.of(1, 2)));
      // The past: what had ended before it began.
      expect(
          snapshot,
          List.of(
              new Event(level, List.of(), Map.of(0, List.of(1)), true, 1, 2),
              event(level, 3, List.of(read(0)), Map.of())),
          Map.of(0, List.of(1)));
      // What was rolled back.
      expect(
          true,
          List.of(
              new Event(level, List.of(), Map.of(0, List.of(1)), false, 1, 2),
              event(level, 3, List.of(read(0, 1)), Map.of())),
          Map.of(0, List.of(1)));
      // All right.
      expect(
          false,
          List.of(
              event(level, 1, List.of(read(0, 1)), Map.of(0, List.of(2))),
              event(level, 1, List.of(read(0)), Map.of(0, List.of(1)))),
          Map.of(0, List.of(1, 2)));
    }
  }

  private static void expect(boolean found, List<Event> events, Map<Integer, List<Integer>> lists) {
    String wrong = IsolationChecker.check(events, lists);
    if (found) {
      assertNotNull(wrong, events.toString());
    } else {
      assertNull(wrong, events.toString());
    }
  }
}
