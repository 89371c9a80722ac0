package io.isobardb.lsm.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.SelfDeadlockException;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.error.TransactionAbortedException;
import io.isobardb.lsm.error.TreeDroppedException;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.ThreadScheduler;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.Watchdog;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

/**
 * A storm on handles: threads use trees, snapshots, cursors, transactions, batches and a dataset's
 * indexes while others close them, drop what is below, and close the store.
 *
 * <p>Handles lie in slots that all threads take them from, so one thread uses what another closes.
 * Each call may end with a right answer, or with the exceptions that {@link Outcome} lists for it.
 * A round ends by closing the store, half of the time amid the storm. Nothing may be left then: no
 * memory, file, registered LSN or lock.
 *
 * <p>{@code -Disobar.handles.seconds=600} makes it longer, {@code -Disobar.seed=S} other, {@code
 * -Disobar.threads.virtual=true} takes virtual threads. How threads interleave does not follow from
 * the seed.
 */
class HandleStormTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_261_123L);
  private static final long SECONDS = Long.getLong("isobar.handles.seconds", 3);
  private static final int THREADS = 6;

  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(4 << 20).pageSize(4096).logLimit(1 << 20).build();

  private final SimulatedStorage storage = new SimulatedStorage(new SimulatedClock());
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final Map<String, LongAdder> outcomes = new ConcurrentHashMap<>();

  /** Counts up with each write, over all rounds. */
  private final AtomicLong versions = new AtomicLong();

  /** Makes each tree differ from earlier ones of its name. */
  private final AtomicInteger generations = new AtomicInteger();

  /** A call that may be refused. */
  private interface Call {
    void run() throws Exception;
  }

  /** What may come of a call, besides a right answer. */
  private enum Outcome {
    /** The store is closed, or what was taken from it: any call. */
    CLOSED(StoreClosedException.class),
    /** The transaction, cursor or batch has ended, stands nowhere, or is another thread's now. */
    MISUSED(IllegalStateException.class),
    /** Another transaction is in the way: any write. */
    ABORTED(TransactionAbortedException.class),
    /** This thread's own transaction is. */
    OWN(SelfDeadlockException.class),
    /** There is no such name, or there is one already; a savepoint of another transaction. */
    ARGUMENT(IllegalArgumentException.class);

    final Class<? extends RuntimeException> type;

    Outcome(Class<? extends RuntimeException> type) {
      this.type = type;
    }
  }

  private static final Outcome[] READ = {Outcome.CLOSED};
  private static final Outcome[] WRITE = {Outcome.CLOSED, Outcome.ABORTED, Outcome.OWN};
  private static final Outcome[] SHARED = {Outcome.CLOSED, Outcome.MISUSED};
  private static final Outcome[] SHARED_WRITE = {
    Outcome.CLOSED, Outcome.MISUSED, Outcome.ABORTED, Outcome.OWN
  };
  private static final Outcome[] NAMED = {
    Outcome.CLOSED, Outcome.MISUSED, Outcome.ABORTED, Outcome.OWN, Outcome.ARGUMENT
  };

  // ---- threads

  /** What a thread may do, how often out of a hundred, and what it may hear. */
  private record Deed(String name, int share, Outcome[] allowed, Work work) {}

  private interface Work {
    void run(SplittableRandom random) throws Exception;
  }

  private static List<Deed> deeds(HandleStormRound round) {
    return List.of(
        new Deed("put", 12, WRITE, round::write),
        new Deed("write of a batch", 10, WRITE, round::writePair),
        new Deed("get", 8, READ, round::read),
        new Deed("multiGet", 6, READ, round::readPair),
        new Deed("taking a snapshot", 4, READ, round::takeSnapshot),
        new Deed("closing a snapshot", 3, READ, round::closeSnapshot),
        new Deed("read of a snapshot", 12, READ, round::readSnapshot),
        new Deed("opening a cursor", 4, READ, round::openCursor),
        new Deed("closing a cursor", 2, READ, round::closeCursor),
        new Deed("a shared cursor", 5, SHARED, round::moveCursor),
        new Deed("a shared batch", 6, SHARED_WRITE, round::useBatch),
        new Deed("beginning a shared transaction", 3, SHARED, round::beginShared),
        new Deed("a shared transaction", 8, NAMED, round::useShared),
        new Deed("a transaction", 6, WRITE, round::transact),
        new Deed("write of a record", 6, WRITE, round::writeRecord),
        new Deed("find", 4, NAMED, round::find),
        new Deed("an index cursor", 3, NAMED, round::openIndexCursor),
        new Deed("closing an index cursor", 1, READ, round::closeIndexCursor),
        new Deed("check of the dataset", 1, READ, round::check),
        new Deed("a change of an index", 1, NAMED, round::changeIndex),
        new Deed("dropping a tree", 1, NAMED, round::dropTree),
        new Deed("managing", 1, NAMED, round::manage));
  }

  private void work(HandleStormRound round, List<Deed> deeds, SplittableRandom random) {
    int all = deeds.stream().mapToInt(Deed::share).sum();
    try {
      while (!round.stop && failure.get() == null) {
        int dice = random.nextInt(all);
        int i = 0;
        while ((dice -= deeds.get(i).share) >= 0) {
          i++;
        }
        Deed deed = deeds.get(i);
        Watchdog.mark(deed.name);
        if (run(deed, random) && Inside.of(round.store).operations().isClosed()) {
          return;
        }
      }
    } catch (RuntimeException | Error e) {
      failure.compareAndSet(null, e);
    } finally {
      Watchdog.unmark();
    }
  }

  /** Does something; whether it was told that something is closed. */
  private boolean run(Deed deed, SplittableRandom random) {
    String outcome = "done";
    try {
      deed.work.run(random);
    } catch (Exception e) {
      Outcome known = null;
      for (Outcome each : deed.allowed) {
        if (each.type.isInstance(e)) {
          known = each;
        }
      }
      if (known == null) {
        throw new AssertionError(deed.name + " must not say this", e);
      }
      assertTrue(e.getMessage() != null && !e.getMessage().isEmpty(), "a message is missing");
      outcome = e instanceof TreeDroppedException ? "DROPPED" : known.name();
    }
    outcomes.computeIfAbsent(deed.name + ": " + outcome, key -> new LongAdder()).increment();
    return outcome.equals("CLOSED");
  }

  private Store open(SplittableRandom random) {
    Environment environment =
        new Environment(
            storage,
            Clock.SYSTEM,
            new ThreadScheduler("storm", 2),
            new SplittableRandom(random.nextLong()));
    return Inside.open(environment, OPTIONS);
  }

  /** All values are whole, and pairs have both halves. */
  private static void checkTrees(Store store) {
    for (int i = 0; i < HandleStormRound.TREES; i++) {
      if (!store.treeNames().contains("tree" + i)) {
        continue;
      }
      Tree tree = store.tree("tree" + i);
      for (int pair = 0; pair < HandleStormRound.PAIRS; pair++) {
        long[] found = new long[2];
        for (int half = 0; half < 2; half++) {
          byte[] value = tree.get(HandleStormRound.pairKey(pair, half));
          found[half] =
              value == null ? 0 : HandleStormRound.version(ByteBuffer.wrap(value).getInt(), value);
        }
        assertEquals(found[0], found[1], "half of pair " + pair + " after opening again");
      }
    }
  }

  private void round(int number, Watchdog watchdog, SplittableRandom random)
      throws InterruptedException {
    Watchdog.mark("round " + number + ", opening");
    Store store = open(random);
    checkTrees(store);
    HandleStormRound round = new HandleStormRound(store, versions, generations, random);
    HandleStormRound.assertSound(round.dataset.check());
    List<Deed> deeds = deeds(round);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      SplittableRandom own = random.split();
      threads.add(watchdog.start("storm " + i, () -> work(round, deeds, own)));
    }
    Watchdog.mark("round " + number + ", storm");
    Thread.sleep(50 + random.nextInt(450));
    boolean amid = random.nextBoolean();
    Watchdog.mark("round " + number + ", closing" + (amid ? " amid the storm" : ""));
    if (amid && failure.get() == null) {
      if (random.nextBoolean()) {
        threads.add(watchdog.start("closer", store::close));
      }
      store.close();
    }
    round.stop = true;
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw new AssertionError("seed " + SEED + ", round " + number, failure.get());
    }
    round.closeHandles();
    if (!amid) {
      round.assertNothingLeft();
      HandleStormRound.assertSound(round.dataset.check());
    }
    store.close();
    assertEquals(0, storage.openFiles(), "files left open in round " + number);
    assertEquals(
        0, Inside.of(store).engine().snapshots().live().length, "LSNs registered after the end");
  }

  @Test
  void whoeverClosesWhatOthersUseDoesNoHarm() {
    System.out.println("isobar.seed=" + SEED);
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    Watchdog.run(
        "-Disobar.seed=" + SEED,
        watchdog -> {
          SplittableRandom random = new SplittableRandom(SEED);
          try {
            for (int number = 0; number < 3 || System.nanoTime() < end; number++) {
              round(number, watchdog, random);
            }
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        });
    Map<String, Long> sorted = new TreeMap<>();
    outcomes.forEach((outcome, count) -> sorted.put(outcome, count.sum()));
    sorted.forEach((outcome, count) -> System.out.println(outcome + " " + count));
  }
}
