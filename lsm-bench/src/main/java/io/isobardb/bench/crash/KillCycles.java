package io.isobardb.bench.crash;

import io.isobardb.bench.engine.Directories;
import io.isobardb.bench.process.ChildJvm;
import io.isobardb.bench.process.WorkDirectory;
import io.isobardb.cli.console.Progress.Watcher;
import io.isobardb.cli.console.Shutdown;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.simulation.Watchdog;
import io.isobardb.repair.StoreInspector;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Kills processes that write to a store, at random moments, and checks after each what is left.
 * Some cycles go on with the store of the last one; options are new each time.
 *
 * <p>Thread rule: one thread.
 */
final class KillCycles {
  /** When a victim is killed: those from LOADING on are chores beside its writes. */
  enum Moment {
    OPENING,
    WRITING,
    CLOSING,
    CLOSED,
    LOADING,
    BACKING_UP,
    COPYING,
    RENAMING,
    RESTORING,
    EMPTYING,
    DROPPING
  }

  /**
   * What came of it.
   *
   * @param cycles processes killed
   * @param operations that were there afterwards
   * @param moments what the victims were doing, as far as they said
   * @param wrong the first thing found wrong, or null
   * @param directory the store, left as it is if something is wrong
   */
  record Result(
      long seed,
      long cycles,
      long operations,
      double seconds,
      Map<Moment, Long> moments,
      @Nullable Throwable wrong,
      Path directory) {
    double perMinute() {
      return cycles * 60 / Math.max(1e-3, seconds);
    }
  }

  /** When a victim is to be killed. */
  interface Time {
    /** Waits for it; gives whether it came. */
    boolean await() throws InterruptedException;
  }

  private static final long HEAP_BYTES = 64L << 20;
  private static final long MOST_OPERATIONS = 40_000;
  private static final long TIMEOUT_MILLIS = 60_000;

  /** A kill within a chore comes up to so long after its beginning: at first, and at most. */
  private static final long FIRST_AIM_NANOS = 1_000_000;

  private static final long MOST_AIM_NANOS = 50_000_000;

  private final SplittableRandom random;
  private final @Nullable Moment aim;
  private final Path directory;
  private final Map<Moment, Long> moments = new EnumMap<>(Moment.class);
  private final long[] next = new long[KillWorkload.THREADS];

  /** By thread, whether the last victim was killed before an operation added to its sum. */
  private final boolean[] owed = new boolean[KillWorkload.THREADS];

  private final KillChores chores;
  private final Path work;

  /** The next step of the chores. */
  private long chore;

  private long count = -1;
  private int pageSize;

  /** When the store was made, in milliseconds since the Unix epoch. */
  private long made;

  private long operations;

  /** How long the chore that is aimed at takes, by what kills have hit and missed. */
  private long aimNanos = FIRST_AIM_NANOS;

  private KillCycles(long seed, @Nullable Moment aim, Path parent) {
    this.random = new SplittableRandom(seed);
    this.aim = aim;
    this.directory = parent.resolve("store");
    this.work = parent.resolve("work");
    this.chores = new KillChores(work);
    for (Moment moment : Moment.values()) {
      moments.put(moment, 0L);
    }
  }

  /**
   * Runs {@code cycles} cycles, or up to the first in which something is wrong.
   *
   * @param aim the chore in which victims are killed, as far as a kill hits it; null for any moment
   * @param parent where the store's directory is made; made itself if it is missing
   */
  static Result run(long seed, long cycles, @Nullable Moment aim, Path parent, Watcher progress)
      throws IOException, InterruptedException {
    Files.createDirectories(parent);
    try (WorkDirectory work = WorkDirectory.temporary(parent, "isobar-kill-")) {
      KillCycles killer = new KillCycles(seed, aim, work.path());
      Result result = killer.run(seed, cycles, progress);
      if (result.wrong() != null && !Shutdown.isUnderWay()) {
        work.keep();
      }
      return result;
    }
  }

  private Result run(long seed, long cycles, Watcher progress)
      throws IOException, InterruptedException {
    long start = System.nanoTime();
    long done = 0;
    Throwable wrong = null;
    while (done < cycles && wrong == null) {
      try {
        cycle();
      } catch (AssertionError | RuntimeException e) {
        wrong = e;
      }
      done++;
      progress.at(
          String.format(Locale.ROOT, "kill %d of %d, %,d operations", done, cycles, operations),
          done,
          cycles);
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    return new Result(seed, done, operations, seconds, moments, wrong, directory);
  }

  private void cycle() throws IOException, InterruptedException {
    if (Arrays.stream(next).sum() == 0
        || Arrays.stream(next).sum() > MOST_OPERATIONS
        || random.nextInt(6) == 0) {
      for (Path old : List.of(directory, work)) {
        if (Files.exists(old)) {
          Directories.delete(old);
        }
      }
      chore = 0;
      Arrays.fill(next, 0);
      Arrays.fill(owed, false);
      count = -1;
      pageSize = RandomOptions.pageSize(random);
      made = System.currentTimeMillis();
    }
    KillWitness witness = new KillWitness(next, count, chore);
    kill(witness);
    long before = Arrays.stream(next).sum();
    Watchdog.run(
        "a cycle after " + witness.said(),
        watchdog -> {
          Watchdog.mark("opening and checking what is left");
          try {
            verify(witness);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
    operations += Arrays.stream(next).sum() - before;
  }

  private void kill(KillWitness witness) throws InterruptedException {
    if (aim == null) {
      killAnywhere(witness);
    } else {
      killWithin(aim, witness);
    }
    moments.merge(moment(witness), 1L, Long::sum);
  }

  private void killWithin(Moment chore, KillWitness witness) throws InterruptedException {
    kill(
        start(Moment.WRITING, random.nextLong()),
        witness,
        () -> {
          boolean begun = witness.await(chore, TIMEOUT_MILLIS);
          long end = System.nanoTime() + random.nextLong(aimNanos);
          while (System.nanoTime() - end < 0) {
            Thread.onSpinWait();
          }
          return begun;
        });
    boolean hit = moment(witness) == chore;
    aimNanos = hit ? Math.min(MOST_AIM_NANOS, aimNanos * 3 / 2) : Math.max(1000, aimNanos / 2);
  }

  private void killAnywhere(KillWitness witness) throws InterruptedException {
    int dice = random.nextInt(8);
    Moment planned = dice < 2 ? Moment.OPENING : dice < 4 ? Moment.CLOSING : Moment.WRITING;
    long options = random.nextLong();
    String word =
        switch (planned) {
          case OPENING -> "opening";
          case CLOSING -> "closing";
          default -> "write";
        };
    int most = planned == Moment.WRITING ? 400 : planned == Moment.OPENING ? 250 : 40;
    kill(
        start(planned, options),
        witness,
        () -> {
          boolean said = witness.await(word, TIMEOUT_MILLIS);
          TimeUnit.MILLISECONDS.sleep(random.nextInt(most));
          return said;
        });
  }

  /** Kills a victim when it is time; that is, if it did what was waited for. */
  static void kill(Process victim, KillWitness witness, Time time) throws InterruptedException {
    Thread reaper = new Thread(victim::destroyForcibly, "victim-reaper");
    Runtime.getRuntime().addShutdownHook(reaper);
    Thread reader = new Thread(() -> witness.read(victim.inputReader()), "witness");
    reader.start();
    boolean said = time.await();
    boolean alive = victim.isAlive();
    // Process.destroyForcibly would close the pipe, and lose acknowledgements that are in it.
    victim.toHandle().destroyForcibly();
    victim.waitFor();
    reader.join();
    Runtime.getRuntime().removeShutdownHook(reaper);
    if (!said || !alive) {
      throw new AssertionError(
          "the victim "
              + (alive ? "hangs" : "ended by itself")
              + " after '"
              + witness.said()
              + "'");
    }
  }

  private static Moment moment(KillWitness witness) {
    return switch (witness.said()) {
      case "opening" -> Moment.OPENING;
      case "closing" -> Moment.CLOSING;
      case "closed" -> Moment.CLOSED;
      default ->
          witness.choreBegun() > witness.choreDone()
              ? KillChores.moment(witness.choreBegun())
              : Moment.WRITING;
    };
  }

  private Process start(Moment planned, long options) {
    ChildJvm child =
        new ChildJvm(KillVictim.class)
            .flag("-XX:TieredStopAtLevel=1")
            .flag("-Xmx" + (HEAP_BYTES >> 20) + "m")
            .argument(directory.toString())
            .argument(Integer.toString(pageSize))
            .argument(Long.toString(options))
            .argument(planned == Moment.CLOSING ? Integer.toString(random.nextInt(300)) : "-1")
            .argument(Long.toString(count + 1))
            .argument(Long.toString(made))
            .argument(work.toString())
            .argument(Long.toString(chore));
    for (long n : next) {
      child.argument(Long.toString(n));
    }
    return child.start();
  }

  private void verify(KillWitness witness) throws IOException {
    StoreOptions options = RandomOptions.store(random, pageSize);
    if (!Files.exists(directory.resolve("CURRENT"))) {
      if (Arrays.stream(witness.done()).sum() + KillWorkload.THREADS > 0) {
        throw new AssertionError("the store is gone; " + witness);
      }
      return;
    }
    if (random.nextInt(4) == 0) {
      inspect(directory, options);
    }
    long[] done = witness.done();
    boolean closed = witness.said().equals("closed");
    try (Store store = Store.open(directory, options)) {
      KillCheck check = new KillCheck(store, made);
      for (int thread = 0; thread < next.length; thread++) {
        boolean stillOwed = owed[thread] && done[thread] == next[thread] - 1;
        next[thread] = check.next(thread, done[thread], stillOwed);
        owed[thread] = check.owes(thread, next[thread]);
      }
      count = check.count(witness.checkpoint());
      chores.check(chore, witness.choreDone(), options);
      chore = chores.next(store, witness.choreDone());
      if (closed && random.nextBoolean()) {
        store.checkpoint();
      }
    } catch (AssertionError e) {
      throw new AssertionError(e.getMessage() + " (" + witness + ", " + witness.said() + ")", e);
    }
    if (random.nextInt(4) == 0) {
      inspect(directory, options);
    }
  }

  /** Fails if the files of a store that is closed are not sound. */
  static void inspect(Path directory, StoreOptions options) throws IOException {
    try (StoreInspector inspector = StoreInspector.open(directory, options)) {
      List<Finding> findings = inspector.check(CheckProgress.NONE).findings();
      if (!findings.isEmpty()) {
        throw new AssertionError("check finds " + findings);
      }
    }
  }
}
